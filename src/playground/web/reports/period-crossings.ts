import type { TableClient } from '../rows/table-client';
import type { Cell, LoadedTable } from '../values/table-types';
import { writeValue } from '../choices/choice-texts';
import type { Period } from '../values/periods';
import type { ReportColumn } from './report-columns';
import { definitionOf } from '../choices/report-definitions';
import type { ReportPlan } from './use-report';

/** A gift of which one date lies in the period of the report, and the other one outside. */
interface PeriodCrossing {
  readonly id: string;
  readonly amount: string;
  readonly given: string;
  readonly deposited: string;
}

/** The gifts that cross the ends of a report's period. `isWhole` is false for a report of too many rows to look through. */
export interface PeriodCrossings {
  readonly gifts: readonly PeriodCrossing[];
  readonly isWhole: boolean;
}

export const NO_CROSSINGS: PeriodCrossings = { gifts: [], isWhole: true };
/** The rows that are looked through. Hardly a donor gives so often in a year. */
const MAX_ROWS = 10_000;
/** The gifts that are named. A sentence of more would be longer than the table. */
const MAX_NAMED = 20;

/** Finds the gifts that cross the ends of the period, for the reports of one donor, each once and in the order of the rows. */
export async function readCrossings(
  { choices, period, columns }: Pick<ReportPlan, 'choices' | 'period' | 'columns'>,
  table: LoadedTable,
  client: TableClient,
): Promise<PeriodCrossings> {
  const { rows, needs } = definitionOf(choices.report);
  if (rows !== 'lines' || needs !== 'donor' || period.startDate === undefined) return NO_CROSSINGS;
  if (table.count > MAX_ROWS) return { gifts: [], isWhole: false };
  const valueIn = toReader(columns);
  const gifts = new Map<string, PeriodCrossing>();
  for (const row of await client.loadedRows(table.id, 0, table.count)) {
    const [given, deposited] = [valueIn(row, 'transactionDate'), valueIn(row, 'depositDate')];
    const other = choices.dateBasis === 'TRANSACTION_DATE' ? deposited : given;
    const id = valueIn(row, 'transactionId');
    if (!isWithin(other, period)) gifts.set(id, { id, amount: valueIn(row, 'amount'), given, deposited });
  }
  return { gifts: [...gifts.values()], isWhole: true };
}

const toReader = (columns: readonly ReportColumn[]) => {
  const places = new Map(columns.map(({ id }, place) => [id, place]));
  return (row: readonly Cell[], id: string): string => String(row[places.get(id)!]);
};

/** Dates as `YYYY-MM-DD` are in the order of their texts. */
const isWithin = (date: string, { startDate = '', endDate = '9999-12-31' }: Period): boolean => date >= startDate && date <= endDate;

/** Names the gifts that cross the ends of the period in a sentence; undefined where there are none. */
export function describeCrossings({ choices, period }: Pick<ReportPlan, 'choices' | 'period'>, crossings: PeriodCrossings) {
  const { gifts, isWhole } = crossings;
  const isByGift = choices.dateBasis === 'TRANSACTION_DATE';
  const verb = isByGift ? 'deposited' : 'given';
  const year = toYear(period);
  const place = year === undefined ? 'outside this period' : 'in another year';
  const column = isByGift ? 'Deposit date' : 'Gift date';
  if (!isWhole) return `The rows are too many to look for gifts that were ${verb} ${place}. Sort the rows by ${column} to find such gifts.`;
  if (gifts.length === 0) return undefined;
  const named = gifts.slice(0, MAX_NAMED).map(toText);
  const more = gifts.length > named.length ? `; and ${String(gifts.length - named.length)} more, which the column ${column} shows` : '';
  const what = toWhat(gifts.length, { isByGift, year });
  return `${what} ${gifts.length === 1 ? 'was' : 'were'} ${verb} ${place}: ${named.join('; ')}${more}.`;
}

/** The gifts of the sentence, such as “2 gifts of 2025”. */
function toWhat(
  count: number,
  { isByGift, year = 'this period' }: { readonly isByGift: boolean; readonly year: string | undefined },
): string {
  const gifts = `${String(count)} ${count === 1 ? 'gift' : 'gifts'}`;
  return isByGift ? `${gifts} of ${year}` : `${gifts} that ${count === 1 ? 'was' : 'were'} deposited in ${year}`;
}

/** The year of a period that is a whole calendar year. */
function toYear({ startDate = '', endDate = '' }: Period): string | undefined {
  const year = startDate.slice(0, 4);
  return startDate === `${year}-01-01` && endDate === `${year}-12-31` ? year : undefined;
}

const toText = ({ id, amount, given, deposited }: PeriodCrossing): string =>
  `${id}, whole gift ${writeValue(amount, 'money')}, given ${writeValue(given, 'date')}, deposited ${writeValue(deposited, 'date')}`;
