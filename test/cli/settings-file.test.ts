import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DEFAULT_SETTINGS_FILE } from '../../src/cli/command-options';
import { withSettingsFile } from '../../src/cli/settings-file';
import { readConfig } from '../../src/config';
import { done, failed, runCommand, runWhole } from '../support/command';
import { createTestDatabase, databaseSettings } from '../support/database';
import { MAIN } from '../support/gateway-package';

describe('an operator with settings in a file', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-settings-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const write = (content: string | Buffer, mode = 0o600): string => {
    const file = join(folder, randomUUID());
    writeFileSync(file, content, { mode });
    return file;
  };
  /** What is told of a command with such a file, which is called `FILE` in it. */
  const told = (file: string): string => {
    try {
      readConfig(withSettingsFile({}, file));
      return '';
    } catch (error) {
      return (error as Error).message.replaceAll(file, 'FILE');
    }
  };

  test('has them read as systemd and Docker read them', () => {
    const file = write(
      [
        '\uFEFF# The gateway of the church',
        'DEMO=off',
        '',
        "DATA_DIR='/srv/the data'",
        '  HOST="::1"  ',
        'ADMIN_PORT=4001',
        'ADMIN_TOKEN=it#is\'a"token$with`all~of=them!()*+,-./:;<>?@[]^_{|}&%',
        'OTEL_SERVICE_NAME=church #1',
        'LOG_LEVEL=',
      ].join('\r\n'),
    );
    expect(withSettingsFile({}, file)).toEqual({
      ...{ DEMO: 'off', DATA_DIR: '/srv/the data', HOST: '::1', ADMIN_PORT: '4001', OTEL_SERVICE_NAME: 'church #1', LOG_LEVEL: '' },
      ADMIN_TOKEN: 'it#is\'a"token$with`all~of=them!()*+,-./:;<>?@[]^_{|}&%',
    });
    expect(told(file)).toBe('');
  });

  test('has variables win over it, and never the address of one database beside that of another', () => {
    const file = write(
      'PORT=1\nHOST=::1\nDATABASE_URL=postgresql://h/file\nOWNER_DATABASE_URL_FILE=/owner\nDATABASE_REPLICA_URLS=postgresql://r/file',
    );
    const [PORT, HOST, DATABASE_URL] = ['2', '', 'postgresql://h/own'];
    expect(withSettingsFile({ PORT, HOST, DATABASE_URL }, file)).toEqual({ PORT, HOST: '::1', DATABASE_URL });
    expect(withSettingsFile({ DATABASE_URL_FILE: '/own' }, file)).toEqual({ PORT: '1', HOST: '::1', DATABASE_URL_FILE: '/own' });
    expect(withSettingsFile({ OWNER_DATABASE_URL: 'postgresql://h/own' }, file)).toMatchObject({
      ...{ DATABASE_URL: 'postgresql://h/file', OWNER_DATABASE_URL: 'postgresql://h/own' },
    });
  });

  test.each([
    ["DATA_DIR='/srv/it's'", 'DATA_DIR has a quote within quotes'],
    ['DATA_DIR="/srv/a" "b"', 'DATA_DIR has a quote within quotes'],
    ['PROT=1', 'PROT is no setting'],
    ['NODE_OPTIONS=--inspect', 'NODE_OPTIONS is no setting'],
    ['PORT_FILE=/port', 'PORT_FILE is no setting'],
    ['toString=1', 'toString is no setting'],
    ['postgresql://u:secret@h/d?a=b', 'the name is no setting'],
    ['PORT', 'expected NAME=value'],
    ['=1', 'the name is no setting'],
    ['; PORT=1', 'expected no blank before the ='],
    ['export PORT=1', 'leave out export: the file is no script of a shell'],
    ['PORT =1', 'expected no blank before the ='],
    ['DEMO=on', 'DEMO is set in line 1 too'],
    [String.raw`ADMIN_TOKEN=a\b`, 'ADMIN_TOKEN has a backslash or a control character'],
    ['DATA_DIR=a\0b', 'DATA_DIR has a backslash or a control character'],
    ['DATA_DIR="/srv', 'DATA_DIR begins with a quote that does not end the value'],
    ['DATA_DIR="/srv" # here', 'DATA_DIR begins with a quote that does not end the value'],
  ])('is told the line of a fault: %s', (line, reason) => {
    expect(told(write(`DEMO=off\n# a comment\n${line}\nDEM0=off\n`))).toBe(`FILE, line 3: ${reason}\nFILE, line 4: DEM0 is no setting`);
  });

  test('is told of a file that is missing, that is none, or no text', () => {
    expect(told('/nowhere/gateway.env')).toMatch(/^FILE: the file of settings cannot be read: ENOENT/);
    expect(told(folder)).toMatch(/^FILE: the file of settings cannot be read: EISDIR/);
    expect(told(write(Buffer.from('DATA_DIR=/\xe4', 'latin1')))).toBe('FILE: the file of settings is not UTF-8 at byte 11');
    expect(withSettingsFile({ PORT: '1' }, false)).toEqual({ PORT: '1' });
  });

  test('has no secret in a file that every account may read or write', () => {
    const secret = 'DATABASE_URL=postgresql://u:secret@h/d';
    const open = 'FILE: every account of this machine may read or change the file, which holds secrets: chmod o= takes that away';
    for (const [mode, fault] of [
      [0o604, open],
      [0o602, open],
      [0o641, ''],
      [0o640, ''],
      [0o600, ''],
    ] as const) {
      const file = write(secret);
      chmodSync(file, mode);
      expect([mode, told(file)]).toEqual([mode, fault]);
    }
    for (const text of ['PORT=1', 'DATABASE_URL_FILE=/run/secrets/url']) {
      expect(withSettingsFile({}, write(text, 0o644))).toEqual(Object.fromEntries([text.split('=')]));
    }
  });

  test('names it before or after the command, as a pipe too, and learns which database was used', async () => {
    const database = await createTestDatabase();
    try {
      const { username, host, hostname, port, searchParams } = new URL(database.url);
      const place = {
        ...{ kind: 'postgresql', name: database.client.database, host: searchParams.get('host') ?? hostname, port: Number(port || 5432) },
        role: username,
      };
      expect(host).not.toBe('');
      const file = write(
        `DATABASE_URL=${database.url}${database.url.includes('?') ? '&' : '?'}application_name=nobody\nLOG_LEVEL=silent\n`,
      );
      const line = `Database: ${place.name} at ${place.host}:${place.port}, as role ${place.role}\n`;
      const inFile = databaseSettings();
      const create = ['organization', 'create', 'Church'];
      expect(await runWhole(inFile, ['--env-file', file, ...create])).toEqual({ ...done('Created organization "Church"'), stderr: line });
      expect(await runWhole(inFile, [...create, `--env-file=${file}`])).toEqual({
        ...failed('There is an organization "Church" already'),
        stderr: `${line}There is an organization "Church" already\n`,
      });
      const json = await runWhole(inFile, ['--json', '--env-file', file, 'organization', 'list']);
      expect([json.status, json.stderr]).toEqual([0, `${JSON.stringify({ database: place })}\n`]);
      const fault = { error: 'There is no organization "School"', database: place };
      expect(await runWhole(inFile, ['version', 'list', '--organization', 'School', '--json', '--env-file', file])).toEqual(
        failed(JSON.stringify(fault)),
      );
      expect(await runCommand(inFile, ['--env-file', join(folder, 'missing'), 'organization', 'list'])).toMatchObject({
        ...{ status: 1, stderr: expect.stringMatching(/missing: the file of settings cannot be read: ENOENT/) as string },
      });
      expect(await runWhole(inFile, ['organization', 'list', '-q', '--env-file', file])).toMatchObject({ status: 0, stderr: '' });
      const script = '"$0" -- "$MAIN" --quiet organization list --env-file <(cat "$FILE")';
      const piped = promisify(execFile)('bash', ['--norc', '-c', script, process.execPath], {
        env: { PATH: process.env.PATH, ...inFile, MAIN, FILE: file },
      });
      expect(await piped).toEqual({ stdout: expect.stringContaining('Church') as string, stderr: '' });
    } finally {
      await database.drop();
    }
  });

  // A file system of its own has the file at its place, beside which other tests run.
  const isolate = ['--user', '--map-root-user', '--mount', 'sh', '-c'];
  const canIsolate = spawnSync('unshare', [...isolate, 'mount -t tmpfs none /etc']).status === 0;
  (canIsolate ? test : test.skip)('may have it at the place where it is looked for, and leave it out', () => {
    const run = (line: string, words: string, own: Record<string, string> = {}) => {
      const write = `mkdir /etc/deposit-gateway && umask 007 && echo ${line} > ${DEFAULT_SETTINGS_FILE}`;
      const start = `mount -t tmpfs none /etc && ${write} && exec "$0" -- "$MAIN" ${words}`;
      const env = { PATH: process.env.PATH, MAIN, ...own };
      const { status, stderr } = spawnSync('unshare', [...isolate, start, process.execPath], { encoding: 'utf8', env });
      return { status, stderr };
    };
    expect(run('PROT=1', 'organization list')).toEqual({ status: 1, stderr: `${DEFAULT_SETTINGS_FILE}, line 1: PROT is no setting\n` });
    expect(run('PROT=1', '--no-env-file schema').status).toBe(0);
    const [address, own] = ['DATABASE_URL=postgresql://u:p@127.0.0.1:1/d', { DATA_DIR: '/nowhere' }];
    const which = `--no-env-file or --env-file ${DEFAULT_SETTINGS_FILE}`;
    expect(run(address, 'organization list', own)).toEqual({
      status: 1,
      stderr: `the environment has DATA_DIR, and ${DEFAULT_SETTINGS_FILE} has DATABASE_URL: choose by ${which}\n`,
    });
    expect(run(address, '--no-env-file organization list', own).stderr).toContain('There is no database in /nowhere');
    expect(run(address, `--env-file ${DEFAULT_SETTINGS_FILE} organization list`, own).stderr).toContain('Database: d at 127.0.0.1:1');
  });
});
