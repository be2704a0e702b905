import { createOrganization, importLines, v2Line, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();
/** Two gifts of a donor in a deposit, and one of nobody in another. No line says whether its deposit is posted. */
const LINES = [
  v2Line(),
  v2Line({ transaction_id: 'T2', allocation_id: 'A2' }),
  v2Line({
    ...{ deposit_id: 'D3', transaction_id: 'T3', allocation_id: 'A3', designation_id: 8, designation: 'Missions' },
    ...{ donor_id: 0, donor_first_name: '', donor_last_name: '', address1: '', city: '', state: '', zip: '', phone: '', email_address: '' },
  }),
];

/** Books of these lines, or of one that shares nothing with them. */
const OTHER_BOOKS = [v2Line({ ...LINES[2], deposit_id: 'D4', transaction_id: 'T4', allocation_id: 'A4', designation_id: 9 })];

async function createBooks(lines: readonly object[] = LINES): Promise<TestOrganization> {
  const organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, lines);
  return organization;
}

async function expectSound({ id }: TestOrganization): Promise<void> {
  expect(await gateway.services.books.check(id)).toMatchObject({ differences: 0, totalsAgree: true, versionsAreWhole: true });
}

/** Each file has a line that says what the books have, and one that contradicts it. */
const contradictions: Readonly<Record<string, readonly [saying: object, contradicting: object, fault: object]>> = {
  gift: [
    LINES[0]!,
    v2Line({ allocation_id: 'new', main_memo: 'other' }),
    { field: 'main_memo', reason: 'differs from line 1, which has the same transaction_id' },
  ],
  "gift's donor": [
    LINES[2]!,
    v2Line({ ...LINES[0], deposit_id: 'D3', transaction_id: 'T3', allocation_id: 'new' }),
    { field: 'donor_id', reason: 'differs from line 1, which has the same transaction_id' },
  ],
  donor: [LINES[0]!, { ...LINES[1], city: 'Bern' }, { field: 'city', reason: 'differs from line 1, which has the same donor_id' }],
  fund: [
    LINES[0]!,
    { ...LINES[1], designation: 'Other Fund' },
    { field: 'designation', reason: 'differs from line 1, which has the same designation_id' },
  ],
  deposit: [
    LINES[0]!,
    { ...LINES[1], deposit_date: '2024-02-02' },
    { field: 'deposit_date', reason: 'differs from line 1, which has the same deposit_id' },
  ],
  // The books have the deposit as posted, so neither line differs from them.
  'status that only one line tells': [
    LINES[0]!,
    { ...LINES[1], deposit_status: 'posted' },
    { field: 'deposit_status', reason: 'differs from line 1, which has the same deposit_id' },
  ],
  'line that stands twice': [LINES[0]!, LINES[0]!, { field: 'allocation_id', reason: 'is the same as in line 1' }],
};

test.each(Object.entries(contradictions))(
  'an operator whose file contradicts itself in a %s is told so, whether the books have one of the two or neither',
  async (_, [saying, contradicting, fault]) => {
    for (const books of [LINES, OTHER_BOOKS]) {
      const organization = await createBooks(books);
      for (const lines of [
        [saying, contradicting],
        [contradicting, saying],
      ]) {
        await expect(importLines(gateway.services, organization, lines)).rejects.toMatchObject({ faults: [{ line: 2, ...fault }] });
      }
      const { rows } = await gateway.database.client.query('SELECT number::int FROM data_version WHERE organization_id = $1', [
        organization.id,
      ]);
      expect(rows).toEqual([{ number: 1 }]);
      await expectSound(organization);
    }
  },
);

test.each([
  ['designation', "name = 'General'", 'designations'],
  ['donor', "city = 'Bern'", 'donors'],
  ['deposit', "deposit_date = '2024-02-02'", 'deposits'],
  ['transaction', "main_memo = 'late'", 'transactions'],
  ['transaction', 'amount = amount + 1', 'transactions'],
  ['allocation', "memo = 'half'", 'allocations'],
])('an operator who imports a file again takes back the change that SQL made in table %s: %s', async (table, change, kind) => {
  const { client } = gateway.database;
  const organization = await createBooks();
  const count = async (): Promise<number> => {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM deposit_detail d JOIN deposit_line l USING (organization_id, allocation_id)
       WHERE organization_id = $1 AND l.until = ${Number.MAX_SAFE_INTEGER}
         AND (d.designation, d.city, d.deposit_date, d.main_memo, d.amount, d.designation_memo)
           = (l.designation, l.city, l.deposit_date, l.main_memo, l.amount, l.designation_memo)`,
      [organization.id],
    );
    return rows[0]!.count;
  };
  const { rowCount } = await client.query(`UPDATE ${table} SET ${change} WHERE organization_id = $1`, [organization.id]);
  expect(await count()).toBeLessThan(LINES.length);
  const result = await gateway.services.imports.importLines(organization.id, fileOf(LINES), { source: () => ({ cause: 'import' }) });
  const nothing = { designations: 0, donors: 0, deposits: 0, transactions: 0, allocations: 0 };
  expect(result).toMatchObject({ ...nothing, [kind]: rowCount, version: { number: 2, lines: { added: 0, changed: 0, removed: 0 } } });
  expect(await count()).toBe(LINES.length);
  await expectSound(organization);
});

async function* fileOf(lines: readonly object[]): AsyncGenerator<{ line: number; values: object }[]> {
  yield await Promise.resolve(lines.map((values, position) => ({ line: position + 1, values })));
}
