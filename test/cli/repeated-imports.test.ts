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

describe('an operator whose file states no share of a gift and corrects the gift', () => {
  const line = (id: string, transaction: string, amount: string, share?: string | null, fields: object = {}) =>
    v2Line({
      ...{
        deposit_id: `D${transaction}`,
        transaction_id: transaction,
        allocation_id: id,
        designation_id: Number.parseInt(id, 36),
        designation: id,
      },
      ...{ amount, fee_amount: '0.00', net_amount: amount, ...(share === undefined ? {} : { allocation_amount: share }), ...fields },
    });
  const JANUARY = { complete: { periods: [{ startDate: '2024-01-01', endDate: '2024-01-31' }], pending: 'WITH' } } as const;
  const split = [line('A1', 'T1', '100.00', '60.00'), line('A2', 'T1', '100.00', '40.00')];
  const whole = [line('A1', 'T1', '100.00', '100.00')];
  const partly = [line('A1', 'T1', '100.00', '60.00'), line('A2', 'T1', '100.00')];
  const [both, one] = [
    (amount: string) => [line('A1', 'T1', amount), line('A2', 'T1', amount)],
    (amount: string, share?: null) => [line('A1', 'T1', amount, share)],
  ];
  type Shares = Readonly<Record<string, string | null>>;
  type Case = [title: string, books: object[], file: object[], options: object, shares: Shares, corrected: string[]];
  const cases: Case[] = [
    ['to another amount', whole, one('80.00'), {}, { A1: '80.00' }, ['T1 100.00→80.00 A1 100.00→80.00']],
    ['to nothing', whole, one('0.00'), {}, { A1: '0.00' }, ['T1 100.00→0.00 A1 100.00→0.00']],
    ['to a refund', whole, one('-100.00', null), {}, { A1: '-100.00' }, ['T1 100.00→-100.00 A1 100.00→-100.00']],
    ['from nothing', [line('A1', 'T1', '0.00', '0.00')], one('5.00'), {}, { A1: '5.00' }, ['T1 0.00→5.00 A1 0.00→5.00']],
    [
      ...(['to nothing, of a split one,', split, both('0.00'), {}, { A1: '0.00', A2: '0.00' }] as const),
      ['T1 100.00→0.00 A1 60.00→0.00', 'T1 100.00→0.00 A2 40.00→0.00'],
    ],
    [
      ...(['to another amount, of a split one,', split, both('99.00'), {}, { A1: null, A2: null }] as const),
      ['T1 100.00→99.00 A1 60.00→null', 'T1 100.00→99.00 A2 40.00→null'],
    ],
    [
      'by the fee alone',
      split,
      both('100.00').map((each) => ({ ...each, fee_amount: '1.00', net_amount: '99.00' })),
      {},
      { A1: '60.00', A2: '40.00' },
      [],
    ],
    ['in its fund alone', whole, [line('A1', 'T1', '100.00', undefined, { designation_id: 9 })], {}, { A1: '100.00' }, []],
    ['of unknown shares', both('100.00'), both('90.00'), {}, { A1: null, A2: null }, []],
    [
      ...(['of unknown shares to nothing', both('100.00'), both('0.00'), {}, { A1: '0.00', A2: '0.00' }] as const),
      ['T1 100.00→0.00 A1 null→0.00', 'T1 100.00→0.00 A2 null→0.00'],
    ],
    ['of shares that are known in part', partly, both('90.00'), {}, { A1: null, A2: null }, ['T1 100.00→90.00 A1 60.00→null']],
    [
      ...(['of shares that are known in part, to nothing,', partly, both('0.00'), {}, { A1: '0.00', A2: '0.00' }] as const),
      ['T1 100.00→0.00 A1 60.00→0.00', 'T1 100.00→0.00 A2 null→0.00'],
    ],
    [
      'of shares that then add up',
      [line('A1', 'T1', '90.00', '60.00'), line('A2', 'T1', '90.00', '40.00')],
      both('100.00'),
      {},
      { A1: '60.00', A2: '40.00' },
      [],
    ],
    ['and leaves a share that did not add up before', [line('A1', 'T1', '90.00', '60.00')], one('90.00'), {}, { A1: '60.00' }, []],
    [
      'whose share did not add up before',
      [line('A1', 'T1', '90.00', '60.00')],
      one('80.00'),
      {},
      { A1: '80.00' },
      ['T1 90.00→80.00 A1 60.00→80.00'],
    ],
    [
      'and adds a line',
      whole,
      [...one('150.00'), line('A2', 'T1', '150.00')],
      {},
      { A1: null, A2: null },
      ['T1 100.00→150.00 A1 100.00→null'],
    ],
    ['and adds a line to the same amount', whole, both('100.00'), {}, { A1: null, A2: null }, ['T1 100.00→100.00 A1 100.00→null']],
    [
      'and tells the added line alone',
      whole,
      [line('A2', 'T1', '100.00')],
      {},
      { A1: null, A2: null },
      ['T1 100.00→100.00 A1 100.00→null'],
    ],
    [
      ...(['and adds a line to a split one', split, [...both('100.00'), line('A3', 'T1', '100.00')], {}] as const),
      ...([{ A1: null, A2: null, A3: null }, ['T1 100.00→100.00 A1 60.00→null', 'T1 100.00→100.00 A2 40.00→null']] as const),
    ] as unknown as Case,
    [
      'and has another line instead of one of two',
      split,
      [line('A1', 'T1', '100.00'), line('A3', 'T1', '100.00')],
      JANUARY,
      { A1: null, A3: null },
      ['T1 100.00→100.00 A1 60.00→null'],
    ],
    [
      'and moves a line of unknown share to it',
      [...whole, line('A5', 'T2', '5.00')],
      [line('A5', 'T1', '100.00')],
      {},
      { A1: null, A5: null },
      ['T1 100.00→100.00 A1 100.00→null'],
    ],
    [
      'and moves a line of inferred share to it',
      [...whole, line('A5', 'T2', '5.00')],
      [line('A5', 'T1', '100.00', '100.00', { allocation_amount_inferred: true })],
      {},
      { A1: null, A5: null },
      ['T1 100.00→100.00 A1 100.00→null'],
    ],
    [
      'and gives it another id, and adds a line',
      whole,
      [line('A1', 'T9', '100.00'), line('A2', 'T9', '100.00')],
      {},
      { A1: null, A2: null },
      ['T9 100.00→100.00 A1 100.00→null'],
    ],
    [
      'and has one line less beside an unknown share',
      [...partly, line('A3', 'T1', '100.00')],
      both('100.00'),
      JANUARY,
      { A1: null, A2: null },
      ['T1 100.00→100.00 A1 60.00→null'],
    ],
    [
      'of nothing, and adds a line',
      [line('A1', 'T1', '0.00', '0.00')],
      both('0.00'),
      {},
      { A1: '0.00', A2: '0.00' },
      ['T1 0.00→0.00 A2 null→0.00'],
    ],
    [
      ...(['of nothing and unknown shares, and adds a line', both('0.00'), [line('A3', 'T1', '0.00')], {}] as const),
      ...([
        { A1: '0.00', A2: '0.00', A3: '0.00' },
        ['T1 0.00→0.00 A1 null→0.00', 'T1 0.00→0.00 A2 null→0.00', 'T1 0.00→0.00 A3 null→0.00'],
      ] as const),
    ] as unknown as Case,
    ['of an only unknown share to nothing', one('100.00'), one('0.00'), {}, { A1: null }, []],
    ['in its memo alone', partly, both('100.00').map((each) => ({ ...each, main_memo: 'late' })), {}, { A1: '60.00', A2: null }, []],
    [
      'of nothing in its memo alone',
      both('0.00'),
      both('0.00').map((each) => ({ ...each, main_memo: 'late' })),
      {},
      { A1: null, A2: null },
      [],
    ],
    ['and has one line less', split, one('60.00'), JANUARY, { A1: '60.00' }, []],
    ['and has one line less of the same amount', split, one('100.00'), JANUARY, { A1: '100.00' }, ['T1 100.00→100.00 A1 60.00→100.00']],
    ['and has another line instead', whole, [line('A3', 'T1', '70.00')], JANUARY, { A3: null }, []],
    [
      ...(['and moves a line to another gift', [...split, line('A5', 'T2', '5.00', '5.00')], [line('A2', 'T2', '5.00')], {}] as const),
      ...([
        { A1: '100.00', A2: null, A5: null },
        ['T1 100.00→100.00 A1 60.00→100.00', 'T2 5.00→5.00 A2 40.00→null', 'T2 5.00→5.00 A5 5.00→null'],
      ] as const),
    ] as unknown as Case,
    ['and gives it another id', whole, [line('A1', 'T9', '75.00')], {}, { A1: '75.00' }, ['T9 75.00→75.00 A1 100.00→75.00']],
    [
      'and says that the share is the whole gift',
      whole,
      one('80.00').map((each) => ({ ...each, allocation_amount: '80.00', allocation_amount_inferred: true })),
      {},
      { A1: '80.00' },
      ['T1 100.00→80.00 A1 100.00→80.00'],
    ],
  ];

  const sharesOf = async ({ id }: TestOrganization): Promise<Shares> => {
    const { rows } = await gateway.database.client.query<{ id: string; amount: string | null }>(
      'SELECT id, amount FROM allocation WHERE organization_id = $1 ORDER BY id',
      [id],
    );
    return Object.fromEntries(rows.map((row) => [row.id, row.amount]));
  };

  test.each(cases)(
    '%s finds the shares as they can be known, and is told of those that changed',
    async (_, books, file, options, shares, corrected) => {
      const organization = await createBooks(books);
      const result = await importLines(gateway.services, organization, file, options);
      expect(await sharesOf(organization)).toEqual(shares);
      const { count, gifts, first } = result.correctedShares;
      expect(
        first.map(
          (each) => `${each.transactionId} ${each.amountBefore}→${each.amount} ${each.allocationId} ${each.shareBefore}→${each.share}`,
        ),
      ).toEqual(corrected);
      expect([count, gifts]).toEqual([corrected.length, new Set(first.map(({ transactionId }) => transactionId)).size]);
      await expectSound(organization);
      const again = await importLines(gateway.services, organization, file, options);
      expect(again).toMatchObject({ version: null, correctedShares: { gifts: 0, count: 0, first: [] } });
      expect(await sharesOf(organization)).toEqual(shares);
    },
  );

  test('and corrects it back has an only share again, and no split ones', async () => {
    const organization = await createBooks([...whole, line('B1', 'T2', '50.00', '20.00'), line('B2', 'T2', '50.00', '30.00')]);
    for (const [amounts, shares] of [
      [['0.00', '0.00'], { A1: '0.00', B1: '0.00', B2: '0.00' }],
      [['100.00', '50.00'], { A1: '100.00', B1: null, B2: null }],
    ] as const) {
      await importLines(gateway.services, organization, [...one(amounts[0]), line('B1', 'T2', amounts[1]), line('B2', 'T2', amounts[1])]);
      expect(await sharesOf(organization)).toEqual(shares);
    }
    await expectSound(organization);
  });

  test('leaves gifts alone whose shares did not add up before, and judges those of which it states a share', async () => {
    const stray = [line('A1', 'T1', '100.00', '60.00'), line('A2', 'T1', '100.00', '30.00')];
    const organization = await createBooks([...stray, line('B1', 'T2', '50.00', '50.00')]);
    const strict = { allowsMismatch: false };
    const file = [...both('100.00'), line('B1', 'T2', '70.00')];
    for (const options of [strict, { ...strict, ...JANUARY }])
      expect(await importLines(gateway.services, organization, file, options)).toMatchObject({ mismatches: { count: 0, first: [] } });
    expect(await sharesOf(organization)).toEqual({ A1: '60.00', A2: '30.00', B1: '70.00' });
    const reason = 'adds up to 90.00 over the gift T1, whose amount is 100.00';
    // The second line states the share, and the first is the gift's first.
    await expect(
      importLines(gateway.services, organization, [line('B1', 'T2', '70.00'), line('A1', 'T1', '100.00'), stray[1]!], strict),
    ).rejects.toMatchObject({ faults: [{ line: 2, field: 'allocation_amount', reason }] });
    expect(await importLines(gateway.services, organization, stray)).toMatchObject({ mismatches: { count: 1 }, version: null });
  });

  test('is judged by the shares of each gift that it states, as before', async () => {
    const organization = await createBooks([...split, line('B1', 'T2', '50.00', '50.00')]);
    const file = [line('A1', 'T1', '70.00', '60.00'), line('A2', 'T1', '70.00'), line('B1', 'T2', '40.00')];
    await expect(importLines(gateway.services, organization, file, { allowsMismatch: false })).rejects.toMatchObject({
      faults: [{ line: 1, field: 'allocation_amount', reason: 'adds up to 100.00 over the gift T1, whose amount is 70.00' }],
    });
    const { correctedShares } = await importLines(gateway.services, organization, file);
    expect(correctedShares).toMatchObject({ gifts: 1, first: [{ line: 3, transactionId: 'T2' }] });
    expect(await sharesOf(organization)).toEqual({ A1: '60.00', A2: '40.00', B1: '40.00' });
    // The line that takes A2 away states its share.
    await expect(
      importLines(gateway.services, organization, [line('A2', 'T3', '10.00', '10.00')], { allowsMismatch: false }),
    ).rejects.toMatchObject({
      faults: [{ line: 1, reason: 'adds up to 60.00 over the gift T1, whose amount is 70.00' }],
    });
  });
});

async function* fileOf(lines: readonly object[]): AsyncGenerator<{ line: number; values: object }[]> {
  yield await Promise.resolve(lines.map((values, position) => ({ line: position + 1, values })));
}
