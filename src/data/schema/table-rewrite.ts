import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { DatabaseAddress } from '../postgres/database';
import { toDataSourceError } from '../postgres/database-errors';
import { asOwner } from './owner-session';

/** A table that was written anew, and the row versions in it that transactions from before may still read. */
interface RewrittenTable {
  readonly table: string;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly heldRows: number;
}

/** The outcome of a rewrite. */
export interface TableRewrite {
  readonly tables: readonly RewrittenTable[];
  /** True when the write-ahead log from before is needed by no recovery any more; false where the role may not see to that. */
  readonly isLogPassed: boolean;
  /** True when the server uses segments of its log again (`wal_recycle`), or may: they keep old bytes until they are written over. */
  readonly isLogRecycled: boolean;
}

/** The tables that have texts of donors. A partition is named by itself, because Citus passes a command on to no other. */
const TABLES = ['donor', 'transaction', 'allocation', 'deposit_line_current', 'deposit_line_past'];

/**
 * Writes the tables that have texts of donors anew, with their indexes, so that none of their files has rows that were overwritten. Plain
 * VACUUM leaves the bytes of such rows where they are until others need the place. Whoever reads a table waits for it.
 */
export async function rewriteTables(address: DatabaseAddress): Promise<TableRewrite> {
  try {
    return await asOwner(address, async (client) => {
      let heldRows = 0;
      // "5 dead row versions cannot be removed yet." is the detail in any language: a number first, or alone.
      client.on('notice', ({ detail }) => (heldRows += Number(/\d+/.exec(detail ?? '')?.[0] ?? 0)));
      await client.query(SETTINGS);
      const sizeOf = async (table: string): Promise<number> =>
        (await client.query<{ size: number }>('SELECT pg_total_relation_size($1::regclass)::float8 AS size', [table])).rows[0]!.size;
      const tables: RewrittenTable[] = [];
      for (const table of TABLES) {
        const bytesBefore = await sizeOf(table);
        for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
          if (attempt > 1) await sleep(PAUSE_MS);
          heldRows = 0;
          await client.query(`VACUUM (FULL, VERBOSE, ANALYZE) ${table}`);
          if (heldRows === 0) break;
        }
        tables.push({ table, bytesBefore, bytesAfter: await sizeOf(table), heldRows });
      }
      const isLogRecycled = (await client.query(RECYCLES_NOTHING)).rowCount === 0;
      return { tables, isLogPassed: await passLog(client, isLogRecycled), isLogRecycled };
    });
  } catch (error) {
    throw toDataSourceError(error);
  }
}

/** A short reading that holds overwritten rows, such as an ANALYZE by the server itself, has ended by then. */
const MAX_ATTEMPTS = 5;
const PAUSE_MS = 1000;

/**
 * Lets no recovery need what was logged before. A checkpoint removes the segments of the log that replicas without a slot have still to read,
 * so that it waits for them. Returns false where replicas do not come after, or the role may make no checkpoint.
 */
async function passLog(client: Client, isLogRecycled: boolean): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(MAY_PASS);
  if (!rows[0]!.may) return false;
  // Segments that were to be used again, before wal_recycle was turned off, lie ahead with old bytes. The log goes past the last one.
  const ahead = isLogRecycled ? 0 : (await client.query<{ count: number }>(SEGMENTS_AHEAD)).rows[0]!.count;
  for (const statement of [...Array<string>(ahead + 1).fill(NEXT_SEGMENT), 'CHECKPOINT']) {
    if (!(await waitForReplicas(client))) return false;
    await client.query(statement);
  }
  return true;
}

/** Resolves to true when the replicas have what is logged now. Later imports log on, so that none ever has all of it. */
async function waitForReplicas(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ lsn: string }>('SELECT pg_current_wal_flush_lsn() AS lsn');
  const end = Date.now() + MAX_REPLICA_WAIT_MS;
  while ((await client.query(LATE_REPLICAS, [rows[0]!.lsn])).rowCount !== 0) {
    if (Date.now() > end) return false;
    await sleep(PAUSE_MS);
  }
  return true;
}

const LATE_REPLICAS = 'SELECT FROM pg_stat_replication WHERE flush_lsn IS NULL OR flush_lsn < $1::pg_lsn';
const MAX_REPLICA_WAIT_MS = 60_000;

/** VERBOSE tells the held rows by notices. Limits of the role must not end a rewrite. */
const SETTINGS = `SET client_min_messages = 'info'; SET statement_timeout = '0'; SET lock_timeout = '0'; SET maintenance_work_mem = '256MB'`;
/** A switch leaves no segment that has no record, so that each needs one. */
const NEXT_SEGMENT = `SELECT pg_logical_emit_message(false, 'deposit-gateway vacuum', ''); SELECT pg_switch_wal()`;
const SEGMENTS_AHEAD = `SELECT count(*)::int AS count FROM pg_ls_waldir()
  WHERE name ~ '^[0-9A-F]{24}$' AND name > pg_walfile_name(pg_current_wal_insert_lsn())`;
/** Checkpoints go by the server's own value. That of a role or a database is shown to their sessions in its place. */
const RECYCLES_NOTHING = `SELECT FROM pg_settings WHERE name = 'wal_recycle' AND setting = 'off' AND source IN ('configuration file', 'command line')`;
const MAY_PASS = `SELECT rolsuper AND NOT pg_is_in_recovery() AS may FROM pg_roles WHERE rolname = current_user`;
