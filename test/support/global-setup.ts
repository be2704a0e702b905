import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgres } from '../../src/data/embedded/embedded-postgres';
import { SERVING_PASSWORD, SERVING_ROLE, TEMPLATE_DATABASE } from './database';
import { MAIN } from './gateway-package';
import { startPooler } from './pooler';

declare global {
  var stopTestDatabase: (() => Promise<void>) | undefined;
  var stopTestPooler: (() => Promise<void>) | undefined;
}

/**
 * Starts a PostgreSQL, or takes the server of TEST_DATABASE_URL, and makes the migrated database that every test file clones. With
 * TEST_CITUS_WORKERS, the books of that database are distributed over so many nodes. With TEST_POOLER, gateways and commands reach it by way
 * of a PgBouncer.
 */
export default async function setUp(): Promise<void> {
  const workers = Number(process.env.TEST_CITUS_WORKERS ?? 0);
  const nodes = (workers > 0 ? await startNodes(workers) : [process.env.TEST_DATABASE_URL ?? (await startServer())]).map(
    (url) => new URL(url),
  );
  for (const node of nodes) {
    await withClient(node, async (client) => {
      const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [SERVING_ROLE]);
      await client.query(`${rowCount === 0 ? 'CREATE' : 'ALTER'} ROLE ${SERVING_ROLE} LOGIN PASSWORD '${SERVING_PASSWORD}'`);
      if (workers > 0) return;
      await client.query(`DROP DATABASE IF EXISTS ${TEMPLATE_DATABASE} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${TEMPLATE_DATABASE}`);
    });
  }
  process.env.TEST_NODE_URLS = nodes.map(({ href }) => href).join(' ');
  const server = new URL(nodes[0]!);
  process.env.TEST_SERVER_URL = server.href;
  if (process.env.TEST_POOLER) await startTestPooler(server);
  server.pathname = `/${TEMPLATE_DATABASE}`;
  execFileSync(process.execPath, [MAIN, '--quiet', '--no-env-file', 'migrate'], {
    env: { ...process.env, DATABASE_URL: server.href },
  });
  // Citus has a process of its own in each database, beside which no other could be copied from it.
  if (workers > 0) for (const node of nodes) await withClient(node, closeTemplate);
}

async function closeTemplate(client: Client): Promise<void> {
  await client.query(`ALTER DATABASE ${TEMPLATE_DATABASE} ALLOW_CONNECTIONS false`);
  await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [TEMPLATE_DATABASE]);
}

async function startNodes(workers: number): Promise<readonly string[]> {
  // Its modules also attack gateways, and would take seconds to load for the tests of one server.
  const { startCitus } = await import('./citus-cluster');
  const cluster = await startCitus(workers);
  globalThis.stopTestDatabase = () => cluster.stop();
  await cluster.createDatabase(TEMPLATE_DATABASE);
  return cluster.urls;
}

async function startTestPooler({ href, username, password }: URL): Promise<void> {
  const users = { [username]: decodeURIComponent(password), [SERVING_ROLE]: SERVING_PASSWORD };
  const pooler = await startPooler(href, users);
  process.env.TEST_POOLER_URL = pooler.through(href);
  globalThis.stopTestPooler = () => pooler.stop();
}

async function startServer(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  // PostgreSQL runs under another account when root starts it, and that account must reach the directory.
  chmodSync(directory, 0o755);
  const postgres = await EmbeddedPostgres.start(
    directory,
    () => Promise.resolve(),
    (error) => {
      throw error;
    },
  );
  globalThis.stopTestDatabase = async () => {
    await postgres.stop('fast');
    rmSync(directory, { recursive: true, force: true });
  };
  const { host, port, user, password, database } = postgres.address;
  const url = `postgresql://${user}:${String(password)}@localhost:${port}/${database}?host=${host}`;
  await withClient(new URL(url), async (client) => {
    // Test data need not survive a power cut, and fsync is slow.
    await client.query('ALTER SYSTEM SET fsync = off');
    await client.query('ALTER SYSTEM SET max_connections = 300');
    await client.query('SELECT pg_reload_conf()');
  });
  return url;
}

async function withClient(url: URL, use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}
