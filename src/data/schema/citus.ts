import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { AppError } from '../../errors';
import { Prisma } from '../../generated/prisma/client';
import { packageFile } from '../../package-files';
import { withConstants } from '../postgres/copy-values';
import type { DatabaseAddress } from '../postgres/database';
import { LONG_SETTINGS, setLocally } from '../postgres/local-settings';
import { asOwner, runAlone } from './owner-session';
import type { Placement } from '../postgres/placement';
import { selectStamp } from '../postgres/version-stamp';

const CITUS_FILE = packageFile('prisma/citus.sql');

/** The SQL that is true where Citus has distributed the books. It holds on a server without Citus too. */
export const IS_DISTRIBUTED = `EXISTS (SELECT FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
  WHERE tgrelid = to_regclass('deposit_line') AND proname = 'citus_truncate_trigger')`;

/**
 * Distributes the books of a database that has the extension Citus, in one transaction. The address is the owner's. With `mustDistribute` a
 * database without the extension is an error.
 */
export async function distributeBooks(address: DatabaseAddress, mustDistribute: boolean): Promise<void> {
  const statements = await readFile(CITUS_FILE, 'utf8');
  await asOwner(address, async (client) => {
    const { rowCount } = await client.query(`SELECT FROM pg_extension WHERE extname = 'citus'`);
    if (rowCount === 0 && mustDistribute) throw new Error('DATABASE_ENGINE is citus, but the database lacks the extension citus');
    if (rowCount === 1) await runAlone(client, statements);
  });
}

/** The books of each organization on one of several nodes. */
export const citus: Placement = {
  stampBeside: () => 'NULL',
  // Settings beside the version are made on the node that has it.
  opening: [{ text: `SELECT ${setLocally(LONG_SETTINGS)}` }],
  sharing: [],
  // Rows that move to another node take a transaction to a later state.
  closing: (organizationId) => [{ text: `SELECT ${selectStamp('$1::int')} AS version`, values: [String(organizationId)] }],
  // Settings do not reach the nodes, and hide from Citus the organization whose node has the rows.
  toCopy: (select) => ({ text: withConstants(select), settings: undefined }),
};

/**
 * The two bytes of a separator of columns: the character DELETE, which hardly any text has and COPY's text format writes as it is, and a
 * letter that is another each time, so that no text can be made to have it.
 */
const DELETE = 0x7f;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const TAB = 0x09;
const LINE_FEED = 0x0a;

/** Chooses the letter of a separator. */
const chooseLetter = (): string => LETTERS[randomInt(LETTERS.length)]!;

export interface CopiedColumn {
  readonly expression: string;
  readonly isNullable: boolean;
}

/**
 * The expressions of columns with all neighbours that are never null put together as one text. A coordinator of Citus keeps the rows of a
 * node before it passes them on, value by value, and keeps one text in a third of the time of twenty. COPY escapes each text as it does the
 * values by themselves.
 */
function packColumns(columns: readonly CopiedColumn[], letter: string): string {
  const runs: string[][] = [];
  let isOpen = false;
  for (const { expression, isNullable } of columns) {
    if (isOpen && !isNullable) runs.at(-1)!.push(expression);
    else runs.push([expression]);
    isOpen = !isNullable;
  }
  return runs.map((run) => (run.length === 1 ? run[0]! : `concat_ws(E'\\x7f${letter}', ${run.join(', ')})`)).join(', ');
}

/**
 * Reads columns packed, but for organizations whose texts turned out to have the separator. It is for readers who can ask again after the
 * first such text.
 */
export class ColumnPacking {
  private readonly foreign = new Set<number>();

  /** True for an organization whose columns must be read by themselves. */
  isForeignTo(organizationId: number): boolean {
    return this.foreign.has(organizationId);
  }

  /** Reads the packed columns of an organization in the form of columns by themselves. `onForeign` is called before the error of a foreign row. */
  read(
    copy: (values: Prisma.Sql) => AsyncIterable<Buffer>,
    columns: readonly CopiedColumn[],
    { organizationId, onForeign }: { readonly organizationId: number; readonly onForeign: () => void },
  ): AsyncGenerator<Buffer> {
    const letter = chooseLetter();
    const note = (): void => {
      this.foreign.add(organizationId);
      onForeign();
    };
    return unpackColumns(copy(Prisma.raw(packColumns(columns, letter))), { columns: columns.length, letter, onForeign: note });
  }
}

/**
 * Gives the output of a COPY of packed columns the form of one of the columns by themselves. `onForeign` is called, and an AppError thrown,
 * at a row with more separators than its columns have: one of its values has the separator too.
 */
async function* unpackColumns(
  copy: AsyncIterable<Buffer>,
  { columns, letter, onForeign }: { readonly columns: number; readonly letter: string; readonly onForeign: () => void },
): AsyncGenerator<Buffer> {
  // A row without columns is an empty line.
  const separators = Math.max(0, columns - 1);
  const second = letter.charCodeAt(0);
  let found = 0;
  /** True when the piece before has ended with a DELETE, which is held back. */
  let isHeld = false;
  for await (const piece of copy) {
    if (isHeld && piece[0] !== second) yield Buffer.of(DELETE);
    let kept = 0;
    let isSeparator = isHeld && piece[0] === second;
    isHeld = false;
    for (let at = 0; at < piece.length; at++) {
      let byte = piece[at]!;
      if (isSeparator) {
        isSeparator = false;
        byte = TAB;
      } else if (byte === DELETE) {
        isHeld = at + 1 === piece.length;
        isSeparator = piece[at + 1] === second;
        if (isHeld || isSeparator) continue;
      }
      piece[kept++] = byte;
      if (byte === TAB) found++;
      else if (byte === LINE_FEED) {
        if (found !== separators) {
          onForeign();
          const cause = new Error('A text has the separator of packed columns');
          throw new AppError('NO_DATA_SOURCE_CONNECTION', { cause, retryAfterSeconds: 1 });
        }
        found = 0;
      }
    }
    if (kept > 0) yield piece.subarray(0, kept);
  }
}
