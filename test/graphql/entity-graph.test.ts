import { depositBook, inOrder, type BookLine } from '../support/deposit-book';
import { createOrganization, graphql, importLines, v2Line } from '../support/gateway';
import { REQUEST_ID } from '../support/request-id';
import { openWatchedGateway } from '../support/watched-gateway';

const LINES = depositBook(150);

const gateway = openWatchedGateway({ lines: LINES });
const { organization } = gateway.store;

const unique = <Item>(items: readonly Item[]): Item[] => [...new Set(items)];
const by = (field: keyof BookLine, value: unknown): BookLine[] => LINES.filter((line) => line[field] === value);
const NESTED = `query ($deposits: Int!, $transactions: Int!, $allocations: Int!) {
  deposits(first: $deposits, pending: WITH) {
    nodes {
      depositId depositDate status
      transactions(first: $transactions) {
        nodes {
          transactionId amount feeAmount netAmount transactionDate status accountType paymentType mainMemo
          donor { donorId firstName lastName }
          allocations(first: $allocations) { nodes { allocationId amount memo designation { designationId name } } }
        }
      }
    }
  }
}`;

/** The nested page as a plain reading of the lines gives it. */
function nested(deposits: number, transactions: number, allocations: number): object {
  const ids = unique(LINES.map(({ deposit_id }) => deposit_id)).slice(0, deposits);
  return {
    deposits: {
      nodes: ids.map((id) => {
        const [line] = by('deposit_id', id);
        const transactionIds = unique(inOrder(by('deposit_id', id), ['transaction_id']).map(({ transaction_id }) => transaction_id));
        return {
          ...{ depositId: id, depositDate: line!.deposit_date, status: line!.deposit_status.toUpperCase() },
          transactions: { nodes: transactionIds.slice(0, transactions).map((transaction) => transactionOf(transaction, allocations)) },
        };
      }),
    },
  };
}

function transactionOf(id: string, allocations: number): object {
  const lines = inOrder(by('transaction_id', id), ['allocation_id']);
  const [line] = lines;
  const { donor_id, donor_first_name, donor_last_name } = line!;
  return {
    ...{
      transactionId: id,
      amount: line!.amount,
      feeAmount: line!.fee_amount,
      netAmount: line!.net_amount,
      transactionDate: line!.transaction_date,
    },
    ...{ status: line!.status, accountType: line!.account_type, paymentType: line!.payment_type, mainMemo: '' },
    donor: donor_id === 0 ? null : { donorId: donor_id, firstName: donor_first_name, lastName: donor_last_name },
    allocations: {
      nodes: lines.slice(0, allocations).map(({ allocation_id, allocation_amount, designation_id, designation }) => ({
        ...{ allocationId: allocation_id, amount: allocation_amount ?? null, memo: '' },
        designation: { designationId: designation_id, name: designation },
      })),
    },
  };
}

describe('a frontend that follows edges', () => {
  test.each([
    [1, 1, 1],
    [3, 2, 2],
    [50, 50, 10],
  ])(
    'gets %d deposits, %d transactions of each and %d allocations of each by five statements',
    async (deposits, transactions, allocations) => {
      const before = gateway.proxy.statements();
      expect(await gateway.ask(NESTED, { deposits, transactions, allocations })).toEqual(nested(deposits, transactions, allocations));
      // Statements: access, deposits, transactions, donors (the first transaction has none), allocations with their designations.
      expect(gateway.proxy.statements() - before).toBe(deposits === 1 ? 4 : 5);
    },
  );

  test('goes up and down again by one statement for each step, however many there are', async () => {
    const before = gateway.proxy.statements();
    const { donors } = await gateway.ask(`{
      donors(first: 5) { nodes { transactions(first: 3) { nodes { deposit { transactions(first: 3) { nodes { allocations(first: 2) { nodes {
        transaction { donor { id } } designation { allocations(first: 2) { nodes { id transaction { id deposit { id } } } } }
      } } } } } } } } }
    }`);
    expect((donors as { nodes: object[] }).nodes).toHaveLength(5);
    // Statements: access, donors, transactions, deposits, transactions, allocations; then transactions with donors, and the designations' allocations,
    // whose transactions and deposits may have been read before.
    expect(gateway.proxy.statements() - before).toBeLessThanOrEqual(11);
  });

  test.each([6, 300])('gets the lists of the designations of %d allocations by the same statements', async (length) => {
    const before = gateway.proxy.statements();
    const { allocations } = await gateway.ask(`{ allocations(first: ${length}, pending: WITH) { nodes {
      designation { allocations(first: 40, pending: WITH) { totalCount nodes { allocationId transaction { amount } } } } } } }`);
    expect((allocations as { nodes: object[] }).nodes).toHaveLength(Math.min(length, LINES.length));
    // Access, allocations with their designations, the allocations of these, their numbers, and the transactions.
    expect(gateway.proxy.statements() - before).toBe(5);
  });

  test('pages through each list, forwards and backwards, and is told how long it is', async () => {
    const lists: [string, string, string, string[]][] = [];
    const depositId = 'D1';
    lists.push([
      `deposit(depositId: "${depositId}")`,
      'transactions',
      'transactionId',
      unique(by('deposit_id', depositId).map((line) => line.transaction_id)).sort(),
    ]);
    lists.push([
      'transaction(transactionId: "T2")',
      'allocations',
      'allocationId',
      by('transaction_id', 'T2')
        .map((line) => line.allocation_id)
        .sort(),
    ]);
    lists.push([
      'designation(designationId: 2)',
      'allocations',
      'allocationId',
      by('designation_id', 2)
        .map((line) => line.allocation_id)
        .sort(),
    ]);
    const given = inOrder(by('donor_id', 12), ['transaction_date', 'transaction_id']);
    lists.push(['donor(donorId: 12)', 'transactions', 'transactionId', unique(given.map((line) => line.transaction_id))]);
    for (const [parent, list, field, expected] of lists) {
      expect(expected.length).toBeGreaterThan(2);
      // Lists that reach over deposits have posted ones alone, unless they are asked for more.
      const pending = /^(designation|donor)/.test(parent) ? 'pending: WITH, ' : '';
      const page = async (args: string): Promise<Page> => {
        const data = await gateway.ask(
          `{ parent: ${parent} { ${list}(${pending}${args}) { totalCount nodes { id: ${field} } ${PAGE_INFO} } } }`,
        );
        return (data.parent as Record<string, Page>)[list]!;
      };
      const forwards: string[] = [];
      for (let args = 'first: 2'; args !== '';) {
        const { nodes, pageInfo, totalCount } = await page(args);
        expect(totalCount).toBe(expected.length);
        forwards.push(...nodes.map(({ id }) => id));
        args = pageInfo.hasNextPage ? `first: 2, after: "${pageInfo.endCursor}"` : '';
      }
      expect(forwards).toEqual(expected);
      const { nodes, pageInfo } = await page('last: 2');
      expect([nodes.map(({ id }) => id), pageInfo.hasPreviousPage]).toEqual([expected.slice(-2), true]);
      const earlier = await page(`last: 1000, before: "${pageInfo.startCursor}"`);
      expect([earlier.nodes.map(({ id }) => id), earlier.pageInfo.hasPreviousPage]).toEqual([expected.slice(0, -2), false]);
    }
  });

  test('gets the counts of many lists by one statement', async () => {
    const before = gateway.proxy.statements();
    const { deposits } = await gateway.ask(
      '{ deposits(first: 40, pending: WITH) { nodes { id: depositId transactions(first: 1) { totalCount } } } }',
    );
    const counts = (deposits as { nodes: { id: string; transactions: { totalCount: number } }[] }).nodes;
    for (const { id, transactions } of counts) {
      expect(transactions.totalCount).toBe(new Set(by('deposit_id', id).map((line) => line.transaction_id)).size);
    }
    expect(gateway.proxy.statements() - before).toBe(4);
  });
});

interface Page {
  readonly totalCount: number;
  readonly nodes: readonly { readonly id: string }[];
  readonly pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string };
}
const PAGE_INFO = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';

describe('a list at the root', () => {
  const idsOf = async (field: string): Promise<unknown[]> => {
    const id = `${/^[a-z]+(?=s\b)/.exec(field)![0]}Id`;
    const { list } = await gateway.ask(`{ list: ${field} { totalCount nodes { id: ${id} } } }`);
    const { nodes, totalCount } = list as Page;
    expect(totalCount).toBe(nodes.length);
    return nodes.map(({ id }) => id);
  };

  test('of deposits is by date, and takes a range of dates and what becomes of pending ones', async () => {
    const depositIds = (matches: (line: BookLine) => boolean) => unique(LINES.filter(matches).map(({ deposit_id }) => deposit_id));
    const isPosted = ({ deposit_status }: BookLine) => deposit_status === 'posted';
    expect(await idsOf('deposits(first: 1000)')).toEqual(depositIds(isPosted));
    expect(await idsOf('deposits(first: 1000, pending: WITH)')).toEqual(depositIds(() => true));
    expect(await idsOf('deposits(first: 1000, pending: ONLY)')).toEqual(depositIds((line) => !isPosted(line)));
    expect(await idsOf('deposits(first: 1000, startDate: "2024-01-05", endDate: "2024-01-09")')).toEqual(
      depositIds((line) => isPosted(line) && line.deposit_date >= '2024-01-05' && line.deposit_date <= '2024-01-09'),
    );
    expect(await idsOf('deposits(first: 1000, endDate: "2024-01-03", pending: WITH)')).toEqual(
      depositIds(({ deposit_date }) => deposit_date <= '2024-01-03'),
    );
    const { body } = await graphql(gateway.url, '{ deposits(startDate: "2024-01-02", endDate: "2024-01-01") { totalCount } }', {
      provision: organization.apiProvision,
    });
    expect(body.errors).toMatchObject([
      {
        message: 'Start date cannot be greater than the end date.',
        extensions: { code: 'START_DATE_AFTER_END_DATE', argument: 'startDate', requestId: REQUEST_ID },
      },
    ]);
  });

  test('of designations is by id', async () => {
    expect(await idsOf('designations')).toEqual([1, 2, 3, 4, 5]);
  });

  test('of donors is by name, and takes how a name begins', async () => {
    const donors = inOrder(LINES, ['donor_last_name', 'donor_first_name', 'donor_id']).filter(({ donor_id }) => donor_id !== 0);
    const ids = (matches: (line: BookLine) => boolean) => unique(donors.filter(matches).map(({ donor_id }) => donor_id));
    expect(await idsOf('donors(first: 1000)')).toEqual(ids(() => true));
    expect(await idsOf('donors(search: "AD", first: 1000)')).toEqual(
      ids(({ donor_last_name: last, donor_first_name: first }) => /^ad/i.test(last) || /^ad/i.test(first)),
    );
    expect(await idsOf('donors(search: "byron be", first: 1000)')).toEqual(
      ids((line) => line.donor_last_name === 'Byron' && line.donor_first_name.startsWith('Be')),
    );
    expect(await idsOf('donors(search: "bea b", first: 1000)')).toEqual(
      ids((line) => `${line.donor_first_name} ${line.donor_last_name}`.startsWith('Bea B')),
    );
    expect(await idsOf('donors(search: "%")')).toEqual([]);
  });
});

describe('a record asked for by its id', () => {
  test('is null where there is none, in this organization or at all', async () => {
    const foreign = await createOrganization(gateway.store.services);
    await importLines(gateway.store.services, foreign, [
      v2Line({ deposit_id: 'F', transaction_id: 'F', donor_id: 777, designation_id: 777 }),
    ]);
    for (const [text, number] of [
      ['none', 666],
      ['F', 777],
      ['\\u0000', -1],
    ] as const) {
      expect(
        await gateway.ask(`{
          deposit(depositId: "${text}") { id } transaction(transactionId: "${text}") { id }
          designation(designationId: ${number}) { id } donor(donorId: ${number}) { id }
        }`),
      ).toEqual({
        deposit: null,
        transaction: null,
        designation: null,
        donor: null,
      });
    }
  });

  test('is read once, however often it is asked for', async () => {
    const before = gateway.proxy.statements();
    const { a, b } = await gateway.ask('{ a: deposit(depositId: "D1") { depositId } b: deposit(depositId: "D1") { depositId status } }');
    expect([a, b]).toEqual([{ depositId: 'D1' }, { depositId: 'D1', status: by('deposit_id', 'D1')[0]!.deposit_status.toUpperCase() }]);
    expect(gateway.proxy.statements() - before).toBe(2);
  });

  test('of two lists is read by one statement for each step, and is the same in both', async () => {
    const before = gateway.proxy.statements();
    const page = 'deposits(first: 20, pending: WITH) { nodes { id transactions(first: 5) { nodes { id amount donor { id } } } } }';
    const { a, b } = await gateway.ask(`{ a: ${page} b: ${page} }`);
    expect(a).toEqual(b);
    // Statements: access, deposits twice, transactions, donors.
    expect(gateway.proxy.statements() - before).toBe(5);
  });
});
