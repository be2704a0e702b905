import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { childOptions } from '../../src/data/embedded/postgres-cluster';
import { openPostgresHome } from '../../src/data/embedded/postgres-home';
import { inDirectory } from '../support/backed-up-gateway';
import { runCommand, startServe, succeed } from '../support/command';
import { asServing } from '../support/database';
import { toNdjson } from '../support/deposit-files';
import { graphql, v2Line } from '../support/gateway';
import { createReplicatedDatabase, REPLICATED } from '../support/replicated-database';
import { until } from '../support/until';

/** A text that no compression of PostgreSQL makes shorter, so that it lies outside of its row as it is. */
const LONG = randomBytes(9000).toString('base64url');
const FIRST = {
  ...{
    donor_first_name: 'Quixzoë',
    donor_last_name: 'Vorbläck',
    address1: '17 Zyrkonweg',
    address2: 'Hinterhof Qwmx',
    address3: 'c/o Blixembrand',
  },
  ...{ city: 'Přzmyslx', state: 'Xylandia', zip: 'ZQ9-77153', phone: '+41-000-987-6543-21', email_address: 'vq.xzob@qxmail.example' },
  ...{ designation_memo: 'für Grosstante Zwibelx', main_memo: 'Gruss von Onkel Trkwm' },
};
const RENAMED = { ...FIRST, donor_last_name: 'Nachfolgerx', city: 'Umzugstadtx', address1: '', main_memo: LONG };
/** The texts of the donor in all states, as they are and as a search has them, and pieces of the long one. */
const TEXTS = [
  ...new Set([...Object.values(FIRST), 'Nachfolgerx', 'Umzugstadtx', 'quixzoe', 'vorblack', 'nachfolgerx']),
  ...[0, 3000, 6000, 9000, 11_000].map((at) => LONG.slice(at, at + 24)),
];
const OTHER = {
  donor_id: 8,
  donor_first_name: 'Wilhelmkrx',
  donor_last_name: 'Kingstayx',
  ...Object.fromEntries(['address1', 'city', 'zip', 'phone', 'email_address'].map((name) => [name, ''])),
};

const gift = (number: number, fields: object) =>
  v2Line({ deposit_id: `D${number}`, transaction_id: `T${number}`, allocation_id: `A${number}`, deposit_status: 'posted', ...fields });
const toLines = (donor: object): object[] => [...Array.from({ length: 40 }, (_none, at) => gift(at, donor)), gift(99, OTHER)];

/** The texts that the files of a directory have. */
async function findTexts(directory: string): Promise<string[]> {
  const found = new Set<string>();
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // A server that runs removes files.
    const content = await readFile(join(entry.parentPath, entry.name)).catch(() => Buffer.alloc(0));
    for (const text of [...TEXTS, 'Kingstayx']) if (content.includes(text)) found.add(text);
  }
  return [...found].sort();
}
const ALL = [...TEXTS, 'Kingstayx'].sort();

test('no file has a text of an erased donor: not the database, its log, a replica, or a restored backup', async () => {
  const root = mkdtempSync(join(tmpdir(), 'gateway-erased-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(root, 0o755);
  const database = await createReplicatedDatabase();
  try {
    const directory = new URL(database.url).searchParams.get('host')!;
    const [primary, follower] = ['primary', 'replica-1'].map((name) => join(directory, name)) as [string, string];
    const replica = await database.follow();
    const environment = { ...REPLICATED, DATABASE_URL: database.url };
    const run = (...words: string[]) => succeed(environment, words);
    await run('organization', 'create', 'Church');
    for (const [at, donor] of [FIRST, RENAMED].entries()) {
      const file = join(root, `state-${at}.ndjson`);
      await writeFile(file, toNdjson(toLines(donor)));
      await run('import', file, '--organization', 'Church', '--allow-mismatch');
    }
    await database.client.query('ANALYZE');
    const provision = (
      await run(
        'provision',
        'create',
        '--organization',
        'Church',
        '--kind',
        'api',
        '--grant',
        'deposit_detail_designation_detail_with_contact_info',
      )
    ).trim();
    const serve = await startServe({ ...environment, DATABASE_REPLICA_URLS: asServing(replica.url) });
    const backup = join(root, 'church.backup');
    await run('backup', backup);
    const ask = async (asOf: number) => {
      const query = `{ depositDetailsConnection(asOf: { version: ${asOf} }, filter: { donorName: "Quixzoë" }, first: 100) { nodes { donorFirstName donorLastName mainMemo } } }`;
      return JSON.stringify((await graphql(serve.url, query, { provision })).body);
    };
    expect([await ask(1), await ask(2)]).toEqual([expect.stringContaining('Vorbläck'), expect.stringContaining('Nachfolgerx')]);
    await replica.catchUp();
    for (const client of [database.client, replica.client()]) await client.query('CHECKPOINT');
    expect([await findTexts(primary), await findTexts(follower)]).toEqual([ALL, ALL]);

    await run('donor', 'erase', '--organization', 'Church', '--donor', '7', '--reason', 'Request 12');
    expect(await ask(1)).not.toMatch(/Vorbläck/);
    const register = join(root, 'register.json');
    await writeFile(register, await run('--json', 'donor', 'erased'));
    expect(await run('vacuum')).toContain('No recovery needs the write-ahead log from before any more');
    await replica.catchUp();
    await replica.client().query('CHECKPOINT');
    // The logs of both servers lie beside their data.
    expect(await findTexts(directory)).toEqual(['Kingstayx']);
    expect(serve.output()).not.toMatch(/Quixzo|Vorbl|Nachfolgerx/);
    await serve.end('SIGTERM');

    const [plain, erased] = ['plain', 'erased'].map((name) => join(root, name)) as [string, string];
    const told = await runCommand(inDirectory(plain), ['restore', backup]);
    expect(told.stdout).toContain(
      'Donors who were erased after the backup have their texts again: `donor erase` them, or restore with --erased',
    );
    expect(await findTexts(plain)).toEqual(ALL);
    const again = await runCommand(inDirectory(erased), ['restore', backup, '--erased', register]);
    expect([again.status, again.stdout]).toEqual([0, expect.stringContaining('\nErased again: 1 donor\n') as string]);
    expect(await findTexts(erased)).toEqual(['Kingstayx']);
    const versions = JSON.parse(await succeed(inDirectory(erased), ['--json', 'donor', 'erased'])) as object[];
    expect(versions).toMatchObject([{ organization: 'Church', donorId: 7, version: 3, reason: 'Request 12' }]);
  } finally {
    await database.drop();
    rmSync(root, { recursive: true, force: true });
  }
});

/** Starts a stopped primary with PostgreSQL's own defaults. The embedded server turns the second use of segments off on its command line. */
async function startWithDefaults(databaseUrl: string): Promise<ChildProcess> {
  const { searchParams, port } = new URL(databaseUrl);
  const directory = searchParams.get('host')!;
  const home = await openPostgresHome(dirname(directory));
  const settings = { listen_addresses: '', unix_socket_directories: directory, port };
  const words = ['-D', join(directory, 'primary'), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  return spawn(join(home.bin, 'postgres'), words, { ...childOptions(home), stdio: 'ignore' });
}

async function connect(connectionString: string): Promise<Client | undefined> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined);
  return client.connect().then(
    () => client,
    () => undefined,
  );
}

test('`vacuum` says where segments of the log are used again with erased texts, and takes them out when they are not any more', async () => {
  const root = mkdtempSync(join(tmpdir(), 'gateway-recycled-'));
  const database = await createReplicatedDatabase();
  await database.stop();
  const server = await startWithDefaults(database.url);
  let client: Client | undefined;
  try {
    await until(async () => (client = await connect(database.url)) !== undefined);
    const directory = new URL(database.url).searchParams.get('host')!;
    const run = (...words: string[]) => succeed({ ...REPLICATED, DATABASE_URL: database.url }, words);
    await run('organization', 'create', 'Church');
    const file = join(root, 'lines.ndjson');
    await writeFile(file, toNdjson(toLines(FIRST)));
    await run('import', file, '--organization', 'Church', '--allow-mismatch');
    await run('donor', 'erase', '--organization', 'Church', '--donor', '7', '--reason', 'Request 12');

    // A value of the database is shown to the gateway, and checkpoints do not go by it.
    await client!.query('ALTER DATABASE deposit_gateway SET wal_recycle = off');
    expect((await run('vacuum')).split('\n').slice(-3)).toEqual([
      'No recovery needs the write-ahead log from before any more; archives and replicas keep theirs as they are told to',
      'The server uses segments of the log again (wal_recycle), and they keep old bytes until they are written over: set wal_recycle = off in postgresql.conf, reload it, and run `vacuum` again',
      '',
    ]);
    expect(await findTexts(join(directory, 'primary', 'pg_wal'))).toContain('Vorbläck');
    await client!.query('ALTER DATABASE deposit_gateway RESET wal_recycle');

    await client!.query('ALTER SYSTEM SET wal_recycle = off');
    await client!.query('SELECT pg_reload_conf()');
    await until(async () => (await client!.query<{ wal_recycle: string }>('SHOW wal_recycle')).rows[0]!.wal_recycle === 'off');
    expect(JSON.parse(await run('--json', 'vacuum'))).toMatchObject({ isLogPassed: true, isLogRecycled: false });
    expect(await findTexts(directory)).toEqual(['Kingstayx']);
  } finally {
    await client?.end();
    const ended = once(server, 'exit');
    server.kill('SIGINT');
    await ended;
    await database.drop();
    rmSync(root, { recursive: true, force: true });
  }
});
