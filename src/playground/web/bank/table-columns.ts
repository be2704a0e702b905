import { StatementFault } from './bank-statement';

/** The head of a table, by which somebody chooses its columns. */
export interface TableHead {
  /** The names of the columns. A name that is missing is that of its place. */
  readonly names: readonly string[];
  /** False for a table without a header, which tells nothing of the table that it is. */
  readonly isNamed: boolean;
  /** The first rows. */
  readonly samples: readonly (readonly string[])[];
}

export interface TableRow {
  /** The line of the file on which it begins. */
  readonly line: number;
  readonly values: readonly string[];
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
  readonly dateOrder: DateOrder | undefined;
  readonly decimalSign: DecimalSign | undefined;
}

/** The place of the first column whose name has one of these words, in the languages of the banks that we have seen. */
const find = ({ names }: TableHead, words: RegExp): number | undefined => {
  const at = names.findIndex((name) => words.test(name));
  return at < 0 ? undefined : at;
};

/** Guesses the columns by their names. The person sees and confirms them. */
export function guessColumns(head: TableHead): TableColumns {
  const [credit, debit] = [find(head, /credit|deposit|haben|paid in/i), find(head, /debit|withdrawal|soll|paid out/i)];
  // One column for both, such as “Credit/Debit”, has the direction and no amount.
  const isPair = credit !== undefined && debit !== undefined && credit !== debit;
  return {
    date: find(head, /book|buchung/i) ?? find(head, /date|datum|tag/i) ?? 0,
    ...(isPair
      ? { amount: undefined, credit, debit }
      : { amount: find(head, /amount|betrag|montant/i) ?? 1, credit: undefined, debit: undefined }),
    ...{ text: find(head, /text|descri|memo|zweck|details|payee/i), dateOrder: undefined, decimalSign: undefined },
  };
}

/** The words that give an amount without a sign its direction: true where it leaves the account. */
const DIRECTIONS: ReadonlyMap<string, boolean> = new Map([
  ...['credit', 'cr', 'crdt', 'c', 'haben', 'h'].map((word) => [word, false] as const),
  ...['debit', 'dr', 'dbit', 'd', 'soll', 's'].map((word) => [word, true] as const),
]);

interface Directions {
  readonly name: string;
  /** One for each row. */
  readonly isOut: readonly (boolean | undefined)[];
  /** True for whole words such as “Debit”; false for letters. */
  readonly isWords: boolean;
}

const SHORT = 2;

/** Finds the column that has a direction for each row. Throws a fault where two columns contradict each other or a row has no direction. */
export function findDirections(names: readonly string[], rows: readonly TableRow[]): Directions | undefined {
  const told = names.flatMap((name, column): Directions[] => {
    const words = rows.map(({ values }) => values[column]?.trim().toLowerCase() ?? '');
    if (!words.every((word) => word === '' || DIRECTIONS.has(word))) return [];
    return [{ name, isOut: words.map((word) => DIRECTIONS.get(word)), isWords: words.every((word) => word.length > SHORT) }];
  });
  // A column with one and the same word may tell the kind of a card, and one with the same letter may tell anything.
  const both = told.filter(({ isOut }) => isOut.includes(true) && isOut.includes(false));
  const [first, ...others] = both.length > 0 ? both : told.filter(({ isOut, isWords }) => isWords && !isOut.includes(undefined));
  const missing = rows[first?.isOut.indexOf(undefined) ?? -1];
  if (first && missing)
    throw new StatementFault(`Line ${String(missing.line)}: “${first.name}” does not say whether the amount leaves the account.`);
  const other = others.find(({ isOut }) => isOut.some((is, n) => is !== first?.isOut[n]));
  if (first && other)
    throw new StatementFault(
      `The columns “${first.name}” and “${other.name}” contradict each other about the amounts that leave the account.`,
    );
  return first;
}
