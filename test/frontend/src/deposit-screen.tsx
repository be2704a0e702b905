import { useApolloClient, useQuery } from '@apollo/client/react';
import { useEffect, useState } from 'react';
import { Fault, faultOf, isRefused, Refusal } from './faults';
import { DepositDocument } from './gql/graphql';
import { More } from './more';
import { addressOf } from './place';
import { showMoney } from './values';

/** The gifts of a deposit. Their donors and memos need the privilege of the report, the gifts do not. */
export function DepositScreen({ year, depositId }: { readonly year: number; readonly depositId: string }) {
  const { data, error, loading, fetchMore } = useQuery(DepositDocument, { variables: { depositId }, errorPolicy: 'all' });
  const deposit = data?.deposit;
  const isHidden = isRefused(data?.viewer);
  // The first error stays, because an answer that follows brings none for what the cache has as null.
  const [failure, setFailure] = useState(error);
  if (error && !failure) setFailure(error);
  const isUnread = deposit != null && !isHidden && faultOf(failure, 'donor') !== undefined;
  const { cache } = useApolloClient();
  const recordId = isUnread ? cache.identify(deposit) : undefined;
  // A return to the screen asks again, where the cache would take donors that could not be read for nobody.
  useEffect(() => (recordId === undefined ? undefined : () => void cache.evict({ id: recordId })), [cache, recordId]);
  if (!deposit)
    return (
      <>
        <h2>Deposit {depositId}</h2>
        <Fault error={error} of="deposit" />
        {data && !error && <p>No such deposit could be read.</p>}
      </>
    );
  const { edges, pageInfo, totalCount } = deposit.transactions;
  const loadMore = () => fetchMore({ variables: { after: pageInfo.endCursor }, errorPolicy: isHidden ? 'all' : 'none' });
  const refusal = isHidden && <Refusal />;
  return (
    <>
      <h2>Deposit {depositId}</h2>
      <p>
        {deposit.depositDate}, {showMoney(deposit.totals?.byTransaction.netAmount)} in the bank
      </p>
      <Fault error={error} of="totals" />
      <table>
        <caption>
          {edges.length} of {totalCount} gifts
        </caption>
        <thead>
          <tr>
            <th>Gift</th>
            <th>
              Donor
              {refusal || <Fault error={failure} of="donor" />}
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
                  !refusal && (isUnread ? 'unknown' : 'Anonymous')
                )}
              </td>
              <td>{mainMemo}</td>
              <td className="money">{showMoney(amount)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {pageInfo.hasNextPage && <More key={pageInfo.endCursor} loading={loading} loadMore={loadMore} />}
    </>
  );
}
