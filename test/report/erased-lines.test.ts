import { writeFile } from 'node:fs/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, succeed } from '../support/command';
import { ask, FIELDS, numbersOf, readChanges } from '../support/changes';
import { createExportReader } from '../support/export-reader';
import { createOrganization, importLines, v2Line, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();
const reader = createExportReader(gateway);
const directory = mkdtempSync(join(tmpdir(), 'gateway-erasures-'));
afterAll(() => rmSync(directory, { recursive: true }));

const EVER = 'start_date=0001-01-01&end_date=9999-12-31';
const TEXTS = /Ada|Lovelace|Byron|St James|London|SW1Y|555-0100|from mother/;
const gift = (number: number, fields: Readonly<Record<string, unknown>> = {}) =>
  v2Line({ deposit_id: `D${number}`, transaction_id: `T${number}`, allocation_id: `A${number}`, ...fields });
const KING = gift(3, {
  donor_id: 8,
  donor_first_name: 'William',
  donor_last_name: 'King',
  address1: '',
  city: '',
  zip: '',
  phone: '',
  email_address: '',
});
const memo = { main_memo: 'from mother' };
/** Lines of three states: in the second the donor has another name, and in the third a gift has another amount. */
const STATES = [
  [gift(1, memo), gift(2, memo), gift(4, { ...memo, designation_id: 5 }), KING],
  [gift(1, memo), gift(2, memo), gift(4, { ...memo, designation_id: 5 })].map((line) => ({ ...line, donor_last_name: 'Byron' })),
  [{ ...gift(2, memo), donor_last_name: 'Byron', amount: '20.00', net_amount: '19.50' }],
];

async function createBooks(): Promise<TestOrganization> {
  const organization = await createOrganization(gateway.services);
  for (const lines of STATES) await importLines(gateway.services, organization, lines);
  return organization;
}
const environment = () => ({ DATABASE_URL: gateway.database.url });
const erase = ({ name }: TestOrganization, donor = '7') =>
  succeed(environment(), ['donor', 'erase', '--organization', name, '--donor', donor, '--reason', 'Request 12']);
const get = ({ apiProvision }: TestOrganization, path: string, headers: Readonly<Record<string, string>> = {}) =>
  reader.get(path, { Provision: apiProvision, ...headers });

describe('after a donor was erased, a caller', () => {
  test('finds none of the texts in any state, on any door, and the same money in each', async () => {
    const organization = await createBooks();
    const page = (version: number, after = '') =>
      ask(
        gateway,
        organization,
        `{ depositDetailsConnection(pending: WITH, asOf: { version: ${version} }, first: 2${after}) { nodes { ${FIELDS} } totalCount pageInfo { endCursor } }
        depositSummary(pending: WITH, asOf: { version: ${version} }, groupBy: [DONOR]) { moneyDigest groups { nodes { key { donorId donorFirstName donorLastName } all { byTransaction { amount } } } } } }`,
      );
    const file = (version: number, columns: string) =>
      get(organization, `/export/deposit-details.csv?${EVER}&as_of=${version}&columns=${columns}`);
    const read = async () => {
      const answers = await Promise.all([1, 2, 3].map((version) => page(version)));
      const money = await Promise.all([1, 2, 3].map(async (version) => (await file(version, 'money')).body.toString()));
      const lines = await Promise.all([1, 2, 3].map(async (version) => (await file(version, 'all')).body.toString()));
      return { text: JSON.stringify(answers.map(({ body }) => body)) + lines.join(''), money, answers };
    };
    const before = await read();
    expect(before.text).toMatch(TEXTS);
    const cursors = before.answers.map(
      ({ body }) =>
        (body.data as { depositDetailsConnection: { pageInfo: { endCursor: string } } }).depositDetailsConnection.pageInfo.endCursor,
    );
    await erase(organization);
    const after = await read();
    expect(after.text).not.toMatch(TEXTS);
    expect(after.text).toContain('William');
    expect(after.money).toEqual(before.money);
    // A page goes on from a cursor of before.
    for (const [at, cursor] of cursors.entries()) {
      const { body } = await page(at + 1, `, after: "${cursor}"`);
      expect([body.errors, JSON.stringify(body)]).toEqual([undefined, expect.not.stringMatching(TEXTS)]);
    }
  });

  test('is sent a file of a past state anew, and not told that the bytes of before are still good', async () => {
    const organization = await createBooks();
    const files = [1, 3].map((version) => `/export/deposit-details.csv?${EVER}&as_of=${version}`);
    files.push(`/export/deposit-summary.csv?${EVER}&as_of=1&group_by=DONOR`, `/export/deposit-changes.csv?${EVER}&from=1&to=2`);
    const tags = await Promise.all(files.map(async (path) => String((await get(organization, path)).headers.etag)));
    const ask = async () =>
      Promise.all(files.map(async (path, at) => (await get(organization, path, { 'If-None-Match': tags[at]! })).status));
    expect(await ask()).toEqual([304, 304, 304, 304]);
    await erase(organization);
    expect(await ask()).toEqual([200, 200, 200, 200]);
    // A state after the erasure keeps its tag.
    const path = `/export/deposit-details.csv?${EVER}&as_of=4`;
    const { headers } = await get(organization, path);
    await importLines(gateway.services, organization, [gift(5, { donor_id: 8 })]);
    expect((await get(organization, path, { 'If-None-Match': String(headers.etag) })).status).toBe(304);
  });

  test('is sent a file of a past state anew when a restored backup has come to the same number by another erasure', async () => {
    const organization = await createBooks();
    await erase(organization, '8');
    const path = `/export/deposit-details.csv?${EVER}&as_of=1`;
    const { etag } = (await get(organization, path)).headers;
    expect((await get(organization, path, { 'If-None-Match': String(etag) })).status).toBe(304);
    await gateway.database.client.query(
      `UPDATE data_version SET recorded_at = recorded_at + interval '1 second' WHERE organization_id = $1 AND cause = 'erase'`,
      [organization.id],
    );
    expect((await get(organization, path, { 'If-None-Match': String(etag) })).status).toBe(200);
  });

  test('sees the lines as erased, without a text before, and everything adds up', async () => {
    const organization = await createBooks();
    await erase(organization);
    for (const [given, classes] of [
      ['from: { version: 3 }', [['ERASED', 3]]],
      [
        'from: { version: 1 }',
        [
          ['MONEY', 1],
          ['ERASED', 2],
        ],
      ],
      ['from: { version: 1 }, filter: { designationIds: [5] }', [['ERASED', 1]]],
      // Both states are of before. A copy that goes step by step has the texts of its own time.
      ['from: { version: 1 }, to: { version: 2 }', [['ERASED', 3]]],
      ['from: { version: 4 }', []],
    ] as const) {
      const changes = await readChanges(gateway, organization, `${given}, pending: WITH`);
      expect([given, changes.classes.map((each) => [each.class, each.changes])]).toEqual([given, classes]);
      expect(JSON.stringify(changes)).not.toMatch(TEXTS);
      const zeros = Array<number>(11).fill(0);
      for (const { class: name, effect } of changes.classes) if (name === 'ERASED') expect(numbersOf(effect)).toEqual(zeros);
      for (const { class: name, columns } of changes.nodes) if (name === 'ERASED') expect(columns).toEqual([]);
      const add = (all: readonly unknown[]) => all.map(numbersOf).reduce((sum, next) => sum.map((value, at) => value + next[at]!), zeros);
      expect(add([changes.summaryBefore.all, ...changes.classes.map(({ effect }) => effect)])).toEqual(numbersOf(changes.summaryAfter.all));
      for (const { designationId, classes: effects } of changes.designations.nodes) {
        const [before, now] = [changes.summaryBefore, changes.summaryAfter].map(
          ({ groups }) => groups.nodes.find(({ key }) => key.designationId === designationId)?.all,
        );
        expect(add([...(before ? [before] : []), ...effects.map(({ effect }) => effect)])).toEqual(numbersOf(now));
      }
    }
  });

  test('sees a line that had another change of its texts as erased, with the columns that differ', async () => {
    const organization = await createBooks();
    await erase(organization);
    await importLines(gateway.services, organization, [{ ...gift(1), designation: 'Another name' }]);
    const { nodes } = await readChanges(gateway, organization, 'from: { version: 3 }, pending: WITH, filter: { donorIds: [7] }');
    expect(nodes.map(({ class: name, after, columns }) => [name, after!.allocationId, ...columns])).toEqual([
      ['ERASED', 'A1', 'designation'],
      ['ERASED', 'A2', 'designation'],
      ['ERASED', 'A4'],
    ]);
  });

  test('who follows the books loses the texts with the next answer', async () => {
    const organization = await createBooks();
    const { headers, body } = await get(organization, `/export/deposit-details.ndjson?${EVER}&pending=WITH&columns=all`);
    expect(body.toString()).toMatch(TEXTS);
    await erase(organization);
    const changes = (await get(organization, `/export/deposit-changes.ndjson?since=${String(headers['x-export-place'])}`)).body.toString();
    const rows = changes
      .trim()
      .split('\n')
      .slice(0, -1)
      .map((row) => JSON.parse(row) as { class: string; after: { allocation_id: string } });
    expect(rows.map(({ class: name, after }) => [name, after.allocation_id])).toEqual([
      ['ERASED', 'A1'],
      ['ERASED', 'A2'],
      ['ERASED', 'A4'],
    ]);
    expect(changes).not.toMatch(TEXTS);
  });

  test('who follows the books loses a text of a gift that was another donor’s before and is so again', async () => {
    const organization = await createOrganization(gateway.services);
    const king = { ...KING, transaction_id: 'T1', allocation_id: 'A1', deposit_id: 'D1' };
    await importLines(gateway.services, organization, [{ ...king, ...memo }]);
    const { headers } = await get(organization, `/export/deposit-details.ndjson?${EVER}&pending=WITH&columns=all`);
    await importLines(gateway.services, organization, [gift(1, memo)]);
    await erase(organization);
    await importLines(gateway.services, organization, [king]);
    const { body } = await get(organization, `/export/deposit-changes.ndjson?since=${String(headers['x-export-place'])}`);
    const [row] = body.toString().split('\n');
    expect(JSON.parse(row!)).toMatchObject({ class: 'ERASED', after: { donor_id: 8, main_memo: '' } });
  });

  test('finds the memos of another donor’s gift, and none of a gift that is the erased donor’s now, in whatever state', async () => {
    const organization = await createOrganization(gateway.services);
    const of = (share: string, gift: string, fields: object) => ({
      ...KING,
      deposit_id: 'D1',
      allocation_id: share,
      transaction_id: gift,
      ...fields,
    });
    const kings = { main_memo: 'king', designation_memo: 'kings share' };
    const adas = { main_memo: 'from mother', designation_memo: 'from mother' };
    await importLines(gateway.services, organization, [
      of('A1', 'T1', adas),
      of('A9', 'T1', adas),
      of('A2', 'T2', kings),
      of('A3', 'T2', kings),
    ]);
    // The first gift is Ada's now, without one of its allocations, and with one of the other gift.
    const lines = [
      gift(1, { ...adas, deposit_id: 'D1' }),
      gift(1, { ...adas, deposit_id: 'D1', allocation_id: 'A2' }),
      of('A3', 'T2', kings),
    ];
    const periods = [{ startDate: '0001-01-01', endDate: '9999-12-31' }];
    await importLines(gateway.services, organization, lines, { complete: { periods, pending: 'WITH' }, maxRemoved: 9 });
    await erase(organization);
    const memosAt = async (version: number) => {
      const path = `/export/deposit-details.csv?${EVER}&as_of=${version}&columns=allocation_id,main_memo,designation_memo`;
      return (await get(organization, path)).body.toString().replaceAll('"', '').trim().split('\r\n').slice(1);
    };
    expect(await memosAt(1)).toEqual(['A1,,', 'A9,,', 'A2,king,kings share', 'A3,king,kings share']);
    expect(await memosAt(3)).toEqual(['A1,,', 'A2,,', 'A3,king,kings share']);
    // A file that has a part of the gift makes all of it Ada's.
    const { erasedAgain } = await importLines(gateway.services, organization, [of('A4', 'T2', kings)]);
    expect(erasedAgain).toEqual({ lines: 0, donors: 0, states: 0 });
    const part = await importLines(gateway.services, organization, [
      gift(2, { ...adas, deposit_id: 'D1', transaction_id: 'T2', allocation_id: 'A3' }),
    ]);
    expect(part.erasedAgain).toEqual({ lines: 1, donors: 1, states: 5 });
    expect(await memosAt(part.version!.number)).toEqual(['A1,,', 'A2,,', 'A3,,', 'A4,,']);
  });

  test('finds the figures of a closed month as they were, by the money digest', async () => {
    const organization = await createBooks();
    await succeed(environment(), ['period', 'close', '--organization', organization.name, '--through', '2024-01-31']);
    const of = async (version: number) =>
      (await get(organization, `/export/deposit-details.csv?${EVER}&as_of=${version}&totals=headers`)).headers;
    const before = await of(4);
    await erase(organization);
    const after = await of(4);
    expect(after['x-export-money-digest']).toBe(before['x-export-money-digest']);
    expect(after['x-export-digest']).not.toBe(before['x-export-digest']);
  });
});

test('an operator who proves a file of before is told that donors were erased, and that the money is the same', async () => {
  const organization = await createBooks();
  const take = async (path: string) => {
    const { headers, body } = await get(organization, path);
    const file = join(directory, String(headers['x-export-id']));
    await writeFile(file, body);
    return file;
  };
  const [all, others] = [await take(`/export/deposit-details.csv?${EVER}`), await take(`/export/deposit-details.csv?${EVER}&donor_id=8`)];
  // A gift of another donor, which is the erased one's later.
  await importLines(gateway.services, organization, [{ ...KING, ...memo, transaction_id: 'T8', allocation_id: 'A8' }]);
  const moved = await take(`/export/deposit-details.csv?${EVER}&transaction_id=T8`);
  await importLines(gateway.services, organization, [gift(8, { ...memo, deposit_id: 'D3' })]);
  await erase(organization);
  const prove = (file: string) => runCommand(environment(), ['prove', file]);
  for (const file of [all, moved]) {
    const told = await prove(file);
    expect([told.status, told.stderr]).toEqual([
      1,
      expect.stringContaining(
        ': donors of its lines were erased after it, and their names, contact and memos are all that is gone from it; the money is the same to the cent (receipt ',
      ),
    ]);
  }
  expect(await prove(others)).toMatchObject({ status: 0 });
});
