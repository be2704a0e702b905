/** The types of the figures of groups. A date and the sum of the shares may be unknown. */
type FigureType = 'count' | 'amount' | 'date';

/** The figures of groups by which these are chosen, by their names in a row of a summary. */
export const groupFigures = {
  lines: 'count',
  transactions: 'count',
  splitTransactions: 'count',
  deposits: 'count',
  donors: 'count',
  lineAmount: 'amount',
  lineFeeAmount: 'amount',
  lineNetAmount: 'amount',
  transactionAmount: 'amount',
  transactionFeeAmount: 'amount',
  transactionNetAmount: 'amount',
  allocationAmount: 'amount',
  firstGift: 'date',
  lastGift: 'date',
} as const satisfies Readonly<Record<string, FigureType>>;
export type GroupFigure = keyof typeof groupFigures;
