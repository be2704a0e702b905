import fc from 'fast-check';
import type { ControlTotals } from '../../src/domain/reports/control-totals';
import { allLineColumns } from '../../src/formats/file-columns';
import { bookLines } from '../support/any-lines';
import { createExportReader } from '../support/export-reader';
import { createOrganization, graphql, importLines, v2Line, withGateway, type TestOrganization } from '../support/gateway';
import { SERVING_ROLE } from '../support/database';
import { ask, readAll } from '../support/http-client';
import { fillReport } from '../support/long-report';
import { testOnOneNode } from '../support/limited-tests';
import { openGateway } from '../support/open-gateway';
import { tries } from '../support/tries';

const gateway = openGateway();
const { get } = createExportReader(gateway);
const EVER = 'start_date=0001-01-01&end_date=9999-12-31&include_pending=true';
const FORMATS = ['csv', 'ndjson', 'json'] as const;

/** An organization whose books have these lines alone. */
async function organizationWith(lines: readonly object[]): Promise<TestOrganization> {
  const own = await createOrganization(gateway.services);
  if (lines.length > 0) await importLines(gateway.services, own, lines);
  return own;
}

type Totals = Readonly<Record<string, unknown>>;

/** The totals among headers or trailers, by their names without the beginning. */
function toTotals(fields: Totals): Totals {
  const names = Object.keys(fields).filter((name) => /^x-export-(?!range|id|place|file)/.test(name));
  return Object.fromEntries(names.map((name) => [name.replace('x-export-', ''), fields[name]]));
}

async function totalsOf(own: TestOrganization, query: string): Promise<Totals> {
  const { trailers } = await get(`/export/deposit-details.csv?${EVER}${query}`, { Provision: own.apiProvision });
  return toTotals(trailers);
}

/** The same totals as the database adds them up for a summary. */
async function summaryOf(own: TestOrganization, designationIds?: readonly number[]): Promise<Totals> {
  const query = `query ($filter: DepositDetailFilter) {
    depositSummary(startDate: "0001-01-01", endDate: "9999-12-31", pending: WITH, filter: $filter) {
      digest moneyDigest all { lines transactions deposits byLine { amount } byTransaction { amount } byAllocation { amount unknown } } } }`;
  const variables = designationIds ? { filter: { designationIds } } : {};
  const { body } = await graphql(gateway.url, query, { provision: own.apiProvision, variables });
  const { digest, moneyDigest, all } = body.data!.depositSummary as { digest: string; moneyDigest: string; all: ControlTotals };
  const { lines, transactions, deposits, byLine, byTransaction, byAllocation } = all;
  return {
    ...{ rows: String(lines), lines: String(lines), transactions: String(transactions), deposits: String(deposits) },
    ...{ 'amount-by-line': byLine.amount, 'amount-by-transaction': byTransaction.amount },
    ...(byAllocation.amount !== null && { 'amount-by-allocation': byAllocation.amount }),
    ...{ 'unknown-allocations': String(byAllocation.unknown), digest, 'money-digest': moneyDigest },
  };
}

const gift = (id: string, allocation: string, amount: string, fields: object = {}) =>
  v2Line({ transaction_id: id, allocation_id: allocation, amount, fee_amount: '0.00', net_amount: amount, ...fields });

describe('the totals after a file', () => {
  const SETS: Readonly<Record<string, { readonly lines: readonly object[]; readonly totals: Readonly<Record<string, string>> }>> = {
    'no lines': {
      lines: [],
      totals: {
        ...{ rows: '0', lines: '0', transactions: '0', deposits: '0', 'amount-by-line': '0.00', 'amount-by-transaction': '0.00' },
        ...{ 'amount-by-allocation': '0.00', 'unknown-allocations': '0' },
        digest: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      },
    },
    'a split gift, whose shares the books state': {
      lines: [gift('1', 'a', '30.00', { allocation_amount: '10.05' }), gift('1', 'b', '30.00', { allocation_amount: '19.95' })],
      totals: {
        ...{ rows: '2', lines: '2', transactions: '1', deposits: '1', 'amount-by-line': '60.00', 'amount-by-transaction': '30.00' },
        ...{ 'amount-by-allocation': '30.00', 'unknown-allocations': '0' },
      },
    },
    'gifts of which one is split and says nothing of its shares, and one went back': {
      lines: [
        gift('1', 'a', '30.00'),
        gift('1', 'b', '30.00'),
        gift('2', 'c', '-100.01'),
        gift('3', 'd', '0.02', { deposit_id: '2' }),
        gift('4', 'e', '-0.01', { deposit_id: '3', deposit_status: 'pending' }),
      ],
      totals: {
        ...{ rows: '5', lines: '5', transactions: '4', deposits: '3', 'amount-by-line': '-40.00', 'amount-by-transaction': '-70.00' },
        ...{ 'amount-by-allocation': '-100.00', 'unknown-allocations': '2' },
      },
    },
    'one gift, of whose shares nothing is known': {
      lines: [gift('1', 'a', '30.00'), gift('1', 'b', '30.00')],
      totals: {
        ...{ rows: '2', lines: '2', transactions: '1', deposits: '1', 'amount-by-line': '60.00', 'amount-by-transaction': '30.00' },
        'unknown-allocations': '2',
      },
    },
  };

  test.each(Object.entries(SETS))('of %s are those that are asked for before it', async (_what, { lines, totals }) => {
    const own = await organizationWith(lines);
    const after = await totalsOf(own, '');
    expect(after).toEqual({ digest: after.digest, 'money-digest': after['money-digest'], ...totals });
    expect(await summaryOf(own)).toEqual(after);
    expect(await totalsOf(own, '&totals=headers')).toEqual(after);
    expect(await totalsOf(own, '&columns=designation,amount')).toEqual(after);
  });

  test('are those that the database adds up, whatever the lines, the columns and the format', async () => {
    const anyColumns = fc.option(
      fc.uniqueArray(fc.constantFrom(...Object.keys(allLineColumns)), { minLength: 1, maxLength: Object.keys(allLineColumns).length }),
    );
    await fc.assert(
      fc.asyncProperty(bookLines, fc.array(anyColumns, { minLength: 4, maxLength: 4 }), async (lines, choices) => {
        const own = await organizationWith(lines);
        for (const [n, columns] of choices.entries()) {
          const query = `${EVER}${columns ? `&columns=${columns.join()}` : ''}${n === 3 ? '&designation_id=1&designation_id=2' : ''}`;
          const path = `/export/deposit-details.${FORMATS[n % FORMATS.length]}?${query}`;
          const before = await get(`${path}&totals=headers`, { Provision: own.apiProvision });
          const after = await get(path, { Provision: own.apiProvision });
          expect([after.status, after.body, after.trailers]).toEqual([200, before.body, before.trailers]);
          expect(toTotals(before.headers)).toEqual(toTotals(after.trailers));
          expect(toTotals(after.trailers)).toEqual(await summaryOf(own, n === 3 ? [1, 2] : undefined));
        }
      }),
      { numRuns: tries(5) },
    );
  }, 300_000);
});

describe('a file', () => {
  const LINES = 5000;
  let own: TestOrganization;

  beforeAll(async () => {
    own = await createOrganization(gateway.services);
    await fillReport(gateway.database.client, own.id, LINES, `'memo ' || n`);
  });

  testOnOneNode.each(['csv', 'ndjson'])('begins while its last line is still to be read: %s', async (format) => {
    const { client } = gateway.database;
    // The database stops at the last line while the test holds the lock.
    await client.query(`CREATE FUNCTION stop_at(allocation_id text) RETURNS boolean LANGUAGE plpgsql AS $$
      BEGIN IF allocation_id = 'A999' THEN PERFORM pg_advisory_xact_lock_shared(9); END IF; RETURN true; END $$;
      ALTER TABLE deposit_line RENAME TO quick_line;
      CREATE VIEW deposit_line AS SELECT * FROM quick_line WHERE stop_at(allocation_id);
      GRANT SELECT ON deposit_line TO ${SERVING_ROLE}`);
    await client.query(`ALTER DATABASE ${client.database} SET enable_sort = off`);
    try {
      await client.query('SELECT pg_advisory_lock(9)');
      await withGateway({ DATABASE_URL: gateway.database.url }, async ({ url }) => {
        const response = await ask(`${url}/export/deposit-details.${format}?start_date=2020-01-01&end_date=2029-12-31`, {
          headers: { Provision: own.apiProvision },
        });
        // The answer has begun, and nobody has read its last line.
        await client.query('SELECT pg_advisory_unlock(9)');
        const { body, complete } = await readAll(response);
        expect([complete, body.toString().split('memo ').length]).toEqual([true, LINES + 1]);
        expect(response.trailers).toMatchObject({ 'x-export-lines': String(LINES), 'x-export-amount-by-line': '12502500.00' });
      });
    } finally {
      await client.query('SELECT pg_advisory_unlock_all()');
      await client.query('DROP VIEW deposit_line; ALTER TABLE quick_line RENAME TO deposit_line; DROP FUNCTION stop_at');
      await client.query(`ALTER DATABASE ${client.database} RESET enable_sort`);
    }
  });
});
