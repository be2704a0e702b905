import { useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { showMoney } from '../values';
import type { depositsNextQuery } from './__generated__/depositsNextQuery.graphql';
import type { depositsQuery } from './__generated__/depositsQuery.graphql';
import type { deposits_query$key } from './__generated__/deposits_query.graphql';
import { Gifts } from './gifts';

const query = graphql`
  query depositsQuery($startDate: LocalDate!, $endDate: LocalDate!) {
    viewer {
      username
    }
    ...deposits_query @arguments(startDate: $startDate, endDate: $endDate)
  }
`;

const fragment = graphql`
  fragment deposits_query on Query
  @refetchable(queryName: "depositsNextQuery")
  @argumentDefinitions(
    startDate: { type: "LocalDate!" }
    endDate: { type: "LocalDate!" }
    first: { type: "Int", defaultValue: 5 }
    after: { type: "String" }
  ) {
    deposits(startDate: $startDate, endDate: $endDate, first: $first, after: $after) @connection(key: "deposits_deposits") {
      edges {
        node {
          id
          depositId
          depositDate
          totals {
            byTransaction {
              netAmount
            }
          }
          ...gifts_deposit
        }
      }
      totalCount
    }
  }
`;

export function Deposits(period: { readonly startDate: string; readonly endDate: string }) {
  const data = useLazyLoadQuery<depositsQuery>(query, period);
  if (!data.viewer) return <a href="./index.html">Log in</a>;
  return <DepositList of={data} />;
}

function DepositList({ of }: { readonly of: deposits_query$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<depositsNextQuery, deposits_query$key>(fragment, of);
  const [error, setError] = useState<Error | null>(null);
  if (!data.deposits) return <p role="alert">The deposits are not there. Try again later.</p>;
  const { edges, totalCount } = data.deposits;
  return (
    <>
      <p role="status">
        {edges.length} of {totalCount} deposits
      </p>
      {edges.map(({ node: deposit }) => (
        <section key={deposit.id} aria-label={`Deposit ${deposit.depositId}`}>
          <h2>Deposit {deposit.depositId}</h2>
          <p>
            {deposit.depositDate}, {showMoney(deposit.totals?.byTransaction.netAmount)} in the bank
          </p>
          <Gifts of={deposit} />
        </section>
      ))}
      {hasNext && (
        <button disabled={isLoadingNext} onClick={() => loadNext(5, { onComplete: setError })}>
          More deposits
        </button>
      )}
      {error && <p role="alert">{error.message}</p>}
    </>
  );
}
