import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { listBackup, readBackup } from '../support/backup-files';
import { failed, runCommand, succeed, type Environment } from '../support/command';
import { createTestDatabase } from '../support/database';
import { depositBook } from '../support/deposit-book';
import { toNdjson } from '../support/deposit-files';
import { makeLaterBuild } from '../support/later-build';
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
  const database = await createTestDatabase();
  const own = { DATABASE_URL: database.url };
  try {
    await succeed(own, ['organization', 'create', 'Church']);
    await succeed(own, ['import', at('church.ndjson'), '--organization', 'Church', '--allow-mismatch']);
    await use(own, database.client);
  } finally {
    await database.drop();
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
      failed('The database is not as the gateway makes it:\nthe table donor is missing, or behind another one of its name'),
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

const foreign = (...lines: string[]) => failed(['The database is not as the gateway makes it:', ...lines].join('\n'));

testOnOneNode('an operator is told of tables, columns and sequences that no restore would take, and gets no backup', async () => {
  await withBooks(async (own, client) => {
    await client.query('CREATE TABLE donor_before_fix AS SELECT * FROM donor');
    await client.query('ALTER TABLE donor ADD note text');
    await client.query('ALTER TABLE donor DROP phone CASCADE');
    await client.query('CREATE SEQUENCE receipt_number');
    expect(await runCommand(own, ['backup', at('foreign.backup')])).toEqual(
      foreign(
        'the column donor.phone is missing, or behind another one of its name',
        "the column donor.note is not the gateway's: keep it in another schema",
        "the table donor_before_fix is not the gateway's: keep it in another schema",
        "the sequence receipt_number is not the gateway's: keep it in another schema",
      ),
    );
    expect((await readdir(root)).filter((name) => name.startsWith('foreign'))).toEqual([]);
  });
});

testOnOneNode('an operator is told of them also before a migration, and gets a backup without them', async () => {
  const later = makeLaterBuild(at('later'), { '99990101000000_records': 'DROP TABLE export_record' });
  await withBooks(async (own, client) => {
    await client.query('CREATE TABLE export_record (id uuid)');
    await client.query('CREATE TABLE donor_before_fix AS SELECT * FROM donor');
    await client.query('ALTER TABLE donor ADD noted_by text');
    expect(await runCommand(own, ['backup', at('older.backup')], '', later)).toEqual(
      foreign(
        "the column donor.noted_by is not the gateway's: keep it in another schema",
        "the table donor_before_fix is not the gateway's: keep it in another schema",
      ),
    );
    await client.query('CREATE SCHEMA elsewhere');
    await client.query('ALTER TABLE donor_before_fix SET SCHEMA elsewhere');
    await client.query('ALTER TABLE donor DROP noted_by');
    await succeed(own, ['backup', at('older.backup')], '', later);
  });
});

testOnOneNode('an operator is told of a migration that is missing between others, which no restore would take', async () => {
  const later = makeLaterBuild(at('later-notes'), { '99990101000000_notes': 'ALTER TABLE donor ADD COLUMN note TEXT' });
  await withBooks(async (own, client) => {
    await succeed(own, ['migrate'], '', later);
    for (const condition of ["= '20261125220000_books'", "<> ''"]) {
      await client.query(`DELETE FROM _prisma_migrations WHERE migration_name ${condition}`);
      const { status, stderr } = await runCommand(own, ['backup', at('hole.backup')], '', later);
      expect([condition, status]).toEqual([condition, 1]);
      expect(stderr).toMatch(/^the migration 20261125220000_books is missing: run `deposit-gateway migrate`$/m);
    }
  });
});

testOnOneNode('an operator whose new database is held by another session is told so, and restores when it is free', async () => {
  await withBooks(async (own) => void (await succeed(own, ['backup', at('held.backup')])));
  const database = await createTestDatabase();
  const own = { DATABASE_URL: database.url };
  try {
    await database.client.query('BEGIN; LOCK TABLE donor');
    expect(await runCommand(own, ['restore', at('held.backup')])).toEqual(
      failed('Another session holds a table of the database: end it, or wait for it, and restore again'),
    );
    await database.client.query('ROLLBACK');
    await succeed(own, ['restore', at('held.backup')]);
  } finally {
    await database.drop();
  }
});

testOnOneNode('an operator backs up the schema of a newer gateway, whose tables this one does not know', async () => {
  await withBooks(async (own, client) => {
    await client.query(
      "INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('x', '', '29991231000000_x', now())",
    );
    await client.query('CREATE TABLE pledge (id int)');
    expect(await runCommand(own, ['backup', at('newer.backup')])).toMatchObject({ status: 0, stderr: 'The audit was not checked\n' });
    expect(await listBackup(at('newer.backup'))).toContain('tables/donor/000001.copy');
  });
});

testOnOneNode('an operator gets the books back although somebody has changed the audit, and is told which row', async () => {
  await withBooks(async (own, client) => {
    await client.query("UPDATE audit_record SET detail = 'x' WHERE number = 2");
    const file = at('changed.backup');
    const fault = 'The audit of "Church" was not in order: row 2 was changed';
    const auditFaults = [{ organization: 'Church', number: 2, kind: 'changed' }];
    const wrote = expect.stringContaining(`Wrote ${file}`) as string;
    expect(await runCommand(own, ['backup', file])).toEqual({ status: 0, stdout: wrote, stderr: `${fault}\n` });
    const again = await runCommand(own, ['--json', 'backup', file, '--force']);
    expect({ ...again, stdout: JSON.parse(again.stdout) as unknown }).toMatchObject({
      status: 0,
      stdout: { file, auditFaults },
      stderr: '',
    });

    const restored = expect.stringContaining('Restored the backup of ') as string;
    expect(await runCommand(inDirectory('changed'), ['restore', file])).toEqual({ status: 1, stdout: restored, stderr: `${fault}\n` });
    expect(await succeed(inDirectory('changed'), ['organization', 'list'])).toContain('Church');
    expect(await runCommand(inDirectory('changed'), ['audit', 'verify', '--organization', 'Church'])).toEqual(
      failed('Church: row 2 was changed'),
    );
    const verified = await runCommand(own, ['--json', 'verify', file]);
    expect([verified.status, JSON.parse(verified.stdout), JSON.parse(verified.stderr)]).toEqual([
      1,
      expect.objectContaining({ auditFaults }),
      { error: fault },
    ]);
  });
});
