/** Figures as the page writes them: English, as all of it is. */
export const formatCount = (count: number): string => count.toLocaleString('en-US');

export const formatRows = (rows: number): string => `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'}`;

/** Stands for money that the books do not tell: it is not 0. */
export const UNKNOWN = 'unknown';

/** Exact for any length: the text itself is grouped, never a float. Null is a sum of which nothing is known. */
export const formatAmount = (amount: string | null): string => (amount ?? UNKNOWN).replace(/\B(?=(\d{3})+(?=\.))/g, ',');
