import { addDays } from '../../../values/periods';
import type { Row, TableColumn } from '../values/table-types';

/** The most days between a deposit and its line. */
export const MOST_DAYS = 31;

/** A deposit, as the books have it at one data version. Amounts are exact decimal texts. */
export interface BookedDeposit {
  readonly id: string;
  readonly date: string;
  readonly status: string;
  readonly net: string;
  readonly gross: string;
  /** True for a deposit of the days around the report. It may be a line near the edge, and is in no sum of the report. */
  readonly isOutside: boolean;
}

/** The deposits of some days, of one data version. */
export interface BookedDeposits {
  readonly version: number;
  readonly known: DaySpan;
  readonly deposits: readonly BookedDeposit[];
}

/** The days of a report, each of which may be undefined where it is open. */
export interface DaySpan {
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
}

/** The columns of a report's rows that make a deposit. */
const depositColumns = {
  id: 'key.depositId',
  date: 'key.depositDate',
  status: 'key.depositStatus',
  net: 'all.byTransaction.netAmount',
  gross: 'all.byTransaction.amount',
} as const;

/** The days that are read around a report: a line of one of its deposits may be of another deposit, on its other side. */
const AROUND = 2 * MOST_DAYS;
/** The days that can be moved so far and have years of four digits still. */
const [FIRST_DAY, LAST_DAY] = [addDays('1000-01-01', AROUND), addDays('9999-12-31', -AROUND)];

/** The deposits of the rows of a report. */
export function toDeposits(columns: readonly TableColumn[], rows: readonly Row[], { startDate, endDate }: DaySpan): BookedDeposit[] {
  const toText = (row: Row, name: keyof typeof depositColumns): string =>
    String(row[columns.findIndex((column) => column.id === depositColumns[name])] ?? '');
  return rows.map((row) => {
    const date = toText(row, 'date');
    return {
      ...{ id: toText(row, 'id'), date, status: toText(row, 'status'), net: toText(row, 'net'), gross: toText(row, 'gross') },
      isOutside: (startDate ?? date) > date || (endDate ?? date) < date,
    };
  });
}

/** The days of a report and those around it, whose deposits may be lines too. */
export const widen = ({ startDate, endDate }: DaySpan): DaySpan => ({
  ...(startDate !== undefined && { startDate: startDate < FIRST_DAY ? startDate : addDays(startDate, -AROUND) }),
  ...(endDate !== undefined && { endDate: endDate > LAST_DAY ? endDate : addDays(endDate, AROUND) }),
});
