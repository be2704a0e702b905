import type { BookLine } from '../support/deposit-book';
import { createOrganization, graphql, importLines, startGateway, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { createOracle, groupKeys, groupsOf, NO_KEY, summaryBook, toCents, toMoney, type SummaryLine } from '../support/summary-oracle';
import { until } from '../support/until';

const LINES = summaryBook(90);
const { totalsOf, partsOf, linesOfGift } = createOracle(LINES);
const DATES = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const RANGE = `${DATES}, pending: WITH`;
const AMOUNTS = '{ amount feeAmount netAmount }';
const TOTALS = `{ lines transactions deposits donors splitTransactions byLine ${AMOUNTS} byTransaction ${AMOUNTS} byAllocation { amount known inferred unknown } firstGift lastGift }`;
const PARTS = `all ${TOTALS} posted ${TOTALS} pending ${TOTALS}`;

const gateway = openGateway({ lines: LINES });
const { organization } = gateway;

async function ask(query: string, as = organization, url = gateway.url): Promise<unknown> {
  const { body } = await graphql(url, query, { provision: as.apiProvision });
  expect(body.errors).toBeUndefined();
  return body.data;
}

describe('a summary', () => {
  test('gives each total per grain, posted and pending apart', async () => {
    expect(await ask(`{ depositSummary(${RANGE}) { ${PARTS} groups(first: 1000) { nodes { key { day } } } } }`)).toEqual({
      depositSummary: { ...partsOf(LINES), groups: { nodes: [] } },
    });
  });

  test.each([
    ['WITHOUT', 'posted'],
    ['ONLY', 'pending'],
  ])('%s pending deposits has nothing in the other part', async (pending, status) => {
    const chosen = LINES.filter(({ deposit_status }) => deposit_status === status);
    const summary = `depositSummary(${DATES}, pending: ${pending}, groupBy: [ACCOUNT_TYPE])`;
    const accounts = [...new Set(chosen.map(({ account_type }) => account_type))].sort();
    expect(await ask(`{ ${summary} { ${PARTS} groups(first: 1000) { nodes { key { accountType } ${PARTS} } } } }`)).toEqual({
      depositSummary: {
        ...partsOf(chosen),
        groups: {
          nodes: accounts.map((accountType) => ({
            key: { accountType },
            ...partsOf(chosen.filter(({ account_type }) => account_type === accountType)),
          })),
        },
      },
    });
  });

  test.each(['', 'groupBy: [MONTH], ', 'groupBy: [DESIGNATION], '])(
    'of some designations knows a gift by all of its allocations, not by those that were chosen: %s',
    async (groupBy) => {
      const chosen = LINES.filter(({ designation_id }) => designation_id === 2 || designation_id === 4);
      const isPart = (line: BookLine) => chosen.filter((each) => each.transaction_id === line.transaction_id).length === 1;
      // The choice must hold a part of a split gift, or the test proves nothing.
      expect(chosen.some((line) => isPart(line) && linesOfGift.get(line.transaction_id)!.length > 1)).toBe(true);
      const { depositSummary } = (await ask(`{ depositSummary(${RANGE}, ${groupBy}filter: { designationIds: [2, 4] }) {
        ${PARTS} groups(first: 1000) { nodes { all { byAllocation { known inferred unknown } } } } } }`)) as {
        depositSummary: { groups: { nodes: { all: { byAllocation: Record<string, number> } }[] } };
      };
      const {
        groups: { nodes: groups },
        ...parts
      } = depositSummary;
      expect(parts).toEqual(partsOf(chosen));
      const { byAllocation } = totalsOf(chosen);
      if (groupBy === '') return;
      for (const count of ['known', 'inferred', 'unknown'] as const) {
        expect(groups.reduce((sum, { all }) => sum + all.byAllocation[count]!, 0)).toBe(byAllocation[count]);
      }
    },
  );

  test('adds up what the lines of a report say of shares', async () => {
    const { lines, summary } = (await ask(`{
      lines: depositDetails(${DATES}, includePending: true) { allocationAmount allocationAmountInferred transactionId amount }
      summary: depositSummary(${RANGE}) { all { byAllocation { amount known inferred unknown } } } }`)) as {
      lines: { allocationAmount: string | null; allocationAmountInferred: boolean | null; transactionId: string; amount: string }[];
      summary: { all: { byAllocation: object } };
    };
    const inferred = lines.filter(({ allocationAmountInferred }) => allocationAmountInferred);
    expect(inferred.every(({ transactionId }) => linesOfGift.get(transactionId)!.length === 1)).toBe(true);
    expect(inferred.map(({ allocationAmount }) => allocationAmount)).toEqual(inferred.map(({ amount }) => amount));
    const unknown = lines.filter(({ allocationAmount }) => allocationAmount === null);
    const sum = lines.reduce((total, { allocationAmount }) => total + toCents(allocationAmount ?? '0.00'), 0);
    const known = lines.length - inferred.length - unknown.length;
    expect(summary.all.byAllocation).toEqual({ amount: toMoney(sum), known, inferred: inferred.length, unknown: unknown.length });
    expect([known, inferred.length, unknown.length].every((count) => count > 0)).toBe(true);
  });

  test('of a plain v2 import knows all of it, and nothing of gifts that are split', async () => {
    const own = await createOrganization(gateway.services);
    const shares = async () => await ask(`{ depositSummary(${RANGE}) { all { byAllocation { amount known inferred unknown } } } }`, own);
    await importLines(gateway.services, own, [v2Line(), v2Line({ transaction_id: '2', allocation_id: '2' })]);
    expect(await shares()).toEqual({ depositSummary: { all: { byAllocation: { amount: '21.00', known: 0, inferred: 2, unknown: 0 } } } });
    await importLines(gateway.services, own, [v2Line({ allocation_id: '3' }), v2Line({ transaction_id: '2', allocation_id: '4' })]);
    expect(await shares()).toEqual({ depositSummary: { all: { byAllocation: { amount: null, known: 0, inferred: 0, unknown: 4 } } } });
  });

  test('of nothing is zero, with the digest of nothing', async () => {
    const nothing = await ask(
      `{ depositSummary(startDate: "1999-01-01", endDate: "1999-01-01", groupBy: [DAY]) { ${PARTS} groups(first: 1000) { nodes { key { day } } } digest } }`,
    );
    const digest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    expect(nothing).toEqual({ depositSummary: { ...partsOf([]), groups: { nodes: [] }, digest } });
  });

  test.each([
    ...Object.keys(groupKeys).map((by) => [by]),
    ['MONTH', 'DESIGNATION'],
    ['DESIGNATION', 'STATUS', 'PAYMENT_TYPE'],
    ['DAY', 'DAY'],
  ])('by %s %s %s has the totals of each group, in order', async (...groupBy: string[]) => {
    const inOrder = groupsOf(LINES, groupBy);
    // A group by donor tells the donor's address too.
    const addressOf = ({ city, state }: SummaryLine) => (groupBy.includes('DONOR') ? { city, state } : {});
    expect(
      await ask(`{ depositSummary(${RANGE}, groupBy: [${groupBy.join(', ')}]) {
          all { lines } groups(first: 1000) { nodes { key { ${Object.keys(NO_KEY).join(' ')} } ${PARTS} } } } }`),
    ).toEqual({
      depositSummary: {
        all: { lines: LINES.length },
        groups: { nodes: inOrder.map(({ key, lines }) => ({ key: { ...NO_KEY, ...addressOf(lines[0]!), ...key }, ...partsOf(lines) })) },
      },
    });
  });

  test('adds up exactly what a float could not', async () => {
    const own = await createOrganization(gateway.services);
    const huge = { amount: '999999999999.99', fee_amount: '-999999999999.99', net_amount: '1999999999999.98' };
    const lines = Array.from({ length: 30 }, (_, n) => v2Line({ ...huge, transaction_id: `T${n}`, allocation_id: `A${n}` }));
    await importLines(gateway.services, own, [...lines, v2Line({ amount: '0.01', fee_amount: '0.00', net_amount: '0.01' })]);
    expect(await ask(`{ depositSummary(${RANGE}) { all { byTransaction ${AMOUNTS} } } }`, own)).toEqual({
      depositSummary: {
        all: { byTransaction: { amount: '29999999999999.71', feeAmount: '-29999999999999.70', netAmount: '59999999999999.41' } },
      },
    });
  });
});

describe('a summary by the dates of transactions', () => {
  const isGiven = (from: string, to: string) => (line: SummaryLine) => line.transaction_date >= from && line.transaction_date <= to;
  /** The lines as if each gift had been deposited when it was given. */
  const asGiven = (lines: readonly SummaryLine[]) => lines.map((line) => ({ ...line, deposit_date: line.transaction_date }));
  const DAYS = 'startDate: "2024-01-02", endDate: "2024-01-20", pending: WITH';
  const BASIS = 'dateBasis: TRANSACTION_DATE';
  const given = LINES.filter(isGiven('2024-01-02', '2024-01-20'));

  test.each(['DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR', 'DAY DESIGNATION', 'DONOR', 'DAY STATUS'])(
    'has the gifts that were given in the period, whenever they were deposited: %s',
    async (by) => {
      const groupBy = by.split(' ');
      const nodes = groupsOf(asGiven(given), groupBy).map(({ key, lines }) => ({ key, all: totalsOf(lines) }));
      expect(given.some(({ deposit_date }) => deposit_date > '2024-01-20')).toBe(true);
      expect(
        await ask(`{ depositSummary(${DAYS}, ${BASIS}, groupBy: [${groupBy.join(', ')}]) {
          all ${TOTALS} groups(first: 1000) { nodes { key { ${Object.keys(nodes[0]!.key).join(' ')} } all ${TOTALS} } totalCount } } }`),
      ).toEqual({ depositSummary: { all: totalsOf(given, 'transaction_date'), groups: { nodes, totalCount: nodes.length } } });
    },
  );

  test('stands beside another period, the digest of its lines, and a summary by the dates of deposits', async () => {
    const earlier = LINES.filter(isGiven('2023-12-01', '2024-01-01'));
    const deposited = LINES.filter(({ deposit_date }) => deposit_date >= '2024-01-02' && deposit_date <= '2024-01-20');
    const {
      lines,
      given: own,
      ...others
    } = (await ask(`{
      given: depositSummary(${DAYS}, ${BASIS}, groupBy: [YEAR], compareWith: { startDate: "2023-12-01", endDate: "2024-01-01" }) {
        digest compared { all ${TOTALS} } groups(first: 9) { nodes { compared { all { lines } } } } }
      lines: depositDetailsConnection(first: 1000, ${DAYS}, ${BASIS}) { nodes { allocationId } totalCount summary { digest } }
      deposited: depositSummary(${DAYS}) { all { lines } } default: depositSummary(${DAYS}, dateBasis: DEPOSIT_DATE) { all { lines } } }`)) as {
      given: { digest: string };
      lines: object;
    };
    expect(own).toEqual({
      digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      compared: { all: totalsOf(earlier, 'transaction_date') },
      groups: { nodes: [{ compared: { all: { lines: earlier.length } } }] },
    });
    const nodes = given.map(({ allocation_id }) => ({ allocationId: allocation_id }));
    expect(lines).toEqual({ nodes, totalCount: given.length, summary: { digest: own.digest } });
    const all = { all: { lines: deposited.length } };
    expect([others, deposited.length === given.length]).toEqual([{ deposited: all, default: all }, false]);
  });
});

describe('totals and digest', () => {
  /** A gateway that reads them each time. */
  const gateway = openGateway({ settings: { BOOK_MEMORY_MEGABYTES: '0' }, lines: LINES });
  const { organization } = gateway;
  /** The number of statements that wait for the lock. */
  async function waiting(): Promise<number> {
    const { rows } = await gateway.database.client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_locks WHERE relation = 'deposit_line'::regclass AND NOT granted`,
    );
    return rows[0]!.count;
  }

  /** Asks for totals and digest, does something while the tables that they read are locked, and returns the answer. */
  async function askLocked(url: string, meanwhile: () => Promise<void>, signal?: AbortSignal): Promise<{ body: unknown }> {
    const { client } = gateway.database;
    await client.query('BEGIN; LOCK TABLE deposit_line');
    const answer = graphql(url, `{ depositSummary(${RANGE}) { all { lines } digest } }`, {
      provision: organization.apiProvision,
      ...(signal && { signal }),
    });
    answer.catch(() => undefined);
    try {
      await meanwhile();
    } finally {
      await client.query('ROLLBACK');
    }
    return answer;
  }
  let digest: string;
  beforeAll(async () => {
    ({
      depositSummary: { digest },
    } = (await ask(`{ depositSummary(${RANGE}) { digest } }`, organization, gateway.url)) as { depositSummary: { digest: string } });
  });
  const whole = () => ({ data: { depositSummary: { all: { lines: LINES.length }, digest } } });

  test('are read at the same time', async () => {
    const { body } = await askLocked(gateway.url, () => until(async () => (await waiting()) === 2));
    expect(body).toEqual(whole());
  });

  test('are read in turn where there is one place', async () => {
    const narrow = await startGateway({ DATABASE_URL: gateway.database.url, REPORT_CONCURRENCY: '1', BOOK_MEMORY_MEGABYTES: '0' });
    try {
      const { body } = await askLocked(narrow.url, () => until(async () => (await waiting()) === 1));
      expect(body).toEqual(whole());
    } finally {
      await narrow.stop();
    }
  });

  test('leave their connections to the next answer', async () => {
    const both = () => ask(`{ depositSummary(${RANGE}) { all { lines } digest } }`, organization, gateway.url);
    const connections = async () => {
      const { rows } = await gateway.database.client.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'deposit-gateway' ORDER BY pid`,
      );
      return rows;
    };
    // The first answers open as many connections as the parts of an answer need.
    for (let count = 0; count < 5; count++) await both();
    const before = await connections();
    for (let count = 0; count < 5; count++) await both();
    expect(await connections()).toEqual(before);
  });

  test('are both given up when the reader leaves', async () => {
    const reader = new AbortController();
    const answer = askLocked(
      gateway.url,
      async () => {
        await until(async () => (await waiting()) === 2);
        reader.abort();
        await until(async () => (await waiting()) === 0);
      },
      reader.signal,
    );
    await expect(answer).rejects.toThrow('aborted');
    expect(await ask(`{ depositSummary(${RANGE}) { all { lines } } }`, organization, gateway.url)).toEqual({
      depositSummary: { all: { lines: LINES.length } },
    });
  });
});

test('all parts of an answer are of one moment: lines, page, count, totals, groups, digests', async () => {
  const own = await createOrganization(gateway.services);
  await importLines(gateway.services, own, LINES);
  // At every moment each deposit is either in its own decade or in the next one.
  const move = async (): Promise<void> => {
    await gateway.database.client.query(
      `UPDATE deposit SET deposit_date = CASE WHEN deposit_date < '2030-01-01' THEN deposit_date + 3653 ELSE deposit_date - 3653 END
       WHERE organization_id = ${own.id} AND id = 'D1'`,
    );
    await gateway.services.books.repair(own.id);
  };
  const [earlyDates, lateDates] = ['startDate: "2024-01-01", endDate: "2029-12-31"', 'startDate: "2030-01-01", endDate: "2039-12-31"'];
  const [early, late] = [`${earlyDates}, pending: WITH`, `${lateDates}, pending: WITH`];
  const query = `{
    page: depositDetailsConnection(${early}, first: 1000) { nodes { allocationId } totalCount summary(groupBy: [STATUS]) { all { lines } digest groups(first: 1000) { nodes { all { lines } } } } }
    early: depositSummary(${early}) { digest all { lines } }
    late: depositSummary(${late}) { all { lines } }
    lines: depositDetails(${earlyDates}, includePending: true) { allocationId }
    lateLines: depositDetails(${lateDates}, includePending: true) { allocationId }
  }`;
  const digests = new Map<number, string>();
  for (let state = 0; state < 2; state++) {
    const { early: still } = (await ask(`{ early: depositSummary(${early}) { digest all { lines } } }`, own)) as Answer;
    digests.set(still.all.lines, still.digest);
    await move();
  }
  const writing = { on: true };
  const writer = (async () => {
    while (writing.on) await move();
  })();
  const counts = new Set<number>();
  try {
    for (let round = 0; round < 40; round++) {
      const { page, early: summary, late: rest, lines, lateLines } = (await ask(query, own)) as Answer;
      expect(page.nodes).toEqual(lines);
      expect([page.totalCount, page.summary.all.lines, summary.all.lines]).toEqual(Array(3).fill(lines.length));
      expect(page.summary.groups.nodes.reduce((sum, { all }) => sum + all.lines, 0)).toBe(lines.length);
      expect([page.summary.digest, summary.digest]).toEqual(Array(2).fill(digests.get(lines.length)));
      expect([rest.all.lines, lines.length + lateLines.length]).toEqual([lateLines.length, LINES.length]);
      counts.add(lines.length);
    }
  } finally {
    writing.on = false;
    await writer;
  }
  // The answers must show both versions of the data, or the test proves nothing.
  expect(counts.size).toBe(2);
});

interface Answer {
  readonly page: {
    readonly nodes: object[];
    readonly totalCount: number;
    readonly summary: { all: { lines: number }; digest: string; groups: { nodes: { all: { lines: number } }[] } };
  };
  readonly early: { digest: string; all: { lines: number } };
  readonly late: { all: { lines: number } };
  readonly lines: object[];
  readonly lateLines: object[];
}
