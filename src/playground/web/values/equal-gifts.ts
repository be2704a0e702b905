import { createCellFormat } from './cell-format';

/** Gifts as large as the last of the largest ones, for which a list has no place. */
export interface EqualGifts {
  /** Undefined for more than were read. */
  readonly gifts: number | undefined;
  readonly amount: string;
}

/** Says which equal gifts are not shown, such as “3 more gifts of 500.00, the amount of the last row, are not shown.”; undefined where none is left out. */
export function describeEqualGifts(equal: EqualGifts | undefined, currency: string | null): string | undefined {
  if (!equal) return undefined;
  const { format } = createCellFormat(navigator.languages, currency);
  const { gifts, amount } = equal;
  const count = gifts === undefined ? 'More' : `${format(gifts, 'count')} more`;
  return `${count} ${gifts === 1 ? 'gift' : 'gifts'} of ${format(amount, 'money')}, the amount of the last row, ${gifts === 1 ? 'is' : 'are'} not shown.`;
}
