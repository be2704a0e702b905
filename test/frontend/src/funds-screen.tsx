import { useQuery } from '@apollo/client/react';
import { Fault } from './faults';
import { FundsDocument, type FundsQuery } from './gql/graphql';
import { periodOf, showMoney } from './values';

type Figures = Pick<NonNullable<FundsQuery['depositSummary']>, 'all' | 'compared' | 'change'>;

function Comparison({ all, compared, change }: Figures) {
  const { difference, percentage } = change?.amountByAllocation ?? {};
  return (
    <>
      <td className="money">{showMoney(all.byAllocation.amount)}</td>
      <td className="money">{showMoney(compared?.all.byAllocation.amount)}</td>
      <td className="money">
        {showMoney(difference)}
        {percentage != null && ` (${percentage} %)`}
      </td>
    </>
  );
}

/** The money of each fund, month by month, beside the same month of the year before. */
export function FundsScreen({ year }: { readonly year: number }) {
  const { data, error } = useQuery(FundsDocument, { variables: { ...periodOf(year), lastYear: periodOf(year - 1) }, errorPolicy: 'all' });
  const summary = data?.depositSummary;
  return (
    <>
      <h2>Funds of {year}</h2>
      <Fault error={error} of="depositSummary" />
      {summary && (
        <table>
          <caption>
            {summary.groups?.edges.length} of {summary.groups?.totalCount} rows. The sum has all of them.
          </caption>
          <thead>
            <tr>
              <th>Month</th>
              <th>Fund</th>
              <th className="money">{year}</th>
              <th className="money">{year - 1}</th>
              <th className="money">Change</th>
            </tr>
          </thead>
          <tbody>
            {summary.groups?.edges.map(({ node: { key, ...figures } }) => (
              <tr key={`${key.month} ${key.designationId}`}>
                <td>{key.month?.slice(0, 7)}</td>
                <th scope="row">{key.designation}</th>
                <Comparison {...figures} />
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" colSpan={2}>
                All funds
              </th>
              <Comparison {...summary} />
            </tr>
          </tfoot>
        </table>
      )}
    </>
  );
}
