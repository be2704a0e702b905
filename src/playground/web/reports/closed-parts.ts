import type { DepositDetailFilter, LostLinesQueryVariables } from '../../../generated/operations/graphql';
import type { ReportChoices } from '../choices/report-choices';
import type { Period } from '../values/periods';
import type { ReportDocument } from './report-document';

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
