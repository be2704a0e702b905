import { asServing } from '../support/database';
import { startServe } from '../support/command';
import { fillReport } from '../support/long-report';
import { read } from '../support/replicated-gateway';
import { percentile, USUAL_WAITS, type Finding } from '../trust/attack';
import { Client } from 'pg';
import { startReplicatedCluster } from './replicated-cluster';

const LINES = 100_000;
const MAX_RATIO = 1.05;

/** Each reading with the times that it is made on either side, in turns. */
const READINGS: Readonly<Record<string, readonly [string, number]>> = {
  'a year by v2': ['/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2021-01-01&end_date=2021-12-31', 60],
  'a day by v2': ['/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2021-01-01&end_date=2021-01-01', 300],
  'a year as a file with its totals after it': ['/export/deposit-details.csv?start_date=2021-01-01&end_date=2021-12-31', 60],
  'a page of deposits with their gifts': [
    '{ deposits(first: 20) { nodes { depositDate transactions(first: 5) { nodes { amount } } } } }',
    300,
  ],
};

/** Compares the times of answers from a replica with those of the same answers from the primary, on one machine. */
export async function run(): Promise<readonly Finding[]> {
  const cluster = await startReplicatedCluster();
  const { primary, replica, organization } = cluster;
  const environment = { ...USUAL_WAITS, DATABASE_URL: primary.url };
  const alone = await startServe(environment);
  const reading = await startServe({ ...environment, DATABASE_REPLICA_URLS: asServing(replica.url) });
  try {
    const client = new Client({ connectionString: primary.url });
    await client.connect();
    await fillReport(client, organization.id, LINES, `'memo'`);
    await client.query('VACUUM ANALYZE');
    await client.end();
    await cluster.catchUp();
    const findings: Finding[] = [];
    for (const [name, [path, rounds]] of Object.entries(READINGS)) {
      const times: { ms: number }[][] = [[], []];
      for (let round = -5; round < rounds; round++) {
        // The side that comes first changes, so that neither is favoured.
        for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) {
          const startedAt = performance.now();
          const { status } = await read([alone, reading][side]!.url, organization.apiProvision, path);
          if (status !== 200) throw new Error(`${name} was answered with ${status}`);
          if (round >= 0) times[side]!.push({ ms: performance.now() - startedAt });
        }
      }
      const [one, other] = times.map((each) => percentile(each, 50)) as [number, number];
      findings.push({
        name,
        figure: `${other.toFixed(1)} ms from the replica, ${one.toFixed(1)} ms from the primary: ${(other / one).toFixed(3)} (goal ${MAX_RATIO}), medians of ${rounds}`,
        holds: other / one <= MAX_RATIO,
      });
    }
    return findings;
  } finally {
    for (const gateway of [alone, reading]) await gateway.end('SIGTERM');
    await cluster.stop();
  }
}
