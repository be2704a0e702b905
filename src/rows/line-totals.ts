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

/**
 * Counts and exact sums over lines in COPY's text output, which may be cut anywhere. The lines of a deposit, and of a transaction, must
 * follow each other, as they do in report order.
 */
export class LineTotals {
  private readonly renderer: RowRenderer;
  private readonly sums = { lines: 0, deposits: 0, transactions: 0, knownShares: 0, lineCents: 0n, transactionCents: 0n, shareCents: 0n };
  /** The ids of the line before. */
  private deposit: string | undefined;
  private transaction: string | undefined;
  /** The beginning of a row whose end is in the next block. */
  private begun = '';

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
    return this.sums;
  }

  private addRows(block: Buffer): void {
    // JSON's escapes tell ids apart as the ids themselves do, and so do their bytes.
    const rows = (this.begun + block.toString('latin1')).split('\n');
    this.begun = rows.pop()!;
    for (const row of rows) this.addRow(row.split('\t') as [string, string, string, string]);
  }

  private addRow([deposit, transaction, amount, share]: readonly [string, string, string, string]): void {
    const { sums } = this;
    const cents = toCents(amount);
    const isSameDeposit = deposit === this.deposit;
    sums.lines++;
    sums.lineCents += cents;
    if (!isSameDeposit) sums.deposits++;
    if (!isSameDeposit || transaction !== this.transaction) {
      sums.transactions++;
      sums.transactionCents += cents;
    }
    if (share !== 'null') {
      sums.knownShares++;
      sums.shareCents += toCents(share);
    }
    this.deposit = deposit;
    this.transaction = transaction;
  }
}

/** Rows of the columns alone, with a TAB between two values. JSON's escapes leave no TAB and no line feed within a value. */
function toTemplate(columns: TotalledColumns): RowTemplate {
  const before = columns.map((_column, position) => Buffer.from(position > 0 ? '\t' : ''));
  const texts = columns.map((column): RowColumn => ({ ...column, kind: 'text' }));
  return { encoding: 'json', columns: texts, before, end: Buffer.from('\n'), separator: Buffer.alloc(0) };
}

/** The cents of an amount with two decimals. Throws for any other text. */
function toCents(amount: string): bigint {
  if (!/^-?\d+\.\d\d$/.test(amount)) throw new Error('COPY gave an amount that is not a number with two decimals');
  return BigInt(amount.replace('.', ''));
}
