import { openDepositFiles, toNdjson, type DepositFiles } from '../support/deposit-files';
import { v2Line } from '../support/gateway';

let files: DepositFiles;
beforeAll(async () => (files = await openDepositFiles()));
afterAll(() => files.close());

/** A gift of a deposit of its own, unless it is said. */
const gift = (n: number, fields: object = {}) =>
  v2Line({ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, deposit_date: '2024-01-10', ...fields });

async function importInto(organization: string, lines: readonly object[], ...options: string[]): Promise<Record<string, unknown>> {
  const { status, stdout } = await files.import(organization, 'lines.ndjson', toNdjson(lines), '--json', ...options);
  expect(status).toBe(0);
  return JSON.parse(stdout) as Record<string, unknown>;
}

test('the figures of an import tell what it has assumed of deposits', async () => {
  const organization = await files.createOrganization();
  const before = [gift(1, { deposit_status: 'pending' }), gift(2, { deposit_status: 'pending' }), gift(3, { deposit_status: 'posted' })];
  expect((await importInto(organization, before)).assumed).toEqual({ posted: 0, kept: 0, settled: 0 });
  const lines = [
    gift(1, { deposit_status: 'posted' }),
    ...[gift(2), gift(3)],
    // Two lines of one new deposit count once.
    ...[gift(4), gift(5, { deposit_id: 'D4' })],
  ];
  expect((await importInto(organization, lines)).assumed).toEqual({ posted: 1, kept: 2, settled: 1 });
  expect(await files.export(organization, 'csv', 'deposit_id,deposit_status')).toBe(
    'deposit_id,deposit_status\r\n"D1","posted"\r\n"D2","pending"\r\n"D3","posted"\r\n"D4","posted"\r\n"D4","posted"\r\n',
  );
});

test('the figures of a complete file count as removed what it has nowhere, and what has nothing left', async () => {
  const organization = await files.createOrganization();
  const split = { deposit_id: 'D1', transaction_id: 'T1' };
  const before = [gift(1), gift(2, split), gift(3), gift(4), gift(5, { deposit_date: '2024-03-01' })];
  await importInto(organization, before);
  // A2 of the gift T1 is missing, A3 has moved to the gift T1, and A4 is missing with its gift and deposit.
  const after = [gift(1), gift(3, split)];
  const range = ['--replace', '--from', '2024-01-01', '--to', '2024-01-31'];
  const refused = await files.import(organization, 'lines.ndjson', toNdjson(after), ...range, '--max-removed', '1');
  expect(refused.stderr).toContain('the file lacks 2 lines of the books');
  const { removed, version } = await importInto(organization, after, ...range, '--max-removed', '2');
  expect([removed, version]).toEqual([
    { allocations: 2, transactions: 2, deposits: 2 },
    { number: 2, lines: { added: 0, changed: 1, removed: 2 } },
  ]);
});

test('lines of one id must agree', async () => {
  const organization = await files.createOrganization();
  const lines = [
    gift(1),
    gift(2, { transaction_id: 'T1', deposit_id: 'D1', status: 'Hold', designation: 'Another', city: 'Oslo' }),
    gift(3, { deposit_id: 'D1', deposit_date: '2024-01-11', allocation_id: 'A1' }),
  ];
  const { status, stderr } = await files.import(organization, 'lines.ndjson', toNdjson(lines));
  expect(status).toBe(1);
  expect(stderr.split('\n').slice(0, -1).toSorted()).toEqual([
    'Nothing was imported: 5 faults',
    'line 2: city differs from line 1, which has the same donor_id',
    'line 2: designation differs from line 1, which has the same designation_id',
    'line 2: status differs from line 1, which has the same transaction_id',
    'line 3: allocation_id is the same as in line 1',
    'line 3: deposit_date differs from line 1, which has the same deposit_id',
  ]);
  // The lines of one gift may name several funds, shares and memos.
  const agreeing = [
    gift(1, { allocation_amount: '4.00', designation_memo: 'one' }),
    gift(2, { transaction_id: 'T1', deposit_id: 'D1', designation_id: 4, designation: 'Missions', allocation_amount: '6.50' }),
  ];
  expect((await files.import(organization, 'lines.ndjson', toNdjson(agreeing))).status).toBe(0);
});
