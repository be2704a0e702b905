import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { done, failed, runCommand, runProcess, withoutDatabase, type Environment } from '../support/command';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
let environment: Environment;

beforeAll(async () => {
  database = await createTestDatabase();
  environment = { DATABASE_URL: database.url };
});
afterAll(() => database.drop());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('an operator whose database or settings are not right', () => {
  test('is told in one line that the disk of the database is full', async () => {
    // PostgreSQL's own words at the end of a disk.
    const words = `could not extend file "base/5/16401": No space left on device`;
    await database.client.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE '${words}' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON organization FOR EACH ROW EXECUTE FUNCTION refuse()`);
    const result = await runCommand(environment, ['organization', 'create', 'Church']);
    expect(result).toEqual(failed('Data source query failed: the disk of the database has no room left'));
    await database.client.query('DROP FUNCTION refuse() CASCADE');
  });

  test('brings an empty database to the newest schema, once', async () => {
    const own = `empty_${randomUUID().replaceAll('-', '')}`;
    await database.client.query(`CREATE DATABASE ${own}`);
    const url = new URL(database.url);
    url.pathname = `/${own}`;
    const empty = { DATABASE_URL: url.href, DATABASE_ENGINE: 'postgresql' };
    try {
      const name = '20261125220000_books';
      const lacking = failed('The database lacks migrations: run `deposit-gateway migrate`');
      expect(await runCommand(empty, ['organization', 'list'])).toEqual(lacking);
      expect(await runCommand(empty, ['audit', '--organization', 'Church'])).toEqual(lacking);
      const unapplied = failed(`Not applied: ${name}; run \`deposit-gateway migrate\``);
      expect(await runCommand(empty, ['migrate', '--check'])).toEqual(unapplied);
      expect(await runCommand(empty, ['migrate', '--json'])).toEqual(done(`{"applied":["${name}"],"newer":[]}`));
      expect(await runCommand(empty, ['migrate'])).toEqual(done('Nothing to apply'));
      const lackingCitus = 'The migration failed: DATABASE_ENGINE is citus, but the database lacks the extension citus';
      expect(await runCommand({ ...empty, DATABASE_ENGINE: 'citus' }, ['migrate'])).toEqual(failed(lackingCitus));
      expect(await runCommand(empty, ['organization', 'list', '--json'])).toEqual(done('[]'));
      // A pooler keeps the connections of a command, and a lock of their sessions with them.
      const locks = `SELECT FROM pg_locks JOIN pg_database d ON d.oid = database WHERE locktype = 'advisory' AND datname = $1`;
      expect((await database.client.query(locks, [own])).rows).toEqual([]);
    } finally {
      await database.client.query(`DROP DATABASE ${own} WITH (FORCE)`);
    }
  });

  test('is told why no address of the database answers, when its host has several', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'gateway-hosts-'));
    const hosts = join(directory, 'hosts.js');
    const addresses = `[{ address: '::1', family: 6 }, { address: '127.0.0.1', family: 4 }]`;
    writeFileSync(hosts, `require('node:dns').lookup = (name, options, done) => process.nextTick(done, null, ${addresses});`);
    const twice = { DATABASE_URL: 'postgresql://ada@books.test:1/books', NODE_OPTIONS: `--require=${hosts}` };
    const told = async (...words: string[]): Promise<string> => withoutDatabase((await runProcess(twice, words)).stderr);
    try {
      const both = 'No connection to data source: connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1\n';
      expect(await told('migrate', '--check')).toBe(both);
      expect(await told('organization', 'list')).toBe('No connection to data source: ECONNREFUSED\n');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('is refused while Prisma Migrate or another command migrates the same database', async () => {
    // Prisma's tools lock this number while they migrate.
    await database.client.query('SELECT pg_advisory_lock(72707369)');
    try {
      const refusal = 'The migration failed: Another migration of the database is under way';
      expect(await runCommand(environment, ['migrate'])).toEqual(failed(refusal));
    } finally {
      await database.client.query('SELECT pg_advisory_unlock(72707369)');
    }
    expect(await runCommand(environment, ['migrate'])).toEqual(done('Nothing to apply'));
  });

  test('checks what is missing as a user who may do nothing but read', async () => {
    const name = `read_${randomUUID().replaceAll('-', '')}`;
    await database.client.query(`CREATE DATABASE ${name} TEMPLATE gateway_template`);
    await database.client.query(`CREATE ROLE ${name} LOGIN PASSWORD 'reader'`);
    // No pooler knows a role that was made just now.
    const url = new URL(process.env.TEST_SERVER_URL!);
    url.pathname = `/${name}`;
    const owner = new Client({ connectionString: url.href });
    owner.on('error', () => undefined);
    await owner.connect();
    url.username = name;
    url.password = 'reader';
    const reader = { DATABASE_URL: url.href };
    try {
      const lacksGrant = failed('Data source query failed: permission denied for table _prisma_migrations');
      expect(await runCommand(reader, ['migrate', '--check'])).toEqual(lacksGrant);
      await owner.query(`GRANT SELECT ON _prisma_migrations TO ${name}`);
      expect(await runCommand(reader, ['migrate', '--check'])).toEqual(done('Every migration is applied'));
      expect(await runCommand(reader, ['migrate', '--check', '--json'])).toEqual(done('{"missing":[],"newer":[]}'));
      await owner.query('UPDATE _prisma_migrations SET rolled_back_at = now()');
      expect(await runCommand(reader, ['migrate', '--check', '--json'])).toEqual({
        status: 1,
        stdout: '{"missing":["20261125220000_books"],"newer":[]}\n',
        stderr: '{"error":"Not applied: 20261125220000_books; run `deposit-gateway migrate`"}\n',
      });
    } finally {
      await owner.end();
      await database.client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await database.client.query(`DROP ROLE ${name}`);
    }
  });

  test('is told in one line that there is no database', async () => {
    const nowhere = { DATABASE_URL: 'postgresql://ada:secret@127.0.0.1:1/nothing' };
    for (const words of [['organization', 'list'], ['migrate'], ['migrate', '--check']]) {
      const { status, stdout, stderr } = await runCommand(nowhere, words);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^.+\n$/);
      expect(stderr).not.toMatch(/secret| at .*\.js/);
    }
  });

  test('is told every setting that cannot be right, a line each, without the password in it', async () => {
    expect(await runCommand({ ...environment, PORT: 'abc' }, ['organization', 'list'])).toEqual(
      failed('PORT: expected a whole number from 0 to 65535, got "abc"'),
    );
    expect(await runCommand({ PORT: '65536', DEMO: 'yes', DATABASE_URL: 'mysql://ada:secret@localhost/x' }, ['serve'])).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'PORT: expected a whole number from 0 to 65535, got "65536"\n' +
        'DATABASE_URL: expected a URL like postgresql://user:password@host:5432/database; a password has every character but letters and digits percent-encoded, such as %40 for @\n' +
        'DEMO: expected one of on, off, got "yes"\n',
    });
  });

  test('gets the GraphQL schema without any database', async () => {
    const { status, stdout, stderr } = await runCommand({ DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' }, ['schema']);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^type Query \{$/m);
    expect(stdout).toMatch(/^ {2}depositDetails\($/m);
  });
});

test('an operator gets a demo organization, once, and quietly in a pipe', async () => {
  const { status, stdout, stderr } = await runCommand(environment, ['demo', '--json']);
  expect([status, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toEqual({
    organization: 'Demo',
    apiProvision: expect.stringMatching(UUID) as string,
    webProvision: expect.stringMatching(UUID) as string,
    username: 'analyst',
    password: expect.stringMatching(/^[\w-]{16}$/) as string,
  });
  expect(await runCommand(environment, ['demo'])).toEqual(failed('There is an organization "Demo" already'));
  const { rows } = await database.client.query<Record<string, number>>(DEMO_FIGURES);
  const { lines, ...others } = rows[0]!;
  expect(lines).toBeGreaterThan(18_000);
  expect(lines).toBeLessThan(22_000);
  for (const count of Object.values(others)) expect(count).toBeGreaterThan(0);
});

const DEMO_FIGURES = `SELECT count(*)::int AS lines, (count(*) - count(DISTINCT transaction_id))::int AS split,
  count(*) FILTER (WHERE deposit_status = 'PENDING')::int AS pending, count(*) FILTER (WHERE donor_id = 0)::int AS nobodys,
  count(*) FILTER (WHERE amount < 0)::int AS negative
  FROM deposit_detail WHERE organization_id = (SELECT id FROM organization WHERE name = 'Demo')`;
