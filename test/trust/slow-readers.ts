import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOrganization } from '../support/gateway';
import { ask } from '../support/http-client';
import { activeReports, EVERYTHING, fillReport, REPORT } from '../support/long-report';
import { inMs, percentile, probe, send, startTarget, type Finding } from './attack';

const READERS = 20;
const LINES = 400_000;
const STALL_SECONDS = 5;
const MAX_MB = 64;
const KB_PER_MB = 1024;
/** Half of the readers take nothing, the others a kilobyte a second. */
const SIP_BYTES = 1024;

/** Twenty readers who take almost nothing of a long report, and another organization beside them. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget({ READER_STALL_SECONDS: String(STALL_SECONDS), REPORT_CONCURRENCY: String(READERS) });
  try {
    const slow = await createOrganization(target.services);
    const other = await createOrganization(target.services);
    await fillReport(target.database.client, slow.id, LINES, `''`);
    await fillReport(target.database.client, other.id, 20_000, `''`);
    const { pid } = target.serve.child;
    const rssMb = () => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / KB_PER_MB;
    const day = () =>
      send(`${target.serve.url}${REPORT}?start_date=2021-06-01&end_date=2021-06-02`, { headers: { Provision: other.apiProvision } });
    // A process that has served a while: its heap has the size that such reports need.
    for (let round = 0; round < 3; round++) await send(target.serve.url + EVERYTHING, { headers: { Provision: slow.apiProvision } });
    const alone = await probe(5, 50, day);
    const before = rssMb();
    const open: IncomingMessage[] = [];
    for (let reader = 0; reader < READERS; reader++) {
      const response = await ask(target.serve.url + EVERYTHING, { headers: { Provision: slow.apiProvision } });
      response.on('error', () => undefined).pause();
      open.push(response);
      if (reader % 2 === 1) void sip(response);
    }
    const beganAt = Date.now();
    let peak = 0;
    const watching = { on: true };
    const watch = (async () => {
      while (watching.on) {
        peak = Math.max(peak, rssMb());
        await sleep(100);
      }
    })();
    const beside = await probe(8, 50, day);
    while ((await activeReports(target.database.client)) > 0 && Date.now() - beganAt < 60_000) await sleep(50);
    const releasedS = (Date.now() - beganAt) / 1000;
    watching.on = false;
    await watch;
    for (const response of open) response.destroy();
    const [p99, p99Alone] = [percentile(beside, 99), percentile(alone, 99)];
    // The times of a few milliseconds are those of the machine.
    const most = Math.max(2 * p99Alone, 50);
    return [
      {
        name: `${READERS} readers who take nothing or 1 kB/s of ${LINES} lines: memory`,
        figure: `${(peak - before).toFixed(0)} MB more at most (goal ${MAX_MB} MB)`,
        holds: peak - before <= MAX_MB,
      },
      {
        name: `their reports in the database, with READER_STALL_SECONDS=${STALL_SECONDS}`,
        figure: `all ended after ${releasedS.toFixed(1)} s (goal ${2 * STALL_SECONDS + 2} s)`,
        holds: releasedS <= 2 * STALL_SECONDS + 2,
      },
      {
        name: 'another organization meanwhile',
        figure: `p99 ${inMs(p99)}, alone ${inMs(p99Alone)} (goal ${inMs(most)})`,
        holds: p99 <= most && beside.every(({ status }) => status === 200),
      },
    ];
  } finally {
    await target.stop();
  }
}

async function sip(response: IncomingMessage): Promise<void> {
  while (!response.destroyed) {
    response.read(SIP_BYTES);
    await sleep(1000);
  }
}
