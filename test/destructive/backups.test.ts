import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { chmod, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { inDirectory as settingsIn, openBackedUpGateway } from '../support/backed-up-gateway';
import { readBackup, sumsOf, writeBackup, type BackupEntry } from '../support/backup-files';
import {
  failed,
  runCommand,
  runProcess,
  startCommand,
  succeed,
  withoutDatabase,
  type CommandResult,
  type Environment,
} from '../support/command';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { depositBook } from '../support/deposit-book';
import { toNdjson } from '../support/deposit-files';
import { makeLaterBuild } from '../support/later-build';
import { testOnOneNode } from '../support/limited-tests';
import { until } from '../support/until';

const PASSPHRASE = 'a passphrase of some length';

const gateway = openBackedUpGateway();
const at = (name: string): string => join(gateway.root, name);
const inDirectory = (name: string): Environment => settingsIn(at(name));

/** Uses a migrated, empty database, and drops it. */
async function withDatabase(use: (database: TestDatabase) => Promise<void>): Promise<void> {
  const database = await createTestDatabase();
  try {
    await use(database);
  } finally {
    await database.drop();
  }
}
test('an operator reads in the audit who has made a backup, and which organizations come from one', async () => {
  await succeed(inDirectory('audited'), ['restore', gateway.backup]);
  const entriesOf = async (environment: Environment) =>
    JSON.parse(await succeed(environment, ['--json', 'audit', '--organization', 'School'])) as Record<string, unknown>[];
  const made = (await entriesOf(gateway.source)).filter(({ operation }) => operation === 'backup');
  expect(made[0]).toMatchObject({ kind: 'read', door: 'command', outcome: 'whole' });
  const [own, newest] = await entriesOf(inDirectory('audited'));
  expect(own).toMatchObject({ kind: 'read', door: 'command', operation: 'audit list' });
  expect(newest).toMatchObject({ kind: 'rights', door: 'command', operation: 'restore' });
  expect(newest!.detail).toMatch(/^backup of 20.*Z by gateway [0-9.]+$/);
});

/** Jest does not load the ES module of the encryption. */
async function runEncrypted(url: string, words: readonly string[]): Promise<CommandResult> {
  const { stderr, ...result } = await runProcess({ DATABASE_URL: url }, words, PASSPHRASE);
  return { ...result, stderr: withoutDatabase(stderr) };
}

test('an operator encrypts a backup, and nobody restores it without the passphrase', async () => {
  const file = at('encrypted.backup');
  await writeFile(at('passphrase'), `${PASSPHRASE}\n`, { mode: 0o644 });
  const encrypting = ['backup', file, '--encrypt', '--passphrase-file', at('passphrase')];
  expect(await runCommand(gateway.source, encrypting)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('every account of this machine may read or change it') as string,
  });
  await chmod(at('passphrase'), 0o600);
  await succeed(gateway.source, encrypting);
  const content = await readFile(file);
  expect(content.toString('latin1').startsWith('age-encryption.org/v1\n-> scrypt ')).toBe(true);
  expect(await runCommand(gateway.source, ['verify', file], 'another passphrase\n')).toEqual(
    failed('The passphrase is not that of the backup, or its first bytes were changed'),
  );
  expect(await runCommand(gateway.source, ['verify', file], '')).toEqual(
    failed(`No passphrase was given: ${file} is encrypted, and --passphrase-file names its file`),
  );
  expect(await succeed(gateway.source, ['verify', file], `${PASSPHRASE}\n`)).toContain(`${file} restores to the database of `);
  const broken = failed('The backup is not whole: its encryption is broken');
  const changed = Buffer.from(content);
  changed[changed.length - 100]! ^= 1;
  await withDatabase(async ({ url }) => {
    for (const damaged of [changed, content.subarray(0, -1), content.subarray(0, content.length >> 1)]) {
      await writeFile(at('damaged.age'), damaged);
      expect(await runEncrypted(url, ['restore', at('damaged.age')])).toEqual(broken);
    }
    expect(await runEncrypted(url, ['restore', file])).toMatchObject({ status: 0 });
  });
  const short = await runCommand(gateway.source, ['backup', at('short.backup'), '--encrypt'], 'too short\n');
  expect(short).toEqual(failed('The passphrase needs at least 12 characters'));
  expect((await readdir(gateway.root)).filter((name) => name.startsWith('short'))).toEqual([]);
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
      'whose manifest has no time',
      /manifest\.json: createdAt cannot be read/,
      ([manifest, ...others]) => [replace(manifest!, '"createdAt": "', '"createdAt": "on '), ...others],
    ],
    [
      'of a newer gateway',
      /has the migration 29991231000000_x, which this gateway does not know/,
      (entries) => sealed(withMigration(entries)),
    ],
    [
      'whose gift has no deposit',
      /Data source query failed: \w+: 23503/,
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
    await writeBackup(file, damage(await readBackup(gateway.backup)));
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
    const content = await readFile(gateway.backup);
    await withDatabase(async ({ url }) => {
      for (const length of [0, 10, content.length >> 1, content.length - 1]) {
        await writeFile(at('cut.backup'), content.subarray(0, length));
        const { status, stderr } = await runCommand({ DATABASE_URL: url }, ['restore', at('cut.backup')]);
        expect([length, status]).toEqual([length, 1]);
        expect(stderr).toContain('The backup is not whole');
      }
      await succeed({ DATABASE_URL: url }, ['restore', gateway.backup]);
    });
  });
});

test('an operator cannot restore over data, nor replace a backup unasked', async () => {
  await succeed(inDirectory('taken'), ['migrate']);
  expect(await runCommand(inDirectory('taken'), ['restore', gateway.backup])).toEqual(
    failed(`${at('taken')} has a database already: choose another DATA_DIR`),
  );
  const { stderr } = await runCommand(gateway.source, ['restore', gateway.backup]);
  expect(stderr).toBe(`The embedded database in ${at('source')} is in use by process ${gateway.serve.child.pid}\n`);
  const before = await readFile(gateway.backup);
  expect(await runCommand(gateway.source, ['backup', gateway.backup])).toEqual(
    failed(`${gateway.backup} is there already: --force replaces it`),
  );
  expect(await readFile(gateway.backup)).toEqual(before);
  await writeFile(at('other.backup'), 'another file');
  await succeed(gateway.source, ['backup', at('other.backup'), '--force']);
  expect(await succeed(gateway.source, ['verify', at('other.backup')])).toContain('restores to the database of ');
});

testOnOneNode('an operator moves a backup into a PostgreSQL of their own, and back', async () => {
  await withDatabase(async ({ url }) => {
    const own = { DATABASE_URL: url };
    await succeed(own, ['restore', gateway.backup]);
    expect(await runCommand(own, ['restore', gateway.backup])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('has data') as string,
    });
    await succeed(own, ['verify', gateway.backup, '--current']);
    await succeed(own, ['backup', at('own.backup')]);
    await succeed(inDirectory('back'), ['restore', at('own.backup')]);
    await succeed(inDirectory('back'), ['verify', gateway.backup, '--current']);
    await writeFile(at('one.ndjson'), toNdjson(depositBook(1)));
    await succeed(own, ['import', at('one.ndjson'), '--organization', 'Empty', '--allow-mismatch']);
    const { status, stderr } = await runCommand(own, ['verify', gateway.backup, '--current']);
    expect(status).toBe(1);
    expect(stderr).toContain('The database has changed since the backup:\nEmpty: dataVersion is 1, in the backup 0\n');
  });
});

test('an operator restores a backup of an older schema, which is then the newest', async () => {
  const later = makeLaterBuild(at('later'), {
    '99990101000000_notes': 'CREATE INDEX organization_created_at_idx ON organization (created_at)',
  });
  const restored = await succeed(inDirectory('older'), ['--json', 'restore', gateway.backup], '', later);
  expect(JSON.parse(restored)).toMatchObject({
    compared: true,
    organizations: [{ name: 'Church' }, { name: 'School' }, { name: 'Empty' }],
  });
  expect(await succeed(inDirectory('older'), ['migrate', '--check'], '', later)).toBe('Every migration is applied\n');
  expect(await succeed(inDirectory('older'), ['organization', 'list'], '', later)).toContain('Church');
  // A newer gateway cannot tell the figures of a schema that it has not brought up to date.
  await succeed(gateway.source, ['backup', at('older.backup')], '', later);
  const notCompared = 'not compared: the backup is of an older schema, and tells no figures';
  expect(await succeed(inDirectory('older-too'), ['restore', at('older.backup')], '', later)).toContain(notCompared);
  expect(await succeed(gateway.source, ['verify', at('older.backup'), '--current'])).toContain(notCompared);
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
    await succeed(german, ['restore', gateway.backup]);
    await succeed(german, ['verify', gateway.backup, '--current']);
    await succeed(german, ['backup', at('german.backup')]);
    const depositsOf = async (file: string) => (await readBackup(file)).filter(({ name }) => name.includes('/deposit/'));
    expect(await depositsOf(at('german.backup'))).toEqual(await depositsOf(gateway.backup));
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
      const child = startCommand(own, ['restore', gateway.backup]);
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
    await succeed(own, ['restore', gateway.backup]);
    await succeed(own, ['verify', gateway.backup, '--current']);
  });
});

const testAsRoot = process.getuid?.() === 0 ? test : test.skip;

testAsRoot('an operator whose TMPDIR is closed to PostgreSQL finds no copy of the donors after verify', async () => {
  const closed = mkdtempSync(at('closed-'));
  const child = startCommand({ ...gateway.source, TMPDIR: closed }, ['verify', gateway.backup]);
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
