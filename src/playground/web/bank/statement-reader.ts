import { readBai2 } from './bai2-statement';
import { StatementFault, sumOf, textOf, writeCents, type Statement } from './bank-statement';
import { readCamt } from './camt-statement';
import type { TableColumns, TableHead } from './table-columns';
import { readRows } from './table-rows';
import { readTable } from './table-statement';

/** The statement that somebody asks for. */
export interface StatementChoice {
  /** The number of the account; empty for the one that the file has. */
  readonly account: string;
  /** The currency of the deposits; undefined where the organization has not set any, and any is right. */
  readonly currency: string | undefined;
  /** The columns of a table; undefined while nobody has chosen them. */
  readonly columns: TableColumns | undefined;
}

/** The outcome of reading a file: a statement, a table whose columns are to be chosen, or the reason of the refusal. */
export type ReadFile =
  | { readonly kind: 'read'; readonly statement: Statement }
  | { readonly kind: 'table'; readonly head: TableHead }
  | { readonly kind: 'refused'; readonly reason: string };

/** A larger file is no statement of an organization, and would fill the memory of the browser. */
const MOST_BYTES = 200 * 1024 * 1024;

/** Reads a bank's file by its first bytes: CAMT.053, BAI2, or a table. Nothing of it leaves the browser. */
export function readStatement(bytes: Uint8Array, choice: StatementChoice): ReadFile {
  try {
    if (bytes.length > MOST_BYTES) throw new StatementFault('The file has more than 200 MB.');
    const text = decode(bytes);
    if (text.trim() === '') throw new StatementFault('The file is empty.');
    if (/^\s*</.test(text)) return { kind: 'read', statement: toOne(readCamt(text), choice) };
    if (/^\s*01,/.test(text)) return { kind: 'read', statement: toOne(readBai2(text), choice) };
    if (text.includes('\0')) throw new StatementFault('The file is neither CAMT.053 nor BAI2, and no text either.');
    if (!choice.columns) return { kind: 'table', head: toHead(readRows(text)) };
    return { kind: 'read', statement: readOneTable(text, choice, choice.columns) };
  } catch (error) {
    if (error instanceof StatementFault) return { kind: 'refused', reason: error.message };
    throw error;
  }
}

/** Decodes a file by its byte order mark or its XML declaration, as UTF-8, or as the old code of Windows where it is none. */
function decode(bytes: Uint8Array): string {
  const [one, two] = bytes;
  if (one === 0xff && two === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (one === 0xfe && two === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 200));
  const named = /^(?:\u00ef\u00bb\u00bf)?<\?xml[^>]*encoding=["']([\w.-]+)["']/.exec(head)?.[1];
  try {
    return new TextDecoder(named ?? 'utf-8', { fatal: true }).decode(bytes);
  } catch {
    // An XML file is in the encoding that it names.
    if (named !== undefined) throw new StatementFault(`The file says that it is in ${named}, and it cannot be read so.`);
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

const toHead = ({ names, isNamed, samples }: TableHead): TableHead => ({ names, isNamed, samples });

function readOneTable(text: string, { account, currency }: StatementChoice, columns: TableColumns): Statement {
  const table = readTable(text, columns, currency);
  return account.trim() === ''
    ? table
    : { ...table, notes: [...table.notes, 'A table names no account, so that the account was not checked.'] };
}

const plain = (account: string): string => account.replace(/[\s-]/g, '').toUpperCase();

/** Makes one statement of those of the chosen account, which must follow each other without a gap. */
function toOne(all: readonly Statement[], { account, currency }: StatementChoice): Statement {
  const named = [...new Set(all.map((statement) => statement.account))];
  const wanted = account.trim() === '' ? all : all.filter((statement) => plain(statement.account) === plain(account));
  if (wanted.length === 0) throw new StatementFault(`The file is of ${listOf('account', named)}, and not of account ${account.trim()}.`);
  if (new Set(wanted.map((statement) => plain(statement.account))).size > 1)
    throw new StatementFault(`The file is of ${listOf('account', named)}: choose one of them.`);
  const currencies = [...new Set(wanted.map((statement) => statement.currency ?? ''))];
  if (currencies.length > 1)
    throw new StatementFault(`The account has statements in ${currencies.join(' and ')}: they cannot be added up.`);
  if (currency !== undefined && currencies[0] !== currency)
    throw new StatementFault(`The statement is in ${currencies[0]!}, and the deposits are in ${currency}.`);
  const parts = wanted.toSorted((one, other) =>
    one.from + one.to < other.from + other.to ? -1 : Number(one.from + one.to > other.from + other.to),
  );
  const texts = parts.map(({ from, to, opening, closing, lines }) => [from, to, opening, closing, ...lines.map(textOf)].join());
  const again = parts.find(({ lines }, n) => lines.length > 0 && texts.indexOf(texts[n]!) < n);
  if (again) throw new StatementFault(`The statement from ${again.from} to ${again.to} is in the file twice.`);
  checkBalances(parts);
  const [first, last] = [parts[0]!, parts.at(-1)!];
  if (first.hasPageBefore) throw new StatementFault(`The statement from ${first.from} begins within: a page before it is missing.`);
  if (last.hasPageAfter) throw new StatementFault(`The statement to ${last.to} is not at its end: a page after it is missing.`);
  return {
    ...first,
    to: last.to,
    closing: last.closing,
    hasPageAfter: false,
    lines: parts.flatMap((part) => part.lines),
    notes: [...new Set(parts.flatMap((part) => part.notes))],
  };
}

const listOf = (noun: string, names: readonly string[]): string => `${noun}${names.length === 1 ? '' : 's'} ${names.join(', ')}`;

/** Goes from balance to balance. Throws a fault where the lines do not lead from one to the next. */
function checkBalances(parts: readonly Statement[]): void {
  let known: bigint | undefined;
  let last: Statement | undefined;
  for (const part of parts) {
    const { opening, closing, lines } = part;
    if (last && known !== undefined && opening !== undefined && known !== opening)
      throw new StatementFault(
        `The statement to ${last.to} ends with ${writeCents(known)}, and the next one begins with ${writeCents(opening)}: one between them is missing.`,
      );
    const before = opening ?? known;
    const moved = sumOf(lines);
    known = before === undefined ? closing : before + moved;
    if (known !== undefined && closing !== undefined && known !== closing)
      throw new StatementFault(
        `The balances do not fit the lines: ${writeCents(before!)} before and movements of ${writeCents(moved)} are ${writeCents(known)}, and the closing balance is ${writeCents(closing)}.`,
      );
    last = part;
  }
}
