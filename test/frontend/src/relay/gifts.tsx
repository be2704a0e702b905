import { useState } from 'react';
import { graphql, usePaginationFragment } from 'react-relay';
import { showMoney } from '../values';
import type { giftsNextQuery } from './__generated__/giftsNextQuery.graphql';
import type { gifts_deposit$key } from './__generated__/gifts_deposit.graphql';

const fragment = graphql`
  fragment gifts_deposit on Deposit
  @refetchable(queryName: "giftsNextQuery")
  @argumentDefinitions(first: { type: "Int", defaultValue: 2 }, after: { type: "String" }) {
    transactions(first: $first, after: $after) @connection(key: "gifts_transactions") {
      edges {
        node {
          id
          transactionId
          amount
        }
      }
      totalCount
    }
  }
`;

/** The gifts of a deposit, page by page. Relay finds the deposit again by its `id`. */
export function Gifts({ of }: { readonly of: gifts_deposit$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<giftsNextQuery, gifts_deposit$key>(fragment, of);
  const [error, setError] = useState<Error | null>(null);
  const { edges, totalCount } = data.transactions;
  return (
    <>
      <p>
        {edges.length} of {totalCount} gifts
      </p>
      <ul>
        {edges.map(({ node }) => (
          <li key={node.id}>
            {node.transactionId}: {showMoney(node.amount)}
          </li>
        ))}
      </ul>
      {hasNext && (
        <button disabled={isLoadingNext} onClick={() => loadNext(20, { onComplete: setError })}>
          More gifts
        </button>
      )}
      {error && <p role="alert">{error.message}</p>}
    </>
  );
}
