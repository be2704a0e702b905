import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServe, succeed, type Environment, type ServeProcess } from './command';
import { depositBook } from './deposit-book';
import { toNdjson } from './deposit-files';
import { openSession, PASSWORD } from './gateway';
import { until } from './until';

const REPORT = 'deposit_detail_designation_detail_with_contact_info';
/** The name of the program whose requests to v2 were counted before the backup was made. */
export const COUNTED_AGENT = 'before the backup';
const PATH = `/api/v2/${REPORT}?start_date=2024-01-01&end_date=2024-12-31`;

/** A gateway with an embedded database and three organizations, one of them without data, and its backup. */
export interface BackedUpGateway {
  /** A directory that is removed after the last test. */
  readonly root: string;
  readonly serve: ServeProcess;
  /** The settings of the gateway's commands. */
  readonly source: Environment;
  readonly apiProvision: string;
  readonly webProvision: string;
  /** A session that was open when the backup was made. */
  readonly token: string;
  /** The file of a backup that was made while the gateway served. */
  readonly backup: string;
}

/** The settings of a gateway or command whose embedded database is in a directory. */
export const inDirectory = (directory: string): Environment => ({ DATA_DIR: directory, DEMO: 'off' });

/** The address of the embedded database of a gateway that serves. */
export async function addressIn(directory: string): Promise<string> {
  const { host, port, user, password, database } = JSON.parse(await readFile(join(directory, 'address.json'), 'utf8')) as Record<
    string,
    string
  >;
  return `postgresql://${user}:${password}@localhost:${port}/${database}?host=${host}`;
}

/** Starts the gateway and makes its backup before the tests of a file, and stops it after them. Its fields are there in tests and later hooks. */
export function openBackedUpGateway(): BackedUpGateway {
  const gateway = {} as { -readonly [Name in keyof BackedUpGateway]: BackedUpGateway[Name] };
  beforeAll(async () => {
    gateway.root = mkdtempSync(join(tmpdir(), 'gateway-backups-'));
    // Started by root, PostgreSQL runs under another account.
    chmodSync(gateway.root, 0o755);
    const directory = join(gateway.root, 'source');
    gateway.source = inDirectory(directory);
    gateway.serve = await startServe(gateway.source);
    // These commands run in the test's process, as they name a database.
    const own = { DATABASE_URL: await addressIn(directory) };
    for (const [name, lines] of Object.entries({ Church: 200, School: 20, Empty: 0 })) {
      await succeed(own, ['organization', 'create', name]);
      const file = join(gateway.root, `${name}.ndjson`);
      await writeFile(file, toNdjson(depositBook(lines)));
      if (lines > 0) await succeed(own, ['import', file, '--organization', name, '--allow-mismatch']);
    }
    const create = async (kind: string, ...grants: string[]): Promise<string> =>
      (await succeed(own, ['provision', 'create', '--organization', 'Church', '--kind', kind, ...grants])).trim();
    gateway.apiProvision = await create('api', '--grant', REPORT);
    gateway.webProvision = await create('web');
    await reportOf(gateway.serve, gateway, COUNTED_AGENT);
    await succeed(own, ['user', 'create', '--organization', 'Church', '--username', 'ada', '--grant', REPORT], PASSWORD);
    gateway.token = await openSession(gateway.serve.url, gateway.webProvision);
    await until(async () => (await succeed(own, ['usage'])).includes(COUNTED_AGENT));
    gateway.backup = join(gateway.root, 'church.backup');
    await succeed(gateway.source, ['backup', gateway.backup]);
  });
  afterAll(async () => {
    await gateway.serve.end('SIGTERM');
    rmSync(gateway.root, { recursive: true });
  });
  return gateway;
}

/** The answer of the v2 report of the organization with data. */
export const reportOf = async (
  { url }: ServeProcess,
  { apiProvision }: Pick<BackedUpGateway, 'apiProvision'>,
  userAgent = 'test',
): Promise<string> => (await fetch(url + PATH, { headers: { Provision: apiProvision, 'User-Agent': userAgent } })).text();
