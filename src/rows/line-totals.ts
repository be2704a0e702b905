import { RowRenderer } from './row-renderer';
import { widenTemplate, type RowColumn, type RowTemplate } from './row-template';

/** CSV records whose columns are added up. The deposit is the first column. The share alone is without quotes, and empty where it is null. */
export interface TotalledRows {
  readonly template: RowTemplate;
  readonly transaction: RowColumn;
  readonly amount: RowColumn;
  readonly share: RowColumn;
}

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

const CR = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;

/**
 * Renders lines in COPY's text output, which may be cut anywhere, as CSV records, and reads counts and exact sums from these. The lines of a
 * deposit, and of a transaction, must follow each other, as they do in report order.
 */
export class LineTotals {
  private readonly renderer: RowRenderer;
  private readonly records: CsvRecords;
  private lines = 0;
  private deposits = 0;
  private transactions = 0;
  private knownShares = 0;
  private readonly lineCents = new CentSum();
  private readonly transactionCents = new CentSum();
  private readonly shareCents = new CentSum();
  /** The record that was added last, and the beginning of the next one. */
  private kept: Buffer = Buffer.alloc(0);
  /** The place in `kept` of the next record; 0 before the first. */
  private next = 0;
  /** The place of the transaction in the record that was added last. */
  private transactionOffset = 0;

  /** `onRows` gets the records, in blocks that are valid until the next one. */
  constructor(
    columns: readonly RowColumn[],
    rows: TotalledRows,
    private readonly onRows: (rows: Buffer) => void,
  ) {
    this.renderer = RowRenderer.open(widenTemplate(rows.template, columns));
    this.records = new CsvRecords(rows);
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
    this.onRows(block);
    const { records } = this;
    const rows = this.kept.length > 0 ? Buffer.concat([this.kept, block]) : block;
    let before = 0;
    let at = this.next;
    for (let end = records.find(rows, at); end > 0; end = records.find(rows, at)) {
      this.addRow(rows, at, before);
      before = at;
      at = end;
    }
    // The block's memory is used again.
    this.kept = Buffer.from(rows.subarray(before));
    this.next = at - before;
  }

  /** Adds the record at a place, whose fields were found. It is compared with the one before it, and the first one with none. */
  private addRow(rows: Buffer, row: number, before: number): void {
    const { starts, transaction, amount, share } = this.records;
    const transactionAt = starts[transaction]!;
    const cents = readCents(rows, starts[amount]! + 1, starts[amount + 1]! - 2);
    // CSV's escapes tell ids apart as the ids themselves do. The comma after an id tells it from one that begins in the same way.
    const isSameDeposit = this.lines > 0 && areEqual(rows, row, starts[1]!, before);
    const isSame = isSameDeposit && areEqual(rows, transactionAt, starts[transaction + 1]!, before + this.transactionOffset);
    this.transactionOffset = transactionAt - row;
    this.lines++;
    this.lineCents.add(cents);
    if (!isSameDeposit) this.deposits++;
    if (!isSame) {
      this.transactions++;
      this.transactionCents.add(cents);
    }
    const shareEnd = starts[share + 1]! - 1;
    if (shareEnd > starts[share]!) {
      this.knownShares++;
      this.shareCents.add(readCents(rows, starts[share]!, shareEnd));
    }
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

/** The records of a CSV template, and the places of the totalled columns in them. */
class CsvRecords {
  /** The places of the fields of the record that was found last, and the place after the last field's separator. */
  readonly starts: Int32Array;
  readonly transaction: number;
  readonly amount: number;
  readonly share: number;
  private readonly areQuoted: readonly boolean[];

  constructor({ template: { columns }, transaction, amount, share }: TotalledRows) {
    const placeOf = ({ field }: RowColumn): number => columns.findIndex((column) => column.field === field);
    this.transaction = placeOf(transaction);
    this.amount = placeOf(amount);
    this.share = placeOf(share);
    this.areQuoted = columns.map(({ kind }) => kind === 'text');
    this.starts = new Int32Array(columns.length + 1);
  }

  /** Finds the fields of the record at a place. Returns the place after it, or 0 when it ends later than the rows. */
  find(rows: Buffer, row: number): number {
    const { areQuoted, starts } = this;
    const end = rows.length;
    let at = row;
    for (let n = 0; n < areQuoted.length; n++) {
      starts[n] = at;
      if (areQuoted[n]) {
        at++;
        // A quote within a value is doubled.
        while (at < end && (rows[at] !== QUOTE || rows[++at] === QUOTE)) at++;
      } else {
        while (at < end && rows[at] !== COMMA && rows[at] !== CR) at++;
      }
      at++;
    }
    starts[areQuoted.length] = at;
    // The last separator is CR, and LF follows.
    return at < end ? at + 1 : 0;
  }
}

/** True when the bytes up to `end` stand at the other place too. */
function areEqual(rows: Buffer, from: number, end: number, other: number): boolean {
  for (let at = from; at < end; at++) if (rows[at] !== rows[other + at - from]) return false;
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
