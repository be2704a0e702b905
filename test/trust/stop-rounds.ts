import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOrganization } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { activeReports, EVERYTHING, fillReport } from '../support/long-report';
import { startServe } from '../support/command';
import { startTarget, type Finding } from './attack';

const ROUNDS = 20;
const CLIENTS = 8;
const LINES = 150_000;
const GRACE_SECONDS = 5;
const PATH = '/api/v2/authenticated_test_system';

/**
 * Stops of one process and of two workers in turn, under clients that keep their connections and a long report: one that its reader takes, and in
 * the last round one that stands still.
 */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget();
  const outcomes = new Map<string, number>();
  const count = (outcome: string): void => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  let longestMs = 0;
  let whole = 0;
  let readyFirst = 0;
  let cut = '';
  try {
    const { id, apiProvision } = await createOrganization(target.services);
    await fillReport(target.database.client, id, LINES, `''`);
    const headers = { Provision: apiProvision };
    for (let round = 0; round <= ROUNDS; round++) {
      const isLast = round === ROUNDS;
      const serve = await startServe({
        DATABASE_URL: target.database.url,
        DRAIN_MILLISECONDS: '500',
        WORKERS: String((round % 2) + 1),
        SHUTDOWN_GRACE_SECONDS: isLast ? '1' : String(GRACE_SECONDS * 6),
      });
      const clients = Array.from({ length: CLIENTS }, async () => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        let outcome = '200';
        while (outcome === '200') {
          outcome = await askKept(serve.url + PATH, headers, agent);
          count(outcome);
        }
        agent.destroy();
      });
      const response = await ask(serve.url + EVERYTHING, { headers });
      response.on('error', () => undefined);
      // The report of most rounds is read from the stop on; that of the last round is not.
      while ((await activeReports(target.database.client)) === 0) await sleep(5);
      const startedAt = Date.now();
      const ended = serve.end('SIGTERM');
      await sleep(100);
      if ((await fetch(`${serve.url}/ready`)).status === 503) readyFirst++;
      if (isLast) {
        const status = await ended;
        const { body, complete } = await readAll(response);
        cut = `exit status ${status}, complete ${complete}, ends with ${JSON.stringify(body.subarray(-2).toString())}`;
      } else {
        const [status, { body, complete }] = await Promise.all([ended, readAll(response)]);
        longestMs = Math.max(longestMs, Date.now() - startedAt);
        if (complete && body.subarray(-2).toString() === ']}') whole++;
        if (status !== 0) count(`exit status ${status}`);
      }
      await Promise.all(clients);
    }
  } finally {
    await target.stop();
  }
  const resets = [...outcomes].filter(([outcome]) => outcome !== '200' && outcome !== 'closed');
  return [
    {
      name: `${ROUNDS + 1} stops under ${CLIENTS} clients that keep their connections: requests that were reset`,
      figure: `${resets.map(([outcome, times]) => `${times} × ${outcome}`).join(', ') || '0'} of ${outcomes.get('200') ?? 0} (goal 0); /ready said no first in ${readyFirst} of ${ROUNDS + 1}`,
      holds: resets.length === 0 && readyFirst === ROUNDS + 1,
    },
    {
      name: `reports of ${LINES} lines that were under way`,
      figure: `${whole} of ${ROUNDS} whole, ended within ${(longestMs / 1000).toFixed(1)} s with status 0`,
      holds: whole === ROUNDS,
    },
    {
      name: 'a report that does not end within the grace time',
      figure: cut,
      holds: /^exit status 1, complete false, ends with (?!"\]\}")/.test(cut),
    },
  ];
}

/** The status; `closed` for one that was told to close; or the error. Nobody asks on a connection after it was told to close. */
function askKept(url: string, headers: Record<string, string>, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    request(url, { headers, agent }, (response) => {
      const told = response.headers.connection === 'close' ? 'closed' : String(response.statusCode);
      response
        .resume()
        .on('end', () => resolve(told))
        .on('error', ({ message }) => resolve(message));
    })
      .on('error', ({ message }) => resolve(message))
      .end();
  });
}
