/** A line of a bank statement. Two equal lines of one day are two movements. */
export interface StatementLine {
  /** The day on which the bank booked it, as `YYYY-MM-DD`. */
  readonly bookedOn: string;
  /** The day from which it counts for interest; undefined where the file tells none. */
  readonly valuedOn: string | undefined;
  /** Hundredths of the currency: more than zero for money received, less for money paid out. */
  readonly cents: bigint;
  readonly text: string;
  readonly reference: string;
  /** True where the bank takes an earlier line back. Its sign is that of the movement itself. */
  readonly isReversal: boolean;
}

/** The statement of one account, for one span of days. */
export interface Statement {
  /** The number of the account; empty for a table, which names none. */
  readonly account: string;
  /** The code of ISO 4217; undefined for a table whose amounts name none. */
  readonly currency: string | undefined;
  readonly from: string;
  readonly to: string;
  /** The booked balances in hundredths; undefined where the file tells none. */
  readonly opening: bigint | undefined;
  readonly closing: bigint | undefined;
  /** True where the file tells that a page of the same statement comes before or after this one. */
  readonly hasPageBefore?: boolean;
  readonly hasPageAfter?: boolean;
  readonly lines: readonly StatementLine[];
  /** Sentences about what the file tells and the lines do not have, such as charges. */
  readonly notes: readonly string[];
}

/** The reason why a file is refused, for people. It names the place in the file. */
export class StatementFault extends Error {
  override readonly name = 'StatementFault';
}

/** The decimals of the books, and so of every amount here. */
const DECIMALS = 2;

/**
 * Reads an unsigned decimal such as `12`, `12.5`, `12.50` or `.50` into hundredths; undefined for other texts. Throws a fault that names the
 * place for an amount with a part of a hundredth, which the books cannot have.
 */
export function readCents(text: string, place: string): bigint | undefined {
  const [, whole, decimals = ''] = /^(?=\.?\d)(\d*)(?:\.(\d*))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  if (!/^0*$/.test(decimals.slice(DECIMALS))) throw new StatementFault(`${place}: ${text} has more than two decimals.`);
  return BigInt(whole + decimals.slice(0, DECIMALS).padEnd(DECIMALS, '0'));
}

/** Writes hundredths as the exact decimal text of the page, such as “-12.50”. */
export function writeCents(cents: bigint): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(DECIMALS + 1, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`;
}

/** A line as one text, which only an equal line has. */
export const textOf = ({ cents, ...line }: StatementLine): string => JSON.stringify([cents.toString(), line]);

/** The sum of the lines: what the statement says has moved. */
export const sumOf = (lines: readonly Pick<StatementLine, 'cents'>[]): bigint => lines.reduce((sum, { cents }) => sum + cents, 0n);

/** Puts a year, a month and a day together; undefined where there is no such day. */
export function toDate(year: string, month: string, day: string): string | undefined {
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const time = Date.parse(`${date}T00:00:00Z`);
  // Date.parse takes February 30 for March 1.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date) ? date : undefined;
}
