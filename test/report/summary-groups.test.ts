import { createOrganization, graphql, importLines, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { createOracle, firstDay, groupKeys, groupsOf, summaryBook, toCents, toMoney, type SummaryLine } from '../support/summary-oracle';

const LINES = summaryBook(120);
const { totalsOf, partsOf } = createOracle(LINES);
const YEAR = 'startDate: "2024-01-01", endDate: "2024-12-31", pending: WITH';
const FIGURES = 'lines transactions byTransaction { amount } byAllocation { amount }';

const gateway = openGateway({ lines: LINES, loggedIn: true });
const { organization } = gateway;

interface Group {
  readonly key: Readonly<Record<string, unknown>>;
  readonly all: {
    readonly lines: number;
    readonly byTransaction: { readonly amount: string };
    readonly byAllocation: { readonly amount: string | null };
  };
}
interface Groups {
  readonly nodes: readonly Group[];
  readonly totalCount: number;
  readonly pageInfo: { readonly endCursor: string | null; readonly startCursor: string | null; readonly hasNextPage: boolean };
  readonly rest: unknown;
}

async function ask<Data>(query: string, as = organization): Promise<Data> {
  const { body } = await graphql(gateway.url, query, { provision: as.apiProvision });
  expect(body.errors).toBeUndefined();
  return body.data as Data;
}

/** Asks for groups with these arguments, of lines with those. */
async function groups(lines: string, page: string, fields = `key { designationId donorId } all { ${FIGURES} }`): Promise<Groups> {
  const query = `{ depositSummary(${YEAR}, ${lines}) { groups(${page}) { nodes { ${fields} } totalCount
    pageInfo { startCursor endCursor hasNextPage } rest { groups all { ${FIGURES} } } } } }`;
  return (await ask<{ depositSummary: { groups: Groups } }>(query)).depositSummary.groups;
}

const figuresOf = (lines: readonly SummaryLine[]) => {
  const { lines: count, transactions, byTransaction, byAllocation } = totalsOf(lines);
  return { lines: count, transactions, byTransaction: { amount: byTransaction.amount }, byAllocation: { amount: byAllocation.amount } };
};

describe('the groups of a summary', () => {
  const byDonor = groupsOf(LINES, ['DONOR']).map(({ key, lines }) => ({ id: key.donorId as number, lines, figures: figuresOf(lines) }));

  test.each([
    ['LINES', ({ lines }: (typeof byDonor)[number]['figures']) => lines],
    ['TRANSACTION_AMOUNT', ({ byTransaction }: (typeof byDonor)[number]['figures']) => toCents(byTransaction.amount)],
  ])('come in the order of a figure, from the least or from the greatest: %s', async (field, valueOf) => {
    for (const direction of ['ASC', 'DESC']) {
      const sign = direction === 'ASC' ? 1 : -1;
      const inOrder = byDonor.toSorted((a, b) => sign * (valueOf(a.figures) - valueOf(b.figures) || a.id - b.id));
      const { nodes } = await groups('groupBy: [DONOR]', `first: 1000, orderBy: { field: ${field}, direction: ${direction} }`);
      expect(nodes).toEqual(inOrder.map(({ id, figures }) => ({ key: { designationId: null, donorId: id }, all: figures })));
    }
  });

  test('whose figure is not known come last in both directions', async () => {
    const isKnown = (donor: (typeof byDonor)[number]) => donor.figures.byAllocation.amount !== null;
    // The book must have both kinds of groups, or the test proves nothing.
    const unknown = groupsOf(LINES, ['DONOR', 'DEPOSIT']).filter(({ lines }) => figuresOf(lines).byAllocation.amount === null);
    expect([unknown.length > 0, byDonor.some(isKnown)]).toEqual([true, true]);
    for (const direction of ['ASC', 'DESC']) {
      const { nodes } = await groups(
        'groupBy: [DONOR, DEPOSIT]',
        `first: 1000, orderBy: { field: ALLOCATION_AMOUNT, direction: ${direction} }`,
      );
      expect(nodes.slice(-unknown.length).map(({ all }) => all.byAllocation.amount)).toEqual(unknown.map(() => null));
    }
  });

  test('come page by page, forwards and backwards, each once', async () => {
    const all = (await groups('groupBy: [DONOR]', 'first: 1000, orderBy: { field: LINES, direction: DESC }')).nodes;
    for (const [length, cursor, edge] of [
      ['first', 'after', 'endCursor'],
      ['last', 'before', 'startCursor'],
    ] as const) {
      const found: Group[] = [];
      for (let place: string | null = null, isFirst = true; isFirst || place !== null; isFirst = false) {
        const page = await groups(
          'groupBy: [DONOR]',
          `${length}: 4, ${place === null ? '' : `${cursor}: "${place}", `}orderBy: { field: LINES, direction: DESC }`,
        );
        expect(page.totalCount).toBe(byDonor.length);
        if (length === 'first') found.push(...page.nodes);
        else found.unshift(...page.nodes);
        place = found.length < all.length ? page.pageInfo[edge] : null;
      }
      expect(found).toEqual(all);
    }
  });

  test('are counted where a page begins behind the last of them', async () => {
    const { pageInfo } = await groups('groupBy: [STATE]', 'first: 1000');
    expect(await groups('groupBy: [STATE]', `first: 5, after: "${pageInfo.endCursor!}"`)).toMatchObject({ nodes: [], totalCount: 3 });
  });

  test('beside the first few are one group, in which each gift counts once', async () => {
    const { nodes, rest } = await groups('groupBy: [DESIGNATION]', 'first: 2, orderBy: { field: TRANSACTION_AMOUNT, direction: DESC }');
    const shown = nodes.map(({ key }) => key.designationId);
    const others = LINES.filter(({ designation_id }) => !shown.includes(designation_id));
    // A gift to two of the other funds must be there, or the test proves nothing.
    expect(totalsOf(others).splitTransactions).toBeGreaterThan(0);
    expect([shown.length, rest]).toEqual([2, { groups: 3, all: figuresOf(others) }]);
    expect((await groups('groupBy: [DESIGNATION]', 'first: 5')).rest).toBeNull();
  });

  test('that a page leaves out are told apart by all of their values', async () => {
    const by = ['MONTH', 'DESIGNATION', 'STATUS', 'DEPOSIT'];
    const all = groupsOf(LINES, by);
    const { rest } = await groups(`groupBy: [${by.join(', ')}]`, 'first: 7');
    const others = all.slice(7).flatMap(({ lines }) => lines);
    expect(rest).toEqual({ groups: all.length - 7, all: figuresOf(others) });
  });

  test.each([7, 10])('by quarter and year follow a fiscal year that begins with month %d', async (month) => {
    const keys = {
      ...groupKeys,
      QUARTER: ({ deposit_date }: SummaryLine) => ({ quarter: firstDay(deposit_date, 3, month) }),
      YEAR: ({ deposit_date }: SummaryLine) => ({ year: firstDay(deposit_date, 12, month) }),
    };
    for (const by of ['QUARTER', 'YEAR']) {
      const name = by.toLowerCase();
      const { nodes } = await groups(`groupBy: [${by}], fiscalYearStart: ${month}`, 'first: 100', `key { ${name} } all { lines }`);
      expect(nodes).toEqual(groupsOf(LINES, [by], keys).map(({ key, lines }) => ({ key, all: { lines: lines.length } })));
    }
  });

  test('are named by a day of the calendar also at its beginning', async () => {
    const own = await createOrganization(gateway.services);
    await importLines(gateway.services, own, [v2Line({ deposit_date: '0001-01-01', transaction_date: '0001-01-01' })]);
    const by = 'groupBy: [WEEK, QUARTER, YEAR], fiscalYearStart: 7';
    const nodes = 'groups { nodes { key { week quarter year } } }';
    expect(await ask(`{ depositSummary(startDate: "0001-01-01", endDate: "9999-12-31", ${by}) { ${nodes} } }`, own)).toEqual({
      depositSummary: { groups: { nodes: [{ key: { week: '0001-01-01', quarter: '0001-01-01', year: '0001-01-01' } }] } },
    });
  });

  test('may be thousands, in pages and in a file', async () => {
    const own = await createOrganization(gateway.services);
    const lines = Array.from({ length: 2500 }, (_, n) =>
      v2Line({ transaction_id: `T${n}`, allocation_id: `A${n}`, designation_id: n + 1, designation: `Fund ${n}` }),
    );
    await importLines(gateway.services, own, lines);
    const found: number[] = [];
    for (let after = ''; found.length < 2500;) {
      const { depositSummary } = await ask<{ depositSummary: { groups: Groups } }>(
        `{ depositSummary(${YEAR}, groupBy: [DESIGNATION]) { groups(first: 1000${after}) { nodes { key { designationId } } pageInfo { endCursor } } } }`,
        own,
      );
      found.push(...depositSummary.groups.nodes.map(({ key }) => key.designationId as number));
      after = `, after: "${depositSummary.groups.pageInfo.endCursor!}"`;
    }
    const ids = lines.map((_, n) => n + 1);
    expect(found).toEqual(ids);
    const file = await fetch(
      `${gateway.url}/export/deposit-summary.ndjson?start_date=2024-01-01&end_date=2024-12-31&group_by=DESIGNATION&columns=designation_id,lines`,
      { headers: { Provision: own.apiProvision } },
    );
    const rows = (await file.text()).trim().split('\n');
    expect([file.headers.get('x-export-rows'), rows]).toEqual(['2500', ids.map((id) => `{"designation_id":${id},"lines":1}`)]);
  });

  test.each([1000, 1001, 1002])('are each once in a file of %d groups, posted and pending apart', async (count) => {
    const own = await createOrganization(gateway.services);
    const lines = Array.from({ length: count }, (_, n) =>
      v2Line({
        ...{ transaction_id: `T${n}`, allocation_id: `A${n}`, designation_id: n + 1, designation: `Fund ${n}` },
        ...{ deposit_id: `D${n % 2}`, deposit_status: n % 2 === 0 ? 'posted' : 'pending' },
      }),
    );
    await importLines(gateway.services, own, lines);
    const rows = async (parameters: string): Promise<string[]> => {
      const path = `/export/deposit-summary.ndjson?start_date=2024-01-01&end_date=2024-12-31&group_by=DESIGNATION&${parameters}`;
      return (await (await fetch(gateway.url + path, { headers: { Provision: own.apiProvision } })).text()).trim().split('\n');
    };
    const all = lines.map((_, n) => n);
    expect(await rows('pending=WITH&columns=designation_id,lines,posted_lines,pending_lines')).toEqual(
      all.map((n) => `{"designation_id":${n + 1},"lines":1,"posted_lines":${n % 2 === 0 ? 1 : 0},"pending_lines":${n % 2}}`),
    );
    expect(await rows('columns=designation_id')).toEqual(all.filter((n) => n % 2 === 0).map((n) => `{"designation_id":${n + 1}}`));
    await importLines(
      gateway.services,
      own,
      lines.map((line) => ({ ...line, deposit_id: 'D0', deposit_status: 'posted' })),
    );
    expect(await rows('columns=designation_id')).toEqual(all.map((n) => `{"designation_id":${n + 1}}`));
  });

  test.each(['DONOR', 'CITY', 'STATE'])('by %s need the privilege of the report, also in a file', async (by) => {
    const own = await createOrganization(gateway.services);
    const { services } = gateway;
    const provision = await services.provisions.create({ organization: own.name, kind: 'API', label: '', grants: [] });
    const { body } = await graphql(
      gateway.url,
      `{ depositSummary(${YEAR}, groupBy: [MONTH, ${by}]) { groups { nodes { all { lines } } } } }`,
      {
        provision,
      },
    );
    expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual(['PRIVILEGE_NOT_FOUND']);
    const file = await fetch(
      `${gateway.url}/export/deposit-summary.csv?start_date=2024-01-01&end_date=2024-12-31&group_by=MONTH&group_by=${by}`,
      { headers: { Provision: provision } },
    );
    expect([file.status, await file.text()]).toEqual([422, expect.stringContaining('Privilege to perform the action was not found')]);
  });

  test.each([
    ['fiscalYearStart: 13', 'fiscalYearStart is 13; it must be a month from 1 to 12'],
    [
      'compareWith: { startDate: "2023-02-01", endDate: "2023-01-01" }',
      'Start date cannot be greater than the end date: compareWith: from is later than to',
    ],
    ['compareWith: { startDate: "0001-01-01", endDate: "9999-12-31" }', 'compareWith is too long: beside the period it would reach'],
  ])('of %s are refused with the fault', async (argument, message) => {
    const { body } = await graphql(gateway.url, `{ depositSummary(${YEAR}, groupBy: [YEAR], ${argument}) { all { lines } } }`, {
      provision: organization.apiProvision,
    });
    expect(body.errors?.map((error) => error.message)).toEqual([expect.stringContaining(message)]);
  });
});

test('a period without a beginning is compared with none', async () => {
  const { body } = await graphql(
    gateway.url,
    '{ depositSummary(groupBy: [WEEK], compareWith: { startDate: "2022-01-01", endDate: "2022-12-31" }) { all { lines } } }',
    { provision: organization.apiProvision },
  );
  expect(body.errors?.map(({ message }) => message)).toEqual(['compareWith needs a startDate to compare with']);
});

test.each(['2022-01-01', '2024-01-03', '0001-01-01'])(
  'a period that begins with the first day of all is compared with one from %s',
  async (from) => {
    for (const by of ['DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR']) {
      const compared = `compareWith: { startDate: "${from}", endDate: "${from === '0001-01-01' ? '9999-12-31' : '2024-12-31'}" }`;
      const { depositSummary } = await ask<{ depositSummary: { all: object; compared: { all: object }; groups: Groups } }>(
        `{ depositSummary(startDate: "0001-01-01", endDate: "2024-12-31", pending: WITH, groupBy: [${by}], ${compared}) {
        all { lines } compared { all { lines } } groups(first: 1000) { totalCount } } }`,
      );
      const lines = LINES.filter(({ deposit_date: date }) => date >= from).length;
      expect([by, depositSummary.all, depositSummary.compared.all]).toEqual([by, { lines: LINES.length }, { lines }]);
    }
  },
);

describe('a summary beside another period', () => {
  /** The date moved by months, the day kept where the month has it. */
  const byMonths = (date: string, months: number): string => {
    const [year, month, day] = date.split('-').map(Number) as [number, number, number];
    const last = new Date(Date.UTC(year, month - 1 + months + 1, 0)).getUTCDate();
    return new Date(Date.UTC(year, month - 1 + months, Math.min(day, last))).toISOString().slice(0, 10);
  };
  const within = (from: string, to: string) => LINES.filter(({ deposit_date }) => deposit_date >= from && deposit_date <= to);
  const change = (before: string, after: string) => {
    const [from, to] = [toCents(before), toCents(after)];
    const percentage = from <= 0 ? null : Number(((100 * (to - from)) / from).toFixed(2));
    return { difference: toMoney(to - from), percentage: percentage === null ? null : (expect.closeTo(percentage, 1) as number) };
  };
  const CHANGE = 'change { lines { difference percentage } amountByTransaction { difference percentage } }';
  const changeOf = (before: readonly SummaryLine[], after: readonly SummaryLine[]) => {
    const [from, to] = [totalsOf(before), totalsOf(after)];
    return {
      lines: {
        difference: to.lines - from.lines,
        percentage: from.lines === 0 ? null : (expect.closeTo((100 * (to.lines - from.lines)) / from.lines, 1) as number),
      },
      amountByTransaction: change(from.byTransaction.amount, to.byTransaction.amount),
    };
  };

  test.each([
    ['MONTH', '2024-07-01', '2024-12-31', '2024-01-01', '2024-06-30'],
    ['QUARTER', '2024-07-01', '2024-12-31', '2024-01-01', '2024-06-30'],
    ['DAY', '2024-07-01', '2024-12-31', '2024-01-01', '2024-06-30'],
    ['DESIGNATION', '2024-03-15', '2024-05-14', '2024-01-15', '2024-03-14'],
    ['MONTH DESIGNATION', '2024-07-01', '2024-12-31', '2024-01-01', '2024-06-30'],
  ])('has the figures of both periods and their change, in all and by %s', async (by, startDate, endDate, fromDate, toDate) => {
    const groupBy = by.split(' ');
    const [own, other] = [within(startDate, endDate), within(fromDate, toDate)];
    const months = Number(startDate.slice(5, 7)) - Number(fromDate.slice(5, 7));
    const moved = other.map((line) => ({ ...line, deposit_date: byMonths(line.deposit_date, months) }));
    const original = new Map(moved.map((line, index) => [line, other[index]!]));
    const keyFields = Object.keys(groupsOf(LINES, groupBy)[0]!.key);
    const parts = `all { ${FIGURES} } posted { lines } pending { lines }`;
    const { depositSummary } = await ask<{ depositSummary: object }>(`{ depositSummary(startDate: "${startDate}", endDate: "${endDate}",
      pending: WITH, groupBy: [${groupBy.join(', ')}], compareWith: { startDate: "${fromDate}", endDate: "${toDate}" }) {
      ${parts} compared { ${parts} } ${CHANGE}
      groups(first: 1000) { nodes { key { ${keyFields.join(' ')} } ${parts} compared { ${parts} } ${CHANGE} } totalCount } } }`);
    const toParts = (lines: readonly SummaryLine[]) => {
      const { posted, pending } = partsOf(lines);
      return { all: figuresOf(lines), posted: { lines: posted.lines }, pending: { lines: pending.lines } };
    };
    const both = (now: readonly SummaryLine[], before: readonly SummaryLine[]) => ({
      ...toParts(now),
      compared: toParts(before),
      change: changeOf(before, now),
    });
    const expected = groupsOf([...own, ...moved], groupBy).map(({ key, lines }) => ({
      key,
      ...both(
        lines.filter((line) => !original.has(line)),
        lines.flatMap((line) => original.get(line) ?? []),
      ),
    }));
    expect(expected.some(({ all, compared }) => all.lines === 0 && compared.all.lines > 0)).toBe(by !== 'QUARTER' && by !== 'DESIGNATION');
    expect(depositSummary).toEqual({ ...both(own, other), groups: { nodes: expected, totalCount: expected.length } });
  });

  test('counts lines of both in each when the periods overlap', async () => {
    const { depositSummary } = await ask<{ depositSummary: { all: object; compared: object } }>(
      `{ depositSummary(${YEAR}, compareWith: { startDate: "2024-01-01", endDate: "2024-06-30" }) { all { ${FIGURES} } compared { all { ${FIGURES} } } } }`,
    );
    expect(depositSummary).toEqual({ all: figuresOf(LINES), compared: { all: figuresOf(within('2024-01-01', '2024-06-30')) } });
  });

  test('has neither without a period to compare with, and no percentage of nothing', async () => {
    expect(await ask(`{ depositSummary(${YEAR}) { compared { all { lines } } change { lines { difference } } } }`)).toEqual({
      depositSummary: { compared: null, change: null },
    });
    const nothing = 'compareWith: { startDate: "1999-01-01", endDate: "1999-12-31" }';
    expect(
      await ask(`{ depositSummary(${YEAR}, ${nothing}) { change { lines { difference percentage } amountByLine { percentage } } } }`),
    ).toEqual({
      depositSummary: { change: { lines: { difference: LINES.length, percentage: null }, amountByLine: { percentage: null } } },
    });
  });

  test('has a percentage where the other period received money, and none where it lost some', async () => {
    const books = await createOrganization(gateway.services);
    const gift = (id: string, deposit_date: string, amount: string) =>
      v2Line({
        ...{ deposit_id: id, transaction_id: id, allocation_id: id, deposit_date, transaction_date: deposit_date },
        amount,
        net_amount: amount,
        fee_amount: '0.00',
      });
    await importLines(gateway.services, books, [
      gift('1', '2024-01-05', '-2215.00'),
      gift('2', '2024-02-05', '2670.00'),
      gift('3', '2024-03-05', '-2670.00'),
    ]);
    const changeFrom = async (before: string, after: string): Promise<unknown> => {
      const period = (month: string): string => `startDate: "2024-${month}-01", endDate: "2024-${month}-28"`;
      const { depositSummary } = await ask<{ depositSummary: { change: { amountByTransaction: object } } }>(
        `{ depositSummary(${period(after)}, compareWith: { ${period(before)} }) { change { amountByTransaction { difference percentage } } } }`,
        books,
      );
      return depositSummary.change.amountByTransaction;
    };
    expect(await changeFrom('01', '02')).toEqual({ difference: '4885.00', percentage: null });
    expect(await changeFrom('01', '03')).toEqual({ difference: '-455.00', percentage: null });
    expect(await changeFrom('02', '03')).toEqual({ difference: '-5340.00', percentage: -200 });
    expect(await changeFrom('02', '01')).toEqual({ difference: '-4885.00', percentage: -182.96 });
  });

  test('has its groups in the order of its own figures; those that only the other period has come last', async () => {
    const [own, other] = [within('2024-11-01', '2024-12-31'), within('2024-01-01', '2024-10-31')];
    const { depositSummary } = await ask<{ depositSummary: { groups: { nodes: Group[] } } }>(`{
      depositSummary(startDate: "2024-11-01", endDate: "2024-12-31", pending: WITH, groupBy: [DONOR],
        compareWith: { startDate: "2024-01-01", endDate: "2024-10-31" }) {
        groups(first: 1000, orderBy: { field: LINES, direction: DESC }) { nodes { key { donorId } all { lines } } } } }`);
    const counts = groupsOf([...own, ...other], ['DONOR']).map(({ key, lines }) => ({
      key: { donorId: key.donorId as number },
      all: { lines: lines.filter((line) => own.includes(line)).length },
    }));
    const sorted = counts.map(({ all }) => all.lines).toSorted((a, b) => b - a);
    expect([sorted.includes(0), depositSummary.groups.nodes.map(({ all }) => all.lines)]).toEqual([true, sorted]);
    expect(depositSummary.groups.nodes.toSorted((a, b) => Number(a.key.donorId) - Number(b.key.donorId))).toEqual(counts);
  });

  test('ends with the rest of both periods', async () => {
    const { depositSummary } = await ask<{ depositSummary: { groups: { nodes: Group[]; rest: unknown } } }>(`{
      depositSummary(startDate: "2024-07-01", endDate: "2024-12-31", pending: WITH, groupBy: [DESIGNATION],
        compareWith: { startDate: "2024-01-01", endDate: "2024-06-30" }) {
        groups(first: 2) { nodes { key { designationId } } rest { groups all { lines } compared { all { lines } } } } } }`);
    const shown = depositSummary.groups.nodes.map(({ key }) => key.designationId);
    const others = (from: string, to: string) => within(from, to).filter(({ designation_id }) => !shown.includes(designation_id)).length;
    expect(depositSummary.groups.rest).toEqual({
      groups: 3,
      all: { lines: others('2024-07-01', '2024-12-31') },
      compared: { all: { lines: others('2024-01-01', '2024-06-30') } },
    });
  });
});
