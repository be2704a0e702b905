import { readAudit } from '../support/audit-reader';
import { depositBook } from '../support/deposit-book';
import { createOrganization, importLines, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();
let organization: TestOrganization;
beforeAll(async () => {
  organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, depositBook(20));
  await gateway.services.provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
});

const JANUARY = 'startDate: "2024-01-01", endDate: "2024-01-31"';
const MARCH = 'startDate: "2024-03-01", endDate: "2024-03-31"';
const LINES = `depositDetailsConnection(${JANUARY}, first: 1) { nodes { amount } }`;
const MEMOS = 'nodes { mainMemo }';
const OF_JANUARY = ['2024-01-01', '2024-01-31'];
const TO_MARCH = ['2024-01-01', '2024-03-31'];
const ALL_DAYS = [null, null];

/** Sends an operation, and finds the range that the audit has of it. */
async function rangeOf(query: string, request: object = {}): Promise<unknown[]> {
  const before = (await readAudit(gateway, organization)).length;
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Provision: organization.apiProvision },
    body: JSON.stringify({ query, ...request }),
  });
  expect(await response.json()).not.toHaveProperty('errors');
  const [reading, ...others] = (await readAudit(gateway, organization)).slice(before);
  expect(others).toEqual([]);
  return [reading!.startDate, reading!.endDate];
}

describe('the audit has the days of a caller who reads', () => {
  test.each<[string, string, unknown[]]>([
    ['lines of one month', `{ ${LINES} }`, OF_JANUARY],
    ['lines of two months', `{ ${LINES} transactions(${MARCH}, first: 1) { ${MEMOS} } }`, TO_MARCH],
    ['lines from a day on', `{ depositDetailsConnection(startDate: "2024-01-01", first: 1) { nodes { zip } } }`, ['2024-01-01', null]],
    ['lines up to a day', `{ ${LINES} transactions(endDate: "2024-03-31", first: 1) { ${MEMOS} } }`, [null, '2024-03-31']],
    ['lines without dates beside a month of them', `{ ${LINES} all: depositDetailsConnection(first: 1) { nodes { zip } } }`, ALL_DAYS],
    [
      'donors beside a month of deposits',
      `{ deposits(${JANUARY}) { nodes { depositId } } donors(first: 1) { nodes { email } } }`,
      ALL_DAYS,
    ],
    ['a gift by its number beside a month of lines', `{ ${LINES} transaction(transactionId: "none") { mainMemo } }`, ALL_DAYS],
    ['records by their ids beside a month of lines', `{ ${LINES} nodes(ids: []) { id } }`, ALL_DAYS],
    [
      'the totals of a file beside a month of lines',
      `{ ${LINES} reportFile(query: "{ depositDetails(${JANUARY.replaceAll('"', '\\"')}) { amount } }") { summary { digest } } }`,
      ALL_DAYS,
    ],
    ["a donor's gifts of a month", `{ donor(donorId: 1) { transactions(${JANUARY}, first: 1) { ${MEMOS} } } }`, ALL_DAYS],
    [
      'the memos of a month of deposits',
      `{ deposits(${JANUARY}, first: 1) { nodes { transactions(first: 1) { ${MEMOS} } } } }`,
      OF_JANUARY,
    ],
    ['the donors of a month of gifts', `{ transactions(${JANUARY}, first: 1) { nodes { donor { email } } } }`, OF_JANUARY],
    [
      'all gifts of the donors of a month',
      `{ transactions(${JANUARY}, first: 1) { nodes { donor { transactions(first: 1) { ${MEMOS} } } } } }`,
      ALL_DAYS,
    ],
    [
      'gifts of a month by the donors of another',
      `{ transactions(${JANUARY}, first: 1) { nodes { donor { transactions(${MARCH}, first: 1) { ${MEMOS} } } } } }`,
      TO_MARCH,
    ],
    ['all totals of the donors of a month', `{ transactions(${JANUARY}, first: 1) { nodes { donor { totals { lines } } } } }`, ALL_DAYS],
    [
      'numbers of donors beside another period',
      `{ depositSummary(${JANUARY}, compareWith: { ${MARCH} }) { all { donors } compared { all { donors } } } }`,
      TO_MARCH,
    ],
    [
      'the summary of a page beside another period',
      `{ depositDetailsConnection(${MARCH}, first: 1) { nodes { zip } summary(compareWith: { ${JANUARY} }) { all { lines } } } }`,
      TO_MARCH,
    ],
    [
      'a month of lines beside facts of no day',
      `{ ${LINES} __typename dataVersion { fileName } savedReports { name } viewer { username } }`,
      OF_JANUARY,
    ],
    ['facts of no day alone', '{ dataVersion { fileName } savedReports { name } }', ALL_DAYS],
    [
      'donors through a fragment',
      `query { ...All } fragment All on Query { ${LINES} ...Donors } fragment Donors on Query { donors(first: 1) { nodes { email } } }`,
      ALL_DAYS,
    ],
    [
      'two months through a fragment',
      `query { ${LINES} ...March } fragment March on Query { transactions(${MARCH}, first: 1) { ${MEMOS} } }`,
      TO_MARCH,
    ],
  ])('%s', async (_what, query, expected) => {
    expect(await rangeOf(query)).toEqual(expected);
  });

  const BY_VARIABLES = `query ($start: LocalDate, $end: LocalDate = "2024-01-31", $other: PeriodInput) {
    depositSummary(startDate: $start, endDate: $end, compareWith: $other) { all { donors } } }`;
  test.each<[string, object, unknown[]]>([
    ['a month by its variables', { start: '2024-01-01' }, OF_JANUARY],
    ['no first day', {}, [null, '2024-01-31']],
    ['null in place of the last day', { start: '2024-01-01', end: null }, ['2024-01-01', null]],
    ['another period', { start: '2024-01-01', other: { startDate: '2024-03-01', endDate: '2024-03-31' } }, TO_MARCH],
  ])('by the same document: %s', async (_what, variables, expected) => {
    expect(await rangeOf(BY_VARIABLES, { variables })).toEqual(expected);
  });

  const TWO = `query OfJanuary { ...Lines } query OfDonors { ...Donors }
    fragment Lines on Query { ${LINES} } fragment Donors on Query { donors(first: 1) { nodes { email } } }`;
  test.each<[string, unknown[]]>([
    ['OfDonors', ALL_DAYS],
    ['OfJanuary', OF_JANUARY],
  ])('by one operation of a document that has two: %s', async (operationName, expected) => {
    expect(await rangeOf(TWO, { operationName })).toEqual(expected);
  });
});

test('an auditor who asks for the readings of a day finds those that were of every day', async () => {
  const query = `query Mixed { deposits(${JANUARY}) { nodes { depositId } } donors(first: 1) { nodes { email } } }`;
  await rangeOf(query);
  const found = await readAudit(gateway, organization, '{ startDate: "2024-06-01", endDate: "2024-06-01" }');
  expect(found.map(({ operation }) => operation)).toContain('Mixed');
});

test('an auditor learns that a reading went by the dates of transactions, and finds it whatever days of deposits are asked for', async () => {
  const given = `depositDetailsConnection(${JANUARY}, dateBasis: TRANSACTION_DATE, first: 1) { nodes { zip } }`;
  const byVariable = `depositDetailsConnection(${MARCH}, dateBasis: $basis, first: 1) { nodes { zip } }`;
  const range = await rangeOf(`query Given($basis: DateBasis! = TRANSACTION_DATE) { ${given} other: ${byVariable} }`);
  expect(range).toEqual(TO_MARCH);
  const found = await readAudit(gateway, organization, '{ startDate: "2031-06-01", endDate: "2031-06-01" }');
  expect(found.find(({ operation }) => operation === 'Given')?.conditions).toEqual(['dateBasis=TRANSACTION_DATE']);
  await rangeOf(`query Deposited { ${given.replace('TRANSACTION', 'DEPOSIT')} }`);
  const others = await readAudit(gateway, organization, '{ startDate: "2031-06-01", endDate: "2031-06-01" }');
  expect(others.map(({ operation }) => operation)).not.toContain('Deposited');
});

test('the audit has the choice of pending deposits that all fields of an operation make', async () => {
  const lines = (choice: string) => `depositDetailsConnection(${JANUARY}, first: 1${choice}) { nodes { zip } }`;
  const asked: readonly (readonly [string, string | null])[] = [
    [`{ ${lines(', pending: ONLY')} }`, 'ONLY'],
    [`{ ${lines(', pending: ONLY')} b: ${lines(', pending: WITHOUT')} }`, 'WITH'],
    [`{ ${lines(', pending: ONLY')} b: ${lines('')} }`, null],
  ];
  for (const [query, expected] of asked) {
    await rangeOf(query);
    expect((await readAudit(gateway, organization)).at(-1)!.pending).toBe(expected);
  }
});

test('an auditor learns by which figures donors were chosen, and of which periods', async () => {
  const compare = `compareWith: { ${MARCH} }`;
  const having = 'having: { lines: { min: 1 } firstGift: { from: $from } compared: { transactionAmount: { max: "5.00" } } }';
  const query = `query Chosen($from: LocalDate! = "2024-01-02") { depositSummary(${JANUARY}, groupBy: [DONOR], ${compare}, ${having}) { groups { totalCount } } }`;
  expect(await rangeOf(query)).toEqual(TO_MARCH);
  const found = await readAudit(gateway, organization);
  expect(found.find(({ operation }) => operation === 'Chosen')?.conditions).toEqual([
    ...['having.compared.transactionAmount.max', 'having.firstGift.from', 'having.lines.min'],
  ]);
});
