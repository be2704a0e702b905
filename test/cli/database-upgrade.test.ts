import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { done, runCommand, startCommand } from '../support/command';
import { depositBook } from '../support/deposit-book';
import { createOrganization, graphql, importLines, v2Line } from '../support/gateway';
import { testOnOneNode } from '../support/limited-tests';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const gateway = openGateway({ lines: depositBook(200) });
const { organization } = gateway;
const MIGRATIONS = join(__dirname, '../../prisma/migrations');
const LINES_MIGRATIONS = ['20261122090000_deposit_lines', '20261122090100_fill_deposit_lines', '20261122110000_list_orders'];

/** Turns the database into one that lacks the table of lines and what needs its search, with the view as it was then. */
async function forgetLines(): Promise<void> {
  const { client } = gateway.database;
  await client.query(`
    DROP TABLE deposit_line, data_version;
    DROP VIEW deposit_detail;
    DROP INDEX deposit_organization_id_status_deposit_date_id_idx, transaction_organization_id_transaction_date_id_idx,
      transaction_organization_id_amount_id_idx, donor_name_idx, designation_name_idx;
    CREATE INDEX donor_organization_id_last_name_first_name_id_idx ON donor(organization_id, last_name, first_name, id);
    DROP FUNCTION fold_for_search;
    ALTER TABLE donor DROP COLUMN search_text;
    -- A later migration has dropped this table.
    CREATE TABLE export_record ()`);
  await client.query(readFileSync(join(MIGRATIONS, '20261121120000_inferred_shares/migration.sql'), 'utf8'));
  await client.query('DELETE FROM _prisma_migrations WHERE migration_name = ANY($1)', [LINES_MIGRATIONS]);
}

const RANGE = 'start_date=2024-01-01&end_date=2024-12-31&include_pending=true';
const PATHS = [
  `/api/v2/deposit_detail_designation_detail_with_contact_info?${RANGE}`,
  `/export/deposit-details.csv?${RANGE}&columns=all`,
  `/export/deposit-summary.csv?${RANGE}&group_by=MONTH&group_by=DESIGNATION`,
];
const QUERY = `{
  depositSummary(startDate: "2024-01-01", endDate: "2024-12-31", pending: WITH) { digest all { lines donors byAllocation { amount known inferred unknown } } }
  donors(search: "ad", first: 100) { totalCount nodes { lastName transactions { nodes { amount allocations { nodes { amount amountInferred } } } } } }
  depositDetailsConnection(startDate: "2024-01-01", endDate: "2024-12-31", orderBy: { field: DONOR_NAME, direction: DESC }, first: 50) { nodes { allocationId allocationAmount } }
}`;

async function answers(): Promise<unknown[]> {
  const headers = { Provision: organization.apiProvision };
  const texts = PATHS.map(async (path) => (await fetch(gateway.url + path, { headers })).text());
  return [...(await Promise.all(texts)), (await graphql(gateway.url, QUERY, { provision: organization.apiProvision })).body];
}

testOnOneNode('an operator updates a database with books, and every answer stays as it was', async () => {
  const environment = { DATABASE_URL: gateway.database.url };
  const before = await answers();
  expect(before[3]).toEqual({ data: expect.any(Object) as unknown });
  await forgetLines();
  const { status, stdout } = await runCommand(environment, ['migrate', '--json']);
  expect([status, JSON.parse(stdout)]).toEqual([0, { applied: LINES_MIGRATIONS }]);
  expect(await answers()).toEqual(before);

  const { books } = gateway.services;
  const check = await books.check(organization.id);
  expect(check).toMatchObject({ differences: 0, version: 1, versionsAreWhole: true, totalsAgree: true });
  expect(await books.newestVersions(organization.id, 2)).toMatchObject([{ number: 1, cause: 'migration', linesAdded: check.lines }]);
  await importLines(gateway.services, organization, depositBook(200));
  expect(await books.newestVersions(organization.id, 2)).toHaveLength(1);
});

const FOLDING = '20261123090000_quick_computing';
const FOLDINGS = [
  ...['20261124230000_acute_as_apostrophe', '20261125030000_capitals_of_more_scripts'],
  ...['20261125100000_words_end_at_punctuation', '20261125180000_capitals_and_accents_of_all_scripts'],
];

testOnOneNode('an operator updates the search of a database, and a gateway that serves throughout finds the donors', async () => {
  const { client, url } = gateway.database;
  const own = await createOrganization(gateway.services);
  const { apiProvision: provision } = own;
  await client.query(readFileSync(join(MIGRATIONS, FOLDING, 'migration.sql'), 'utf8'));
  await client.query('DELETE FROM _prisma_migrations WHERE migration_name = ANY($1)', [FOLDINGS]);
  await importLines(gateway.services, own, [
    v2Line({ donor_last_name: 'O´Connor' }),
    v2Line({ transaction_id: '2', allocation_id: '2', donor_id: 8, donor_last_name: 'Ocean/Sea' }),
    v2Line({ transaction_id: '3', allocation_id: '3', donor_id: 9, donor_last_name: 'Ħamrun' }),
    v2Line({ transaction_id: '4', allocation_id: '4', donor_id: 10, donor_first_name: "D'", donor_last_name: 'Ⱥfa' }),
    v2Line({ transaction_id: '5', allocation_id: '5', donor_id: 11, donor_last_name: 'ⱥba' }),
  ]);
  const query = `{
    donors(search: "o'connor", first: 2) { nodes { lastName } }
    sorted: donors(orderBy: { field: NAME }, first: 5) { nodes { lastName } }
    apostrophe: depositSummary(filter: { donorName: "oconnor" }) { all { lines } }
    capital: depositSummary(filter: { donorName: "ħamrun" }) { all { lines } }
    slash: depositSummary(filter: { donorName: "sea" }) { all { lines } }
    scripts: depositSummary(filter: { donorName: "ⱥfa" }) { all { lines } }
  }`;
  const found = async () => (await graphql(gateway.url, query, { provision })).body.data;
  const sorted = (...names: string[]) => ({ nodes: names.map((lastName) => ({ lastName })) });
  const lines = (count: number) => ({ all: { lines: count } });
  const file = async (tag = '') => {
    const url = `${gateway.url}/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31&donor_name=oconnor`;
    const answer = await fetch(url, { headers: { Provision: provision, 'If-None-Match': tag } });
    await answer.arrayBuffer();
    return { status: answer.status, tag: answer.headers.get('etag')! };
  };
  const names = ['O´Connor', 'Ocean/Sea', 'Ħamrun', 'Ⱥfa', 'ⱥba'];
  expect(await found()).toEqual({
    ...{ donors: sorted(), sorted: sorted(...names), apostrophe: lines(0), capital: lines(0), slash: lines(0), scripts: lines(0) },
  });
  const { tag } = await file();
  expect(await runCommand({ DATABASE_URL: url }, ['migrate', '--json'])).toEqual(done(JSON.stringify({ applied: FOLDINGS })));
  expect(await found()).toEqual({
    ...{
      donors: sorted('O´Connor'),
      sorted: sorted('Ħamrun', 'Ocean/Sea', 'O´Connor', 'ⱥba', 'Ⱥfa'),
      ...{ apostrophe: lines(1), capital: lines(1), slash: lines(1), scripts: lines(1) },
    },
  });
  expect(await file(tag)).toMatchObject({ status: 200 });
  const { books } = gateway.services;
  const check = { differences: 0, unsearchableDonors: 0, version: 4, versionsAreWhole: true, totalsAgree: true };
  expect(await books.check(own.id)).toMatchObject(check);
  expect(await books.newestVersions(own.id, 1)).toMatchObject([{ cause: 'migration', linesChanged: 0, lines: 5 }]);
});

/** Takes the title of reports away while a reader of them holds the migration up that brings it back. */
async function whileReportsAreRead(use: (holder: Client, isWaiting: () => Promise<boolean>) => Promise<void>): Promise<void> {
  const { client, url } = gateway.database;
  const holder = new Client({ connectionString: url });
  await holder.connect();
  try {
    await client.query('ALTER TABLE saved_report DROP COLUMN title');
    await client.query(`DELETE FROM _prisma_migrations WHERE migration_name = '20261122120000_report_titles'`);
    await holder.query('BEGIN; SELECT FROM saved_report');
    await use(
      holder,
      async () => (await client.query(`SELECT FROM pg_locks WHERE relation = 'saved_report'::regclass AND NOT granted`)).rowCount! > 0,
    );
  } finally {
    await holder.end();
  }
}

test('readers are answered while an update waits for one that reads for long, on a server that ends long transactions', async () => {
  const { client, url } = gateway.database;
  const reader = new Client({ connectionString: url });
  await reader.connect();
  const name = `"${(await client.query<{ name: string }>('SELECT current_database() AS name')).rows[0]!.name}"`;
  try {
    await whileReportsAreRead(async (holder, isWaiting) => {
      await client.query(`ALTER DATABASE ${name} SET idle_in_transaction_session_timeout = '2s'`);
      const limits = await client.query(`SELECT FROM pg_settings WHERE name = 'transaction_timeout'`);
      if (limits.rowCount! > 0) await client.query(`ALTER DATABASE ${name} SET transaction_timeout = '2s'`);
      const update = runCommand({ DATABASE_URL: url }, ['migrate', '--json']);
      await until(isWaiting);
      await reader.query(`SET statement_timeout = '30s'`);
      expect((await reader.query('SELECT FROM saved_report')).rowCount).toBe(0);
      // The update tries again, and goes on when the long one has ended.
      await until(async () => !(await isWaiting()));
      await until(isWaiting);
      await holder.query('COMMIT');
      expect(await update).toMatchObject({
        ...{ status: 0, stdout: '{"applied":["20261122120000_report_titles"]}\n' },
        stderr: 'A table is in use: readers go on, and the migration tries again\n',
      });
    });
  } finally {
    await client.query(`ALTER DATABASE ${name} RESET ALL`);
    await reader.end();
  }
});

const END_LOCK = `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database d ON d.oid = database
  WHERE locktype = 'advisory' AND objid = 72707369 AND datname = current_database()`;

test.each([
  ['before its last migration', `'20261122120000_report_titles'`],
  ['before another migration', `'20261122120000_report_titles', '20261122130000_spent_cost'`],
])('an operator whose update loses its lock %s is told so, and the next update goes on', async (_time, missing) => {
  const { client, url } = gateway.database;
  await client.query(`CREATE TABLE noted AS SELECT * FROM _prisma_migrations WHERE migration_name IN (${missing})`);
  try {
    await whileReportsAreRead(async (holder, isWaiting) => {
      await client.query(`DELETE FROM _prisma_migrations WHERE migration_name IN (${missing})`);
      const update = runCommand({ DATABASE_URL: url }, ['migrate']);
      await until(isWaiting);
      expect((await client.query(END_LOCK)).rowCount).toBe(1);
      await holder.query('COMMIT');
      const { status, stderr } = await update;
      expect([status, stderr]).toEqual([1, expect.stringContaining('The migration failed: The lock was lost: another migration may')]);
    });
  } finally {
    // The table of the other migration was there all the time.
    await client.query(
      `INSERT INTO _prisma_migrations SELECT * FROM noted WHERE migration_name NOT IN (SELECT migration_name FROM _prisma_migrations)
        AND migration_name <> '20261122120000_report_titles'`,
    );
    await client.query('DROP TABLE noted');
  }
  expect(await runCommand({ DATABASE_URL: url }, ['migrate'])).toEqual(done('Nothing to apply'));
});

const END_MIGRATION = `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'saved_report'::regclass AND NOT granted`;

test('an operator whose update was killed, or lost its connection, updates again', async () => {
  const { client, url } = gateway.database;
  await whileReportsAreRead(async (_holder, isWaiting) => {
    const killed = startCommand({ DATABASE_URL: url }, ['migrate'], 'ignore');
    await until(isWaiting);
    killed.kill('SIGKILL');
    await until(async () => !(await isWaiting()));
    const cut = runCommand({ DATABASE_URL: url }, ['migrate']);
    await until(async () => (await client.query(END_MIGRATION)).rowCount! > 0);
    expect(await cut).toMatchObject({ status: 1, stderr: expect.stringContaining('The migration failed: ') as string });
  });
  expect(await runCommand({ DATABASE_URL: url }, ['migrate', '--json'])).toEqual(done('{"applied":["20261122120000_report_titles"]}'));
  const rows = await client.query(
    `SELECT applied_steps_count AS steps, finished_at IS NULL AS "isOpen", rolled_back_at IS NOT NULL AS "isUndone"
     FROM _prisma_migrations WHERE migration_name = '20261122120000_report_titles' ORDER BY started_at`,
  );
  const undone = { steps: 0, isOpen: true, isUndone: true };
  expect(rows.rows).toEqual([undone, undone, { steps: 1, isOpen: false, isUndone: false }]);
});

test('an operator whose update was killed after its last migration finds that migration applied', async () => {
  const { client, url } = gateway.database;
  // What comes after the migration's own transaction fails, as if it had not come.
  await client.query(`CREATE FUNCTION end_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF current_query() NOT LIKE '%saved_report%' THEN RAISE 'killed'; END IF; RETURN NEW; END $$`);
  await whileReportsAreRead(async (holder) => {
    await holder.query('COMMIT');
    await client.query('CREATE TRIGGER killed BEFORE UPDATE ON _prisma_migrations FOR EACH ROW EXECUTE FUNCTION end_update()');
    expect(await runCommand({ DATABASE_URL: url }, ['migrate'])).toMatchObject({ status: 1 });
    await client.query('DROP FUNCTION end_update CASCADE');
  });
  expect(await runCommand({ DATABASE_URL: url }, ['migrate'])).toEqual(done('Nothing to apply'));
});
