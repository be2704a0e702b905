import { createOrganization, graphql, importLines, v2Line } from '../support/gateway';
import { ask, numbersOf, readChanges, type Change, type Changes, type Line } from '../support/changes';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const gateway = openGateway();

describe('whoever asks what changed', () => {
  /** A gift of 100.00 that is split over two funds, and one of 25.00. */
  const split = v2Line({
    ...{ allocation_id: 'A1', transaction_id: 'T1', amount: '100.00', fee_amount: '0.00', net_amount: '100.00' },
    allocation_amount: '40.00',
  });
  const rest = { ...split, allocation_id: 'A2', designation_id: 4, designation: 'Wells', allocation_amount: '60.00' };
  const single = v2Line({
    ...{ allocation_id: 'A3', transaction_id: 'T2', amount: '25.00', fee_amount: '0.00', net_amount: '25.00', allocation_amount: '25.00' },
    ...{ deposit_id: 'D2', deposit_date: '2024-01-20', donor_id: 8, donor_last_name: 'King' },
  });
  const all = {
    complete: { periods: [{ startDate: '2024-01-01', endDate: '2024-12-31' }], pending: 'WITH' },
    maxRemoved: Infinity,
  } as const;

  /** Imports two states of the books, one after the other, and tells what changed. */
  async function changesOf(before: readonly object[], after: readonly object[], given = 'pending: WITH'): Promise<Changes> {
    const organization = await createOrganization(gateway.services);
    await importLines(gateway.services, organization, before, all);
    await importLines(gateway.services, organization, after, all);
    return readChanges(gateway, organization, `from: { version: 1 }, ${given}`);
  }
  const told = ({ nodes }: Changes): unknown[] =>
    nodes.map(({ class: name, before, after, columns }) => [name, before?.allocationId, after?.allocationId, ...columns]);
  const amounts = ({ effect }: Pick<Change, 'effect'>): unknown => {
    const { lines, transactions, byTransaction, byAllocation } = effect as {
      lines: number;
      transactions: number;
      byTransaction: { amount: string };
      byAllocation: { amount: string };
    };
    return [lines, transactions, byTransaction.amount, byAllocation.amount];
  };

  test.each([
    ['an allocation', [{ ...split, allocation_id: 'B1' }, rest, single], [['REKEYED', 'A1', 'B1', 'allocationId']]],
    ['a gift', [split, rest, { ...single, transaction_id: 'T9' }], [['REKEYED', 'A3', 'A3', 'transactionId']]],
    [
      'a gift and its allocations',
      [{ ...split, transaction_id: 'T9', allocation_id: 'B1' }, { ...rest, transaction_id: 'T9', allocation_id: 'B2' }, single],
      [
        ['REKEYED', 'A1', 'B1', 'transactionId', 'allocationId'],
        ['REKEYED', 'A2', 'B2', 'transactionId', 'allocationId'],
      ],
    ],
    [
      'a memo beside its id',
      [split, rest, { ...single, allocation_id: 'B3', main_memo: 'x' }],
      [['REKEYED', 'A3', 'B3', 'allocationId', 'mainMemo']],
    ],
  ])('sees %s under another id as one change without an effect', async (_what, after, changes) => {
    const found = await changesOf([split, rest, single], after);
    expect(told(found)).toEqual(changes);
    expect(found.classes.map(amounts)).toEqual([[0, 0, '0.00', '0.00']]);
  });

  test('sees ids that came with other money as lines that are gone and new', async () => {
    const found = await changesOf(
      [split, rest, single],
      [split, rest, { ...single, allocation_id: 'B3', amount: '24.00', net_amount: '24.00', allocation_amount: '24.00' }],
    );
    // The gift stays, so that its amount has changed at the first class.
    expect(told(found)).toEqual([
      ['REMOVED', 'A3', undefined],
      ['ADDED', undefined, 'B3'],
    ]);
    expect(found.classes.map(amounts)).toEqual([
      [1, 0, '-1.00', '24.00'],
      [-1, 0, '0.00', '-25.00'],
    ]);
  });

  test('sees a share that went to another gift, a fund and a name', async () => {
    const found = await changesOf(
      [split, rest, single],
      [{ ...split, designation_id: 5, designation: 'Roof', donor_last_name: 'Byron' }, { ...rest, donor_last_name: 'Byron' }, single],
    );
    expect(told(found)).toEqual([
      ['MOVED', 'A1', 'A1', 'donorLastName', 'designationId', 'designation'],
      ['RELABELLED', 'A2', 'A2', 'donorLastName'],
    ]);
    expect(
      found.designations.nodes.map(({ designationId, classes }) => [designationId, ...classes.map((each) => [each.class, amounts(each)])]),
    ).toEqual([
      [3, ['MOVED', [-1, -1, '-100.00', '-40.00']]],
      [4, ['RELABELLED', [0, 0, '0.00', '0.00']]],
      [5, ['MOVED', [1, 1, '100.00', '40.00']]],
    ]);
  });

  test.each([
    ['a later name in the alphabet', 'Alpha', 'Zeta'],
    ['an earlier one', 'Zeta', 'Alpha'],
  ])('sees a fund that got %s under its name of now', async (_which, before, after) => {
    const [old, renamed] = [before, after].map((designation) => ({ ...single, designation }));
    const gone = { ...single, deposit_id: 'D3', transaction_id: 'T3', allocation_id: 'A4', designation: before };
    const found = await changesOf([old!, gone], [renamed!]);
    expect(found.designations.nodes.map(({ designation, classes }) => [designation, classes.map((each) => each.class)])).toEqual([
      [after, ['REMOVED', 'RELABELLED']],
    ]);
  });

  test('sees where a line went that has left the period', async () => {
    const found = await changesOf(
      [split, rest, single],
      [split, rest, { ...single, deposit_date: '2024-02-03' }],
      'pending: WITH, startDate: "2024-01-01", endDate: "2024-01-31"',
    );
    expect(found.nodes.map(({ class: name, wasInside, isInside, after }) => [name, wasInside, isInside, after?.depositDate])).toEqual([
      ['MOVED', true, false, '2024-02-03'],
    ]);
    expect(found.classes.map(amounts)).toEqual([[-1, -1, '-25.00', '-25.00']]);
  });

  test.each([
    ['transactionIds: ["T2"]', { transaction_id: 'T9', allocation_id: 'B3' }],
    ['transactionIds: ["T9"]', { transaction_id: 'T9', allocation_id: 'B3' }],
    ['paymentTypes: ["Check"]', { allocation_id: 'B3', payment_type: 'Check' }],
    ['paymentTypes: ["Check"]', { payment_type: 'Check' }],
    ['donorName: "King"', { donor_last_name: 'Byron' }],
    ['donorName: "Byron"', { donor_last_name: 'Byron', transaction_id: 'T9', allocation_id: 'B3' }],
  ])('sees a line that %s does not fit on both sides as moved, with both of them', async (filter, change) => {
    const found = await changesOf([split, rest, single], [split, rest, { ...single, ...change }], `pending: WITH, filter: { ${filter} }`);
    expect(found.nodes.map(({ class: name, before, after }) => [name, before?.transactionId, after?.transactionId])).toEqual([
      ['MOVED', 'T2', (change as { transaction_id?: string }).transaction_id ?? 'T2'],
    ]);
    expect(numbersOf(found.classes[0]!.effect).slice(0, 4).map(Math.abs)).toEqual([1, 1, 1, 2500]);
  });

  test('sees the same classes whatever part of a change the filter fits', async () => {
    const moved = { ...split, transaction_id: 'T9' };
    const after = [moved, { ...rest, transaction_id: 'T9', allocation_id: 'B2' }, single];
    const found = await changesOf([split, rest, single], after, 'pending: WITH, filter: { designationIds: [4] }');
    expect(told(found)).toEqual([['REKEYED', 'A2', 'B2', 'transactionId', 'allocationId']]);
    // A gift that was there before is not the new id of another one.
    const third = { ...single, transaction_id: 'T3', allocation_id: 'A4', designation_id: 4, designation: 'Wells' };
    const joined = await changesOf(
      [single, third],
      [{ ...single, transaction_id: 'T3' }],
      'pending: WITH, filter: { transactionIds: ["T2"] }',
    );
    expect(told(joined)).toEqual([['MOVED', 'A3', 'A3', 'transactionId']]);
  });

  test('sees which of some equal gifts has a new id by the lines that it keeps', async () => {
    const gifts = (...ids: readonly (readonly [allocation: string, gift: string, memo?: string])[]): object[] =>
      ids.map(([allocation_id, transaction_id, memo = '']) => ({ ...single, allocation_id, transaction_id, main_memo: memo }));
    const [renamed, moved] = [['transactionId'], ['transactionId', 'mainMemo']];
    for (const [before, after, changes] of [
      [
        gifts(['A1', 'T1'], ['A2', 'T2']),
        gifts(['A2', 'T3']),
        [
          ['REKEYED', 'A2', 'A2', ...renamed],
          ['REMOVED', 'A1', undefined],
        ],
      ],
      [
        gifts(['A1', 'T1'], ['A2', 'T2']),
        gifts(['A1', 'T4'], ['A2', 'T3']),
        [
          ['REKEYED', 'A1', 'A1', ...renamed],
          ['REKEYED', 'A2', 'A2', ...renamed],
        ],
      ],
      [
        gifts(['A1', 'T1', 'a'], ['A2', 'T2', 'b']),
        gifts(['A1', 'T8', 'z'], ['A2', 'T9', 'b']),
        [
          ['REKEYED', 'A1', 'A1', ...moved],
          ['REKEYED', 'A2', 'A2', ...renamed],
        ],
      ],
    ] as const) {
      const found = told(await changesOf(before, after)) as string[][];
      expect(found.sort((one, other) => one[1]!.localeCompare(other[1]!))).toEqual(
        [...changes].sort((one, other) => one[1].localeCompare(other[1])),
      );
    }
    // A gift whose line went to another one takes no turn, whatever part of it the filter fits.
    const other = { ...single, allocation_id: 'A0', transaction_id: 'T5', deposit_id: 'D3', deposit_date: '2024-01-06' };
    const before = [...gifts(['A2', 'T1'], ['A5', 'T2']), other];
    const after = [...gifts(['A9', 'T9']), other, { ...other, allocation_id: 'A2' }];
    expect(told(await changesOf(before, after)).map((each) => (each as string[]).slice(0, 3))).toEqual([
      ['MOVED', 'A2', 'A2'],
      ['REKEYED', 'A5', 'A9'],
    ]);
    const filtered = await changesOf(
      [...gifts(['A2', 'T1']), other],
      [{ ...single, allocation_id: 'A9', transaction_id: 'T9', payment_type: 'x' }, other, { ...other, allocation_id: 'A2' }],
      'pending: WITH, filter: { transactionIds: ["T9"] }',
    );
    expect(told(filtered)).toEqual([['ADDED', undefined, 'A9']]);
  });

  test('sees hundreds of lines that come, move and go, while nothing is known of their number', async () => {
    const organization = await createOrganization(gateway.services);
    const lines = (date: string): object[] =>
      Array.from({ length: 900 }, (_, at) => ({
        ...single,
        deposit_id: `E${at >> 5}`,
        deposit_date: date,
        transaction_id: `G${at}`,
        allocation_id: `L${at}`,
      }));
    const states = [
      [split, rest],
      [split, rest, ...lines('2024-02-01')],
      [split, rest, ...lines('2024-03-01')],
      [split, rest],
    ];
    for (const state of states) await importLines(gateway.services, organization, state, all);
    for (const [from, name] of [
      [1, 'ADDED'],
      [2, 'MOVED'],
      [3, 'REMOVED'],
    ] as const) {
      const given = `from: { version: ${from} }, to: { version: ${from + 1} }, pending: WITH`;
      expect(await readChanges(gateway, organization, given, 'classes { class changes }')).toEqual({
        classes: [{ class: name, changes: 900 }],
      });
    }
  });

  test('sees thousands of gifts that have new ids, and new memos after that', async () => {
    const lines = (letter: string, memo: string): object[] =>
      Array.from({ length: 10_000 }, (_, at) => ({
        ...split,
        ...{ deposit_id: `D${at >> 5}`, transaction_id: `${letter}${at >> 1}`, allocation_id: `${letter}L${at}`, main_memo: memo },
        ...{ designation_id: 3 + (at % 2), designation: `Fund ${at % 2}`, allocation_amount: at % 2 === 0 ? '40.00' : '60.00' },
      }));
    const organization = await createOrganization(gateway.services);
    for (const next of [lines('T', ''), lines('U', ''), lines('U', 'x')]) await importLines(gateway.services, organization, next, all);
    for (const [given, name] of [
      ['from: { version: 1 }, to: { version: 2 }', 'REKEYED'],
      ['from: { version: 1 }', 'REKEYED'],
      ['from: { version: 2 }', 'RELABELLED'],
    ]) {
      const { classes, totalCount } = await readChanges(
        gateway,
        organization,
        `${given!}, pending: WITH`,
        'totalCount classes { class changes }',
      );
      expect([classes, totalCount]).toEqual([[{ class: name, changes: 10_000 }], 10_000]);
    }
  });

  test('sees nothing where a line came back to what it was', async () => {
    const organization = await createOrganization(gateway.services);
    for (const memo of ['', 'x', '']) await importLines(gateway.services, organization, [split, rest, { ...single, main_memo: memo }], all);
    expect((await readChanges(gateway, organization, 'from: { version: 1 }')).nodes).toEqual([]);
    expect((await readChanges(gateway, organization, 'from: { version: 1 }, to: { version: 2 }')).nodes).toHaveLength(1);
  });

  test('goes on from page to page, in the classes that were asked for', async () => {
    const organization = await createOrganization(gateway.services);
    const lines = Array.from({ length: 9 }, (_, at) => ({ ...single, allocation_id: `L${at}`, transaction_id: `T${at}`, main_memo: '' }));
    await importLines(gateway.services, organization, lines, all);
    const edited = lines.map((line, at) =>
      at % 3 === 0 ? { ...line, main_memo: 'x' } : { ...line, amount: '30.00', net_amount: '30.00', allocation_amount: '30.00' },
    );
    await importLines(gateway.services, organization, edited, all);
    const seen: unknown[] = [];
    for (let after: string | null = null; ;) {
      const { body } = await ask(
        gateway,
        organization,
        `{ depositChanges(from: { version: 1 }, pending: WITH, class: MONEY, first: 4${after === null ? '' : `, after: "${after}"`}) {
          nodes { after { allocationId } } totalCount classes { class changes } pageInfo { hasNextPage endCursor } } }`,
      );
      const found = (
        body.data as {
          depositChanges: {
            nodes: { after: Line }[];
            totalCount: number;
            classes: unknown;
            pageInfo: { hasNextPage: boolean; endCursor: string };
          };
        }
      ).depositChanges;
      expect([found.totalCount, found.classes]).toEqual([
        6,
        [
          { class: 'MONEY', changes: 6 },
          { class: 'RELABELLED', changes: 3 },
        ],
      ]);
      seen.push(...found.nodes.map((each) => each.after.allocationId));
      if (!found.pageInfo.hasNextPage) break;
      after = found.pageInfo.endCursor;
    }
    expect(seen).toEqual(['L1', 'L2', 'L4', 'L5', 'L7', 'L8']);
  });

  test('is in the audit with both states, and with all days: a change tells where a line went', async () => {
    const organization = await createOrganization(gateway.services);
    for (const date of ['2024-01-20', '2024-03-03'])
      await importLines(gateway.services, organization, [{ ...single, deposit_date: date }], all);
    const range = 'startDate: "2024-01-01", endDate: "2024-01-31", filter: { donorIds: [8] }';
    await readChanges(gateway, organization, `from: { version: 1 }, to: { version: 2 }, ${range}`, 'totalCount');
    const readRows = async (): Promise<unknown[]> => {
      const text =
        'SELECT start_date, end_date, pending, conditions FROM audit_record WHERE organization_id = $1 AND cardinality(conditions) > 0';
      return (await gateway.database.client.query<object>(text, [organization.id])).rows;
    };
    // Nobody waits for a row of a reading.
    await until(async () => (await readRows()).length > 0, 15_000);
    const allDays = { start_date: null, end_date: null, pending: 'WITH' };
    expect((await readRows())[0]).toEqual({ ...allDays, conditions: ['donorIds', 'from=1', 'to=2'] });
  });

  test('is told what is wrong with a question', async () => {
    const organization = await createOrganization(gateway.services);
    await importLines(gateway.services, organization, [single], all);
    await importLines(gateway.services, organization, [split], all);
    const faultOf = async (given: string, selection = 'totalCount'): Promise<string> => {
      const { body } = await ask(gateway, organization, `{ depositChanges(${given}) { ${selection} } }`);
      return body.errors![0]!.message;
    };
    expect(await faultOf('from: { version: 2 }, to: { version: 1 }')).toContain(
      'from is version 2 and to is version 1: from must not come after to',
    );
    expect(await faultOf('from: { version: 3 }')).toContain('from: there is no version 3: the earliest is 1 of');
    expect(await faultOf('from: { version: 1 }, to: { version: 7 }')).toContain('to: there is no version 7');
    expect(await faultOf('from: { version: 1 }', 'nodes { before { donor { lastName } } }')).toContain(
      'Lines of a change lead to no records: leave donor out',
    );
    expect(await faultOf('from: { version: 1 }', 'edges { node { after { fund { __typename } } } }')).toContain(
      'Lines of a change lead to no records: leave fund out',
    );
    expect(await faultOf('from: { version: 1 }, first: 0')).toContain('first is 0');
    expect(await faultOf('from: { version: 1 }, class: []')).toContain('class is an empty list: leave it out for all classes');
    const provision = organization.webProvision;
    const { body } = await graphql(gateway.url, '{ depositChanges(from: { version: 1 }) { totalCount } }', { provision });
    expect(body.errors![0]!.extensions.code).toBe('NOT_LOGGED_IN');
  });
});
