import { useQuery } from '@apollo/client/react';
import { Fault } from './faults';
import { DonorDocument } from './gql/graphql';
import { More } from './more';
import { periodOf, showMoney } from './values';

/** A donor's gifts of a year, each with its shares. */
export function DonorScreen({ year, id }: { readonly year: number; readonly id: string }) {
  const { data, error, loading, fetchMore } = useQuery(DonorDocument, { variables: { id, ...periodOf(year) }, errorPolicy: 'all' });
  const donor = data?.node?.__typename === 'Donor' ? data.node : undefined;
  if (!donor)
    return (
      <>
        <h2>Donor</h2>
        <Fault error={error} of="node" />
        {data && !error && <p>There is no such donor.</p>}
      </>
    );
  const { edges, pageInfo } = donor.transactions;
  const loadMore = () => fetchMore({ variables: { after: pageInfo.endCursor } });
  return (
    <>
      <h2>
        {donor.firstName} {donor.lastName}
      </h2>
      <p>
        {donor.city}, {donor.email}
      </p>
      <Fault error={error} of="totals" />
      <table>
        <caption>
          {donor.totals?.transactions} gifts of {showMoney(donor.totals?.byTransaction.amount)} in {year}
        </caption>
        <thead>
          <tr>
            <th>Date</th>
            <th>Gift</th>
            <th className="money">Amount</th>
            <th>Shares</th>
          </tr>
        </thead>
        <tbody>
          {edges.map(({ node: gift }) => (
            <tr key={gift.id}>
              <td>{gift.transactionDate}</td>
              <th scope="row">{gift.transactionId}</th>
              <td className="money">{showMoney(gift.amount)}</td>
              <td>
                {gift.allocations.edges.map(({ node }) => `${node.designation.name} ${showMoney(node.amount)}`).join(', ')}
                {gift.allocations.pageInfo.hasNextPage && ', and more'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {pageInfo.hasNextPage && <More key={pageInfo.endCursor} loading={loading} loadMore={loadMore} />}
    </>
  );
}
