import type { TestOrganization } from '../support/gateway';
import { percentile, type Finding } from '../trust/attack';

/** A gateway over the books, on one kind of database. */
export interface Contestant {
  readonly name: string;
  readonly url: string;
  readonly organization: TestOrganization;
  readonly importMs: number;
  readonly lines: number;
}

const MAX_RATIO = 1.3;
const GOAL_OF_OTHERS = 2;
const YEAR = 'start_date=2024-01-01&end_date=2024-12-31';
const PERIOD = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const V2 = '/api/v2/deposit_detail_designation_detail_with_contact_info';

const files = ['csv', 'ndjson', 'json'].flatMap((format) => [
  `/export/deposit-details.${format}?${YEAR}`,
  `/export/deposit-details.${format}?${YEAR}&totals=headers&pending=WITH`,
  `/export/deposit-summary.${format}?${YEAR}&group_by=DESIGNATION`,
]);
const groupings = [
  'DAY',
  'WEEK',
  'MONTH',
  'QUARTER',
  'YEAR',
  'DEPOSIT',
  'DEPOSIT_STATUS',
  'DESIGNATION',
  'STATUS',
  'ACCOUNT_TYPE',
  'PAYMENT_TYPE',
  'DONOR',
];
const FIGURES = 'lines transactions deposits donors byLine { amount feeAmount netAmount } byAllocation { amount }';
/** A cursor by donors' names is encrypted, so that no two of them are equal. */
const queries = [
  ...groupings.map(
    (by) =>
      `{ depositSummary(${PERIOD}, pending: WITH, groupBy: [${by}]) { all { ${FIGURES} } groups(first: 100) { nodes { all { ${FIGURES} } posted { lines } } totalCount } } }`,
  ),
  `{ depositSummary(${PERIOD}, compareWith: { startDate: "2023-01-01", endDate: "2023-12-31" }) { all { lines } compared { all { lines } } digest } }`,
  `{ depositSummary(${PERIOD}, filter: { donorName: "ada", statuses: ["Complete", "O'Brien"] }) { all { ${FIGURES} } digest } }`,
  ...['DATE', 'AMOUNT', 'DONOR_NAME', 'DESIGNATION'].map(
    (field) =>
      `{ depositDetailsConnection(${PERIOD}, first: 200, orderBy: { field: ${field} }) { nodes { allocationId amount donorLastName } totalCount pageInfo { ${field === 'DONOR_NAME' ? '' : 'endCursor'} hasNextPage } } }`,
  ),
  `{ depositDetailsConnection(${PERIOD}, first: 200, asOf: { version: 1 }, orderBy: { field: DONOR_NAME }) { nodes { allocationId amount donorLastName } totalCount } }`,
  `{ depositSummary(${PERIOD}, asOf: { version: 1 }) { all { ${FIGURES} } digest } history { earliest { number } latest { number } } }`,
  ...['DATE', 'ID', 'AMOUNT', 'STATUS'].map(
    (field) =>
      `{ deposits(first: 100, orderBy: { field: ${field} }) { nodes { depositId status transactions(first: 5) { nodes { transactionId amount allocations(first: 3) { nodes { allocationId amount designation { name } } } donor { lastName } } totalCount } } totalCount } }`,
  ),
  ...['DATE', 'ID', 'AMOUNT'].map(
    (field) =>
      `{ transactions(first: 100, orderBy: { field: ${field}, direction: DESC }) { nodes { transactionId amount donor { firstName } } totalCount } }`,
  ),
  '{ donors(first: 50) { nodes { donorId lastName transactions(first: 4) { nodes { transactionId } totalCount } } totalCount } }',
  '{ donors(search: "byr", first: 50) { nodes { donorId lastName } totalCount } }',
  '{ designations(first: 50) { nodes { designationId name allocations(first: 4) { nodes { allocationId } totalCount } } } }',
  '{ deposits(first: 50, filter: { amount: { min: "100.00" } }) { nodes { depositId } totalCount } }',
  '{ transactions(first: 50, filter: { designationIds: [1, 2] }) { nodes { transactionId } totalCount } }',
  `{ depositSummary(${PERIOD}) { all { lines } } depositDetails(${PERIOD}) { allocationId amount feeAmount } }`,
  `{ depositDetails(startDate: "2024-01-01", endDate: "2024-01-05", includePending: true) { depositId donorFirstName city mainMemo netAmount } }`,
];

async function answer({ url, organization }: Contestant, question: string): Promise<string> {
  const headers = { Provision: organization.apiProvision };
  if (question.startsWith('/')) return (await whole(url + question, headers)).body;
  const { body } = await whole(`${url}/graphql`, { ...headers, 'Content-Type': 'application/json' }, JSON.stringify({ query: question }));
  return body.replaceAll(/"requestId":"[^"]*"/g, '');
}

async function whole(url: string, headers: Record<string, string>, body?: string): Promise<{ status: number; body: string }> {
  const response = await fetch(url, { headers, ...(body !== undefined && { method: 'POST', body }) });
  return { status: response.status, body: await response.text() };
}

/** Asks both the same questions, and compares the answers byte by byte. */
export async function compareAnswers(one: Contestant, other: Contestant): Promise<Finding> {
  const months = ['01-01', '01-10', '01-20'].map((day) => `${V2}?start_date=2024-01-01&end_date=2024-${day}&include_pending=true`);
  const questions = [`${V2}?${YEAR}`, ...months, ...files, ...queries];
  const differing: string[] = [];
  const failed: string[] = [];
  for (const question of questions) {
    const [expected, found] = [await answer(one, question), await answer(other, question)];
    if (expected.includes('"errors"')) failed.push(`${question.slice(0, 90)}: ${expected.slice(-300)}`);
    if (expected !== found) differing.push(`${question.slice(0, 90)}: ${found.slice(0, 150)}`);
  }
  return {
    name: `the same questions to plain PostgreSQL and to Citus, ${one.lines} lines`,
    figure: `${questions.length - differing.length} of ${questions.length} answers equal byte for byte, ${failed.length} of them errors ${[...differing, ...failed].join(' / ')}`,
    holds: differing.length === 0 && failed.length === 0,
  };
}

const SPEEDS: Readonly<Record<string, { readonly question: string; readonly goal: number }>> = {
  'a report of all lines, v2': { question: `${V2}?${YEAR}&include_pending=true`, goal: MAX_RATIO },
  'a day of the report, v2': { question: `${V2}?start_date=2024-01-05&end_date=2024-01-05`, goal: GOAL_OF_OTHERS },
  'a file with its totals and digest before': {
    question: `/export/deposit-details.csv?${YEAR}&totals=headers&pending=WITH`,
    goal: GOAL_OF_OTHERS,
  },
  'totals and digest': {
    question: `{ depositSummary(${PERIOD}, pending: WITH) { all { lines byLine { amount } } digest } }`,
    goal: GOAL_OF_OTHERS,
  },
  'a page of deposits with their gifts': {
    question: '{ deposits(first: 50) { nodes { depositId transactions(first: 5) { nodes { transactionId amount } totalCount } } } }',
    goal: GOAL_OF_OTHERS,
  },
  'an authentication': { question: '/api/v2/authenticated_test_system', goal: GOAL_OF_OTHERS },
};

/** Measures both in turn, so that whatever else the machine does slows both. */
export async function compareSpeed(one: Contestant, other: Contestant, rounds: number): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [name, { question, goal }] of Object.entries(SPEEDS)) {
    const times: Readonly<Record<string, { ms: number }[]>> = { [one.name]: [], [other.name]: [] };
    for (let round = 0; round < rounds; round++) {
      for (const contestant of round % 2 === 0 ? [one, other] : [other, one]) {
        const startedAt = performance.now();
        // Values are kept by version, so that each round asks for another one.
        await answer(contestant, question.replace('2024-12-31', `${2025 + round}-12-31`));
        times[contestant.name]!.push({ ms: performance.now() - startedAt });
      }
    }
    const [first, second] = [one, other].map((contestant) => percentile(times[contestant.name]!, 50)) as [number, number];
    const ratio = second / first;
    findings.push({
      name: `${name}: Citus against plain PostgreSQL`,
      figure: `${second.toFixed(1)} ms against ${first.toFixed(1)} ms, ${ratio.toFixed(2)} times (goal ${goal}), medians of ${rounds}`,
      holds: ratio <= goal,
    });
  }
  const ratio = other.importMs / one.importMs;
  findings.push({
    name: 'an import of the books: Citus against plain PostgreSQL',
    figure: `${(other.importMs / 1000).toFixed(1)} s against ${(one.importMs / 1000).toFixed(1)} s for ${one.lines} lines, ${ratio.toFixed(2)} times`,
    holds: true,
  });
  return findings;
}
