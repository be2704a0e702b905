import { CompiledLoop, PAGE_LENGTH } from './compiled-loop';

/** The exports of assembly/totals-loop.ts, which describes them. */
interface TotalsLoop {
  begin(table: number, columns: number, ids: number): void;
  add(input: number, inputEnd: number): number;
  lineCount(): number;
  depositCount(): number;
  transactionCount(): number;
  knownShareCount(): number;
  takeLineCents(): bigint;
  takeTransactionCents(): bigint;
  takeShareCents(): bigint;
}

const compiledLoop = new CompiledLoop<TotalsLoop>('totals-loop');

/** The loop's numbers for the columns that it adds up. */
const ROLES = { deposit: 1, transaction: 2, amount: 3, share: 4 } as const;

/** The positions of the columns that are added up, among those of COPY's output. The deposit stands before the transaction. */
export type TotalsColumns = Readonly<Record<keyof typeof ROLES, number>>;

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

/** The most bytes that are added at once. Over more bytes, sums of cents could exceed 64 bits. */
const INPUT_LENGTH = 64 * 1024;
/** A role and the gap before the next one, a byte each. */
const TABLE_ROW_LENGTH = 2;
/** The room after the input, because a vector is read whole. */
const VECTOR_LENGTH = 16;

/**
 * Counts and exact sums over lines in COPY's text output, which may be cut anywhere. The lines of a deposit, and of a transaction, must
 * follow each other, as they do in report order.
 */
export class LineTotals {
  private readonly loop: TotalsLoop;
  private readonly memory: { readonly buffer: ArrayBuffer };
  private readonly input: number;
  private lineCents = 0n;
  private transactionCents = 0n;
  private shareCents = 0n;

  constructor(columnCount: number, columns: TotalsColumns) {
    this.input = columnCount * TABLE_ROW_LENGTH;
    const ids = this.input + INPUT_LENGTH + VECTOR_LENGTH;
    ({ loop: this.loop, memory: this.memory } = compiledLoop.open(Math.ceil((ids + 1) / PAGE_LENGTH)));
    const table = Buffer.from(this.memory.buffer);
    const roles = new Map(Object.entries(columns).map(([role, position]) => [position, ROLES[role as keyof typeof ROLES]]));
    for (let position = columnCount - 1, gap = 0; position >= 0; position--) {
      const role = roles.get(position) ?? 0;
      gap = role === 0 ? gap + 1 : 0;
      table.set([role, gap], position * TABLE_ROW_LENGTH);
    }
    this.loop.begin(0, columnCount, ids);
  }

  add(copy: Buffer): void {
    for (let at = 0; at < copy.length; at += INPUT_LENGTH) {
      const length = copy.copy(Buffer.from(this.memory.buffer), this.input, at, at + INPUT_LENGTH);
      if (!this.loop.add(this.input, this.input + length))
        throw new Error('COPY gave a row of other columns, or an amount that is not a number');
      this.lineCents += this.loop.takeLineCents();
      this.transactionCents += this.loop.takeTransactionCents();
      this.shareCents += this.loop.takeShareCents();
    }
  }

  /** Returns the counts and sums of all lines that were added. */
  sums(): LineSums {
    const { loop, lineCents, transactionCents, shareCents } = this;
    return {
      lines: loop.lineCount(),
      deposits: loop.depositCount(),
      transactions: loop.transactionCount(),
      knownShares: loop.knownShareCount(),
      lineCents,
      transactionCents,
      shareCents,
    };
  }
}
