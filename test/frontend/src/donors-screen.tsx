import { useQuery } from '@apollo/client/react';
import { useState } from 'react';
import { Fault, isRefused, Refusal } from './faults';
import { DonorsDocument } from './gql/graphql';
import { addressOf } from './place';
import { periodOf, showMoney } from './values';

/** The gifts of a year as figures, and the donors by their names. */
export function DonorsScreen({ year }: { readonly year: number }) {
  const [search, setSearch] = useState('');
  const { data, previousData, error, loading, fetchMore } = useQuery(DonorsDocument, {
    variables: { ...periodOf(year), search },
    errorPolicy: 'all',
  });
  const { viewer, depositSummary, donors } = data ?? previousData ?? {};
  const loadMore = () => fetchMore({ variables: { after: donors?.pageInfo.endCursor }, errorPolicy: 'all' });
  return (
    <>
      <h2>Donors</h2>
      <Fault error={error} of="depositSummary" />
      {depositSummary && (
        <p>
          {depositSummary.all.transactions} gifts of {showMoney(depositSummary.all.byTransaction.amount)} in {year}
          {depositSummary.all.donors != null && `, from ${depositSummary.all.donors} donors`}
        </p>
      )}
      {viewer && isRefused(viewer) ? <Refusal /> : <Fault error={error} of="donors" />}
      {donors && (
        <>
          <form role="search" onSubmit={(event) => event.preventDefault()}>
            <label>
              Name
              <input type="search" value={search} onChange={(event) => setSearch(event.target.value)} />
            </label>
          </form>
          <p role="status">
            {donors.edges.length} of {donors.totalCount} donors
          </p>
          <ul>
            {donors.edges.map(({ node: { id, firstName, lastName, city } }) => (
              <li key={id}>
                <a href={addressOf('donors', year, id)}>
                  {firstName} {lastName}
                </a>
                , {city}
              </li>
            ))}
          </ul>
          {donors.pageInfo.hasNextPage && (
            <button disabled={loading} onClick={() => void loadMore()}>
              More
            </button>
          )}
        </>
      )}
    </>
  );
}
