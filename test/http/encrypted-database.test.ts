import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, startServe } from '../support/command';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { withGateway } from '../support/gateway';
import { AUTHORITY_FILE, startTlsDatabase, type TlsDatabase } from '../support/tls-database';

let database: TestDatabase;
let encrypted: TlsDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  encrypted = await startTlsDatabase(database.url);
  folder = mkdtempSync(join(tmpdir(), 'gateway-secrets-'));
});

afterAll(async () => {
  await encrypted.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** The address of the database with TLS, by a name of the server and the settings of its encryption. */
function addressOf(host: string, settings: string): string {
  const url = new URL(database.url);
  url.port = String(encrypted.port);
  url.hostname = host;
  url.search = settings;
  return url.href;
}

const VERIFIED = `sslmode=verify-full&sslrootcert=${AUTHORITY_FILE}`;

const NOT_ACCEPTED = "The database's certificate is not accepted";

describe('an operator with a database that takes TLS alone', () => {
  test('serves over connections that are all encrypted, with the addresses in files', async () => {
    const file = join(folder, 'database-url');
    writeFileSync(file, `${addressOf('localhost', VERIFIED)}\n`);
    const serve = await startServe({ DATABASE_URL_FILE: file, OWNER_DATABASE_URL_FILE: file });
    try {
      expect(await (await fetch(`${serve.url}/ready`)).json()).toEqual({ status: 'ready' });
      expect(encrypted.encrypted()).toBeGreaterThan(0);
      const { searchParams } = new URL(database.url);
      expect(searchParams.get('sslmode')).toBeNull();
    } finally {
      expect(await serve.end('SIGTERM')).toBe(0);
    }
    expect(await runCommand({ DATABASE_URL_FILE: file }, ['migrate'])).toMatchObject({ status: 0, stdout: 'Nothing to apply\n' });
  });

  test.each([
    ['without encryption', () => addressOf('localhost', ''), 'The database cannot be reached'],
    ['whose certificate is of an unknown authority', () => addressOf('localhost', 'sslmode=verify-full'), NOT_ACCEPTED],
    ['whose certificate is for another name', () => addressOf('127.0.0.1', VERIFIED), NOT_ACCEPTED],
  ])('reaches no server %s, and is told why', async (_case, address, reason) => {
    await withGateway({ DATABASE_URL: address() }, async ({ url }) => {
      expect(await (await fetch(`${url}/ready`)).json()).toEqual({ status: 'not ready', reason });
    });
    const result = await runCommand({ DATABASE_URL: address() }, ['organization', 'list']);
    expect(result).toMatchObject({ status: 1, stdout: '' });
  });

  test('is told of an authority whose file is not there', async () => {
    const result = await runCommand({ DATABASE_URL: addressOf('localhost', 'sslmode=verify-full&sslrootcert=/nowhere.pem') }, [
      'organization',
      'list',
    ]);
    expect(result).toMatchObject({ status: 1, stdout: '' });
    expect(result.stderr).toMatch(/ENOENT.*\/nowhere\.pem/);
  });
});
