import type { DepositDetailFilter, LostLinesQuery, LostLinesQueryVariables } from '../../../generated/operations/graphql';
import { moneyNames } from '../../../line/line-fields';
import type { ReportChoices } from '../choices/report-choices';
import type { Period } from '../values/periods';
import type { ReportDocument } from './report-document';

type Change = NonNullable<LostLinesQuery['depositChanges']>['nodes'][number];

/** The days that a close closed, and its data version. */
interface ClosedDays {
  readonly version: number;
  readonly startDate: string;
  readonly through: string;
}

/** A report whose lines closes may cover. */
interface CoveredReport {
  readonly period: Period;
  readonly choices: ReportChoices;
  readonly fileDocument: ReportDocument;
}

/** The closes of a report's period, the newest first. A gift is deposited on its day or later, so that any later close may have it. */
export function findCovering<Close extends ClosedDays>(
  closes: readonly Close[],
  { period, choices }: Omit<CoveredReport, 'fileDocument'>,
): readonly Close[] {
  const { startDate = '', endDate } = period;
  const isBounded = choices.dateBasis === 'DEPOSIT_DATE' && endDate !== undefined;
  return closes.filter((close) => close.through >= startDate && (!isBounded || close.startDate <= endDate));
}

/** The closes that are looked through for lost lines, at most. Each is a request of its own, because lines are lost since their own close. */
export const MAX_SEARCHED = 12;

/**
 * The closes that are looked through for lost lines: the newest ones, and by gift date the oldest, because most gifts are deposited soon. What
 * was lost since a close whose state is pruned cannot be told.
 */
export function toSearched<Close extends { readonly isKept: boolean }>(
  covering: readonly Close[],
  { dateBasis }: Pick<ReportChoices, 'dateBasis'>,
): readonly Close[] {
  const kept = covering.filter(({ isKept }) => isKept);
  return dateBasis === 'DEPOSIT_DATE' ? kept.slice(0, MAX_SEARCHED) : kept.slice(-MAX_SEARCHED);
}

const MONEY_FIELDS: readonly string[] = moneyNames.map((name) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()));

/** True for a late change that took a line out of a report. A line that left by its donor or its payment type alone is not late. */
export const isLoss = ({ class: kind, columns, wasInside, isInside }: Change): boolean =>
  wasInside && !isInside && (kind === 'REMOVED' || columns.some((column) => MONEY_FIELDS.includes(column)));

const latest = (...dates: readonly (string | undefined)[]): string | undefined =>
  dates
    .filter((date) => date !== undefined)
    .sort()
    .at(-1);
const earliest = (...dates: readonly (string | undefined)[]): string | undefined => dates.filter((date) => date !== undefined).sort()[0];

/**
 * The part of a report that a close closed, as the variables that ask for the lines that it lost until a version. Closes are of dates of
 * deposits, so that the period of a report by gift date becomes a condition on that date. Undefined where no gift can be.
 */
export function toClosedPart(
  { period, choices, fileDocument }: CoveredReport,
  { version, startDate, through }: ClosedDays,
  to: number,
): LostLinesQueryVariables | undefined {
  const part = { ...fileDocument.variables, dateBasis: 'DEPOSIT_DATE', from: { version }, to: { version: to } } as const;
  if (choices.dateBasis === 'DEPOSIT_DATE')
    return { ...part, startDate: latest(startDate, period.startDate) ?? startDate, endDate: earliest(through, period.endDate) ?? through };
  const first = latest(period.startDate, choices.giftDateFrom || undefined);
  const last = earliest(period.endDate, choices.giftDateTo || undefined);
  if (first !== undefined && last !== undefined && first > last) return undefined;
  const filter: DepositDetailFilter = { ...(fileDocument.variables.filter as DepositDetailFilter | undefined) };
  if (first !== undefined || last !== undefined)
    filter.transactionDate = { ...(first !== undefined && { from: first }), ...(last !== undefined && { to: last }) };
  return { ...part, startDate, endDate: through, filter };
}
