import { createHash } from 'node:crypto';
import { readLines } from './baselines';
import { fields, toCamelCase, toPost, toReportUrl, type Period } from './contenders';
import type { BenchDatabase } from './database';
import { HttpClient, type HttpRequest } from './http-client';
import type { ServerProcess } from './processes';
import { measureRequests, type Answerer } from './request-work';
import type { Result } from './results';

/** A question about the totals of a period. */
export interface TotalsQuestion {
  /** The query; `groups` writes the selection of groups. */
  readonly toQuery: (groups: (fields: string) => string) => string;
  /** The number of lines that an answer is about. */
  readonly countLines: (data: never) => number;
  /** The digest of the lines, when the answer has it. */
  readonly digest?: (data: never) => string;
}

interface TotalsBench {
  readonly database: BenchDatabase;
  /** It keeps totals by data version. */
  readonly gateway: ServerProcess;
  /** It keeps no totals. */
  readonly cold: ServerProcess;
  /** The gateway of an earlier release, over the same database. */
  readonly earlier: ServerProcess | undefined;
  readonly rounds: number;
}

interface Totals {
  readonly lines: number;
}
interface Groups {
  readonly groups: { readonly nodes: readonly { readonly all: Totals }[] };
}

const PARAMETERS = '$startDate: LocalDate!, $endDate: LocalDate!';
const RANGE = 'startDate: $startDate, endDate: $endDate';
const TOTALS = 'lines transactions deposits donors splitTransactions byLine { amount } byTransaction { amount } byAllocation { amount }';
/** The sums of a fund that add up over funds. */
const FUND_TOTALS = 'lines transactions byAllocation { amount }';
const pageOfGroups = (selected: string): string => `groups(first: 1000) { nodes { ${selected} } }`;
/** Groups were a list in the earlier release. */
const listOfGroups = (selected: string): string => `groups { ${selected} }`;
const LIST_OF_GROUPS = /"groups":(\[[^\]]*\])/;
const countGrouped = ({ groups }: Groups): number => groups.nodes.reduce((sum, { all }) => sum + all.lines, 0);

/** A page of 50 lines with the number of all and the totals of each fund. */
export const pageWithTotals: TotalsQuestion = {
  toQuery: (groups) =>
    `query (${PARAMETERS}) { depositDetailsConnection(${RANGE}, first: 50) { totalCount nodes { ${fields.map(toCamelCase).join(' ')} }
    summary(groupBy: [DESIGNATION]) { all { ${TOTALS} } ${groups(`key { designationId designation } all { ${FUND_TOTALS} }`)} } } }`,
  countLines: ({ depositDetailsConnection: page }: { depositDetailsConnection: { totalCount: number; summary: Groups } }) =>
    page.totalCount === countGrouped(page.summary) ? page.totalCount : NaN,
};

/** The totals of each fund in each month. */
export const monthsAndDesignations: TotalsQuestion = {
  toQuery: (groups) =>
    `query (${PARAMETERS}) { depositSummary(${RANGE}, groupBy: [MONTH, DESIGNATION]) {
    ${groups(`key { month designationId designation } all { ${FUND_TOTALS} }`)} } }`,
  countLines: ({ depositSummary }: { depositSummary: Groups }) => countGrouped(depositSummary),
};

/** The totals with the digest of the lines. */
export const summaryWithDigest: TotalsQuestion = {
  toQuery: () => `query (${PARAMETERS}) { depositSummary(${RANGE}) { all { ${TOTALS} } digest } }`,
  countLines: ({ depositSummary }: { depositSummary: { all: Totals } }) => depositSummary.all.lines,
  digest: ({ depositSummary }: { depositSummary: { digest: string } }) => depositSummary.digest,
};

/**
 * Measures an answer of totals against the report of its lines, after all have told of the same lines. `ours, cold` is a gateway that keeps
 * no totals, so that each answer is computed; `ours, warm` has computed the same answer before.
 */
export async function measureTotals(
  name: string,
  { toQuery, countLines, digest }: TotalsQuestion,
  period: Period,
  { database, gateway, cold, earlier, rounds }: TotalsBench,
): Promise<Result[]> {
  const headers = { Provision: database.organization.apiProvision };
  const ask = (server: ServerProcess, groups = pageOfGroups): HttpRequest =>
    toPost(`${server.url}/graphql`, toQuery(groups), period, headers);
  const client = new HttpClient();
  try {
    const answerers: readonly { readonly name: string; readonly request: HttpRequest }[] = [
      { name: 'ours, cold', request: ask(cold) },
      { name: 'ours, warm', request: ask(gateway) },
      ...(earlier ? [{ name: 'earlier release', request: ask(earlier, listOfGroups) }] : []),
    ];
    const report = { url: toReportUrl(cold, period), headers };
    const expected = await readLines(database, period);
    const expectedDigest = digest && digestReport(await client.readText(report));
    const answers = new Set<string>();
    for (const { name: answerer, request } of answerers) {
      const text = (await client.readText(request)).replace(LIST_OF_GROUPS, '"groups":{"nodes":$1}');
      answers.add(text);
      const { data, errors } = JSON.parse(text) as { readonly data: never; readonly errors?: unknown };
      if (errors || countLines(data) !== expected.length || digest?.(data) !== expectedDigest) {
        throw new Error(`${name}: the answer of ${answerer} is not that of the lines: ${text.slice(0, 200)}`);
      }
    }
    if (answers.size !== 1) throw new Error(`${name}: the answers differ`);
    return await measureRequests({ name, rounds, repeats: 10 }, [...answerers, { name: 'ours, REST', request: report }], [client]);
  } finally {
    client.close();
  }
}

function digestReport(answer: string): string {
  const { response } = JSON.parse(answer) as { readonly response: readonly object[] };
  const hash = createHash('sha256');
  for (const line of response) hash.update(`${JSON.stringify(line)}\n`);
  return hash.digest('hex');
}

/** Measures the answer that the caller has a report already, against the least request that checks who calls. */
export async function measureNotModified(name: string, period: Period, { database, gateway, rounds }: TotalsBench): Promise<Result[]> {
  const headers = { Provision: database.organization.apiProvision };
  const url = toReportUrl(gateway, period);
  const response = await fetch(url, { headers });
  await response.arrayBuffer();
  const tag = response.headers.get('ETag');
  if (tag === null) throw new Error('The report has no entity tag');
  const client = new HttpClient();
  try {
    const answerers: readonly Answerer[] = [
      { name: 'ours, authentication', request: { url: `${gateway.url}/api/v2/authenticated_test_system`, headers } },
      { name: 'ours, 304', request: { url, headers: { ...headers, 'If-None-Match': tag }, status: 304 } },
    ];
    return await measureRequests({ name, rounds, repeats: 300 }, answerers, [client]);
  } finally {
    client.close();
  }
}
