import { useQuery } from '@apollo/client/react';
import { useState } from 'react';
import { Fault, isRefused, Refusal } from './faults';
import { DonorsDocument } from './gql/graphql';
import { More } from './more';
import { addressOf } from './place';
import { periodOf, showMoney } from './values';

/** The gifts of a year as figures, and the donors by their names. */
export function DonorsScreen({ year }: { readonly year: number }) {
  const [search, setSearch] = useState('');
  const { data, previousData, error, loading, fetchMore } = useQuery(DonorsDocument, {
    variables: { ...periodOf(year), search },
    errorPolicy: 'all',
  });
  // Money is of this year's answer alone. The donors are of all years, and stay while the next list loads.
  const { viewer, donors } = data ?? previousData ?? {};
  const depositSummary = data?.depositSummary;
  const loadMore = () => fetchMore({ variables: { after: donors?.pageInfo.endCursor } });
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
      {viewer && !isRefused(viewer) && (
        <form role="search" onSubmit={(event) => event.preventDefault()}>
          <label>
            Name
            <input type="search" value={search} onChange={(event) => setSearch(event.target.value)} />
          </label>
        </form>
      )}
      {donors && (
        <>
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
          {donors.pageInfo.hasNextPage && <More key={donors.pageInfo.endCursor} loading={loading} loadMore={loadMore} />}
        </>
      )}
    </>
  );
}
