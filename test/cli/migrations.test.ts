import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { done, failed, runCommand, startCommand, startServe, type Environment } from '../support/command';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { makeLaterBuild } from '../support/later-build';
import { testOnOneNode } from '../support/limited-tests';
import { until } from '../support/until';

const FIRST = '20261125220000_books';
const NOTES = '99990101000000_notes';
const TAGS = '99990102000000_tags';
/** The first of them goes on while somebody holds the lock 42. */
const LATER = {
  [NOTES]: `-- Notes of saved reports
    ALTER TABLE saved_report ADD COLUMN note TEXT;
    DO $$ BEGIN
      WHILE EXISTS (SELECT FROM pg_locks JOIN pg_database d ON d.oid = database
        WHERE locktype = 'advisory' AND objid = 42 AND datname = current_database()) LOOP PERFORM pg_sleep(0.05); END LOOP;
    END $$;`,
  [TAGS]: 'CREATE TABLE tag (name TEXT PRIMARY KEY);',
};

const root = mkdtempSync(join(tmpdir(), 'gateway-migrations-'));
let later: string;
let database: TestDatabase;
let environment: Environment;

beforeAll(() => {
  later = makeLaterBuild(join(root, 'later'), LATER);
});
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(async () => {
  database = await createTestDatabase();
  environment = { DATABASE_URL: database.url };
});
afterEach(() => database.drop());

const migrate = (main?: string, ...words: string[]) => runCommand(environment, ['migrate', ...words], '', main);
const applied = (...names: string[]) => done(JSON.stringify({ applied: names, newer: [] }));
const countIn = async (query: string): Promise<number> => (await database.client.query(query)).rowCount!;
const isWaiting = async () => (await countIn(`SELECT FROM pg_locks WHERE relation = 'saved_report'::regclass AND NOT granted`)) > 0;
/** The backends that apply the first of the later migrations. */
const APPLYING = `FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE '-- Notes%'`;
const isApplying = async () => (await countIn(`SELECT ${APPLYING}`)) > 0;

/** Runs while somebody reads saved reports in a transaction. */
async function whileReportsAreRead(use: (reader: Client) => Promise<void>): Promise<void> {
  const reader = new Client({ connectionString: database.url });
  await reader.connect();
  try {
    await reader.query('BEGIN; SELECT FROM saved_report');
    await use(reader);
  } finally {
    await reader.end();
  }
}

test('an operator applies what a new release brings, in order and once, and the rows are those of Prisma Migrate', async () => {
  expect(await migrate(later, '--check')).toEqual(failed(`Not applied: ${NOTES}, ${TAGS}; run \`deposit-gateway migrate\``));
  expect(await migrate(later, '--json')).toEqual(applied(NOTES, TAGS));
  expect(await migrate(later, '--check', '--json')).toEqual(done('{"missing":[],"newer":[]}'));
  expect(await migrate(later)).toEqual(done('Nothing to apply'));
  const { rows } = await database.client.query(
    `SELECT migration_name AS name, length(id) AS "idLength", checksum ~ '^[0-9a-f]{64}$' AS "isHashed", applied_steps_count AS steps, logs,
       rolled_back_at, started_at < finished_at AS "isTimed" FROM _prisma_migrations ORDER BY started_at`,
  );
  const row = { idLength: 36, isHashed: true, steps: 1, logs: null, rolled_back_at: null, isTimed: true };
  expect(rows).toEqual([FIRST, NOTES, TAGS].map((name) => ({ name, ...row })));
});

test('readers are answered while a migration waits for one that reads for long, on a server that ends long transactions', async () => {
  const { client } = database;
  const name = `"${(await client.query<{ name: string }>('SELECT current_database() AS name')).rows[0]!.name}"`;
  await whileReportsAreRead(async (reader) => {
    const limits = [`'statement_timeout'`, `'idle_in_transaction_session_timeout'`, `'transaction_timeout'`];
    const { rows } = await client.query<{ name: string }>(`SELECT name FROM pg_settings WHERE name IN (${limits.join(', ')})`);
    for (const limit of rows) await client.query(`ALTER DATABASE ${name} SET ${limit.name} = '2s'`);
    const update = migrate(later, '--json');
    await until(isWaiting);
    expect(await countIn('SELECT FROM saved_report')).toBe(0);
    // It tries again, and goes on when the long reader has ended.
    await until(async () => !(await isWaiting()));
    await until(isWaiting);
    await client.query('SELECT pg_advisory_lock(42)');
    await reader.query('COMMIT');
    // It takes longer than each of the limits.
    await until(async () => (await countIn(`SELECT ${APPLYING} AND xact_start < now() - interval '3s'`)) > 0);
    await client.query('SELECT pg_advisory_unlock(42)');
    expect(await update).toEqual({
      ...applied(NOTES, TAGS),
      stderr: 'A table is in use: readers go on, and the migration tries again\n',
    });
  });
});

test('an operator whose migration was killed, or lost its connection, migrates again, and nothing was half applied', async () => {
  const { client } = database;
  await client.query('SELECT pg_advisory_lock(42)');
  const killed = startCommand(environment, ['migrate'], 'ignore', later);
  await until(isApplying);
  killed.kill('SIGKILL');
  await until(async () => !(await isApplying()));
  const cut = migrate(later);
  await until(isApplying);
  await client.query(`SELECT pg_terminate_backend(pid) ${APPLYING}`);
  expect(await cut).toEqual(failed('The migration failed: The database cannot be reached'));
  expect(await countIn(`SELECT FROM pg_attribute WHERE attrelid = 'saved_report'::regclass AND attname = 'note'`)).toBe(0);
  await client.query('SELECT pg_advisory_unlock(42)');
  expect(await migrate(later, '--json')).toEqual(applied(NOTES, TAGS));
  expect(await countIn('SELECT FROM _prisma_migrations')).toBe(3);
});

test('two operators who migrate at once apply each migration once, one after the other', async () => {
  const { client } = database;
  await client.query('SELECT pg_advisory_lock(42)');
  const both = [migrate(later, '--json'), migrate(later, '--json')];
  const waiting = `SELECT FROM pg_locks JOIN pg_database d ON d.oid = database
    WHERE locktype = 'advisory' AND objid = 72707369 AND NOT granted AND datname = current_database()`;
  await until(async () => (await isApplying()) && (await countIn(waiting)) > 0);
  await client.query('SELECT pg_advisory_unlock(42)');
  const names = (await Promise.all(both)).flatMap(({ status, stdout, stderr }) => {
    expect([status, stderr]).toEqual([0, '']);
    return (JSON.parse(stdout) as { applied: string[] }).applied;
  });
  expect(names.sort()).toEqual([NOTES, TAGS]);
});

test('an operator is told which migration fails, which leaves nothing, and the one before it stays', async () => {
  const broken = makeLaterBuild(join(root, 'broken'), { [NOTES]: LATER[NOTES], [TAGS]: 'CREATE TABLE half (); SELECT 1/0;' });
  expect(await migrate(broken)).toEqual(failed(`The migration failed: ${TAGS}: division by zero`));
  expect(await migrate(broken, '--check')).toEqual(failed(`Not applied: ${TAGS}; run \`deposit-gateway migrate\``));
  // So is one that cannot be noted.
  await database.client.query(`ALTER TABLE _prisma_migrations ADD CONSTRAINT unnoted CHECK (migration_name <> '${TAGS}')`);
  const refusal = 'new row for relation "_prisma_migrations" violates check constraint "unnoted"';
  expect(await migrate(later)).toEqual(failed(`The migration failed: ${TAGS}: ${refusal}`));
  expect(await countIn(`SELECT FROM pg_class WHERE relname IN ('half', 'tag')`)).toBe(0);
  await database.client.query('ALTER TABLE _prisma_migrations DROP CONSTRAINT unnoted');
  expect(await migrate(later, '--json')).toEqual(applied(TAGS));
});

test('an operator is told of a migration that was changed after it was applied', async () => {
  await migrate(later);
  const changed = makeLaterBuild(join(root, 'changed'), { ...LATER, [NOTES]: `${LATER[NOTES]} ` });
  const words = `The migration ${NOTES} is not as it was when it was applied: use an unchanged gateway`;
  expect(await migrate(changed)).toEqual(failed(`The migration failed: ${words}`));
  expect(await migrate(changed, '--check')).toEqual(failed(words));
});

test('an operator is told that a database is newer than the gateway, which goes on serving it', async () => {
  await migrate(later);
  await database.client.query('GRANT SELECT ON tag TO deposit_gateway_serving');
  const isNewer = `the database is of a newer gateway, with ${NOTES}, ${TAGS}`;
  expect(await migrate()).toEqual(done(`Nothing to apply: ${isNewer}`));
  expect(await migrate(undefined, '--check')).toEqual(done(`Every migration is applied: ${isNewer}`));
  // A newer gateway that serves keeps its rights.
  expect(await countIn(`SELECT WHERE has_table_privilege('deposit_gateway_serving', 'tag', 'SELECT')`)).toBe(1);
  const gateway = await startServe(environment);
  expect((await fetch(`${gateway.url}/ready`)).status).toBe(200);
  await gateway.end('SIGTERM');
  // One that lacks a migration as well is of no release.
  await database.client.query(`UPDATE _prisma_migrations SET migration_name = 'elsewhere' WHERE migration_name = '${FIRST}'`);
  const words = `The database has the migration elsewhere, which this gateway does not know, and lacks ${FIRST}: use a newer gateway`;
  expect(await migrate(later)).toEqual(failed(`The migration failed: ${words}`));
  expect(await migrate(later, '--check')).toEqual(failed(words));
  const others = `The database has the migration ${NOTES}, and none of this gateway's: make a new one, and import again`;
  expect(await migrate()).toEqual(failed(`The migration failed: ${others}`));
});

test('a balancer does not ask a gateway of a new release before its migrations are there', async () => {
  const gateway = await startServe(environment, 'pipe', later);
  const ready = async () => (await fetch(`${gateway.url}/ready`)).status;
  expect(await ready()).toBe(503);
  await migrate(later);
  await until(async () => (await ready()) === 200);
  await gateway.end('SIGTERM');
});

test('an operator migrates a database in which a row of Prisma Migrate was left open, and one with other tables is refused', async () => {
  const { client } = database;
  await client.query(`INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('open', '', '${NOTES}')`);
  expect(await migrate(later, '--json')).toEqual(applied(NOTES, TAGS));
  expect(await countIn('SELECT FROM _prisma_migrations WHERE finished_at IS NULL AND rolled_back_at IS NULL')).toBe(0);
  await client.query('DROP TABLE _prisma_migrations');
  const words = "The database has tables that are not the gateway's: name an empty one";
  expect(await migrate()).toEqual(failed(`The migration failed: ${words}`));
});

testOnOneNode("an operator keeps the gateway's tables in a schema of their own, beside another application of Prisma", async () => {
  const { client } = database;
  await client.query(`DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE SCHEMA gateway; CREATE TABLE public._prisma_migrations (
    id TEXT, checksum TEXT, migration_name TEXT, finished_at TIMESTAMPTZ, rolled_back_at TIMESTAMPTZ)`);
  await client.query(`INSERT INTO public._prisma_migrations VALUES ('1', '', 'theirs', now(), NULL), ('2', '', 'open', NULL, NULL)`);
  const url = new URL(database.url);
  url.searchParams.set('options', '-c search_path=gateway,public');
  environment = { DATABASE_URL: url.href };
  expect(await migrate(undefined, '--json')).toEqual(applied(FIRST));
  expect(await countIn('SELECT FROM gateway.deposit_line')).toBe(0);
  expect(await countIn('SELECT FROM public._prisma_migrations WHERE rolled_back_at IS NULL')).toBe(2);
  // A schema that comes before it from now on does not take the next tables.
  await client.query('CREATE SCHEMA newer');
  url.searchParams.set('options', '-c search_path=newer,gateway,public');
  environment = { DATABASE_URL: url.href };
  expect(await migrate(later, '--json')).toEqual(applied(NOTES, TAGS));
  expect(await countIn('SELECT FROM gateway.tag')).toBe(0);
});
