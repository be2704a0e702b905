import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** The head of a table, by which somebody chooses its columns. */
export interface TableHead {
  /** The names of the columns. A name that is missing is that of its place. */
  readonly names: readonly string[];
  /** False for a table without a header, which tells nothing of the table that it is. */
  readonly isNamed: boolean;
  /** The first rows. */
  readonly samples: readonly (readonly string[])[];
}

/** The orders of dates, in words. */
export const dateOrders = {
  'day-first': 'Day before month',
  'month-first': 'Month before day',
  'year-first': 'Year before month',
} as const;
export type DateOrder = keyof typeof dateOrders;
/** The decimal signs, in words. */
export const decimalSigns = { point: 'Point (1,234.50)', comma: 'Comma (1.234,50)' } as const;
export type DecimalSign = keyof typeof decimalSigns;

/** The columns of a table, each by its place, and how its values are written; undefined where the values say so themselves. */
export interface TableColumns {
  readonly date: number;
  /** One column of signed amounts, or two of which each row has one. */
  readonly amount: number | undefined;
  readonly credit: number | undefined;
  readonly debit: number | undefined;
  readonly text: number | undefined;
  /** The column that says whether an amount without a sign came in or went out; undefined where nobody has chosen one. */
  readonly direction: number | 'none' | undefined;
  readonly dateOrder: DateOrder | undefined;
  readonly decimalSign: DecimalSign | undefined;
}

/** The place of the first column whose name has one of these words, in the languages of the banks that we have seen. */
const find = ({ names }: TableHead, words: RegExp): number | undefined => {
  const at = names.findIndex((name) => words.test(name));
  return at < 0 ? undefined : at;
};

/** The words of a column of directions: true where an amount leaves the account. */
const directions: ReadonlyMap<string, boolean> = new Map([
  ...['credit', 'cr', 'crdt', 'c', 'haben', 'h'].map((word) => [word, false] as const),
  ...['debit', 'dr', 'dbit', 'd', 'soll', 's'].map((word) => [word, true] as const),
]);

export const toDirection = (value: string | undefined): boolean | undefined => directions.get(value?.trim().toLowerCase() ?? '');

/** The names of columns of directions. */
const DIRECTION =
  /credit\W*(or\W*)?debit|debit\W*(or\W*)?credit|soll\W*haben|^(cr?\W*dr?|dr?\W*cr?|s\W*h)\b|direction|indicator|^(trans(action)? |txn )?type$|umsatz/i;

/** The column that may say the direction of amounts: by its name and a word of it, or by words of both kinds. */
export function findDirections(names: readonly string[], rows: readonly (readonly string[])[]): number | undefined {
  const at = names.findIndex((name, place) => {
    const told = new Set(rows.map((values) => toDirection(values[place])).filter((isOut) => isOut !== undefined));
    return told.size === 2 || (told.size === 1 && DIRECTION.test(name));
  });
  return at < 0 ? undefined : at;
}

/** Proposes a column whose name and words say the direction, unless amounts have signs. */
function guessDirection({ names, samples }: TableHead, amount: number): number | undefined {
  const at = findDirections(names, samples);
  const isSigned = samples.some((values) => /[-−(]/.test(values[amount] ?? ''));
  return at !== undefined && !isSigned && DIRECTION.test(names[at]!) ? at : undefined;
}

/** Guesses the columns by their names. The person sees and confirms them. */
export function guessColumns(head: TableHead): TableColumns {
  const [credit, debit] = [find(head, /credit|deposit|haben|paid in/i), find(head, /debit|withdrawal|soll|paid out/i)];
  // One column for both, such as “Credit/Debit”, has the direction and no amount.
  const isPair = credit !== undefined && debit !== undefined && credit !== debit;
  const amount = find(head, /amount|betrag|montant/i) ?? 1;
  return {
    date: find(head, /book|buchung/i) ?? find(head, /date|datum|tag/i) ?? 0,
    ...(isPair ? { amount: undefined, credit, debit } : { amount, credit: undefined, debit: undefined }),
    direction: isPair ? undefined : guessDirection(head, amount),
    ...{ text: find(head, /text|descri|memo|zweck|details|payee/i), dateOrder: undefined, decimalSign: undefined },
  };
}

/** The columns of a table are known by the SHA-256 of its header, so that no text of a file is kept. */
const keyOf = ({ names }: TableHead): string => `deposit-gateway.statement.${bytesToHex(sha256(utf8ToBytes(JSON.stringify(names))))}`;

/**
 * Reads the columns that somebody chose for a header before. One that cannot be read is as good as none. The order of dates and the decimal
 * sign are not kept: files of two banks may have the same header.
 */
export function readKeptColumns(head: TableHead): TableColumns | undefined {
  // Tables of two banks may have as many columns.
  if (!head.isNamed) return undefined;
  try {
    const stored = JSON.parse(localStorage.getItem(keyOf(head)) ?? 'null') as Partial<Record<keyof TableColumns, unknown>> | null;
    if (stored === null) return undefined;
    const place = (value: unknown): number | undefined => (typeof value === 'number' && value < head.names.length ? value : undefined);
    return {
      ...{ date: place(stored.date) ?? 0, amount: place(stored.amount), credit: place(stored.credit) },
      ...{ debit: place(stored.debit), text: place(stored.text) },
      direction: stored.direction === 'none' ? 'none' : place(stored.direction),
      ...{ dateOrder: undefined, decimalSign: undefined },
    };
  } catch {
    return undefined;
  }
}

/** Keeps the columns of a header in this browser. */
export function keepColumns(head: TableHead, { dateOrder: _order, decimalSign: _sign, ...places }: TableColumns): void {
  if (!head.isNamed) return;
  try {
    localStorage.setItem(keyOf(head), JSON.stringify(places));
  } catch {
    // A browser without room, or that stores nothing, asks again.
  }
}
