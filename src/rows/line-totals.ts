import { RowRenderer } from './row-renderer';
import { widenTemplate, type RowColumn, type RowTemplate } from './row-template';

/** The columns that are added up, in the order in which COPY's output has them. */
export type TotalledColumns = readonly [deposit: RowColumn, transaction: RowColumn, amount: RowColumn, share: RowColumn];

/** The counts and sums of lines. */
interface LineSums {
  readonly lines: number;
  readonly deposits: number;
  readonly transactions: number;
  /** The lines whose share is not null. */
  readonly knownShares: number;
  /** The amounts of all lines. */
  readonly lineCents: bigint;
  /** The amounts of all transactions, each of which counts once. */
  readonly transactionCents: bigint;
  readonly shareCents: bigint;
}

const TAB = 0x09;
const LF = 0x0a;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
/** The first byte of `null`. */
const NULL_START = 0x6e;

/**
 * Counts and exact sums over lines in COPY's text output, which may be cut anywhere. The lines of a deposit, and of a transaction, must
 * follow each other, as they do in report order.
 */
export class LineTotals {
  private readonly renderer: RowRenderer;
  private lines = 0;
  private deposits = 0;
  private transactions = 0;
  private knownShares = 0;
  private readonly lineCents = new CentSum();
  private readonly transactionCents = new CentSum();
  private readonly shareCents = new CentSum();
  /** The row that was added last, and the beginning of the next one. */
  private kept: Buffer = Buffer.alloc(0);
  /** The place in `kept` of the next row; 0 before the first. */
  private next = 0;

  constructor(columns: readonly RowColumn[], totalled: TotalledColumns) {
    this.renderer = RowRenderer.open(widenTemplate(toTemplate(totalled), columns));
  }

  add(copy: Buffer): void {
    for (const block of this.renderer.add(copy)) this.addRows(block);
  }

  /** Returns the counts and sums of all lines that were added. Throws when the output has ended within a row. */
  end(): LineSums {
    this.addRows(this.renderer.end());
    this.renderer.release();
    const { lines, deposits, transactions, knownShares, lineCents, transactionCents, shareCents } = this;
    const cents = { lineCents: lineCents.total, transactionCents: transactionCents.total, shareCents: shareCents.total };
    return { lines, deposits, transactions, knownShares, ...cents };
  }

  private addRows(block: Buffer): void {
    const rows = Buffer.concat([this.kept, block]);
    const end = rows.lastIndexOf(LF) + 1;
    // A row is compared with the one before it. The first row has none, and is compared with nothing.
    let before = this.next > 0 ? 0 : rows.length;
    let at = this.next;
    while (at < end) {
      const row = at;
      at = this.addRow(rows, row, before);
      before = row;
    }
    // The block's memory is used again.
    this.kept = rows.subarray(Math.min(before, at));
    this.next = at - Math.min(before, at);
  }

  /** Adds the row at a place, and returns the place after it. */
  private addRow(rows: Buffer, row: number, before: number): number {
    const depositEnd = endOfValue(rows, row);
    const transactionEnd = endOfValue(rows, depositEnd + 1);
    const amountEnd = endOfValue(rows, transactionEnd + 1);
    const shareEnd = endOfValue(rows, amountEnd + 1);
    const cents = readCents(rows, transactionEnd + 1, amountEnd);
    // JSON's escapes tell ids apart as the ids themselves do. The TAB after an id tells it from one that begins in the same way.
    const isSameDeposit = areEqual(rows, row, depositEnd, before);
    this.lines++;
    this.lineCents.add(cents);
    if (!isSameDeposit) this.deposits++;
    if (!isSameDeposit || !areEqual(rows, depositEnd + 1, transactionEnd, before + depositEnd + 1 - row)) {
      this.transactions++;
      this.transactionCents.add(cents);
    }
    if (rows[amountEnd + 1] !== NULL_START) {
      this.knownShares++;
      this.shareCents.add(readCents(rows, amountEnd + 1, shareEnd));
    }
    return shareEnd + 1;
  }
}

/** An exact sum of amounts in cents, each below 10^14 as the type numeric(14,2) is. It is a number as long as a number is exact. */
class CentSum {
  private static readonly LIMIT = 2 ** 52;
  private near = 0;
  private far = 0n;

  add(cents: number): void {
    this.near += cents;
    if (Math.abs(this.near) <= CentSum.LIMIT) return;
    this.far += BigInt(this.near);
    this.near = 0;
  }

  get total(): bigint {
    return this.far + BigInt(this.near);
  }
}

/** Rows of the columns alone, with a TAB between two values. JSON's escapes leave no TAB and no line feed within a value. */
function toTemplate(columns: TotalledColumns): RowTemplate {
  const before = columns.map((_column, position) => Buffer.from(position > 0 ? '\t' : ''));
  const texts = columns.map((column): RowColumn => ({ ...column, kind: 'text' }));
  return { encoding: 'json', columns: texts, before, end: Buffer.from('\n'), separator: Buffer.alloc(0) };
}

function endOfValue(rows: Buffer, from: number): number {
  let at = from;
  while (rows[at] !== TAB && rows[at] !== LF) at++;
  return at;
}

/** True when the bytes up to `end`, that one included, stand at the other place too. */
function areEqual(rows: Buffer, from: number, end: number, other: number): boolean {
  for (let at = from; at <= end; at++) if (rows[at] !== rows[other + at - from]) return false;
  return true;
}

/** The cents of an amount with two decimals. Throws for any other text. */
function readCents(rows: Buffer, from: number, end: number): number {
  const isNegative = rows[from] === MINUS;
  const start = isNegative ? from + 1 : from;
  let cents = 0;
  for (let at = start; at < end; at++) {
    const byte = rows[at]!;
    if (at === end - 3 && at > start) {
      if (byte === POINT) continue;
      throw new Error(NO_AMOUNT);
    }
    const digit = byte - ZERO;
    if (digit < 0 || digit > 9) throw new Error(NO_AMOUNT);
    cents = cents * 10 + digit;
  }
  if (end - start < 4) throw new Error(NO_AMOUNT);
  return isNegative ? -cents : cents;
}
const NO_AMOUNT = 'COPY gave an amount that is not a number with two decimals';
