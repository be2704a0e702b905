import type { Prisma } from '../../generated/prisma/client';
import { toSettings as settingsOf } from '../postgres/copy-values';
import { LONG_SETTINGS, setLocally } from '../postgres/local-settings';
import type { Placement } from '../postgres/placement';
import type { Statement } from '../postgres/statement-messages';
import { selectStamp } from '../postgres/version-stamp';

const SETTINGS = setLocally(LONG_SETTINGS);
/** Keeps a report to one core for its whole transaction, when other reports are read at the same time. */
const ONE_CORE = 'SET LOCAL max_parallel_workers_per_gather = 0';
export const BEGIN: Statement = { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' };
export const COMMIT: Statement = { text: 'COMMIT' };

/** The statements that open a transaction together with its first one. With a name, it reads the state of that name. */
export const toOpening = ({ opening }: Placement, name: string | undefined): Statement[] => [
  BEGIN,
  ...(name === undefined ? [] : [{ text: `SET TRANSACTION SNAPSHOT '${name}'` }]),
  ...opening,
];

/**
 * The text that begins a transaction before its first SELECT. Its answers have the version and, when it `shares` its state, the state's
 * name.
 */
export function toBeginning(
  organizationId: number,
  placement: Placement,
  { isQuiet, shares, name }: { readonly isQuiet: boolean; readonly shares: boolean; readonly name: string | undefined },
): string {
  // Several statements at once take no parameters. The id is a number of the database.
  const stamp = `SELECT ${selectStamp(String(organizationId))} AS version, ${SETTINGS}`;
  const sharing = shares ? placement.sharing : [];
  const texts = (statements: readonly Statement[]): string[] => statements.map(({ text }) => text);
  return [...texts(toOpening(placement, name)), stamp, ...(isQuiet ? [] : [ONE_CORE]), ...texts(sharing)].join('; ');
}

/** The statement before a COPY, which makes settings of the transaction. The first value of its answer is the data version. */
export function toSettings(select: Prisma.Sql | undefined, organizationId: number, isQuiet: boolean): Statement {
  const { expressions: settings, values } = select ? settingsOf(select) : { expressions: [], values: [] };
  const oneCore = isQuiet ? [] : [`set_config('max_parallel_workers_per_gather', '0', true)`];
  const expressions = [selectStamp(`$${values.length + 1}::int`), SETTINGS, ...oneCore, ...settings];
  return { text: `SELECT ${expressions.join(', ')}`, values: [...values, organizationId].map(String) };
}
