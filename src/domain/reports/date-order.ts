import { AppError } from '../../errors';
import type { LocalDate } from '../../values/dates';

/**
 * The error START_DATE_AFTER_END_DATE for a range that ends before it begins; an open end is always in order. The range is the arguments
 * `startDate` and `endDate`, or the argument that is named.
 */
export function findDateOrderFault(start: LocalDate | undefined, end: LocalDate | undefined, argument?: string): AppError | undefined {
  if (start === undefined || end === undefined || start <= end) return undefined;
  const options = argument === undefined ? { argument: 'startDate' } : { argument, fault: `${argument}: from is later than to` };
  return new AppError('START_DATE_AFTER_END_DATE', options);
}

/** Throws START_DATE_AFTER_END_DATE for the arguments `startDate` and `endDate` when the range ends before it begins. */
export function assertDateOrder(start: LocalDate, end: LocalDate): void {
  const fault = findDateOrderFault(start, end);
  if (fault) throw fault;
}
