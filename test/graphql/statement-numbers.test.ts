import fc from 'fast-check';
import { anyOperation } from '../support/any-operation';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy';
import { depositBook } from '../support/deposit-book';
import { graphql, startGateway, type GraphqlAnswer, type TestGateway } from '../support/gateway';
import { mostStatementsOf, schema, withLengths } from '../support/list-lengths';
import { openGateway } from '../support/open-gateway';
import { tries } from '../support/tries';
import { until } from '../support/until';

/** More operations find more faults. */
const OPERATIONS = tries(100);
/** The average time of an operation on a busy machine, at most. */
const MOST_MS = 300;
/** The lengths of long lists: the first with which the gateway does not find the operation too costly. */
const LONG = [50, 12, 4];
/** The check of the caller, and the beginning and the end of a snapshot. */
const BESIDE_FIELDS = 3;

/** The tables whose rows expire. */
const TABLES = 4;

let proxy: DatabaseProxy;
let gateway: TestGateway;
// Hooks run in the order in which they stand here: the gateway stops before the database that it reads.
afterAll(async () => {
  await gateway.stop();
  await proxy.close();
});
/** The database of this gateway holds the data. */
const store = openGateway({ countsStatements: true, lines: depositBook(150) });
beforeAll(async () => {
  proxy = await startDatabaseProxy(store.database.url);
  // Totals that were kept would spare the second execution its statements.
  gateway = await startGateway({ DATABASE_URL: proxy.url, BOOK_MEMORY_MEGABYTES: '0' });
});

interface Counted {
  readonly statements: number;
  readonly answer: GraphqlAnswer;
}

/** Executes an operation and counts its statements, up to the one that ends its snapshot, for which no answer waits. */
async function count(query: string): Promise<Counted> {
  const before = proxy.statements();
  const answer = await graphql(gateway.url, query, { provision: store.organization.apiProvision });
  await until(async () => {
    const { rows } = await store.database.client.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`,
    );
    return rows.length === 0;
  });
  return { statements: proxy.statements() - before, answer };
}

/** The same. What seems to be too many is counted again, because the gateway removes expired rows every five minutes, table by table. */
async function countUpTo(most: number, query: string): Promise<Counted> {
  for (let again = 0; again < TABLES; again++) {
    const counted = await count(query);
    if (counted.statements <= most) return counted;
  }
  return count(query);
}

/** True when every list has an item, and every field a value, so that a longer list can lead to nothing new. */
const isFull = ({ body }: GraphqlAnswer): boolean => body.errors === undefined && !/\[\]|null/.test(JSON.stringify(body.data));

test(
  'the number of statements of any operation depends on its text alone, however long its lists are',
  async () => {
    const operations = anyOperation(schema, {
      texts: ['D1', 'D7', 'T2', 'A2-0', 'Adl'],
      numbers: [1, 2, 3, 12],
      cursors: [],
      ids: ['Deposit:D1', 'Transaction:T2', 'Allocation:A2-0', 'Designation:2', 'Donor:12'].map((name) =>
        Buffer.from(name).toString('base64url'),
      ),
    });
    const seen = { refused: 0, compared: 0, most: 0, longest: 0 };
    await fc.assert(
      fc.asyncProperty(operations, async (query) => {
        const most = mostStatementsOf(query) + BESIDE_FIELDS;
        const short = await countUpTo(most, withLengths(query, 1));
        if (short.answer.status !== 200) return void seen.refused++;
        expect(short.statements).toBeLessThanOrEqual(most);
        // It depends on the moment alone whether a digest is read on a second connection.
        const isCompared = isFull(short.answer) && !/digest/i.test(query);
        for (const length of LONG) {
          const long = await countUpTo(isCompared ? short.statements : most, withLengths(query, length));
          if (long.answer.status !== 200) continue;
          expect(long.statements).toBeLessThanOrEqual(isCompared ? short.statements : most);
          if (isCompared) seen.compared++;
          seen.most = Math.max(seen.most, long.statements);
          seen.longest = Math.max(seen.longest, JSON.stringify(long.answer.body).length);
          return;
        }
        seen.refused++;
      }),
      // Shrinking takes far longer than reading the operation that fails.
      { numRuns: OPERATIONS, endOnFailure: true },
    );
    if (process.env.TRIES !== undefined) console.log(`${OPERATIONS} operations: ${JSON.stringify(seen)}`);
    // Refused operations and empty lists test little.
    expect(seen.refused).toBeLessThan(OPERATIONS / 2);
    expect(seen.compared).toBeGreaterThan(OPERATIONS / 10);
  },
  Math.max(900_000, OPERATIONS * MOST_MS),
);
