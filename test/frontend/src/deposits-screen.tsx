import { useQuery } from '@apollo/client/react';
import { Fault } from './faults';
import { DepositsDocument, type SumsFragment } from './gql/graphql';
import { More } from './more';
import { addressOf } from './place';
import { periodOf, showMoney } from './values';

/** The deposits of a year, each with the money that a line of the bank's statement has. */
export function DepositsScreen({ year }: { readonly year: number }) {
  const { data, error, loading, fetchMore } = useQuery(DepositsDocument, { variables: periodOf(year), errorPolicy: 'all' });
  const { deposits, depositSummary } = data ?? {};
  const loadMore = () => fetchMore({ variables: { after: deposits?.pageInfo.endCursor } });
  return (
    <>
      <h2>Deposits of {year}</h2>
      <Fault error={error} of="deposits" />
      {deposits && (
        <>
          <table>
            <caption>
              {deposits.edges.length} of {deposits.totalCount} deposits
            </caption>
            <thead>
              <tr>
                <th>Date</th>
                <th>Deposit</th>
                <th className="money">Gifts</th>
                <th className="money">Amount</th>
                <th className="money">Fees</th>
                <th className="money">In the bank</th>
              </tr>
            </thead>
            <tbody>
              {deposits.edges.map(({ node: { id, depositId, depositDate, totals } }) => (
                <tr key={id}>
                  <td>{depositDate}</td>
                  <th scope="row">
                    <a href={addressOf('deposits', year, depositId)}>{depositId}</a>
                  </th>
                  <Sums totals={totals} />
                </tr>
              ))}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row" colSpan={2}>
                  All deposits
                </th>
                <Sums totals={depositSummary?.all} />
              </tr>
            </tfoot>
          </table>
          <Fault error={error} of="depositSummary" />
          {deposits.pageInfo.hasNextPage && <More key={deposits.pageInfo.endCursor} loading={loading} loadMore={loadMore} />}
        </>
      )}
    </>
  );
}

function Sums({ totals }: { readonly totals: SumsFragment | null | undefined }) {
  return (
    <>
      <td className="money">{totals?.transactions}</td>
      <td className="money">{showMoney(totals?.byTransaction.amount)}</td>
      <td className="money">{showMoney(totals?.byTransaction.feeAmount)}</td>
      <td className="money">{showMoney(totals?.byTransaction.netAmount)}</td>
    </>
  );
}
