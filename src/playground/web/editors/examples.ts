import credentialsTest from '../queries/credentials-test.graphql?raw';
import depositDetails from '../queries/deposit-details.graphql?raw';
import depositPages from '../queries/deposit-pages.graphql?raw';
import designationTotals from '../queries/designation-totals.graphql?raw';
import donorYear from '../queries/donor-year.graphql?raw';
import newestDeposits from '../queries/newest-deposits.graphql?raw';
import pendingMoney from '../queries/pending-money.graphql?raw';
import tieOutTotals from '../queries/tie-out-totals.graphql?raw';

export interface Example {
  readonly title: string;
  readonly query: string;
  /** Builds the text of the variables editor, with dates that end today. */
  readonly variables: (today: Date) => string;
}

// The examples look back from today, because a month or a year that has just begun has nothing to show yet.
export const defaultExample: Example = { title: 'Deposits of the last 30 days', query: depositDetails, variables: last30Days };

export const examples: readonly Example[] = [
  defaultExample,
  { title: 'The newest deposits', query: newestDeposits, variables: lastTwelveMonths },
  { title: 'The largest gifts of the last 30 days', query: depositPages, variables: last30Days },
  {
    title: 'Funds of the last 30 days',
    query: designationTotals,
    variables: (today) => last30Days(today, { groupBy: ['DESIGNATION'] }),
  },
  { title: 'Funds of the last twelve months, month by month', query: designationTotals, variables: lastTwelveMonths },
  { title: 'Pending gifts', query: pendingMoney, variables: () => '{}' },
  {
    title: 'A donor’s last twelve months',
    query: donorYear,
    variables: (today) => lastTwelveMonths(today, { filter: { donorName: 'Ada Nakamura' } }),
  },
  { title: 'Tie-out totals of last month', query: tieOutTotals, variables: lastMonth },
  { title: 'Test my credentials', query: credentialsTest, variables: () => '' },
];

function last30Days(today: Date, others: object = {}): string {
  return toVariables(new Date(today.getFullYear(), today.getMonth(), today.getDate() - 29), today, others);
}

/** The whole month before the current one. */
function lastMonth(today: Date): string {
  const [year, month] = [today.getFullYear(), today.getMonth()];
  return toVariables(new Date(year, month - 1, 1), new Date(year, month, 0));
}

/** Twelve months up to the last day of this month, because pending deposits may be dated after today. */
function lastTwelveMonths(today: Date, others: object = {}): string {
  const [year, month] = [today.getFullYear(), today.getMonth()];
  return toVariables(new Date(year, month - 11, 1), new Date(year, month + 1, 0), others);
}

function toVariables(start: Date, end: Date, others: object = {}): string {
  return JSON.stringify({ startDate: toLocalDate(start), endDate: toLocalDate(end), ...others }, null, 2);
}

/** Writes the local date. toISOString would give the UTC date, which is another day near midnight. */
function toLocalDate(date: Date): string {
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}
