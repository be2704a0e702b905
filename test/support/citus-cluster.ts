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
  /** The directory of the nodes' sockets, which is their host name. */
  readonly host: string;
  /** Makes a database on all nodes whose tables can be distributed. */
  createDatabase(name: string): Promise<void>;
  /** Stops a node at once, and starts it again. */
  stopNode(index: number): Promise<void>;
  startNode(index: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startCitus(workers: number): Promise<CitusCluster> {
  const directory = makeClusterDirectory();
  const nodes = Array.from({ length: workers + 1 }, (_, index) => ({
    port: FIRST_PORT + index,
    data: join(directory.path, `node-${index}`),
  }));
  const urlOf = ({ port }: { readonly port: number }, database = 'postgres') =>
    `postgresql://${USER}@localhost:${port}/${database}?host=${directory.path}`;
  const control = ({ data, port }: { readonly data: string; readonly port: number }, ...words: string[]): Promise<void> =>
    runAsPostgres('pg_ctl', ['-D', data, '-w', '-l', join(directory.path, `${port}.log`), ...words]);
  for (const { data, port } of nodes) {
    await runAsPostgres('initdb', ['-D', data, '-A', 'trust', '-U', USER, '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']);
    const settings = {
      ...{ listen_addresses: `''`, unix_socket_directories: `'${directory.path}'`, port, shared_preload_libraries: `'citus'` },
      ...{ max_connections: 500, max_prepared_transactions: 500, wal_level: 'logical', fsync: 'off', max_locks_per_transaction: 256 },
      ...{ 'citus.shard_count': SHARDS, 'citus.local_hostname': `'${directory.path}'`, 'citus.node_conninfo': `'sslmode=disable'` },
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
    appendFileSync(join(data, 'postgresql.conf'), lines.join(''));
    await control({ data, port }, 'start');
    // Shards move by the decoder of Citus, which newer servers must be told of.
    const [known] = await run(urlOf({ port }), [`SELECT 1 FROM pg_settings WHERE name = 'output_plugin_libraries'`]);
    if (known)
      await run(urlOf({ port }), [`ALTER SYSTEM SET output_plugin_libraries = pgoutput, test_decoding, citus`, 'SELECT pg_reload_conf()']);
  }
  return {
    urls: nodes.map((node) => urlOf(node)),
    host: directory.path,
    stopNode: (index) => control(nodes[index]!, 'stop', '-m', 'immediate'),
    startNode: (index) => control(nodes[index]!, 'start'),
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
      // A node may be stopped already.
      for (const node of nodes) await control(node, 'stop', '-m', 'immediate').catch(() => undefined);
      directory.remove();
    },
  };
}

/** Runs statements one by one, and returns the rows of the last one. */
async function run(url: string, statements: readonly string[]): Promise<readonly object[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    let rows: readonly object[] = [];
    for (const statement of statements) ({ rows } = await client.query<object & Record<string, unknown>>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
