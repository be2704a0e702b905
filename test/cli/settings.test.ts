import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { drainMsOf } from '../../src/cli/drain-time';
import { ConfigError, isSecretSetting, readConfig, settings } from '../../src/config';
import { errorTable, requestFaultTable } from '../../src/errors';
import { withoutDatabase } from '../support/command';
import { createTestDatabase, databaseSettings } from '../support/database';
import { readDocument, sectionOf, tableOf } from '../support/documents';
import { MAIN } from '../support/gateway-package';

const ADDRESS =
  'expected a URL like postgresql://user:password@host:5432/database; a password has every character but letters and digits percent-encoded, such as %40 for @';

function faults(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
}

describe('an operator', () => {
  test('starts with nothing set', () => {
    expect(readConfig({})).toMatchObject({
      PORT: 4000,
      HOST: '127.0.0.1',
      DATABASE_URL: '',
      DATA_DIR: '.data',
      UNDER_MAINTENANCE: false,
      TRUST_PROXY: [],
    });
  });

  test('finds every setting in the documents, with its default and meaning', () => {
    expect(tableOf(readDocument('docs/settings.md'), 'name')).toEqual(
      Object.entries(settings).map(([name, { fallback, meaning }]) => [name, fallback, meaning]),
    );
  });

  test('finds every secret in the documents', () => {
    const [, sentence] = /\n(`.*`) are secrets\./.exec(readDocument('docs/settings.md'))!;
    expect([...sentence!.matchAll(/`(\w+)`/g)].map(([, name]) => name!).sort()).toEqual(
      Object.keys(settings).filter(isSecretSetting).sort(),
    );
  });

  test('finds every error in the documents', () => {
    const rowsUnder = (heading: string): string[][] => tableOf(sectionOf(readDocument('docs/errors.md'), heading), 'code');
    const toRows = (table: object): string[][] =>
      Object.entries(table as typeof errorTable).map(([code, { status, text }]) => [code, `${status}`, text]);
    expect(rowsUnder('Codes')).toEqual(toRows(errorTable));
    expect(rowsUnder('Requests that are wrong in themselves')).toEqual(toRows(requestFaultTable));
  });

  test.each([
    ['PORT', 'abc', 'PORT: expected a whole number from 0 to 65535, got "abc"'],
    ['PORT', '65536', 'PORT: expected a whole number from 0 to 65535, got "65536"'],
    ['PORT', '-1', 'PORT: expected a whole number from 0 to 65535, got "-1"'],
    ['HOST', 'a b', 'HOST: expected an address or a host name, got "a b"'],
    ['DATABASE_URL', 'mysql://u:secret@h/d', `DATABASE_URL: ${ADDRESS}`],
    ...['nonsense', 'postgresql://u:p#x@h/d', 'postgresql://u:p/x@h/d', 'postgresql://u:12/x@h/d', 'postgresql://u:12?x@h/d'].map(
      (value): [string, string, string] => ['DATABASE_URL', value, `DATABASE_URL: ${ADDRESS}`],
    ),
    ...['postgresql://u:100%@h/d', 'postgresql://u:%zz@h/d', 'postgresql://u:p@h/d#x', 'postgresql://u:p@h/d/e'].map(
      (value): [string, string, string] => ['OWNER_DATABASE_URL', value, `OWNER_DATABASE_URL: ${ADDRESS}`],
    ),
    [
      'DATABASE_REPLICA_URLS',
      'postgresql://u:secret@h/d,http://h/d',
      `DATABASE_REPLICA_URLS: ${ADDRESS.replace('a URL', 'URLs').replace(';', ', separated by commas;')}`,
    ],
    ['DATABASE_REPLICA_URLS', 'postgresql://u:secret@h/d', 'DATABASE_REPLICA_URLS: expected DATABASE_URL beside it'],
    ['WORKERS', '0', 'WORKERS: expected a whole number from 1 to 128, or auto, got "0"'],
    ['WORKERS', '129', 'WORKERS: expected a whole number from 1 to 128, or auto, got "129"'],
    ['DATABASE_POOLER', 'session', 'DATABASE_POOLER: expected one of none, transaction, got "session"'],
    ['DATABASE_ENGINE', 'mysql', 'DATABASE_ENGINE: expected one of postgresql, citus, got "mysql"'],
    ['DATABASE_ENGINE', 'citus', 'DATABASE_ENGINE=citus: expected DATABASE_URL beside it'],
    ['REPLICA_WAIT_MILLISECONDS', '60001', 'REPLICA_WAIT_MILLISECONDS: expected a whole number from 0 to 60000, got "60001"'],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL: expected one of fatal, error, warn, info, debug, silent, got "loud"'],
    ['TRUST_PROXY', 'true', 'TRUST_PROXY: expected addresses or CIDR ranges, separated by commas, got "true"'],
    ['TRUST_PROXY', '0.0.0.0/0', 'TRUST_PROXY: expected addresses or CIDR ranges, separated by commas, got "0.0.0.0/0"'],
    ...[
      ['*', '*'],
      ['null', 'null'],
      ['https://app.example.org/', 'https://app.example.org/'],
      ['https://app.example.org, https://*.example.org', 'https://*.example.org'],
      ['HTTPS://app.example.org', 'HTTPS://app.example.org'],
      ['https://app.example.org:443', 'https://app.example.org:443'],
      ['https://user@app.example.org', 'https://user@app.example.org'],
      ['app.example.org', 'app.example.org'],
    ].map(([value = '', origin = '']): [string, string, string] => [
      'CORS_ORIGINS',
      value,
      `CORS_ORIGINS: expected exact origins such as https://app.example.org, separated by commas; "${origin}" is none, got "${value}"`,
    ]),
    ...['*', 'x*y', 'x y', 'x:', 'b3,(x)', 'x-ä'].map((value): [string, string, string] => [
      'CORS_HEADERS',
      value,
      `CORS_HEADERS: expected names of request headers such as b3 or x-datadog-*, separated by commas; "${value.split(',').at(-1)!}" is none, got "${value}"`,
    ]),
    ...['X-Forwarded-For', 'x-forwarded-*', 'Forwarded'].map((value): [string, string, string] => [
      'CORS_HEADERS',
      value,
      `CORS_HEADERS: "${value.toLowerCase()}" is for proxies alone, got "${value}"`,
    ]),
    ['SESSION_SAME_SITE', 'None', 'SESSION_SAME_SITE: expected one of lax, strict, none, got "None"'],
    ['UNDER_MAINTENANCE', 'yes', 'UNDER_MAINTENANCE: expected one of on, off, got "yes"'],
    ['PLAYGROUND_PROVISION', '1', 'PLAYGROUND_PROVISION: expected a UUID, got "1"'],
    ['SESSION_IDLE_MINUTES', '0', 'SESSION_IDLE_MINUTES: expected a whole number from 2 to 1440, got "0"'],
  ])('is told what is wrong with %s=%s', (name, value, message) => {
    expect(faults({ [name]: value })).toBe(message);
  });

  test('is told of all faults at once', () => {
    expect(faults({ PORT: 'x', DEMO: 'x' }).split('\n')).toEqual([
      'PORT: expected a whole number from 0 to 65535, got "x"',
      'DEMO: expected one of on, off, got "x"',
    ]);
  });

  test('may name the headers of tracers', () => {
    expect(readConfig({ CORS_HEADERS: ' b3, X-Datadog-* ,,request-id' }).CORS_HEADERS).toEqual(['b3', 'x-datadog-*', 'request-id']);
  });

  test('may write an IPv6 address with brackets or without', () => {
    const { HOST, ADMIN_HOST, ADMIN_NAMES } = readConfig({
      HOST: '[::1]',
      ADMIN_HOST: '::1',
      ADMIN_NAMES: '2001:DB8::1,[::2],Name.example',
    });
    expect([HOST, ADMIN_HOST, ADMIN_NAMES]).toEqual(['::1', '::1', ['2001:db8::1', '[::2]', 'name.example']]);
  });

  test('may name the origins of apps', () => {
    const origins = ['https://app.example.org', 'http://localhost:5173', 'http://[::1]:3000', 'capacitor://localhost'];
    expect(readConfig({ CORS_ORIGINS: origins.join(', ') }).CORS_ORIGINS).toEqual(origins);
  });

  test('may take all cores, a pooler, Citus and several replicas', () => {
    const replicas = ['postgresql://u:p%2C@one/d', 'postgresql://two/d'];
    expect(
      readConfig({
        ...{ WORKERS: 'auto', DATABASE_POOLER: 'transaction', DATABASE_ENGINE: 'citus', REPLICA_WAIT_MILLISECONDS: '0' },
        ...{ DATABASE_URL: 'postgresql://h/d', DATABASE_REPLICA_URLS: ` ${replicas.join(', ')},` },
      }),
    ).toMatchObject({
      ...{
        WORKERS: Math.min(availableParallelism(), 128),
        DATABASE_POOLER: 'transaction',
        DATABASE_ENGINE: 'citus',
        REPLICA_WAIT_MILLISECONDS: 0,
      },
      DATABASE_REPLICA_URLS: replicas,
    });
    expect(readConfig({ WORKERS: '128' }).WORKERS).toBe(128);
  });

  test('may name proxies by address and by range', () => {
    expect(readConfig({ TRUST_PROXY: '127.0.0.1, 10.0.0.0/8,::1, fd00::/8' }).TRUST_PROXY).toEqual([
      '127.0.0.1',
      '10.0.0.0/8',
      '::1',
      'fd00::/8',
    ]);
  });

  describe('with secrets in files', () => {
    let folder: string;

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'gateway-settings-'));
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    const write = (text: string | Buffer): string => {
      const file = join(folder, randomUUID());
      writeFileSync(file, text);
      return file;
    };

    test.each(['\n', '\r\n', ''])('has them read without the mark of an editor and the end of their line', (end) => {
      const file = write(`\uFEFFpostgresql://u:p%20@h/d${end}`);
      expect(readConfig({ DATABASE_URL_FILE: file }).DATABASE_URL).toBe('postgresql://u:p%20@h/d');
      const withReplicas = { DATABASE_URL_FILE: file, DATABASE_REPLICA_URLS_FILE: write(`postgresql://one/d,postgresql://two/d${end}`) };
      expect(readConfig(withReplicas).DATABASE_REPLICA_URLS).toEqual(['postgresql://one/d', 'postgresql://two/d']);
      expect(readConfig({ DATABASE_URL_FILE: file, OWNER_DATABASE_URL_FILE: file }).OWNER_DATABASE_URL).toBe('postgresql://u:p%20@h/d');
    });

    test('is told of a file that is not there, and of a secret that is given twice', () => {
      expect(faults({ DATABASE_URL_FILE: '/nowhere/url' })).toMatch(/^DATABASE_URL_FILE: ENOENT.*\/nowhere\/url/);
      const both = { DATABASE_URL: 'postgresql://h/d', DATABASE_URL_FILE: write('postgresql://h/d') };
      expect(faults(both)).toBe('DATABASE_URL and DATABASE_URL_FILE: expected one of the two');
    });

    test.each(['', '\n', '\r\n'])('is told of a file that is empty', (text) => {
      expect(faults({ DATABASE_URL_FILE: write(text) })).toBe('DATABASE_URL_FILE: the file is empty');
    });

    test('is told of a secret that is not UTF-8, and does not get another one', () => {
      const latin1 = (text: string): string => write(Buffer.from(text, 'latin1'));
      expect(faults({ DATABASE_URL_FILE: latin1('postgresql://u:p\xe9@h/d') })).toBe('DATABASE_URL_FILE: is not UTF-8 at byte 17');
      expect(faults({ ADMIN_TOKEN_FILE: latin1(`${'a'.repeat(32)}\xff`), ADMIN_PORT: '0' })).toBe(
        'ADMIN_TOKEN_FILE: is not UTF-8 at byte 33',
      );
      // Node puts this character in the place of bytes of the environment that are not UTF-8.
      expect(faults({ DATABASE_URL: 'postgresql://u:p\uFFFD@h/d' })).toBe('DATABASE_URL: expected UTF-8');
      expect(faults({ DATABASE_URL: 'postgresql://u:p%E9@h/d' })).toMatch(/^DATABASE_URL: expected a URL like/);
      expect(readConfig({ DATABASE_URL: 'postgresql://u:p%C3%A9@h/d' }).DATABASE_URL).toBe('postgresql://u:p%C3%A9@h/d');
    });

    test('may give a pipe, which is read once in a run', async () => {
      const database = await createTestDatabase();
      const dataDirectory = join(folder, 'unused');
      try {
        // A second reading of the pipe finds it empty.
        const script = 'DATABASE_URL_FILE=<(echo "$URL") exec "$0" "$MAIN" organization create Church';
        const environment = { PATH: process.env.PATH, ...databaseSettings(), MAIN, URL: database.url, DATA_DIR: dataDirectory };
        const result = await promisify(execFile)('bash', ['--norc', '-c', script, process.execPath], { env: environment });
        expect({ ...result, stderr: withoutDatabase(result.stderr) }).toEqual({ stdout: 'Created organization "Church"\n', stderr: '' });
        expect((await database.client.query('SELECT name FROM organization')).rows).toEqual([{ name: 'Church' }]);
        expect(existsSync(dataDirectory)).toBe(false);
      } finally {
        await database.drop();
      }
    });

    test('is not shown a secret that is wrong', () => {
      expect(faults({ DATABASE_URL_FILE: write('mysql://u:secret@h/d') })).toBe(`DATABASE_URL: ${ADDRESS}`);
    });
  });

  test('gives a token of operators beside their port alone, and of 32 characters', () => {
    const token = 'a'.repeat(32);
    expect(faults({ ADMIN_TOKEN: token })).toBe('ADMIN_TOKEN: expected ADMIN_PORT beside it');
    expect(faults({ ADMIN_TOKEN: token, ADMIN_PORT: '4001' })).toBe('');
    expect(faults({ ADMIN_TOKEN: 'short', ADMIN_PORT: '4001' })).toBe('ADMIN_TOKEN: expected 32 to 200 characters of ASCII without blanks');
  });

  test('has a drain that HAProxy notices where gateways share a database, and none with the embedded one or at a Ctrl-C, unless it is set', () => {
    const drainOf = (environment: Record<string, string>, signal = 'SIGTERM'): number => drainMsOf(readConfig(environment), signal);
    const shared = { DATABASE_URL: 'postgresql://h/d' };
    expect([drainOf({}), drainOf(shared), drainOf(shared, 'SIGINT')]).toEqual([0, 8000, 0]);
    for (const given of [{}, shared]) {
      for (const signal of ['SIGTERM', 'SIGINT']) expect(drainOf({ ...given, DRAIN_MILLISECONDS: '250' }, signal)).toBe(250);
    }
    expect(faults({ DRAIN_MILLISECONDS: '60001' })).toBe('DRAIN_MILLISECONDS: expected a whole number from 0 to 60000, got "60001"');
  });

  test('gives the address of the owner beside that of the gateway', () => {
    expect(faults({ OWNER_DATABASE_URL: 'postgresql://h/d' })).toBe('OWNER_DATABASE_URL: expected DATABASE_URL beside it');
  });
});
