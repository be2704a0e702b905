import { writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { failed, misused, runCommand, startCommand, succeed, type CommandResult } from '../support/command';
import { openDepositFiles, toNdjson, type DepositFiles } from '../support/deposit-files';
import { v2Line } from '../support/gateway';
import { until } from '../support/until';

let files: DepositFiles;

beforeAll(async () => {
  files = await openDepositFiles();
});
afterAll(() => files.close());

type Fields = Readonly<Record<string, unknown>>;
const gift = (number: number, fields: Fields = {}) =>
  v2Line({
    ...{ deposit_id: `D${number}`, transaction_id: `T${number}`, allocation_id: `A${number}`, deposit_status: 'posted' },
    ...fields,
  });
const ADA = { main_memo: 'From Ada', designation_memo: 'for my mother' };
const NOWHERE = { address1: '', city: '', zip: '', phone: '' };
const KING = { donor_id: 8, donor_first_name: 'William', donor_last_name: 'King', email_address: 'king@example.org', ...NOWHERE };
const FIRST = [gift(1, ADA), gift(2, { ...ADA, main_memo: '' }), gift(3, KING)];
const MOVED = FIRST.map((line) => (line.donor_id === 7 ? { ...line, donor_last_name: 'Byron', city: 'Bern' } : line));
const REASON = 'Request 12 of 2026-11-20';

const importInto = (organization: string, lines: readonly object[], ...options: string[]) =>
  files.import(organization, 'lines.ndjson', toNdjson(lines), ...options);
const erase = (organization: string, donor: string, reason = REASON, ...options: string[]): Promise<CommandResult> =>
  runCommand(files.environment, ['donor', 'erase', '--organization', organization, '--donor', donor, '--reason', reason, ...options]);
const asJson = async <Value = Record<string, unknown>>(words: readonly string[]): Promise<Value> =>
  JSON.parse(await succeed(files.environment, ['--json', ...words])) as Value;
const versionsOf = (organization: string) =>
  asJson<{ number: number; cause: string }[]>(['version', 'list', '--organization', organization]);

/** All texts that any table has of an organization, as one. */
async function textsOf(organization: string): Promise<string> {
  const of = '(SELECT id FROM organization WHERE name = $1)';
  const tables = ['donor', 'transaction', 'allocation', 'deposit_line'].map(
    (table) => `SELECT to_jsonb(t)::text AS text FROM ${table} t WHERE organization_id = ${of}`,
  );
  const { rows } = await files.query<{ text: string }>(tables.join(' UNION ALL '), [organization]);
  return rows.map(({ text }) => text.toLowerCase()).join('\n');
}
const ADAS = /ada|lovelace|byron|st james|london|bern|sw1y|555-0100|mother/;

async function createBooks(): Promise<string> {
  const organization = await files.createOrganization();
  for (const lines of [FIRST, MOVED]) expect(await importInto(organization, lines)).toMatchObject({ status: 0 });
  expect(await textsOf(organization)).toMatch(ADAS);
  return organization;
}

describe('an operator who erases a donor', () => {
  test('empties names, contact and memos of the donor in all states, and leaves the money and everybody else', async () => {
    const organization = await createBooks();
    const money = () =>
      files.query('SELECT sum(amount), count(*) FROM deposit_line JOIN organization ON id = organization_id WHERE name = $1', [
        organization,
      ]);
    const before = (await money()).rows;
    const others = (await files.lines(organization)).filter((line) => (line as Fields).donor_id === 8);
    const head = `Erased donor 7 of "${organization}", at data version 3\nOverwritten: 2 lines of the newest state, 4 earlier states of lines\n`;
    const next =
      'Next: `deposit-gateway vacuum` takes the overwritten texts out of the files; then write the register with `donor erased --json`\n';
    expect(await erase(organization, '7')).toEqual({ status: 0, stdout: head + next, stderr: '' });
    expect(await textsOf(organization)).not.toMatch(ADAS);
    expect((await files.lines(organization)).filter((line) => (line as Fields).donor_id === 8)).toEqual(others);
    expect((await files.lines(organization)).map((line) => (line as Fields).donor_id)).toEqual([7, 7, 8]);
    // Two lines have a state more.
    expect([(await money()).rows, before]).toEqual([[{ sum: '73.50', count: '7' }], [{ sum: '52.50', count: '5' }]]);
    expect((await versionsOf(organization))[0]).toMatchObject({
      number: 3,
      cause: 'erase',
      linesAdded: 0,
      linesChanged: 2,
      linesRemoved: 0,
    });
    await succeed(files.environment, ['check', '--organization', organization]);
    const audit = await files.query<object>(
      `SELECT kind, operation, subject, detail FROM audit_record WHERE kind = 'rights' AND operation = 'donor erase' AND organization_id = (SELECT id FROM organization WHERE name = $1)`,
      [organization],
    );
    expect(audit.rows).toEqual([{ kind: 'rights', operation: 'donor erase', subject: 'donor 7', detail: null }]);
  });

  test('is told that nothing is left to erase, and erases again what SQL has brought back', async () => {
    const organization = await createBooks();
    await erase(organization, '7');
    const nothing = `Nothing to erase: donor 7 of "${organization}" was erased before, and the books have no text of this donor\n`;
    expect(await erase(organization, '7')).toEqual({ status: 0, stdout: nothing, stderr: '' });
    expect(await versionsOf(organization)).toHaveLength(3);
    await files.query(`UPDATE donor SET city = 'Bern' WHERE id = 7 AND organization_id = (SELECT id FROM organization WHERE name = $1)`, [
      organization,
    ]);
    expect((await erase(organization, '7')).stdout).toContain('at data version 4\nOverwritten: 0 lines');
    expect(await textsOf(organization)).not.toMatch(ADAS);
  });

  test('registers a donor who has no texts', async () => {
    const organization = await files.createOrganization();
    const empty = Object.fromEntries(
      ['donor_first_name', 'donor_last_name', 'address1', 'city', 'zip', 'phone', 'email_address'].map((name) => [name, '']),
    );
    await importInto(organization, [gift(1, empty)]);
    expect((await erase(organization, '7')).stdout).toContain(
      'at data version 2\nOverwritten: 0 lines of the newest state, 0 earlier states of lines\n',
    );
    expect((await importInto(organization, [gift(1)])).stdout).toContain('Erased again: 1 line of 1 donor');
    expect(await textsOf(organization)).not.toMatch(ADAS);
  });

  test('is refused for nobody, for a number that no donor has, and for a reason that names the donor', async () => {
    const organization = await createBooks();
    expect(await erase(organization, '9')).toEqual(failed('Invalid parameter(s): donor: the books have no donor 9'));
    expect(await erase(organization, '0')).toEqual(
      misused(`error: option '--donor <number>' argument '0' is invalid. It must be the number of a donor, from 1 on: donor 0 is nobody.`),
    );
    expect(await erase(organization, '7', ' ')).toEqual(failed('Invalid parameter(s): reason is empty'));
    for (const [reason, field] of [
      ['asked by LOVELACE', 'last_name'],
      ['asked by Mrs Byrón', 'last_name'],
      ['asked by ada@example.org', 'first_name'],
      ['called from 555 0100', 'phone'],
    ] as const) {
      const fault = `Invalid parameter(s): reason: it has a text of the donor (${field}), and it is kept: write it without names and contact`;
      expect(await erase(organization, '7', reason)).toEqual(failed(fault));
    }
    expect(await versionsOf(organization)).toHaveLength(2);
    expect(await textsOf(organization)).toMatch(ADAS);
    // No part of these names is long enough to be looked for by itself.
    const names = [
      { donor_first_name: '小明', donor_last_name: '王' },
      { donor_first_name: 'Li', donor_last_name: 'Ng', donor_id: 8 },
      { donor_first_name: '雷', donor_last_name: '李', donor_id: 9 },
    ];
    await importInto(
      organization,
      names.map((name, at) => gift(at + 4, { ...name, ...NOWHERE, email_address: '' })),
    );
    for (const [donor, reason] of [
      ['7', '王小明 asked by letter'],
      ['8', 'Mr Li Ng asked by letter'],
      ['8', 'NG, LI'],
      ['9', '李雷 asked by letter'],
    ] as const)
      expect((await erase(organization, donor, reason)).stderr).toContain('it has a text of the donor (name)');
  });

  test('is shown by a trial what it would do, and nothing is done', async () => {
    const organization = await createBooks();
    const before = await textsOf(organization);
    const trial = await erase(organization, '7', REASON, '--dry-run');
    const text = `A trial: donor 7 of "${organization}" would be erased, at data version 3\nOverwritten: 2 lines of the newest state, 4 earlier states of lines\n`;
    expect(trial).toEqual({ status: 0, stdout: text, stderr: '' });
    expect([await textsOf(organization), (await versionsOf(organization)).length]).toEqual([before, 2]);
    expect(await asJson(['donor', 'erased', '--organization', organization])).toEqual([]);
  });

  test('is told which saved reports, rows of the audit, notes and files may name the donor, and no text of them', async () => {
    const organization = await files.createOrganization();
    await files.import(organization, 'lovelace-2024.ndjson', toNdjson(FIRST));
    const of = '(SELECT id FROM organization WHERE name = $1)';
    await files.query(
      `INSERT INTO saved_report (organization_id, name, query, variables, updated_at) SELECT ${of}, name, query, variables::jsonb, now()
       FROM (VALUES ('gifts', '{ a }', '{"donorName":"Lovelace, Ada"}'), ('other', '{ lovelaces }', '{}')) AS r (name, query, variables)`,
      [organization],
    );
    const through = ['--organization', organization, '--through', '2024-01-31'];
    await succeed(files.environment, ['period', 'close', ...through, '--note', 'without ADA@example.org']);
    await succeed(files.environment, ['period', 'reopen', ...through, '--reason', 'x']);
    const { stdout } = await erase(organization, '7');
    const [, , told, header, ...rows] = stdout.split('\n');
    expect([told, header]).toEqual([
      '3 other rows may name the donor by text, and stay as they are. These are possible matches: look at each',
      'KIND    ID',
    ]);
    expect(rows.slice(0, 3)).toEqual(['close   2', 'file    1', 'report  gifts']);
    expect(stdout.toLowerCase()).not.toMatch(ADAS);
    // A name is found in all forms in which the gateway's own search finds it.
    for (const [at, [first, last, written]] of [
      ['Sean', 'O’Brien', 'o brien'],
      ['小明', '王', '王小明'],
    ].entries()) {
      const own = await files.createOrganization();
      await importInto(own, [gift(1, { donor_first_name: first, donor_last_name: last })]);
      await files.query(
        `INSERT INTO saved_report (organization_id, name, query, variables, updated_at) VALUES (${of}, 'it', '{ a }', to_jsonb($2::text), now())`,
        [own, written],
      );
      expect([at, (await erase(own, '7')).stdout]).toEqual([at, expect.stringMatching(/report {2}it\n/)]);
    }
  });

  test('empties the memos of gifts that were another donor’s before, also of one that has left the books', async () => {
    const organization = await files.createOrganization();
    const memo = { main_memo: 'thanks from Augusta' };
    await importInto(organization, [gift(1, { ...KING, ...memo }), gift(2, { ...KING, ...memo })]);
    await importInto(organization, [gift(1, memo), gift(2, memo)]);
    await importInto(organization, [gift(1, memo)], '--replace', '--from', '2024-01-01', '--to', '2024-12-31');
    expect((await erase(organization, '7')).stdout).toContain('Overwritten: 1 line of the newest state, 4 earlier states of lines');
    expect(await textsOf(organization)).not.toMatch(/augusta/);
    expect(await textsOf(organization)).toMatch(/william/);
  });

  test('erases a donor of whom earlier states alone have texts', async () => {
    const organization = await createBooks();
    for (const statement of [
      'UPDATE transaction SET donor_id = 8 WHERE donor_id = 7 AND organization_id',
      'DELETE FROM donor WHERE id = 7 AND organization_id',
    ])
      await files.query(`${statement} = (SELECT id FROM organization WHERE name = $1)`, [organization]);
    await succeed(files.environment, ['check', '--organization', organization, '--repair']);
    expect(await textsOf(organization)).toMatch(/lovelace/);
    expect(await erase(organization, '7')).toMatchObject({ status: 0, stderr: '' });
    expect(await textsOf(organization)).not.toMatch(/lovelace|byron|555-0100/);
  });

  test('leaves the memos of a gift that was another donor’s at last, and has left the books', async () => {
    const organization = await files.createOrganization();
    await importInto(organization, [gift(1), gift(2, { main_memo: 'in memory of Byron' })]);
    await importInto(organization, [gift(1), gift(2, { ...KING, main_memo: 'thanks from Augusta' })]);
    await importInto(organization, [gift(1)], '--replace', '--from', '2024-01-01', '--to', '2024-12-31');
    await erase(organization, '7');
    expect(await textsOf(organization)).not.toMatch(/byron/);
    expect(await textsOf(organization)).toMatch(/augusta/);
  });

  test('may delete the organization with its register', async () => {
    const organization = await createBooks();
    await erase(organization, '7');
    await succeed(files.environment, ['organization', 'delete', organization, '--confirm', organization]);
  });
});

describe('the register', () => {
  test('has numbers and reasons, of one organization or of all, and no text of a donor', async () => {
    const organization = await createBooks();
    await erase(organization, '7');
    await erase(organization, '8', 'Another request');
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
    const by = expect.any(String) as string;
    const owner = { organization, organizationId: expect.any(Number) as number, organizationCreatedAt: at };
    const register = [
      { ...owner, donorId: 8, version: 4, erasedAt: at, erasedBy: by, reason: 'Another request' },
      { ...owner, donorId: 7, version: 3, erasedAt: at, erasedBy: by, reason: REASON },
    ];
    expect(await asJson(['donor', 'erased', '--organization', organization])).toEqual(register);
    expect(await asJson(['donor', 'erased'])).toEqual(expect.arrayContaining(register));
    expect(await succeed(files.environment, ['donor', 'erased', '--organization', organization])).toMatch(
      /^ORGANIZATION +DONOR +VERSION +ERASED +BY +REASON\n/,
    );
  });

  test('erases again what an import brings, makes no version of it, and says so', async () => {
    const organization = await createBooks();
    await erase(organization, '7');
    const again = await asJson<{ version: unknown; erasedAgain: object }>(['import', await write(MOVED), '--organization', organization]);
    expect([again.version, again.erasedAgain]).toEqual([null, { lines: 2, donors: 1, states: 0 }]);
    const more = await importInto(organization, [...MOVED, gift(4, { ...ADA, amount: '20.00', net_amount: '19.50' })]);
    expect(more.stdout).toContain('1 lines added, 0 changed, 0 removed');
    expect(more.stdout).toContain('Erased again: 3 lines of 1 donor');
    expect(await textsOf(organization)).not.toMatch(ADAS);
    const trial = await importInto(organization, [gift(5, ADA)], '--dry-run');
    expect(trial.stdout).toContain('Erased again: 1 line of 1 donor');
    await succeed(files.environment, ['check', '--organization', organization]);
  });

  test('erases the earlier memos of a gift that an import makes one of an erased donor, and has the version', async () => {
    const organization = await files.createOrganization();
    await importInto(organization, [gift(1), gift(2, { ...KING, main_memo: 'thanks from Augusta' })]);
    await erase(organization, '7');
    expect(await textsOf(organization)).toMatch(/augusta/);
    const told = 'Memos erased in 1 earlier state of gifts that are now of donors who were erased';
    const trial = await importInto(organization, [gift(2)], '--dry-run');
    expect(trial.stdout).toContain(told);
    expect(trial.stdout).toContain('main_memo');
    expect((await importInto(organization, [gift(2)])).stdout).toContain(told);
    expect(await textsOf(organization)).not.toMatch(/augusta/);
    const register = await asJson<readonly { donorId: number; version: number; reason: string }[]>([
      'donor',
      'erased',
      '--organization',
      organization,
    ]);
    expect(register.map(({ donorId, version, reason }) => [donorId, version, reason])).toEqual([
      [7, 3, REASON],
      [7, 2, REASON],
    ]);
    await succeed(files.environment, ['check', '--organization', organization]);
  });

  test('holds for an import that has begun to read before the donor is erased', async () => {
    const organization = await createBooks();
    const words = ['import', '-', '--format', 'ndjson', '--organization', organization];
    const importing = startCommand(files.environment, ['--json', ...words]);
    const output = text(importing.stdout!);
    importing.stdin!.write(toNdjson([gift(1, ADA)]));
    // The import has its transaction, and waits for the rest of its lines.
    await until(
      async () =>
        (await files.query(`SELECT FROM pg_stat_activity WHERE query LIKE 'COPY import_line%' AND state = 'active'`)).rowCount === 1,
    );
    await erase(organization, '7');
    importing.stdin!.end(toNdjson([gift(2, { ...ADA, amount: '20.00', net_amount: '19.50' })]));
    expect(JSON.parse(await output)).toMatchObject({ version: { number: 4 }, erasedAgain: { lines: 2, donors: 1 } });
    expect(await textsOf(organization)).not.toMatch(ADAS);
  });

  test('is refused by a restore before anything is built, when it is no register', async () => {
    for (const [content, fault] of [
      ['{}', 'is no register of erased donors: write one with `donor erased --json`'],
      [
        '[{"organization":"A","donorId":0,"erasedBy":null,"reason":""}]',
        'is no register of erased donors: write one with `donor erased --json`',
      ],
      ['[', 'breaks off at line 1, column 2'],
    ] as const) {
      const register = files.path('register.json');
      await writeFile(register, content);
      const { status, stderr } = await runCommand(files.environment, ['restore', files.path('none.backup'), '--erased', register]);
      expect([status, stderr]).toEqual([1, expect.stringContaining(`${register} ${fault}`)]);
    }
  });

  test('holds for an import that fills empty books, and for lines that contradict each other in texts of the donor alone', async () => {
    const organization = await files.createOrganization();
    await importInto(organization, [gift(1)]);
    await erase(organization, '7');
    const of = '(SELECT id FROM organization WHERE name = $1)';
    for (const table of ['deposit_line', 'allocation', 'transaction', 'deposit', 'donor', 'designation'])
      await files.query(`DELETE FROM ${table} WHERE organization_id = ${of}`, [organization]);
    expect(await importInto(organization, [gift(1), gift(2, { city: 'Bern' })])).toMatchObject({ status: 0 });
    expect(await textsOf(organization)).not.toMatch(ADAS);
  });
});

async function write(lines: readonly object[]): Promise<string> {
  const path = files.path('again.ndjson');
  await writeFile(path, toNdjson(lines));
  return path;
}
