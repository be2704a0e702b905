import { useQuery } from '@apollo/client/react';
import { Fault, isRefused, Refusal } from './faults';
import { DepositDocument } from './gql/graphql';
import { addressOf } from './place';
import { showMoney } from './values';

/** The gifts of a deposit. Their donors and memos need the privilege of the report, the gifts do not. */
export function DepositScreen({ year, depositId }: { readonly year: number; readonly depositId: string }) {
  const { data, error, loading, fetchMore } = useQuery(DepositDocument, { variables: { depositId }, errorPolicy: 'all' });
  const deposit = data?.deposit;
  if (!deposit)
    return (
      <>
        <h2>Deposit {depositId}</h2>
        <Fault error={error} of="deposit" />
        {data && !error && <p>There is no such deposit.</p>}
      </>
    );
  const { edges, pageInfo, totalCount } = deposit.transactions;
  const loadMore = () => fetchMore({ variables: { after: pageInfo.endCursor }, errorPolicy: 'all' });
  const refusal = isRefused(data.viewer) && <Refusal />;
  return (
    <>
      <h2>Deposit {depositId}</h2>
      <p>
        {deposit.depositDate}, {showMoney(deposit.totals?.byTransaction.netAmount)} in the bank
      </p>
      <table>
        <caption>
          {edges.length} of {totalCount} gifts
        </caption>
        <thead>
          <tr>
            <th>Gift</th>
            <th>
              Donor
              {refusal}
            </th>
            <th>
              Memo
              {refusal}
            </th>
            <th className="money">Amount</th>
          </tr>
        </thead>
        <tbody>
          {edges.map(({ node: { id, transactionId, donor, mainMemo, amount } }) => (
            <tr key={id}>
              <th scope="row">{transactionId}</th>
              <td>
                {donor ? (
                  <a href={addressOf('donors', year, donor.id)}>
                    {donor.firstName} {donor.lastName}
                  </a>
                ) : (
                  !refusal && 'Anonymous'
                )}
              </td>
              <td>{mainMemo}</td>
              <td className="money">{showMoney(amount)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {pageInfo.hasNextPage && (
        <button disabled={loading} onClick={() => void loadMore()}>
          More
        </button>
      )}
    </>
  );
}
