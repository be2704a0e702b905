import { Client } from 'pg';
import { readConfig } from '../../src/config';
import { createServices, type Services } from '../../src/services';
import { succeed } from '../support/command';
import { createOrganization, type TestOrganization } from '../support/gateway';
import { SERVING_PASSWORD, SERVING_ROLE } from '../support/database';
import { until } from '../support/until';
import { makeClusterDirectory, startCluster, type Cluster } from '../trust/postgres-cluster';

/** A primary and a replica of Debian's PostgreSQL, with the gateway's schema and an organization. */
export interface ReplicatedCluster {
  readonly primary: Cluster;
  readonly replica: Cluster;
  readonly directory: string;
  readonly services: Services;
  readonly organization: TestOrganization;
  /** Resolves when the replica has everything that the primary has now. */
  catchUp(): Promise<void>;
  stop(): Promise<void>;
}

export async function startReplicatedCluster(): Promise<ReplicatedCluster> {
  const directory = makeClusterDirectory();
  const clusters: Cluster[] = [];
  try {
    const primary = await startCluster(directory.path);
    clusters.push(primary);
    await runSql(primary.url, `CREATE ROLE ${SERVING_ROLE} LOGIN PASSWORD '${SERVING_PASSWORD}'`);
    await succeed({ DATABASE_URL: primary.url }, ['migrate']);
    const replica = await primary.follow();
    clusters.push(replica);
    const services = createServices(readConfig({ DATABASE_URL: primary.url }), { connectionString: primary.url });
    const organization = await createOrganization(services);
    return {
      ...{ primary, replica, directory: directory.path, services, organization },
      catchUp: async () => {
        const [row] = await runSql<{ lsn: string }>(primary.url, 'SELECT pg_current_wal_insert_lsn() AS lsn');
        await until(async () => (await runSql(replica.url, `SELECT WHERE pg_last_wal_replay_lsn() >= '${row!.lsn}'`)).length === 1);
      },
      stop: async () => {
        await services.close();
        await stopAll(clusters);
        directory.remove();
      },
    };
  } catch (error) {
    await stopAll(clusters);
    directory.remove();
    throw error;
  }
}

/** One of them may be stopped already. */
async function stopAll(clusters: readonly Cluster[]): Promise<void> {
  for (const cluster of clusters) await cluster.stop().catch(() => undefined);
}

/** Runs SQL that the caller has written itself, on a connection of its own. */
export async function runSql<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
