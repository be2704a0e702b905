import { execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, watch } from 'node:fs';
import { readdir, readFile, readlink, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill, pid } from 'node:process';
import { promisify } from 'node:util';
import { Client, type ClientConfig } from 'pg';
import { repairLines } from '../support/books';
import { failed, runCommand, startCommand, startServe, succeed, type Environment, type ServeProcess } from '../support/command';
import { until } from '../support/until';

// Commands run side by side, so that each takes longer.

const SYSTEM = '/api/v2/authenticated_test_system';

let root: string;
let directoryNumber = 0;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'gateway-embedded-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(root, 0o755);
  await succeed(settings(join(root, 'template')), ['migrate']);
  await succeed(settings(join(root, 'template')), ['organization', 'create', 'Church']);
  // The binaries are the same for all: copies hold a link to them.
  const home = join(root, 'template/postgres');
  const engine = (await readdir(home)).find((name) => name.startsWith('engine-'))!;
  await rename(join(home, engine), join(root, engine));
  await symlink(join(root, engine), join(home, engine));
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.end('SIGTERM')));
  rmSync(root, { recursive: true });
});

const gateways: ServeProcess[] = [];
const start = async (environment: Environment): Promise<ServeProcess> => {
  const gateway = await startServe(environment);
  gateways.push(gateway);
  return gateway;
};

/** The same with a terminal for its output. */
const startInTerminal = async (environment: Environment): Promise<ServeProcess> => {
  const gateway = await startServe(environment, 'terminal');
  gateways.push(gateway);
  return gateway;
};

const settings = (directory: string): Environment => ({ DATA_DIR: directory, DEMO: 'off' });

/** A data directory of a test's own, in which a command has made a database with the organization Church. */
async function copyData(name = `data-${++directoryNumber}`): Promise<string> {
  const directory = join(root, name);
  await promisify(execFile)('cp', ['-a', join(root, 'template'), directory]);
  return directory;
}

const isReady = async ({ url }: ServeProcess): Promise<boolean> => (await fetch(`${url}/ready`)).status === 200;
const inCluster = (directory: string, file: string): string => join(directory, 'postgres/cluster', file);
const databasePid = async (directory: string): Promise<number> =>
  Number((await readFile(inCluster(directory, 'postmaster.pid'), 'utf8')).split('\n')[0]);

const readAddress = async (directory: string): Promise<ClientConfig> =>
  JSON.parse(await readFile(join(directory, 'address.json'), 'utf8')) as ClientConfig;
const modes = (directory: string, names: readonly string[]): Promise<string[]> =>
  Promise.all(names.map(async (name) => ((await stat(join(directory, name))).mode & 0o777).toString(8)));

/** The command line of a process; nothing where it has ended, be it that nobody has waited for it yet. */
const commandOf = (process: number | string): Promise<string> => readFile(`/proc/${process}/cmdline`, 'utf8').catch(() => '');

/** The processes that have to do with a directory by their command line. */
async function processesOf(directory: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name));
  const commands = await Promise.all(pids.map(commandOf));
  return commands.filter((command) => command.includes(`${directory}/`));
}

/** The TCP ports that a process listens on (proc(5), net/tcp: the second column is the address, the fourth 0A for LISTEN, the tenth the inode). */
async function listeningPorts(pid: number): Promise<number[]> {
  const descriptors = await readdir(`/proc/${pid}/fd`);
  const sockets = new Set(await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => ''))));
  const tables = await Promise.all(['tcp', 'tcp6'].map((table) => readFile(`/proc/${pid}/net/${table}`, 'utf8')));
  const rows = tables.flatMap((table) => table.trim().split('\n').slice(1)).map((row) => row.trim().split(/\s+/));
  return rows.filter((row) => row[3] === '0A' && sockets.has(`socket:[${row[9]}]`)).map((row) => parseInt(row[1]!.split(':')[1]!, 16));
}

describe('a gateway without DATABASE_URL', () => {
  test.concurrent('makes a database that nobody else can reach, serves, and leaves nothing behind at SIGTERM', async () => {
    const directory = join(root, 'fresh');
    const serve = await start(settings(directory));
    expect(await isReady(serve)).toBe(true);
    expect(await listeningPorts(await databasePid(directory))).toEqual([]);
    expect(await listeningPorts(serve.child.pid!)).toEqual([Number(new URL(serve.url).port)]);
    expect(await modes(directory, ['address.json', 'gateway.lock', 'postgres/password', 'postgres/server.log'])).toEqual([
      '600',
      '600',
      '600',
      '600',
    ]);
    expect(await modes(directory, ['postgres', 'postgres/socket', 'postgres/socket/.s.PGSQL.5432'])).toEqual(['700', '700', '700']);
    await expect(new Client({ ...(await readAddress(directory)), password: 'a guess' }).connect()).rejects.toThrow(
      'password authentication failed',
    );

    expect(await processesOf(directory)).not.toEqual([]);
    expect(await serve.end('SIGTERM')).toBe(0);
    expect(await processesOf(directory)).toEqual([]);
    expect(existsSync(inCluster(directory, 'postmaster.pid'))).toBe(false);
    expect(await readdir(directory)).toEqual(['postgres']);
  });

  test.concurrent('serves its first start from the server that made the database and the demo in it', async () => {
    const directory = join(root, 'one-launch');
    const serve = await start({ DATA_DIR: directory });
    const client = new Client(await readAddress(directory));
    await client.connect();
    const { rows } = await client.query(
      `SELECT (SELECT pg_postmaster_start_time() < min(started_at) FROM _prisma_migrations) AS "madeTheTables",
         (SELECT array_agg(name) FROM organization) AS organizations`,
    );
    await client.end();
    expect(rows).toEqual([{ madeTheTables: true, organizations: ['Demo'] }]);
    expect(await serve.end('SIGTERM')).toBe(0);
  });

  test.concurrent('launches its database once at a start that finds organizations and no demo', async () => {
    const directory = await copyData();
    const events: string[] = [];
    // A server makes this file when it is launched and removes it when it ends; what it writes into it is no 'rename'.
    const watcher = watch(inCluster(directory, ''), { persistent: false }, (event, file) => {
      if (event === 'rename' && file === 'postmaster.pid') events.push(existsSync(inCluster(directory, file)) ? 'launched' : 'ended');
    });
    const serve = await start({ DATA_DIR: directory });
    await until(() => events.length > 0);
    expect(events).toEqual(['launched']);
    expect(await serve.end('SIGTERM')).toBe(0);
    await until(() => events.at(-1) === 'ended');
    expect(events).toEqual(['launched', 'ended']);
    watcher.close();
  });

  test.concurrent('shares its database with commands, and leaves nothing behind at SIGINT', async () => {
    const directory = await copyData();
    const serve = await start(settings(directory));
    await succeed(settings(directory), ['organization', 'create', 'School']);
    const words = ['provision', 'create', '--organization', 'School', '--kind', 'api'];
    const Provision = (await succeed(settings(directory), words)).trim();
    const response = await fetch(serve.url + SYSTEM, { headers: { Provision } });
    expect(await response.json()).toEqual({ data: { message: 'System request authenticated', provision: Provision } });
    expect(await serve.end('SIGINT')).toBe(0);
    expect(await processesOf(directory)).toEqual([]);
  });

  test.concurrent('is refused the directory of another one, which goes on and gets no demo from it', async () => {
    const directory = await copyData();
    const serve = await start(settings(directory));
    const client = new Client(await readAddress(directory));
    await client.connect();
    await client.query('DELETE FROM audit_record; DELETE FROM audit_chain; DELETE FROM organization');
    await client.end();
    const second = await runCommand({ DATA_DIR: directory, PORT: '0' }, ['serve']);
    expect(second).toEqual(failed(`The embedded database in ${directory} is in use by process ${serve.child.pid}`));
    expect(await isReady(serve)).toBe(true);
    expect(await succeed(settings(directory), ['organization', 'list', '--json'])).toBe('[]\n');
    expect(await serve.end('SIGTERM')).toBe(0);
  });

  test.concurrent('takes over from one that was killed, with everything that was acknowledged', async () => {
    const directory = await copyData();
    const first = await start(settings(directory));
    await succeed(settings(directory), ['organization', 'create', 'School']);
    const orphan = await databasePid(directory);
    expect(await first.end('SIGKILL')).toBeNull();
    expect(await processesOf(directory)).not.toEqual([]);

    const second = await start(settings(directory));
    expect(await isReady(second)).toBe(true);
    expect(await databasePid(directory)).not.toBe(orphan);
    expect(await commandOf(orphan)).toBe('');
    expect(JSON.parse(await succeed(settings(directory), ['organization', 'list', '--json']))).toMatchObject([
      { name: 'Church' },
      { name: 'School' },
    ]);
    expect(await second.end('SIGTERM')).toBe(0);
    expect(await processesOf(directory)).toEqual([]);
  });

  test.concurrent('starts its database again when that is killed', async () => {
    const directory = await copyData();
    const serve = await start(settings(directory));
    const killed = await databasePid(directory);
    kill(killed, 'SIGKILL');
    await until(async () => ![killed, undefined].includes(await databasePid(directory).catch(() => undefined)) && (await isReady(serve)));
    expect(serve.output()).toContain('The embedded PostgreSQL ended; it is started again');
    expect(await succeed(settings(directory), ['organization', 'create', 'School'])).toBe('Created organization "School"\n');
    expect(await serve.end('SIGTERM')).toBe(0);
    expect(await processesOf(directory)).toEqual([]);
  });
});

describe('a command without DATABASE_URL', () => {
  test.concurrent.each([
    ['no lock', undefined],
    ['a lock of a process that has ended', '{"pid":4194304,"startTime":"1"}'],
    ['a lock of a process whose number another one has now', `{"pid":${pid},"startTime":"1"}`],
    ['a lock that says nothing', 'garbage'],
  ])('runs a database for itself where there is %s, and leaves nothing behind', async (_title, lock) => {
    const directory = await copyData();
    if (lock !== undefined) await writeFile(join(directory, 'gateway.lock'), lock);
    const result = await runCommand(settings(directory), ['organization', 'create', 'Church']);
    expect(result).toEqual(failed('There is an organization "Church" already'));
    expect(await processesOf(directory)).toEqual([]);
    expect((await readdir(directory)).sort()).toEqual(['postgres']);
  });

  test.concurrent('is told in one line that its data directory cannot be one', async () => {
    const file = join(root, 'file');
    await writeFile(file, '');
    const result = await runCommand(settings(file), ['organization', 'list']);
    expect(result).toEqual(failed(`DATA_DIR: ${file} is no directory, or lies in none: set DATA_DIR to one`));
  });

  test.concurrent('leaves another PostgreSQL alone that has the number of its own earlier one', async () => {
    const directory = await copyData();
    const other = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)', 'postgres', '-D', '/elsewhere']);
    await writeFile(inCluster(directory, 'postmaster.pid'), `${other.pid}\n`);
    const { stderr } = await runCommand(settings(directory), ['organization', 'list']);
    expect([stderr, other.exitCode, other.signalCode]).toEqual(['', null, null]);
    other.kill('SIGKILL');
  });

  test.concurrent('has its database also in a directory whose name is too long for a socket', async () => {
    const directory = await copyData('x'.repeat(120));
    expect(await runCommand(settings(directory), ['organization', 'list', '--json'])).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('a newcomer', () => {
  test('starts the gateway in a terminal and pastes the commands that it prints, at every start', async () => {
    const directory = join(root, 'demo');
    const first = await startInTerminal({ DATA_DIR: directory });
    const curls = first
      .output()
      .split('\n')
      .flatMap((line) => /^ {2}(curl .*)$/.exec(line)?.[1] ?? []);
    expect(curls).toHaveLength(4);
    const answers = curls.map(
      (curl) => JSON.parse(execFileSync('sh', ['-c', curl], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] }).toString()) as unknown,
    );
    const provision = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
    expect(answers.slice(0, 3)).toEqual([
      { data: { message: 'System request authenticated', provision } },
      { data: { login: { viewer: { username: 'analyst' } } } },
      { data: { message: 'Session request authenticated', provision } },
    ]);
    const { response } = answers[3] as { response: Record<string, unknown>[] };
    expect(response.length).toBeGreaterThan(100);
    expect(Object.keys(response[0]!)).toHaveLength(26);
    expect(await modes(directory, ['demo.json'])).toEqual(['600']);
    expect(described(first)).toContain('  Playground   URL/playground');
    expect(await first.end('SIGTERM')).toBe(0);

    const second = await startInTerminal({ DATA_DIR: directory });
    expect(described(second)).toEqual(described(first));
    expect(await second.end('SIGTERM')).toBe(0);
  });

  test('finds no credentials in a log, but the command that prints them', async () => {
    const directory = join(root, 'logged-demo');
    const serve = await start({ DATA_DIR: directory });
    const lines = serve.output().trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'there is a demo organization: `deposit-gateway demo --show` prints its provisions and login',
      'listening',
    ]);
    const shown = await succeed({ DATA_DIR: directory, PORT: new URL(serve.url).port }, ['demo', '--show']);
    const demo = JSON.parse(await readFile(join(directory, 'demo.json'), 'utf8')) as Record<string, string>;
    for (const secret of [demo.apiProvision!, demo.webProvision!, demo.password!]) {
      expect(shown).toContain(secret);
      expect(serve.output()).not.toContain(secret);
    }
    expect(shown).toContain(`Playground   ${serve.url}/playground`);
    expect(await serve.end('SIGTERM')).toBe(0);
    expect(await runCommand(settings(join(root, 'template')), ['demo', '--show'])).toEqual(
      failed(`There is no demo in ${join(root, 'template')}`),
    );
  });

  test('whose first start is killed while it makes the demo gets the whole demo at the next', async () => {
    const directory = join(root, 'killed-demo');
    const connect = async (): Promise<Client> => {
      const client = new Client(await readAddress(directory));
      await client.connect();
      return client;
    };
    const empty = await start(settings(directory));
    const before = await connect();
    // The first of all users takes as long as the test needs.
    await before.query(`CREATE SEQUENCE users;
      CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('users') = 1 THEN PERFORM pg_sleep(600); END IF; RETURN NEW; END $$;
      CREATE TRIGGER hold BEFORE INSERT ON "user" FOR EACH ROW EXECUTE FUNCTION hold()`);
    await before.end();
    expect(await empty.end('SIGTERM')).toBe(0);

    const killed = startCommand({ DATA_DIR: directory, PORT: '0' }, ['serve']);
    await until(() => existsSync(join(directory, 'address.json')));
    const during = await connect();
    during.on('error', () => undefined);
    await until(async () => (await during.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`)).rowCount === 1);
    killed.kill('SIGKILL');
    await once(killed, 'close');

    const serve = await start({ DATA_DIR: directory });
    await during.end();
    const demo = JSON.parse(await succeed({ DATA_DIR: directory }, ['demo', '--show', '--json'])) as Record<string, string>;
    const organizations = JSON.parse(await succeed(settings(directory), ['--json', 'organization', 'list'])) as { name: string }[];
    expect(organizations.map(({ name }) => name)).toEqual(['Demo']);
    const response = await fetch(serve.url + SYSTEM, { headers: { Provision: demo.apiProvision! } });
    expect(response.status).toBe(200);
    expect(await runCommand(settings(directory), ['demo'])).toEqual(failed('There is an organization "Demo" already'));
    expect(await serve.end('SIGTERM')).toBe(0);
  });

  test('reads of no lost connection at a first start and a stop that were as they should be', async () => {
    const serve = await start(settings(await copyData()));
    // As many connections as there may be.
    await Promise.all(Array.from({ length: 60 }, () => isReady(serve)));
    expect(await serve.end('SIGTERM')).toBe(0);
    expect(serve.output()).not.toContain('lost');
  });
});

const described = (serve: ServeProcess): string[] =>
  serve
    .output()
    .replaceAll(serve.url, 'URL')
    .split('\n')
    .filter((line) => line.startsWith('  '));

describe('commands without DATABASE_URL that run at once', () => {
  test.concurrent('share one database, which stops when the last of them is done', async () => {
    const directory = await copyData();
    const names = ['North', 'South', 'East', 'West'];
    await Promise.all(names.map((name) => succeed(settings(directory), ['organization', 'create', name])));
    const list = JSON.parse(await succeed(settings(directory), ['--json', 'organization', 'list'])) as { name: string }[];
    expect(list.map(({ name }) => name)).toEqual(['Church', 'East', 'North', 'South', 'West']);
    expect(await processesOf(directory)).toEqual([]);
  });

  test.concurrent.each(['SIGINT', 'SIGHUP'] as const)('leave no database behind when %s interrupts them', async (signal) => {
    const directory = await copyData();
    const command = startCommand(settings(directory), ['demo']);
    await until(() => existsSync(join(directory, 'address.json')));
    command.kill(signal);
    await once(command, 'close');
    expect(command.exitCode).toBe(1);
    expect(await processesOf(directory)).toEqual([]);
    const list = JSON.parse(await succeed(settings(directory), ['--json', 'organization', 'list'])) as { name: string }[];
    expect(list.map(({ name }) => name).filter((name) => name !== 'Demo')).toEqual(['Church']);
  });
});

test.concurrent('a Ctrl-C that arrives twice, as npm passes it on, cuts no answer', async () => {
  const directory = await copyData();
  const environment = settings(directory);
  const gateway = await start(environment);
  const grant = ['--grant', 'deposit_detail_designation_detail_with_contact_info'];
  const provision = (await succeed(environment, ['provision', 'create', '--organization', 'Church', '--kind', 'api', ...grant])).trim();
  await fillChurch(await readAddress(directory));
  const path = '/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2020-01-01&end_date=2020-01-01';
  const response = await fetch(gateway.url + path, { headers: { Provision: provision } });
  gateway.child.kill('SIGINT');
  await new Promise((resolve) => setTimeout(resolve, 20));
  const ended = gateway.end('SIGINT');
  expect((await response.text()).endsWith(']}')).toBe(true);
  expect(await ended).toBe(0);
  expect(await processesOf(directory)).toEqual([]);
});

/** A day of 30,000 lines, more than a socket holds. */
async function fillChurch(address: ClientConfig): Promise<void> {
  const client = new Client(address);
  await client.connect();
  await client.query(`INSERT INTO designation VALUES (1, 1, 'General Fund')`);
  await client.query(`INSERT INTO deposit VALUES (1, 'D', '2020-01-01', 'POSTED')`);
  await client.query(`INSERT INTO transaction SELECT 1, 'T' || n, 'D', NULL, '2020-01-01', n, 0 FROM generate_series(1, 30000) n`);
  await client.query(`INSERT INTO allocation SELECT 1, 'A' || n, 'T' || n, 1, NULL, '' FROM generate_series(1, 30000) n`);
  await repairLines(client, 1);
  await client.end();
}
