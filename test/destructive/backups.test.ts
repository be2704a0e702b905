import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Client, type ClientConfig } from 'pg';
import { listBackup, readBackup, sumsOf, writeBackup, type BackupEntry } from '../support/backup-files';
import { failed, runCommand, startCommand, startServe, succeed, type Environment, type ServeProcess } from '../support/command';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { depositBook } from '../support/deposit-book';
import { toNdjson } from '../support/deposit-files';
import { openSession, PASSWORD } from '../support/gateway';
import { makeLaterBuild } from '../support/later-build';
import { testOnOneNode } from '../support/limited-tests';
import { until } from '../support/until';

const REPORT = 'deposit_detail_designation_detail_with_contact_info';
const PATH = `/api/v2/${REPORT}?start_date=2024-01-01&end_date=2024-12-31`;
const PASSPHRASE = 'a passphrase of some length';

let root: string;
let source: Environment;
let gateway: ServeProcess;
let apiProvision: string;
let webProvision: string;
/** A backup that was made while the gateway served. */
let backup: string;

const at = (name: string): string => join(root, name);
const inDirectory = (name: string): Environment => ({ DATA_DIR: at(name), DEMO: 'off' });

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'gateway-backups-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(root, 0o755);
  source = inDirectory('source');
  gateway = await startServe(source);
  for (const name of ['Church', 'School', 'Empty']) await succeed(source, ['organization', 'create', name]);
  await writeFile(at('church.ndjson'), toNdjson(depositBook(200)));
  await writeFile(at('school.ndjson'), toNdjson(depositBook(20)));
  for (const name of ['church', 'school']) {
    const organization = name === 'church' ? 'Church' : 'School';
    await succeed(source, ['import', at(`${name}.ndjson`), '--organization', organization, '--allow-mismatch']);
  }
  const create = async (kind: string, ...grants: string[]): Promise<string> =>
    (await succeed(source, ['provision', 'create', '--organization', 'Church', '--kind', kind, ...grants])).trim();
  apiProvision = await create('api', '--grant', REPORT);
  webProvision = await create('web');
  await succeed(source, ['user', 'create', '--organization', 'Church', '--username', 'ada', '--grant', REPORT], PASSWORD);
  backup = at('church.backup');
  token = await openSession(gateway.url, webProvision);
  expect(await isLoggedIn(gateway)).toBe(true);
  await succeed(source, ['backup', backup]);
});
afterAll(async () => {
  await gateway.end('SIGTERM');
  rmSync(root, { recursive: true });
});

let token: string;
const isLoggedIn = async ({ url }: ServeProcess): Promise<boolean> => {
  const headers = { Provision: webProvision, Authorization: `Bearer ${token}` };
  return (await fetch(`${url}/api/v2/authenticated_test_session`, { headers })).status === 200;
};
const reportOf = async ({ url }: ServeProcess): Promise<string> =>
  (await fetch(url + PATH, { headers: { Provision: apiProvision } })).text();
const query = async <Row extends object>(directory: string, statement: string): Promise<Row[]> => {
  const client = new Client(JSON.parse(await readFile(at(`${directory}/address.json`), 'utf8')) as ClientConfig);
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
};
/** Uses a migrated, empty database, and drops it. */
async function withDatabase(use: (database: TestDatabase) => Promise<void>): Promise<void> {
  const database = await createTestDatabase();
  try {
    await use(database);
  } finally {
    await database.drop();
  }
}
const COUNTS = `SELECT table_name AS name, (xpath('//count/text()', query_to_xml(format('SELECT count(*) FROM %I', table_name), true, true, '')))[1]::text AS rows
  FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY table_name`;
const KEYS = `SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) || convalidated AS key FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace ORDER BY 1`;

test('an operator restores a backup of a gateway that serves, and callers get the same answers to the byte', async () => {
  const { stdout } = await runCommand(inDirectory('copy'), ['--json', 'restore', backup]);
  expect((JSON.parse(stdout) as { organizations: object[] }).organizations).toMatchObject([
    { name: 'Church', dataVersion: 1 },
    { name: 'School', dataVersion: 1 },
    { name: 'Empty', dataVersion: 0, lines: 0, amount: '0.00' },
  ]);
  const copy = await startServe(inDirectory('copy'));
  try {
    const report = await reportOf(copy);
    expect(report.length).toBeGreaterThan(10_000);
    expect(report).toBe(await reportOf(gateway));
    expect([await isLoggedIn(gateway), await isLoggedIn(copy)]).toEqual([true, false]);
    expect(await openSession(copy.url, webProvision)).not.toBe('');
    const passing = /^(session|link_key|spent_cost|login_attempt|known_address|audit_record)$/;
    const rowsOf = async (directory: string) =>
      (await query<{ name: string }>(directory, COUNTS)).filter(({ name }) => !passing.test(name));
    expect(await rowsOf('copy')).toEqual(await rowsOf('source'));
    expect(await query('copy', KEYS)).toEqual(await query('source', KEYS));
    const words = ['organization', 'create', 'College'];
    expect(await succeed(inDirectory('copy'), words)).toBe('Created organization "College"\n');
    for (const name of ['Church', 'School', 'Empty']) {
      expect(await succeed(inDirectory('copy'), ['audit', 'verify', '--organization', name])).toContain('are as they were written');
    }
  } finally {
    await copy.end('SIGTERM');
  }
});

test('an operator reads in the audit who has made a backup, and which organizations come from one', async () => {
  await succeed(inDirectory('audited'), ['restore', backup]);
  const entriesOf = async (environment: Environment) =>
    JSON.parse(await succeed(environment, ['--json', 'audit', '--organization', 'School'])) as Record<string, unknown>[];
  const made = (await entriesOf(source)).filter(({ operation }) => operation === 'backup');
  expect(made[0]).toMatchObject({ kind: 'read', door: 'command', outcome: 'whole' });
  const [own, newest] = await entriesOf(inDirectory('audited'));
  expect(own).toMatchObject({ kind: 'read', door: 'command', operation: 'audit list' });
  expect(newest).toMatchObject({ kind: 'rights', door: 'command', operation: 'restore' });
  expect(newest!.detail).toMatch(/^backup of 20.*Z by gateway [0-9.]+$/);
});

test('an operator finds all tables in a backup but those of open sessions and links, and no other account reads it', async () => {
  const names = (await listBackup(backup)).map((name) => name.split('/')[1] ?? name);
  expect([names[0], names.at(-1)]).toEqual(['manifest.json', 'SHA256SUMS']);
  const entries = await readBackup(backup);
  const manifest = JSON.parse(entries[0]!.content.toString()) as { tables: { name: string }[] };
  const present = await query<{ name: string }>('source', COUNTS);
  const passing = /^(_prisma_migrations|session|link_key|spent_cost|deposit_line_(current|past))$/;
  expect(manifest.tables.map(({ name }) => name)).toEqual(present.map(({ name }) => name).filter((name) => !passing.test(name)));
  expect(((await stat(backup)).mode & 0o777).toString(8)).toBe('600');
  const extracted = mkdtempSync(at('extracted-'));
  await promisify(execFile)('sh', ['-c', `cd ${extracted} && tar xzf ${backup} && sha256sum --check --quiet SHA256SUMS`]);
});

test('an operator encrypts a backup, and nobody restores it without the passphrase', async () => {
  const file = at('encrypted.backup');
  await writeFile(at('passphrase'), `${PASSPHRASE}\n`);
  await succeed(source, ['backup', file, '--encrypt', '--passphrase-file', at('passphrase')]);
  const content = await readFile(file);
  expect(content.toString('latin1').startsWith('age-encryption.org/v1\n-> scrypt ')).toBe(true);
  expect(await runCommand(source, ['verify', file], 'another passphrase\n')).toEqual(
    failed('The passphrase is not that of the backup, or its first bytes were changed'),
  );
  expect(await succeed(source, ['verify', file], `${PASSPHRASE}\n`)).toContain(`${file} restores to the database of `);
  const broken = failed('The backup is not whole: its encryption is broken');
  const changed = Buffer.from(content);
  changed[changed.length - 100]! ^= 1;
  await withDatabase(async ({ url }) => {
    for (const damaged of [changed, content.subarray(0, -1), content.subarray(0, content.length >> 1)]) {
      await writeFile(at('damaged.age'), damaged);
      expect(await runCommand({ DATABASE_URL: url }, ['restore', at('damaged.age')], PASSPHRASE)).toEqual(broken);
    }
    await succeed({ DATABASE_URL: url }, ['restore', file], PASSPHRASE);
  });
  const short = await runCommand(source, ['backup', at('short.backup'), '--encrypt'], 'too short\n');
  expect(short).toEqual(failed('The passphrase needs at least 12 characters'));
  expect((await readdir(root)).filter((name) => name.startsWith('short'))).toEqual([]);
});

describe('a damaged backup is refused, and leaves no database,', () => {
  const sealed = (entries: readonly BackupEntry[]): BackupEntry[] => {
    const content = entries.filter(({ name }) => name !== 'SHA256SUMS');
    return [...content, sumsOf(content)];
  };
  const damages: readonly (readonly [string, RegExp, (entries: BackupEntry[]) => BackupEntry[]])[] = [
    ['that lacks its end', /it has no end/, (entries) => entries.slice(0, -1)],
    ['that lacks a file', /the checksums are not those/, (entries) => entries.filter(({ name }) => !name.includes('/donor/'))],
    [
      'whose files have another order',
      /the checksums are not those/,
      ([manifest, first, second, ...others]) => [manifest!, second!, first!, ...others],
    ],
    [
      'with one changed amount',
      /the checksums are not those/,
      (entries) => entries.map((entry) => (entry.name.includes('/transaction/') ? changeDigit(entry) : entry)),
    ],
    ['with a file after its end', /does not belong there/, (entries) => [...entries, entries[1]!]],
    [
      'of a newer gateway',
      /has the migration 29991231000000_x, which this gateway does not know/,
      (entries) => sealed(withMigration(entries)),
    ],
    [
      'whose gift has no deposit',
      /Data source query failed: .*foreign key/,
      (entries) => sealed(entries.filter(({ name }) => !name.includes('/deposit/'))),
    ],
  ];
  const replace = ({ name, content }: BackupEntry, old: string, now: string): BackupEntry => ({
    name,
    content: Buffer.from(content.toString('latin1').replace(old, now), 'latin1'),
  });
  const changeDigit = (entry: BackupEntry): BackupEntry => replace(entry, '.00', '.01');
  const changeMemo = (entry: BackupEntry): BackupEntry => replace(entry, 'Adams', 'Adamz');
  const withMigration = ([manifest, ...others]: BackupEntry[]): BackupEntry[] => [
    replace(manifest!, '"migrations": [', '"migrations": ["29991231000000_x",'),
    ...others,
  ];

  const forgeries: typeof damages = [
    [
      'whose lines were changed and sealed again',
      /differs from the backup:\nChurch: the digest is another/,
      (entries) => sealed(entries.map((entry) => (entry.name.includes('/deposit_line/') ? changeMemo(entry) : entry))),
    ],
    [
      'whose audit was cut and sealed again',
      /differs from the backup:\nChurch: audit is [0-9]+:[0-9a-f]{64}, in the backup 1[0-9]+:/,
      ([manifest, ...others]) => sealed([replace(manifest!, '"audit": "', '"audit": "1'), ...others]),
    ],
  ];

  const restoreDamaged = async (environment: Environment, [, reason, damage]: (typeof damages)[number]): Promise<void> => {
    const file = join(mkdtempSync(at('damaged-')), 'damaged.backup');
    await writeBackup(file, damage(await readBackup(backup)));
    const { status, stdout, stderr } = await runCommand(environment, ['restore', file]);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(reason);
  };

  test.each(damages)('%s', async (...damage) => {
    await withDatabase(async ({ url, client }) => {
      await restoreDamaged({ DATABASE_URL: url }, damage);
      expect((await client.query('SELECT FROM organization')).rowCount).toBe(0);
    });
  });

  test.each(forgeries)('%s', async (...forgery) => {
    await restoreDamaged(inDirectory('damaged'), forgery);
    expect((await readdir(at('damaged/postgres'))).filter((name) => name.startsWith('cluster'))).toEqual([]);
  });

  test('that was cut anywhere', async () => {
    const content = await readFile(backup);
    await withDatabase(async ({ url }) => {
      for (const length of [0, 10, content.length >> 1, content.length - 1]) {
        await writeFile(at('cut.backup'), content.subarray(0, length));
        const { status, stderr } = await runCommand({ DATABASE_URL: url }, ['restore', at('cut.backup')]);
        expect([length, status]).toEqual([length, 1]);
        expect(stderr).toContain('The backup is not whole');
      }
      await succeed({ DATABASE_URL: url }, ['restore', backup]);
    });
  });
});

test('an operator cannot restore over data, nor replace a backup unasked', async () => {
  await succeed(inDirectory('taken'), ['migrate']);
  expect(await runCommand(inDirectory('taken'), ['restore', backup])).toEqual(
    failed(`${at('taken')} has a database already: choose another DATA_DIR`),
  );
  const { stderr } = await runCommand(source, ['restore', backup]);
  expect(stderr).toBe(`The embedded database in ${at('source')} is in use by process ${gateway.child.pid}\n`);
  const before = await readFile(backup);
  expect(await runCommand(source, ['backup', backup])).toEqual(failed(`${backup} is there already: --force replaces it`));
  expect(await readFile(backup)).toEqual(before);
  await writeFile(at('other.backup'), 'another file');
  await succeed(source, ['backup', at('other.backup'), '--force']);
  expect(await succeed(source, ['verify', at('other.backup')])).toContain('restores to the database of ');
});

testOnOneNode('an operator moves a backup into a PostgreSQL of their own, and back', async () => {
  await withDatabase(async ({ url }) => {
    const own = { DATABASE_URL: url };
    await succeed(own, ['restore', backup]);
    expect(await runCommand(own, ['restore', backup])).toMatchObject({ status: 1, stderr: expect.stringContaining('has data') as string });
    await succeed(own, ['verify', backup, '--current']);
    await succeed(own, ['backup', at('own.backup')]);
    await succeed(inDirectory('back'), ['restore', at('own.backup')]);
    await succeed(inDirectory('back'), ['verify', backup, '--current']);
    await writeFile(at('one.ndjson'), toNdjson(depositBook(1)));
    await succeed(own, ['import', at('one.ndjson'), '--organization', 'Empty', '--allow-mismatch']);
    const { status, stderr } = await runCommand(own, ['verify', backup, '--current']);
    expect(status).toBe(1);
    expect(stderr).toContain('The database has changed since the backup:\nEmpty: dataVersion is 1, in the backup 0\n');
  });
});

test('an operator restores a backup of an older schema, which is then the newest', async () => {
  const later = makeLaterBuild(at('later'), {
    '99990101000000_notes': 'CREATE INDEX organization_created_at_idx ON organization (created_at)',
  });
  const restored = await succeed(inDirectory('older'), ['--json', 'restore', backup], '', later);
  expect(JSON.parse(restored)).toMatchObject({
    compared: true,
    organizations: [{ name: 'Church' }, { name: 'School' }, { name: 'Empty' }],
  });
  expect(await succeed(inDirectory('older'), ['migrate', '--check'], '', later)).toBe('Every migration is applied\n');
  expect(await succeed(inDirectory('older'), ['organization', 'list'], '', later)).toContain('Church');
  // A newer gateway cannot tell the figures of a schema that it has not brought up to date.
  await succeed(source, ['backup', at('older.backup')], '', later);
  const notCompared = 'not compared: the backup is of an older schema, and tells no figures';
  expect(await succeed(inDirectory('older-too'), ['restore', at('older.backup')], '', later)).toContain(notCompared);
  expect(await succeed(source, ['verify', at('older.backup'), '--current'])).toContain(notCompared);
  // The backup of the newer schema is not for the earlier gateway.
  await succeed(inDirectory('older'), ['backup', at('newer.backup')], '', later);
  expect(await runCommand(inDirectory('newer'), ['restore', at('newer.backup')])).toEqual(
    failed('The backup has the migration 99990101000000_notes, which this gateway does not know: use a newer one'),
  );
});

testOnOneNode('an operator gets the same data from a database whose address sets how dates are written', async () => {
  await withDatabase(async ({ url }) => {
    // A pooler refuses such an address.
    const address = Object.assign(new URL(process.env.TEST_SERVER_URL!), { pathname: new URL(url).pathname });
    address.searchParams.set('options', '-c datestyle=German');
    const german = { DATABASE_URL: address.href };
    await succeed(german, ['restore', backup]);
    await succeed(german, ['verify', backup, '--current']);
    await succeed(german, ['backup', at('german.backup')]);
    const depositsOf = async (file: string) => (await readBackup(file)).filter(({ name }) => name.includes('/deposit/'));
    expect(await depositsOf(at('german.backup'))).toEqual(await depositsOf(backup));
  });
});

test('an operator who stops a restore finds the database empty, and restores again', async () => {
  await withDatabase(async ({ url, client }) => {
    const own = { DATABASE_URL: url };
    const restoring = async (): Promise<(string | null)[]> => {
      const { rows } = await watcher.query<{ wait: string | null }>(
        `SELECT wait_event_type AS wait FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'deposit-gateway restore'`,
      );
      return rows.map(({ wait }) => wait);
    };
    const watcher = new Client({ connectionString: url });
    await watcher.connect();
    try {
      // The restore can see that there are no lines, and must wait before it writes one. The deposits are loaded before them.
      await client.query('BEGIN');
      await client.query('LOCK TABLE deposit_line IN SHARE MODE');
      const child = startCommand(own, ['restore', backup]);
      const closed = once(child, 'close') as Promise<[number | null]>;
      await until(async () => (await restoring()).includes('Lock'));
      child.kill('SIGTERM');
      expect((await closed)[0]).toBe(1);
      await client.query('COMMIT');
      await until(async () => (await restoring()).length === 0);
    } finally {
      await watcher.end();
    }
    expect((await client.query('SELECT id FROM deposit')).rows).toEqual([]);
    await succeed(own, ['restore', backup]);
    await succeed(own, ['verify', backup, '--current']);
  });
});

const testAsRoot = process.getuid?.() === 0 ? test : test.skip;

testAsRoot('an operator whose TMPDIR is closed to PostgreSQL finds no copy of the donors after verify', async () => {
  const closed = mkdtempSync(at('closed-'));
  const child = startCommand({ ...source, TMPDIR: closed }, ['verify', backup]);
  const ended = Promise.all([text(child.stderr!), once(child, 'close') as Promise<[number | null]>]);
  let place: string | undefined;
  await until(async () => {
    const [name] = await readdir(closed);
    place = name === undefined ? undefined : await readlink(join(closed, name, 'postgres')).catch(() => undefined);
    return place !== undefined || child.exitCode !== null;
  });
  const [stderr, [status]] = await ended;
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect({ place, isThere: existsSync(place!) }).toEqual({ place: expect.stringMatching(/^\/var\/lib\//) as string, isThere: false });
  expect(await readdir(closed)).toEqual([]);
});
