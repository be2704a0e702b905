import type { Prisma } from '../../generated/prisma/client';
import { toSettings as settingsOf } from './copy-values';
import type { Database } from './database';
import { LONG_SETTINGS, setLocally } from './local-settings';
import type { Statement } from './statement-messages';
import { selectStamp, type VersionStamp } from './version-stamp';

/**
 * A state that several connections to a server read: by the name that PostgreSQL gave it, or on a distributed database, where a name means
 * nothing to other nodes, by the version of the organization's books.
 */
export type SharedState = { readonly database: Database } & ({ readonly name: string } | { readonly version: VersionStamp });

const SETTINGS = setLocally(LONG_SETTINGS);
/** Keeps a report to one core for its whole transaction, when other reports are read at the same time. */
const ONE_CORE = 'SET LOCAL max_parallel_workers_per_gather = 0';
/** Names the state for a second connection. It is sent before the first statement, which may be long and would keep the connection busy. */
const SHARE = 'SELECT pg_export_snapshot() AS name';
export const BEGIN: Statement = { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' };
export const COMMIT: Statement = { text: 'COMMIT' };

/** The statements that open a transaction, which may read the state of another connection, together with its first one. */
export const toOpening = ({ placement }: Pick<Database, 'placement'>, shared: SharedState | undefined): Statement[] => [
  BEGIN,
  ...(shared && 'name' in shared ? [{ text: `SET TRANSACTION SNAPSHOT '${shared.name}'` }] : []),
  ...placement.opening,
];

/**
 * The text that begins a transaction before its first SELECT. Its answers have the version and, when it `shares` its state, the state's
 * name.
 */
export function toBeginning(
  organizationId: number,
  database: Pick<Database, 'placement'>,
  { isQuiet, shares, shared }: { readonly isQuiet: boolean; readonly shares: boolean; readonly shared: SharedState | undefined },
): string {
  // Several statements at once take no parameters. The id is a number of the database.
  const stamp = `SELECT ${selectStamp(String(organizationId))} AS version, ${SETTINGS}`;
  const last = [...(isQuiet ? [] : [ONE_CORE]), ...(shares && !database.placement.isDistributed ? [SHARE] : [])];
  return [...toOpening(database, shared).map(({ text }) => text), stamp, ...last].join('; ');
}

export const toStamp = (organizationId: number): Statement => ({
  text: `SELECT ${selectStamp('$1::int')}`,
  values: [String(organizationId)],
});

/** The statement before a COPY, which makes settings of the transaction. The first value of its answer is the data version. */
export function toSettings(select: Prisma.Sql | undefined, organizationId: number, isQuiet: boolean): Statement {
  const values = select?.values ?? [];
  const oneCore = isQuiet ? [] : [`set_config('max_parallel_workers_per_gather', '0', true)`];
  const expressions = [selectStamp(`$${values.length + 1}::int`), SETTINGS, ...oneCore, ...(select ? settingsOf(select) : [])];
  return { text: `SELECT ${expressions.join(', ')}`, values: [...values, organizationId].map(String) };
}
