import { Client } from 'pg';
import { PROBE_MS, type DatabaseAddress } from '../postgres/database';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Begins a transaction that changes the schema or its rights. It is neither an idle nor a slow one; PostgreSQL knows transaction_timeout from
 * 17 on. The server looks whether its client is still there, where it can (on Linux), so that a killed one keeps its locks for a second at
 * most.
 */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '10s';
  SELECT set_config(name, '0', true) FROM pg_settings
    WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout');
  SELECT set_config('client_connection_check_interval', '1s', true) WHERE version() LIKE '%linux%'`;
/**
 * Takes the lock that Prisma Migrate takes, too, so that two who change the schema or its rights take turns for up to ten seconds. It ends
 * with its transaction, so that none stays with a pooler.
 */
const LOCK = 'SELECT pg_advisory_xact_lock(72707369)';

/** Connects as the owner, for the time of some work. A connection that dies without a word is noticed. */
export async function asOwner<Result>(address: DatabaseAddress, use: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({
    ...address,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_MS,
    application_name: 'deposit-gateway migrate',
  });
  // Without a handler, a lost connection would end the process. The statement that is under way gets the error.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Begins a transaction that nobody else's change of the schema or its rights runs beside. */
export async function beginAlone(client: Client): Promise<void> {
  await client.query(BEGIN);
  await client.query(LOCK);
}

/** Runs statements that nobody else's change of the schema or its rights runs beside, all or none of them. */
export async function runAlone(client: Client, statements: string): Promise<void> {
  await beginAlone(client);
  await client.query(statements);
  await client.query('COMMIT');
}
