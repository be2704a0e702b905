import { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOrganization } from '../support/gateway';
import { fillReport, REPORT } from '../support/long-report';
import { inMs, percentile, probe, send, startTarget, USUAL_WAITS, type Finding } from './attack';
import { readYears } from './year-readers';

const ARRIVING = 200;
const SECONDS = 20;
const LANES = 4;
const LINES = 100_000;
const MAX_WAIT_MS = 3500;
const MAX_SHED_MS = 50;
const MAX_HEALTH_MS = 100;
const PATH = '/api/v2/authenticated_test_system';

/** All connections held by a lock while many arrive; then four times the clients that reports have lanes and places for. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget({ ...USUAL_WAITS, REPORT_CONCURRENCY: String(LANES), REPORT_QUEUE: '8' });
  try {
    const { id, apiProvision } = await createOrganization(target.services);
    await fillReport(target.database.client, id, LINES, `''`);
    const headers = { Provision: apiProvision };
    const { url } = target.serve;
    const live = () => send(`${url}/live`);
    for (let n = 0; n < 200; n++) await send(url + PATH, { headers });

    const locker = new Client({ connectionString: target.database.url });
    await locker.connect();
    await locker.query('BEGIN; LOCK TABLE provision_key, provision, organization');
    const arriving = Promise.all(Array.from({ length: ARRIVING }, () => send(url + PATH, { headers })));
    const healthHeld = await probe(4, 20, live);
    const held = await arriving;
    await locker.query('ROLLBACK');
    await locker.end();
    await sleep(500);
    const findings: Finding[] = [
      {
        name: `${ARRIVING} requests while the database answers none`,
        figure: `longest ${inMs(percentile(held, 100))} (goal ${MAX_WAIT_MS} ms), with "${/"error":"([^"]*)"/.exec(held[0]!.body)?.[1] ?? ''}"; /live p99 ${inMs(percentile(healthHeld, 99))} (goal ${MAX_HEALTH_MS} ms)`,
        holds:
          percentile(held, 100) <= MAX_WAIT_MS && held.every(({ status }) => status >= 400) && percentile(healthHeld, 99) <= MAX_HEALTH_MS,
      },
    ];

    // The machine is faster at one time than at another, so that its peak is measured before and after.
    const year = { url: `${url}${REPORT}?start_date=2021-01-01&end_date=2021-03-31`, headers, seconds: SECONDS };
    await readYears({ ...year, clients: LANES });
    const before = await readYears({ ...year, clients: LANES });
    const crowd = readYears({ ...year, clients: LANES * 16 - 1 });
    const alone = readYears({ ...year, clients: 1 });
    const [health, access] = await Promise.all([probe(SECONDS, 50, live), probe(SECONDS, 100, () => send(url + PATH, { headers }))]);
    const good = (await crowd).served + (await alone).served;
    const after = await readYears({ ...year, clients: LANES });
    // One client has a thread of its own, in which no bytes of other reports delay the clock.
    const { refused } = await alone;
    const peak = (before.served + after.served) / 2;
    const share = (100 * good) / peak;
    return [
      ...findings,
      {
        name: `${LANES * 16} clients for ${LANES} lanes and 8 places, ${SECONDS} s`,
        figure: `${good} reports, ${share.toFixed(0)} % of the ${before.served} and ${after.served} of ${LANES} clients before and after (goal 90 %); one client turned away ${refused.length} times with ${[...new Set(refused.map(({ status }) => status))].join(', ') || 'none'}, median ${inMs(percentile(refused, 50))} (goal ${MAX_SHED_MS} ms)`,
        holds: share >= 90 && refused.length > 0 && percentile(refused, 50) <= MAX_SHED_MS,
      },
      {
        name: 'meanwhile',
        figure: `/live p99 ${inMs(percentile(health, 99))}, system test p99 ${inMs(percentile(access, 99))} (goal ${MAX_HEALTH_MS} ms)`,
        holds:
          percentile(health, 99) <= MAX_HEALTH_MS &&
          percentile(access, 99) <= MAX_HEALTH_MS &&
          [...health, ...access].every(({ status }) => status === 200),
      },
    ];
  } finally {
    await target.stop();
  }
}
