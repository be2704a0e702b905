import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { asServing, createTestDatabase, isDistributed, SERVING_ROLE, type TestDatabase } from '../support/database';
import { failed, runCommand, succeed } from '../support/command';

const ROLES = join(__dirname, '../../prisma/roles');
const DENIED = '42501';
const NOT_NULL = '23502';
/** Citus refuses some changes before it asks for rights, whoever makes them. */
const REFUSED: unknown = isDistributed ? expect.stringMatching(/^(42501|0A000)$/) : DENIED;

let database: TestDatabase;
let serving: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  serving = new Client({ connectionString: asServing(database.url) });
  await serving.connect();
});

afterAll(async () => {
  await serving.end();
  await database.drop();
});

const stateOf = (sql: string): Promise<string> =>
  serving.query(sql).then(
    () => 'done',
    (error: unknown) => (error as { code?: string }).code ?? 'no code',
  );

describe('the role that serves', () => {
  test.each(['deposit', 'transaction', 'allocation', 'designation', 'donor', 'deposit_line'])(
    'reads the books and cannot change them: %s',
    async (table) => {
      expect(await stateOf(`SELECT * FROM ${table}`)).toBe('done');
      expect(await stateOf(`DELETE FROM ${table}`)).toEqual(REFUSED);
      expect(await stateOf(`UPDATE ${table} SET organization_id = 1`)).toEqual(REFUSED);
      expect(await stateOf(`INSERT INTO ${table} DEFAULT VALUES`)).toEqual(REFUSED);
      expect(await stateOf(`TRUNCATE ${table}`)).toEqual(REFUSED);
    },
  );

  test('closes months and reopens them, and takes no version and no close away', async () => {
    for (const table of ['data_version', 'period_close', 'closed_month']) {
      expect(await stateOf(`SELECT * FROM ${table}`)).toBe('done');
      expect(await stateOf(`DELETE FROM ${table}`)).toEqual(REFUSED);
      expect(await stateOf(`UPDATE ${table} SET organization_id = 1`)).toEqual(REFUSED);
      expect(await stateOf(`INSERT INTO ${table} DEFAULT VALUES`)).toBe(NOT_NULL);
      expect(await stateOf(`TRUNCATE ${table}`)).toEqual(REFUSED);
    }
    expect(await stateOf('UPDATE data_version SET lines = 0')).toBe(DENIED);
    expect(await stateOf('UPDATE closed_month SET lines = 0')).toBe(DENIED);
    expect(await stateOf(`UPDATE period_close SET through = '2024-01-01'`)).toBe(DENIED);
    expect(await stateOf(`UPDATE period_close SET reopened_by = 'ada'`)).toBe('done');
  });

  test.each(['organization', 'provision', 'provision_key', '"user"'])('gives nobody rights: %s', async (table) => {
    expect(await stateOf(`SELECT * FROM ${table}`)).toBe('done');
    expect(await stateOf(`DELETE FROM ${table}`)).toBe(DENIED);
    expect(await stateOf(`INSERT INTO ${table} DEFAULT VALUES`)).toBe(DENIED);
  });

  test('writes of a provision its last use alone, and of a user nothing', async () => {
    expect(await stateOf('UPDATE provision SET last_used_at = now()')).toBe('done');
    expect(await stateOf(`UPDATE provision SET privileges = '{audit_records}'`)).toBe(DENIED);
    expect(await stateOf('UPDATE provision SET revoked_at = NULL')).toBe(DENIED);
    expect(await stateOf(`UPDATE "user" SET password_hash = ''`)).toBe(DENIED);
  });

  test('brings webhooks on, and changes no receiver and no secret', async () => {
    expect(await stateOf('SELECT * FROM webhook')).toBe('done');
    expect(await stateOf('UPDATE webhook SET acknowledged_version = 1, disabled_at = now()')).toBe('done');
    for (const change of [`url = ''`, `secret = ''`, 'organization_id = 1'])
      expect(await stateOf(`UPDATE webhook SET ${change}`)).toBe(DENIED);
    expect(await stateOf('DELETE FROM webhook')).toBe(DENIED);
    expect(await stateOf('UPDATE webhook_delivery SET status = 200')).toBe(DENIED);
  });

  test('adds to the audit, and neither changes nor deletes a row', async () => {
    expect(await stateOf('SELECT * FROM audit_record')).toBe('done');
    expect(await stateOf(`UPDATE audit_record SET username = ''`)).toBe(DENIED);
    expect(await stateOf('DELETE FROM audit_record')).toBe(DENIED);
    expect(await stateOf('UPDATE audit_chain SET anchor_number = 9')).toBe(DENIED);
    expect(await stateOf('DELETE FROM audit_chain')).toBe(DENIED);
  });

  test('makes no tables, functions or roles, and reads no file of the server', async () => {
    expect(await stateOf('CREATE TABLE mine ()')).toBe(DENIED);
    expect(await stateOf(`CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'`)).toBe(DENIED);
    expect(await stateOf('CREATE ROLE mine')).toBe(DENIED);
    expect(await stateOf('SET ROLE postgres')).not.toBe('done');
    expect(await stateOf(`SELECT pg_read_file('/etc/passwd')`)).toBe(DENIED);
    expect(await stateOf(`COPY donor TO PROGRAM 'cat'`)).toBe(DENIED);
    expect(await stateOf('SELECT * FROM pg_authid')).toBe(DENIED);
  });

  test('has rights that are decided for every table', async () => {
    const { rows } = await database.client.query<{ name: string }>(
      `SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`,
    );
    const grants = readFileSync(join(ROLES, 'grants.sql'), 'utf8');
    expect(rows.map(({ name }) => name).filter((name) => !grants.includes(`"${name}"`))).toEqual([]);
  });

  test('loses rights that somebody gave by hand with the next `migrate`', async () => {
    await database.client.query(`GRANT DELETE ON donor TO ${SERVING_ROLE}`);
    expect(await stateOf('DELETE FROM donor')).toBe('done');
    await succeed({ DATABASE_URL: database.url }, ['migrate']);
    expect(await stateOf('DELETE FROM donor')).toBe(DENIED);
  });
});

describe('an operator', () => {
  test('is told to give the address of the owner, when a command may not write', async () => {
    const serving = { DATABASE_URL: asServing(database.url) };
    expect(await runCommand(serving, ['organization', 'create', 'New'])).toEqual(
      failed('The database user lacks a grant on organization: give the address of the owner in OWNER_DATABASE_URL'),
    );
    const both = { ...serving, OWNER_DATABASE_URL: database.url };
    expect(await runCommand(both, ['organization', 'create', 'New'])).toMatchObject({ status: 0 });
  });

  test('creates both roles and their database by the file that is given, and migrates as the owner', async () => {
    const names = { deposit_gateway_owner: `owner_${database.client.database!}`, deposit_gateway: `made_${database.client.database!}` };
    const script = readFileSync(join(ROLES, 'create.sql'), 'utf8')
      // The role that serves exists once for all tests.
      .replace(/^CREATE ROLE deposit_gateway_serving.*$/m, '')
      .replace(/^\\prompt .*$/gm, '')
      .replaceAll('deposit_gateway_owner', names.deposit_gateway_owner)
      .replace(/\bdeposit_gateway\b/g, names.deposit_gateway)
      .replace(`:'owner_password'`, `'secret'`);
    const [before, after] = script.split(/^\\connect .*$/m) as [string, string];
    // CREATE DATABASE must be sent alone.
    for (const statement of before.split(';').filter((text) => /\w/.test(text.replace(/--.*$/gm, ''))))
      await database.client.query(statement);
    // No pooler knows a role that was made just now.
    const made = new URL(process.env.TEST_SERVER_URL!);
    made.pathname = `/${names.deposit_gateway}`;
    const superuser = new Client({ connectionString: made.href });
    await superuser.connect();
    try {
      await superuser.query(after);
      made.username = names.deposit_gateway_owner;
      made.password = 'secret';
      expect(await succeed({ DATABASE_URL: made.href }, ['migrate'])).toMatch(/^Applied 2026/);
      const reader = new Client({ connectionString: asServing(made.href) });
      await reader.connect();
      expect((await reader.query('SELECT * FROM donor')).rows).toEqual([]);
      await reader.end();
    } finally {
      await superuser.end();
      await database.client.query(`DROP DATABASE ${names.deposit_gateway} WITH (FORCE)`);
      await database.client.query(`DROP ROLE ${names.deposit_gateway_owner}`);
    }
  });
});
