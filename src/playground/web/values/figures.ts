/** Writes a count with commas, in English like the rest of the page. */
export const formatCount = (count: number): string => count.toLocaleString('en-US');

export const formatRows = (rows: number): string => `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'}`;

/** Shown for an amount that the books do not say. Unknown is not 0. */
export const UNKNOWN = 'unknown';

/** Shown where a figure has no percentage, because the one that it is compared with is zero or negative. */
export const NO_PERCENTAGE = '–';

/** Writes an exact decimal with commas, as text and never as a float. Null, a sum of which nothing is known, becomes “unknown”. */
export const formatAmount = (amount: string | null): string => (amount ?? UNKNOWN).replace(/\B(?=(\d{3})+(?=\.))/g, ',');
