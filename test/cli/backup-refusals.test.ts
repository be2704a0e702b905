import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { readBackup } from '../support/backup-files';
import { failed, runCommand, succeed, type Environment } from '../support/command';
import { createTestDatabase } from '../support/database';
import { depositBook } from '../support/deposit-book';
import { toNdjson } from '../support/deposit-files';
import { testOnOneNode } from '../support/limited-tests';

let root: string;

const at = (name: string): string => join(root, name);
const inDirectory = (name: string): Environment => ({ DATA_DIR: at(name), DEMO: 'off' });

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'gateway-refusals-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(root, 0o755);
  await writeFile(at('church.ndjson'), toNdjson(depositBook(20)));
});
afterAll(() => rmSync(root, { recursive: true }));

/** Uses a database with the books of one organization, and drops it. */
async function withBooks(use: (own: Environment, client: Client) => Promise<void>): Promise<void> {
  const { url, client, drop } = await createTestDatabase();
  const own = { DATABASE_URL: url };
  try {
    await succeed(own, ['organization', 'create', 'Church']);
    await succeed(own, ['import', at('church.ndjson'), '--organization', 'Church', '--allow-mismatch']);
    await use(own, client);
  } finally {
    await drop();
  }
}

const tablesIn = async (file: string): Promise<string[]> => [
  ...new Set((await readBackup(file)).flatMap(({ name }) => (name.startsWith('tables/') ? name.split('/')[1]! : []))),
];

testOnOneNode('an operator whose role has a schema of its name backs up every row all the same', async () => {
  await withBooks(async (own, client) => {
    await succeed(own, ['backup', at('before.backup')]);
    await client.query('CREATE SCHEMA AUTHORIZATION CURRENT_USER');
    await succeed(own, ['backup', at('after.backup')]);
    expect(await tablesIn(at('after.backup'))).toEqual(await tablesIn(at('before.backup')));
    expect(await tablesIn(at('after.backup'))).toContain('donor');
    await succeed(inDirectory('schema'), ['restore', at('after.backup')]);
    expect(await runCommand(own, ['restore', at('after.backup')])).toEqual(
      failed('The database has data (table allocation): restore into an empty one'),
    );
  });
});

testOnOneNode('an operator gets no backup that lacks a table, and keeps the earlier one', async () => {
  await withBooks(async (own, client) => {
    await writeFile(at('earlier.backup'), 'an earlier backup');
    await client.query('CREATE SCHEMA AUTHORIZATION CURRENT_USER');
    await client.query(`CREATE TABLE ${(await client.query<{ name: string }>('SELECT CURRENT_USER AS name')).rows[0]!.name}.donor ()`);
    expect(await runCommand(own, ['backup', at('earlier.backup'), '--force'])).toEqual(
      failed('The database is not as the gateway makes it:\nthe table donor is missing, or behind another of its name'),
    );
    expect(await readFile(at('earlier.backup'), 'utf8')).toBe('an earlier backup');
  });
});

testOnOneNode('an operator backs up a table that somebody has set UNLOGGED', async () => {
  await withBooks(async (own, client) => {
    await client.query('ALTER TABLE audit_record SET UNLOGGED');
    await succeed(own, ['backup', at('unlogged.backup')]);
    expect(await tablesIn(at('unlogged.backup'))).toContain('audit_record');
  });
});
