import { Client } from 'pg';
import { IS_CURRENT } from '../../src/data/books/line-columns';
import { LONG_SETTINGS, toStartupOptions } from '../../src/data/postgres/local-settings';
import { toPost, type Period } from './contenders';
import type { BenchDatabase } from './database';
import { HttpClient, type HttpRequest } from './http-client';
import type { ServerProcess } from './processes';
import { measureRequests } from './request-work';
import type { Result } from './results';

interface DashboardWork {
  readonly name: string;
  readonly period: Period;
  /** A period of the same months. */
  readonly compared: Period;
  /** The first designations, so many. */
  readonly funds: number;
}

interface DashboardBench {
  readonly database: BenchDatabase;
  readonly gateway: ServerProcess;
  /** It keeps no totals. */
  readonly cold: ServerProcess;
  readonly rounds: number;
}

const FIGURES = 'lines transactions byAllocation { amount }';
const QUERY = `query ($startDate: LocalDate!, $endDate: LocalDate!, $compareWith: PeriodInput, $designationIds: [SafeInt!]) {
  depositSummary(startDate: $startDate, endDate: $endDate, compareWith: $compareWith, filter: { designationIds: $designationIds },
    groupBy: [MONTH, DESIGNATION]) {
    groups(first: 1000) { nodes { key { month designationId designation } all { ${FIGURES} } compared { all { ${FIGURES} } }
      change { lines { difference percentage } amountByAllocation { difference percentage } } } } } }`;

/** The same figures by a statement as a person would write it. */
const STATEMENT = `SELECT month::text, designation_id, min(designation),
    count(*) FILTER (WHERE NOT is_compared), count(DISTINCT transaction_id) FILTER (WHERE NOT is_compared),
    sum(allocation_amount) FILTER (WHERE NOT is_compared),
    count(*) FILTER (WHERE is_compared), count(DISTINCT transaction_id) FILTER (WHERE is_compared),
    sum(allocation_amount) FILTER (WHERE is_compared)
  FROM (
    SELECT false AS is_compared, date_trunc('month', deposit_date)::date AS month, * FROM deposit_line WHERE deposit_date BETWEEN $2 AND $3
    UNION ALL
    SELECT true, date_trunc('month', deposit_date + age($2::date, $4::date))::date, * FROM deposit_line WHERE deposit_date BETWEEN $4 AND $5
  ) AS line
  WHERE ${IS_CURRENT} AND organization_id = $1 AND deposit_status = 'POSTED' AND designation_id = ANY($6)
  GROUP BY month, designation_id ORDER BY month, designation_id`;

interface Figures {
  readonly lines: number;
  readonly transactions: number;
  readonly byAllocation: { readonly amount: string | null };
}
interface Group {
  readonly key: { readonly month: string; readonly designationId: number; readonly designation: string };
  readonly all: Figures;
  readonly compared: { readonly all: Figures };
}

/**
 * Measures the months of funds beside those of the year before against one statement with the same figures, after both have told the same.
 * `ours, cold` is a gateway that keeps no totals; `ours, warm` has computed the same answer before.
 */
export async function measureDashboard(work: DashboardWork, { database, gateway, cold, rounds }: DashboardBench): Promise<Result[]> {
  const { name, period, compared } = work;
  const { id, apiProvision } = database.organization;
  const designationIds = Array.from({ length: work.funds }, (_, index) => index + 1);
  const variables = { ...period, compareWith: compared, designationIds };
  const ask = ({ url }: ServerProcess): HttpRequest => toPost(`${url}/graphql`, QUERY, variables, { Provision: apiProvision });
  const values = [id, period.startDate, period.endDate, compared.startDate, compared.endDate, designationIds];
  const statement = { name: 'dashboard', text: STATEMENT, values, rowMode: 'array' };
  const session = new Client({ connectionString: database.url, options: toStartupOptions(LONG_SETTINGS) });
  await session.connect();
  const client = new HttpClient();
  try {
    const read = async () => (await session.query<string[]>(statement)).rows;
    const expected = JSON.stringify((await read()).map((row) => row.map(String)));
    for (const server of [gateway, cold]) {
      if (JSON.stringify(await readGroups(client, ask(server))) !== expected)
        throw new Error(`${name}: the figures are not those of the lines`);
    }
    const answerers = [
      { name: 'its SQL', request: read },
      { name: 'ours, cold', request: ask(cold) },
      { name: 'ours, warm', request: ask(gateway) },
    ];
    return await measureRequests({ name, rounds, repeats: 10 }, answerers, [client]);
  } finally {
    client.close();
    await session.end();
  }
}

async function readGroups(client: HttpClient, request: HttpRequest): Promise<string[][]> {
  const { data } = (await client.readJson(request)) as {
    readonly data: { readonly depositSummary: { readonly groups: { readonly nodes: readonly Group[] } } };
  };
  return data.depositSummary.groups.nodes.map(({ key, all, compared }) => [
    ...[key.month, String(key.designationId), key.designation],
    ...[all, compared.all].flatMap(({ lines, transactions, byAllocation }) => [
      String(lines),
      String(transactions),
      String(byAllocation.amount),
    ]),
  ]);
}
