import { startDatabaseProxy } from '../support/database-proxy';
import { graphql, importLines, v2Line, withGateway } from '../support/gateway';
import { testOnOneNode } from '../support/limited-tests';
import { openGateway } from '../support/open-gateway';

const store = openGateway();
const VERSIONS = 4;

/**
 * Lets a transaction see later versions of the books than its own state has, as one on a distributed database does when rows move to another
 * node. A sequence is the one thing that PostgreSQL shows to every transaction as it is now. Returns the function that shows the next version.
 */
async function showVersions(): Promise<() => Promise<void>> {
  const { client } = store.database;
  await client.query(`CREATE SEQUENCE shown;
    SELECT setval('shown', 1);
    ALTER TABLE data_version RENAME TO data_version_kept;
    CREATE VIEW data_version AS SELECT * FROM data_version_kept WHERE number <= (SELECT last_value FROM shown);
    GRANT SELECT ON data_version, shown TO PUBLIC`);
  return async () => void (await client.query(`SELECT nextval('shown')`));
}

testOnOneNode('a caller whose rows move in each of the runs of an operation, the last one too, gets an answer of one version', async () => {
  for (let n = 1; n <= VERSIONS; n++)
    await importLines(store.services, store.organization, [v2Line({ amount: `${n}.00`, fee_amount: '0.00', net_amount: `${n}.00` })]);
  const showNext = await showVersions();
  const proxy = await startDatabaseProxy(store.database.url);
  try {
    await withGateway({ DATABASE_URL: proxy.url, DATABASE_ENGINE: 'citus', BOOK_MEMORY_MEGABYTES: '0' }, async ({ url }) => {
      let moves = 0;
      const moveAtCount = (): void =>
        proxy.before('count(*)::float8', async () => {
          await showNext();
          moves++;
          if (moves < VERSIONS - 1) moveAtCount();
        });
      moveAtCount();
      const query = '{ deposits(first: 5) { nodes { depositDate } totalCount } }';
      const { headers, body } = await graphql(url, query, { provision: store.organization.apiProvision });
      // The run that reads all from one transaction has read two versions too.
      expect([moves, headers.get('x-data-version'), body.errors]).toEqual([VERSIONS - 1, `${VERSIONS}`, undefined]);
    });
  } finally {
    await proxy.close();
  }
});
