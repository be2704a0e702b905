import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { createOrganization } from '../support/gateway';
import { ask } from '../support/http-client';
import { activeReports, EVERYTHING, fillReport } from '../support/long-report';
import { inMs, percentile, startTarget, type Finding } from './attack';

const ROUNDS = 20;
const LINES = 300_000;
const MAX_MS = 1000;

/** Clients that leave in the midst of a report and before its first line. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget();
  try {
    const { id, apiProvision } = await createOrganization(target.services);
    const { client } = target.database;
    await fillReport(client, id, LINES, `''`);
    const locker = new Client({ connectionString: target.database.url });
    await locker.connect();
    const isActive = async (): Promise<boolean> => (await activeReports(client)) > 0;
    const findings: Finding[] = [];
    for (const moment of ['in the midst of the lines', 'while the database has given none'] as const) {
      const times: { ms: number }[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const leaving = new AbortController();
        // A lock keeps the database from giving a line.
        if (moment !== 'in the midst of the lines') await locker.query('BEGIN; LOCK TABLE deposit_line');
        const answer = ask(target.serve.url + EVERYTHING, { headers: { Provision: apiProvision }, signal: leaving.signal });
        if (moment === 'in the midst of the lines') {
          const response = await answer;
          response.on('error', () => undefined).pause();
        }
        answer.catch(() => undefined);
        while (!(await isActive())) await sleep(5);
        leaving.abort();
        const leftAt = performance.now();
        while (await isActive()) await sleep(5);
        times.push({ ms: performance.now() - leftAt });
        if (moment !== 'in the midst of the lines') await locker.query('ROLLBACK');
      }
      const worst = percentile(times, 100);
      findings.push({
        name: `${ROUNDS} clients that leave ${moment}: until the database is idle`,
        figure: `longest ${inMs(worst)}, median ${inMs(percentile(times, 50))} (goal ${MAX_MS} ms)`,
        holds: worst <= MAX_MS,
      });
    }
    await locker.end();
    return findings;
  } finally {
    await target.stop();
  }
}
