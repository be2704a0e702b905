import { writeFile } from 'node:fs/promises';
import { runCommand, succeed } from '../support/command';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { openDepositFiles, toNdjson, type DepositFiles } from '../support/deposit-files';
import { v2Line } from '../support/gateway';

type Registered = Readonly<Record<string, unknown>>;

const gift = (number: number, donor: object) =>
  v2Line({ deposit_id: `D${number}`, transaction_id: `T${number}`, allocation_id: `A${number}`, deposit_status: 'posted', ...donor });
const KING = { donor_id: 8, donor_first_name: 'William', donor_last_name: 'King' };
const NOETHER = { donor_id: 9, donor_first_name: 'Emmy', donor_last_name: 'Noether' };

let files: DepositFiles;
let organization: string;
/** An organization that came after the backup. */
let later: string;
let backup: string;
/** The register, the last erasure first: donor 9, who came after the backup, and donor 7 twice. */
let register: readonly Registered[];

beforeAll(async () => {
  files = await openDepositFiles();
  const run = (...words: string[]) => succeed(files.environment, words);
  const importInto = async (name: string, ...lines: object[]) =>
    expect(await files.import(name, 'lines.ndjson', toNdjson(lines))).toMatchObject({ status: 0 });
  const erase = (name: string, donor: string, reason: string) =>
    run('donor', 'erase', '--organization', name, '--donor', donor, '--reason', reason);
  organization = await files.createOrganization();
  await importInto(organization, gift(1, {}), gift(2, KING));
  backup = files.path('gateway.backup');
  await run('backup', backup);

  later = await files.createOrganization();
  await importInto(later, gift(1, {}));
  await importInto(organization, gift(1, {}), gift(2, KING), gift(3, NOETHER));
  await erase(later, '7', 'Request 1');
  await erase(organization, '7', 'Request 2');
  await files.query(`UPDATE donor SET city = 'Bern' WHERE id = 7`);
  await erase(organization, '7', 'Request 3');
  await erase(organization, '9', 'Request 4');
  const rows = JSON.parse(await run('--json', 'donor', 'erased')) as Registered[];
  register = rows.map((row) => ({ ...row, erasedBy: `who had ${row.reason as string}` }));
});
afterAll(() => files.close());

async function writeRegister(rows: readonly Registered[]): Promise<string> {
  const path = files.path('erased.json');
  await writeFile(path, JSON.stringify(rows));
  return path;
}

async function withCopy(use: (copy: TestDatabase) => Promise<void>): Promise<void> {
  const copy = await createTestDatabase();
  try {
    await use(copy);
  } finally {
    await copy.drop();
  }
}

const namesIn = async ({ client }: TestDatabase): Promise<object[]> =>
  (await client.query<object>('SELECT DISTINCT donor_id::int AS id, donor_last_name AS name FROM deposit_line ORDER BY id, name')).rows;
const LEFT = [
  { id: 7, name: '' },
  { id: 8, name: 'King' },
];

describe('an operator who restores with a register', () => {
  test.each([
    ['as the gateway writes it', (rows: readonly Registered[]) => rows],
    ['with the earliest erasure first', (rows: readonly Registered[]) => rows.toReversed()],
  ])('erases each donor by the last erasure, %s', async (_order, inOrder) => {
    await withCopy(async (copy) => {
      const environment = { DATABASE_URL: copy.url };
      const file = await writeRegister(inOrder(register));
      const { status, stdout } = await runCommand(environment, ['--json', 'restore', backup, '--erased', file]);
      expect([status, JSON.parse(stdout)]).toMatchObject([
        0,
        {
          erasedAgain: { donors: 1, registered: 2, unknownOrganizations: [later] },
          rewrite: { tables: [{ table: 'donor', heldRows: 0 }, {}, {}, {}, {}] },
        },
      ]);
      expect(await namesIn(copy)).toEqual(LEFT);
      expect(JSON.parse(await succeed(environment, ['--json', 'donor', 'erased']))).toMatchObject([
        { organization, donorId: 7, version: 2, erasedBy: 'who had Request 3', reason: 'Request 3' },
        { organization, donorId: 9, version: 2, erasedBy: 'who had Request 4', reason: 'Request 4' },
      ]);
    });
  });

  test('erases in the organization of the register, whatever it is called now, and in no other of its name', async () => {
    await withCopy(async (origin) => {
      const there = { DATABASE_URL: origin.url };
      const path = files.path('renamed.backup');
      await succeed(there, ['restore', backup]);
      await succeed(there, ['backup', path]);
      await succeed(there, ['organization', 'rename', organization, 'Another name']);
      await succeed(there, ['organization', 'create', organization]);
      const lines = files.path('others.ndjson');
      await writeFile(lines, toNdjson([gift(1, NOETHER), gift(2, KING)]));
      await succeed(there, ['import', lines, '--organization', organization]);
      const erase = (name: string, donor: string) =>
        succeed(there, ['donor', 'erase', '--organization', name, '--donor', donor, '--reason', 'x']);
      await erase('Another name', '7');
      await erase(organization, '8');
      const file = await writeRegister(JSON.parse(await succeed(there, ['--json', 'donor', 'erased'])) as Registered[]);
      await withCopy(async (copy) => {
        const answer = await succeed({ DATABASE_URL: copy.url }, ['--json', 'restore', path, '--erased', file]);
        expect(JSON.parse(answer)).toMatchObject({ erasedAgain: { donors: 1, registered: 1, unknownOrganizations: [organization] } });
        expect(await namesIn(copy)).toEqual(LEFT);
      });
    });
  });

  test('is told how many donors had texts, and which organization the backup does not have', async () => {
    await withCopy(async (copy) => {
      const words = ['restore', backup, '--erased', await writeRegister(register)];
      expect((await succeed({ DATABASE_URL: copy.url }, words)).split('\n')).toContain(
        `Erased again: 1 donor; the backup does not have "${later}"`,
      );
    });
  });

  test('finds each erasure in the audit of the copy, after the restore', async () => {
    await withCopy(async (copy) => {
      const environment = { DATABASE_URL: copy.url };
      await succeed(environment, ['restore', backup, '--erased', await writeRegister(register)]);
      const { rows } = await copy.client.query<object>(
        `SELECT door, kind, operation, subject FROM audit_record WHERE number >= (SELECT number FROM audit_record WHERE operation = 'restore') ORDER BY number`,
      );
      expect(rows).toEqual([
        { door: 'command', kind: 'rights', operation: 'restore', subject: null },
        { door: 'command', kind: 'rights', operation: 'donor erase', subject: 'donor 7' },
        { door: 'command', kind: 'rights', operation: 'donor erase', subject: 'donor 9' },
      ]);
      expect(await succeed(environment, ['audit', 'verify', '--organization', organization])).toContain('are as they were written');
    });
  });

  test('is told that all is done, and that a transaction still reads what was overwritten', async () => {
    await withCopy(async (copy) => {
      const environment = { DATABASE_URL: copy.url };
      await copy.client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
      const result = await runCommand(environment, ['restore', backup, '--erased', await writeRegister(register)]);
      await copy.client.query('ROLLBACK');
      expect(result).toEqual({
        status: 1,
        stdout: expect.stringMatching(
          /\nRestored the backup of [^\n]+\nErased again: 1 donor; the backup does not have [^\n]+\n/,
        ) as string,
        stderr: expect.stringMatching(
          /^Transactions from before still read rows that were overwritten \(donor: \d+, .+\): run `vacuum` again when [^\n]+\n$/,
        ) as string,
      });
      expect(await namesIn(copy)).toEqual(LEFT);
      expect(await succeed(environment, ['--json', 'vacuum'])).not.toMatch(/"heldRows":[^0]/);
    });
  });
});
