import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOrganization } from '../support/gateway';
import { startTarget, type Finding } from './attack';

const ROUNDS = 8;
const CLIENTS = 8;
const WORKERS = [1, 2];
const PATH = '/api/v2/authenticated_test_system';

/** Clients that open a connection for each request and do not care that the gateway is about to stop. */
export async function run(): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const workers of WORKERS) findings.push(await stopUnderClients(workers));
  return findings;
}

async function stopUnderClients(workers: number): Promise<Finding> {
  const outcomes = new Map<string, number>();
  const count = (outcome: string): void => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  for (let round = 0; round < ROUNDS; round++) {
    const target = await startTarget({ DRAIN_MILLISECONDS: '300', WORKERS: String(workers) });
    const { apiProvision } = await createOrganization(target.services);
    const url = target.serve.url + PATH;
    const clients = Array.from({ length: CLIENTS }, async () => {
      for (let outcome = ''; outcome !== 'refused';) {
        outcome = await ask(url, apiProvision);
        count(outcome);
      }
    });
    await sleep(500);
    const status = await target.serve.end('SIGTERM');
    if (status !== 0) count(`exit status ${status}`);
    await Promise.all(clients);
    await target.stop();
  }
  const answered = outcomes.get('200') ?? 0;
  const others = [...outcomes].filter(([outcome]) => outcome !== '200' && outcome !== 'refused');
  return {
    name: `${ROUNDS} stops of ${workers === 1 ? 'one process' : `${workers} workers`} under ${CLIENTS} clients: requests that were reset`,
    figure: `${others.length === 0 ? 0 : others.map(([outcome, times]) => `${times} × ${outcome}`).join(', ')} of ${answered} (goal 0)`,
    holds: others.length === 0 && answered > 0,
  };
}

/** The status, `refused` where nobody listens any more, or the error. */
function ask(url: string, provision: string): Promise<string> {
  return new Promise((resolve) => {
    request(url, { headers: { Provision: provision }, agent: false }, (response) => {
      response
        .resume()
        .on('end', () => resolve(String(response.statusCode)))
        .on('error', ({ message }) => resolve(message));
    })
      .on('error', ({ message, code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'refused' : message))
      .end();
  });
}
