import { createHash } from 'node:crypto';
import { toPost, toReportUrl, type Period } from './contenders';
import type { BenchDatabase } from './database';
import { HttpClient } from './http-client';
import type { ServerProcess } from './processes';
import { measureRequests } from './request-work';
import type { Result } from './results';

const QUERY = `query ($startDate: LocalDate!, $endDate: LocalDate!) {
  depositSummary(startDate: $startDate, endDate: $endDate) {
    all { lines transactions deposits donors splitTransactions byLine { amount } byTransaction { amount } byAllocation { amount } } digest } }`;

interface SummaryBench {
  readonly database: BenchDatabase;
  readonly gateway: ServerProcess;
  readonly rounds: number;
}

/** Measures the totals of a period with the digest of its lines against reading the lines, after both have told of the same. */
export async function measureSummary(name: string, period: Period, { database, gateway, rounds }: SummaryBench): Promise<Result[]> {
  const headers = { Provision: database.organization.apiProvision };
  const report = { url: toReportUrl(gateway, period), headers };
  const summary = toPost(`${gateway.url}/graphql`, QUERY, period, headers);
  const client = new HttpClient();
  try {
    const { response } = (await client.readJson(report)) as { readonly response: readonly object[] };
    const hash = createHash('sha256');
    for (const line of response) hash.update(`${JSON.stringify(line)}\n`);
    const { data } = (await client.readJson(summary)) as {
      readonly data: { readonly depositSummary: { readonly all: { readonly lines: number }; readonly digest: string } };
    };
    const { all, digest } = data.depositSummary;
    if (all.lines !== response.length || digest !== hash.digest('hex')) throw new Error('The summary is not that of the lines');
    const answerers = [
      { name: 'ours, REST', request: report },
      { name: 'ours, summary', request: summary },
    ];
    return await measureRequests({ name, rounds, repeats: 3 }, answerers, [client]);
  } finally {
    client.close();
  }
}
