import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { makeClusterDirectory, runAsPostgres } from '../trust/postgres-cluster';

const USER = 'postgres';
/** The nodes listen on unix sockets of one directory alone, which differ by these numbers. */
const FIRST_PORT = 5432;
/** Few shards, so that tests of several databases at a time do not need hundreds of connections. */
const SHARDS = 8;

/** A coordinator and its workers: servers of Debian's PostgreSQL with the extension Citus. */
export interface CitusCluster {
  /** The addresses of all nodes, the coordinator's first. */
  readonly urls: readonly string[];
  /** Makes a database on all nodes whose tables can be distributed. */
  createDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startCitus(workers: number): Promise<CitusCluster> {
  const directory = makeClusterDirectory();
  const nodes = Array.from({ length: workers + 1 }, (_, index) => ({
    port: FIRST_PORT + index,
    data: join(directory.path, `node-${index}`),
  }));
  for (const { data, port } of nodes) {
    await runAsPostgres('initdb', ['-D', data, '-A', 'trust', '-U', USER, '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']);
    const settings = {
      ...{ listen_addresses: `''`, unix_socket_directories: `'${directory.path}'`, port, shared_preload_libraries: `'citus'` },
      ...{ max_connections: 500, max_prepared_transactions: 500, wal_level: 'logical', fsync: 'off', max_locks_per_transaction: 256 },
      ...{ 'citus.shard_count': SHARDS, 'citus.local_hostname': `'${directory.path}'`, 'citus.node_conninfo': `'sslmode=disable'` },
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
    appendFileSync(join(data, 'postgresql.conf'), lines.join(''));
    await runAsPostgres('pg_ctl', ['-D', data, '-w', '-l', join(directory.path, `${port}.log`), 'start']);
  }
  const urlOf = ({ port }: { readonly port: number }, database = 'postgres') =>
    `postgresql://${USER}@localhost:${port}/${database}?host=${directory.path}`;
  return {
    urls: nodes.map((node) => urlOf(node)),
    createDatabase: async (name) => {
      for (const node of nodes) {
        await run(urlOf(node), [`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`, `CREATE DATABASE ${name}`]);
        await run(urlOf(node, name), ['CREATE EXTENSION citus']);
      }
      const [coordinator, ...others] = nodes;
      const joining = others.map(({ port }) => `SELECT citus_add_node('${directory.path}', ${port})`);
      await run(urlOf(coordinator!, name), [`SELECT citus_set_coordinator_host('${directory.path}', ${coordinator!.port})`, ...joining]);
    },
    stop: async () => {
      for (const { data } of nodes) await runAsPostgres('pg_ctl', ['-D', data, '-w', '-m', 'immediate', 'stop']);
      directory.remove();
    },
  };
}

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
