/** Figures as the page writes them: English, as all of it is. */
export const formatCount = (count: number): string => count.toLocaleString('en-US');

export const formatRows = (rows: number): string => `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'}`;

/** Exact for any length: the text itself is grouped, never a float. */
export const formatAmount = (amount: string): string => amount.replace(/\B(?=(\d{3})+(?=\.))/g, ',');
