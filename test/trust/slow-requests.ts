import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOrganization } from '../support/gateway';
import { inMs, percentile, probe, send, startTarget, type Answer, type Finding } from './attack';

const SENDERS = 500;
const IDLE = 2000;
const SECONDS = 20;
const EVERY_MS = 500;
const STEP = 100;
const STEP_MS = 100;
const MAX_CLOSE_MS = 10_000;
const PATH = '/api/v2/authenticated_test_system';

/** A client that sends a beginning, then a byte now and then. Resolves to the time until the gateway closes the connection. */
function trickle(url: string, beginning: string, drip: string): Promise<{ ms: number }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let startedAt = performance.now();
    const socket = connect(Number(port), hostname, () => {
      startedAt = performance.now();
      socket.write(beginning);
    });
    const dripping = setInterval(() => drip !== '' && socket.writable && socket.write(drip), EVERY_MS);
    const end = (): void => {
      clearInterval(dripping);
      clearTimeout(late);
      socket.destroy();
      resolve({ ms: performance.now() - startedAt });
    };
    const late = setTimeout(end, SECONDS * 1000);
    socket.on('error', end).on('close', end).resume();
  });
}

/** Opens connections a hundred at a time, as more do not fit into the system's line of those that are to be accepted. */
async function openInSteps<Outcome>(clients: number, open: () => Promise<Outcome>): Promise<Outcome[]> {
  const opened: Promise<Outcome>[] = [];
  while (opened.length < clients) {
    for (let n = 0; n < STEP; n++) opened.push(open());
    await sleep(STEP_MS);
  }
  return Promise.all(opened);
}

/** Hundreds of clients that send their headers or their bodies slowly, or nothing at all, beside an application that works. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget();
  try {
    const { apiProvision } = await createOrganization(target.services);
    const { url } = target.serve;
    const head = `POST /graphql HTTP/1.1\r\nHost: localhost\r\nProvision: ${apiProvision}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n`;
    const ways: readonly (readonly [string, number, string, string])[] = [
      [`${SENDERS} that send headers slowly`, SENDERS, `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\n`, 'X-A: b\r\n'],
      [`${SENDERS} that send a body slowly`, SENDERS, `${head}\r\n{`, ' '],
      [`${IDLE} that send nothing`, IDLE, '', ''],
    ];
    const findings: Finding[] = [];
    for (const [name, clients, beginning, drip] of ways) {
      const slow = openInSteps(clients, () => trickle(url, beginning, drip));
      const answers: Answer[] = await probe(10, 50, () => send(url + PATH, { headers: { Provision: apiProvision } }));
      const closed = await slow;
      const served = answers.filter(({ status }) => status === 200).length;
      findings.push({
        name,
        figure: `all closed after ${inMs(percentile(closed, 100))} (goal ${MAX_CLOSE_MS} ms), others served ${served} of ${answers.length}, p99 ${inMs(percentile(answers, 99))}`,
        holds: percentile(closed, 100) <= MAX_CLOSE_MS && served === answers.length,
      });
    }
    return findings;
  } finally {
    await target.stop();
  }
}
