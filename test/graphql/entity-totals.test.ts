import { graphql } from '../support/gateway';
import { createOracle, summaryBook, type SummaryLine } from '../support/summary-oracle';
import { openWatchedGateway } from '../support/watched-gateway';

const LINES = summaryBook(150);
const { totalsOf } = createOracle(LINES);
const AMOUNTS = '{ amount feeAmount netAmount }';
const SHARES = 'byAllocation { amount known inferred unknown }';
const TOTALS = `{ lines transactions deposits donors splitTransactions byLine ${AMOUNTS} byTransaction ${AMOUNTS} ${SHARES} firstGift lastGift }`;

const gateway = openWatchedGateway({ lines: LINES });
const { organization } = gateway.store;

type DateField = 'deposit_date' | 'transaction_date';
const within = (lines: readonly SummaryLine[], from: string, to: string, statuses: readonly string[], by: DateField) =>
  lines.filter((line) => line[by] >= from && line[by] <= to && statuses.includes(line.deposit_status));
const POSTED = ['posted'];
const BOTH = ['posted', 'pending'];
const PENDING = ['pending'];

describe('totals of records', () => {
  test('of each deposit are those of its lines, pending or posted', async () => {
    const { deposits } = await gateway.ask<{ deposits: { nodes: { depositId: string; totals: object }[] } }>(
      `{ deposits(first: 1000, pending: WITH) { nodes { depositId totals ${TOTALS} } } }`,
    );
    expect(deposits.nodes.length).toBe(new Set(LINES.map(({ deposit_id }) => deposit_id)).size);
    for (const { depositId, totals } of deposits.nodes) {
      expect([depositId, totals]).toEqual([depositId, totalsOf(LINES.filter(({ deposit_id }) => deposit_id === depositId))]);
    }
  });

  test.each<[string, string, string, string[], DateField?]>([
    ['', '0001-01-01', '9999-12-31', POSTED],
    ['startDate: "2024-02-01", endDate: "2024-08-31", pending: WITH', '2024-02-01', '2024-08-31', BOTH],
    ['startDate: "2024-07-01", pending: ONLY', '2024-07-01', '9999-12-31', PENDING],
    ['endDate: "1999-12-31"', '0001-01-01', '1999-12-31', POSTED],
    ['startDate: "2024-01-05", endDate: "2024-01-15", dateBasis: TRANSACTION_DATE', '2024-01-05', '2024-01-15', POSTED, 'transaction_date'],
  ])('of each designation and donor are those of its lines in a period: %s', async (period, from, to, statuses, by = 'deposit_date') => {
    const parameters = period === '' ? '' : `(${period})`;
    const { designations, donors } = await gateway.ask<{
      designations: { nodes: { designationId: number; totals: object }[] };
      donors: { nodes: { donorId: number; totals: object }[] };
    }>(`{ designations(first: 100) { nodes { designationId totals${parameters} ${TOTALS} } }
      donors(first: 100) { nodes { donorId totals${parameters} ${TOTALS} } } }`);
    const chosen = within(LINES, from, to, statuses, by);
    for (const { designationId, totals } of designations.nodes) {
      expect([designationId, totals]).toEqual([
        designationId,
        totalsOf(
          chosen.filter(({ designation_id }) => designation_id === designationId),
          by,
        ),
      ]);
    }
    for (const { donorId, totals } of donors.nodes) {
      expect([donorId, totals]).toEqual([
        donorId,
        totalsOf(
          chosen.filter(({ donor_id }) => donor_id === donorId),
          by,
        ),
      ]);
    }
    expect([designations.nodes.length, donors.nodes.length > 5]).toEqual([5, true]);
  });

  test('of a transaction are those of all its shares, whatever page of them is shown', async () => {
    const { transactions } = await gateway.ask<{ transactions: { nodes: { transactionId: string; allocationsTotal: object }[] } }>(
      `{ transactions(first: 1000, pending: WITH) { nodes { transactionId allocations(first: 1) { nodes { id } } allocationsTotal { amount known inferred unknown } } } }`,
    );
    expect(transactions.nodes).toHaveLength(150);
    for (const { transactionId, allocationsTotal } of transactions.nodes) {
      const { byAllocation } = totalsOf(LINES.filter(({ transaction_id }) => transaction_id === transactionId));
      expect([transactionId, allocationsTotal]).toEqual([transactionId, byAllocation]);
    }
  });

  test('take one statement for a list, however long, also for lists within lists', async () => {
    const count = async (query: string): Promise<number> => {
      const before = gateway.proxy.statements();
      await gateway.ask(query);
      return gateway.proxy.statements() - before;
    };
    const nested = (length: number) => `{ deposits(first: ${length}, pending: WITH) { nodes {
      totals { byTransaction { amount } }
      transactions(first: 50) { nodes { allocationsTotal { amount } donor { totals(pending: WITH) { lines } } } } } } }`;
    const few = await count(nested(2));
    // Access, deposits, their totals, their transactions, the shares, the donors and their totals.
    expect([few, await count(nested(40))]).toEqual([7, 7]);
    const funds = (length: number) => `{ designations(first: ${length}) { nodes { name totals { lines } } } }`;
    // Those of funds are read from a snapshot, whose end may come late.
    for (const length of [2, 5]) expect(await count(funds(length))).toBeLessThanOrEqual(5);
  });

  test('are counted without donors for a caller who may not read them, and say so once', async () => {
    const { body } = await graphql(
      gateway.url,
      `
        {
          deposits(first: 3, pending: WITH) {
            nodes {
              totals {
                lines
                donors
              }
            }
          }
        }
      `,
      { provision: gateway.member },
    );
    const { nodes } = body.data!.deposits as { nodes: { totals: { lines: number; donors: null } }[] };
    expect(nodes.map(({ totals }) => [totals.lines > 0, totals.donors])).toEqual([1, 2, 3].map(() => [true, null]));
    expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual(['PRIVILEGE_NOT_FOUND']);
  });

  test('of a period that ends before it begins are refused in words', async () => {
    const { body } = await graphql(
      gateway.url,
      '{ designations(first: 3) { nodes { designationId totals(startDate: "2024-02-01", endDate: "2024-01-01") { lines } } } }',
      { provision: organization.apiProvision },
    );
    expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual(['START_DATE_AFTER_END_DATE']);
    // The list stays.
    expect(body.data).toEqual({ designations: { nodes: [1, 2, 3].map((designationId) => ({ designationId, totals: null })) } });
  });

  test('that cannot be read are null, with one error for a list, and the records stay', async () => {
    const { client } = gateway.store.database;
    const records = {
      deposits: ['depositId', 'totals', '{ lines }'],
      designations: ['designationId', 'totals', '{ lines }'],
      donors: ['donorId', 'totals', '{ lines }'],
      transactions: ['transactionId', 'allocationsTotal', '{ known }'],
    };
    await client.query('ALTER TABLE deposit_line RENAME COLUMN allocation_amount TO away');
    try {
      for (const [list, [id, totals, selected]] of Object.entries(records)) {
        const { body } = await graphql(gateway.url, `{ list: ${list}(first: 3) { nodes { ${id} ${totals} ${selected} } } }`, {
          provision: organization.apiProvision,
        });
        const { nodes } = body.data!.list as { nodes: Record<string, unknown>[] };
        expect([list, nodes.map((node) => [Boolean(node[id!]), node[totals!]])]).toEqual([list, [1, 2, 3].map(() => [true, null])]);
        expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual(['DATA_SOURCE_QUERY_FAILED']);
      }
    } finally {
      await client.query('ALTER TABLE deposit_line RENAME COLUMN away TO allocation_amount');
    }
  });
});
