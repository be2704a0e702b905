import { RowRenderer } from './row-renderer';
import { widenTemplate, type RowColumn, type RowTemplate } from './row-template';

/** CSV records whose columns are added up. The deposit is the first column. The share alone is without quotes, and empty where it is null. */
export interface TotalledRows {
  readonly template: RowTemplate;
  /** The columns of dates, which have one length and are passed over: a fifth of the time of reading the records. */
  readonly dates: readonly RowColumn[];
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
/** The length of a part that holds most records. */
const USUAL_LENGTH = 1024;
const QUOTED_DATE_LENGTH = '"2026-01-01"'.length;

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
  /** The beginning of a record that the next block goes on with. */
  private begun: Buffer = Buffer.alloc(0);
  /** The rows of the record that was added last, its place in them, and that of its transaction. */
  private before: Buffer = Buffer.alloc(0);
  private beforeRow = 0;
  private beforeTransaction = 0;

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
    const start = this.begun.length > 0 ? this.addBegun(block) : 0;
    const end = this.addWhole(block, start);
    // The block's memory is used again.
    if (end < block.length) this.begun = Buffer.concat([this.begun, block.subarray(end)]);
    if (this.before === block) {
      this.before = Buffer.from(block.subarray(this.beforeRow, end));
      this.beforeTransaction -= this.beforeRow;
      this.beforeRow = 0;
    }
  }

  /** Adds the record that began in earlier blocks. Returns the place after it, or the end of a block that goes on with it. */
  private addBegun(block: Buffer): number {
    const begun = this.begun.length;
    // Few records are longer than the first part.
    for (const length of [Math.min(USUAL_LENGTH, block.length), block.length]) {
      const rows = Buffer.concat([this.begun, block.subarray(0, length)]);
      const end = this.records.find(rows, 0);
      if (end === 0) continue;
      this.addRow(rows, 0);
      this.begun = Buffer.alloc(0);
      return end - begun;
    }
    this.begun = Buffer.concat([this.begun, block]);
    return block.length;
  }

  /** Adds the whole records from a place on, and returns the place after them. */
  private addWhole(rows: Buffer, start: number): number {
    let row = start;
    for (let end = this.records.find(rows, row); end > 0; end = this.records.find(rows, row)) {
      this.addRow(rows, row);
      row = end;
    }
    return row;
  }

  /** Adds the record at a place, whose fields were found. It is compared with the one before it, and the first one with none. */
  private addRow(rows: Buffer, row: number): void {
    const { starts, transaction, amount, share } = this.records;
    const transactionAt = starts[transaction]!;
    const cents = readCents(rows, starts[amount]! + 1, starts[amount + 1]! - 2);
    // CSV's escapes tell ids apart as the ids themselves do. The comma after an id tells it from one that begins in the same way.
    const isSameDeposit = this.lines > 0 && areEqual(rows, row, starts[1]!, this.before, this.beforeRow);
    const isSame = isSameDeposit && areEqual(rows, transactionAt, starts[transaction + 1]!, this.before, this.beforeTransaction);
    this.before = rows;
    this.beforeRow = row;
    this.beforeTransaction = transactionAt;
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
  private readonly areDates: readonly boolean[];

  constructor({ template: { columns }, dates, transaction, amount, share }: TotalledRows) {
    const placeOf = ({ field }: RowColumn): number => columns.findIndex((column) => column.field === field);
    this.transaction = placeOf(transaction);
    this.amount = placeOf(amount);
    this.share = placeOf(share);
    this.areQuoted = columns.map(({ kind }) => kind === 'text');
    this.areDates = columns.map(({ field }) => dates.some((date) => date.field === field));
    this.starts = new Int32Array(columns.length + 1);
  }

  /** Finds the fields of the record at a place. Returns the place after it, or 0 when it ends later than the rows. */
  find(rows: Buffer, row: number): number {
    const { areQuoted, areDates, starts } = this;
    // The byte after a quote is read too. A whole record has CR and LF after its last value.
    const end = rows.length - 1;
    let at = row;
    for (let n = 0; n < areQuoted.length; n++) {
      starts[n] = at;
      if (areDates[n]) {
        at += QUOTED_DATE_LENGTH;
      } else if (areQuoted[n]) {
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
    return at <= end ? at + 1 : 0;
  }
}

/** True when the bytes up to `end` stand at the place in the other rows too. */
function areEqual(rows: Buffer, from: number, end: number, others: Buffer, place: number): boolean {
  for (let at = from, other = place; at < end; at++, other++) if (rows[at] !== others[other]) return false;
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
