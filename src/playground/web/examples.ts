import credentialsTest from './queries/credentials-test.graphql?raw';
import depositDetails from './queries/deposit-details.graphql?raw';
import depositPages from './queries/deposit-pages.graphql?raw';
import designationTotals from './queries/designation-totals.graphql?raw';
import donorYear from './queries/donor-year.graphql?raw';
import pendingMoney from './queries/pending-money.graphql?raw';
import tieOutTotals from './queries/tie-out-totals.graphql?raw';

export interface Example {
  readonly title: string;
  readonly query: string;
  /** The text of the variables editor for somebody who asks today. */
  readonly variables: (today: Date) => string;
}

export const defaultExample: Example = { title: 'Deposits of this month', query: depositDetails, variables: monthOf };

export const examples: readonly Example[] = [
  defaultExample,
  { title: 'Deposits of today', query: depositDetails, variables: (today) => toVariables(today, today) },
  { title: 'The largest gifts of this month', query: depositPages, variables: monthOf },
  { title: 'Designations of this month', query: designationTotals, variables: (today) => monthOf(today, { groupBy: ['DESIGNATION'] }) },
  { title: 'Designations of this year, month by month', query: designationTotals, variables: yearOf },
  { title: 'What is still pending this year', query: pendingMoney, variables: yearOf },
  { title: 'A donor’s year', query: donorYear, variables: (today) => yearOf(today, { filter: { donorName: 'Lovelace' } }) },
  { title: 'Tie-out totals of this month', query: tieOutTotals, variables: monthOf },
  { title: 'Test my credentials', query: credentialsTest, variables: () => '' },
];

function monthOf(today: Date, others: object = {}): string {
  const [year, month] = [today.getFullYear(), today.getMonth()];
  return toVariables(new Date(year, month, 1), new Date(year, month + 1, 0), others);
}

function yearOf(today: Date, others: object = {}): string {
  return toVariables(new Date(today.getFullYear(), 0, 1), new Date(today.getFullYear(), 11, 31), others);
}

function toVariables(start: Date, end: Date, others: object = {}): string {
  return JSON.stringify({ startDate: toLocalDate(start), endDate: toLocalDate(end), ...others }, null, 2);
}

/** Not toISOString, which names tomorrow or yesterday near midnight outside UTC. */
function toLocalDate(date: Date): string {
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}
