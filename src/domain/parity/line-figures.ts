import { createHash } from 'node:crypto';
import { toV2Json } from '../../formats/line-sum';
import { extraNames, lineFields, moneyNames, type FileValues, type LineName } from '../../line/line-fields';
import { guardFormula } from '../../values/formula-guard';
import { toCents, toMoney } from '../../values/money';

/** A line as a door gives it: values by their names in files. Nothing is known of the values. */
export type DoorLine = Readonly<Partial<Record<LineName, unknown>>>;

/**
 * The figures that doors are compared by, in the order in which a difference is told. `extras` is a digest of the fields that v2 lacks, and
 * `otherFields` the number of values beyond the door's fields and of those that a line lacks.
 */
export const figureNames = [
  ...(['lines', 'transactions', 'deposits', 'amountByLine', 'amountByTransaction'] as const),
  ...(['amountByAllocation', 'unknownShares', 'digest', 'moneyDigest', 'extras', 'otherFields'] as const),
] as const;
export type FigureName = (typeof figureNames)[number];

/** Figures as text. One that a door does not tell is undefined. */
export type DoorFigures = { readonly [Name in FigureName]?: string | undefined };

/** The sum of shares of which none is known. */
export const NO_SHARE = 'unknown';

/** The first figure that both tell and that differs; undefined when there is none. */
export const findDifferingFigure = (books: DoorFigures, door: DoorFigures): FigureName | undefined =>
  figureNames.find((name) => books[name] !== undefined && door[name] !== undefined && books[name] !== door[name]);

/**
 * Counts, control totals and digest of the lines of a door, in report order. They are computed by themselves and not by the code that the
 * doors share, whose faults they shall find. What is no amount counts as 0.00: the digest tells it.
 */
export class LineFigures {
  private readonly digest = createHash('sha256');
  private readonly extras = createHash('sha256');
  private readonly money = createHash('sha256').update(`${moneyNames.join()}\r\n`);
  private lines = 0;
  private transactions = 0;
  private deposits = 0;
  private knownShares = 0;
  private lineCents = 0n;
  private transactionCents = 0n;
  private shareCents = 0n;
  private previous: DoorLine | undefined;

  private otherFields = 0;
  private readonly fields: ReadonlySet<string>;
  private readonly hasExtras: boolean;

  /** Begins the figures of lines with these fields: all of a line, or those of v2. */
  constructor(fields: readonly LineName[]) {
    this.fields = new Set(fields);
    this.hasExtras = extraNames.every((name) => this.fields.has(name));
  }

  add(lines: readonly DoorLine[]): void {
    let [v2, others, money] = ['', '', ''];
    for (const line of lines) {
      const cents = centsOf(line.amount) ?? 0n;
      this.lines++;
      this.lineCents += cents;
      if (line.deposit_id !== this.previous?.deposit_id) this.deposits++;
      if (line.transaction_id !== this.previous?.transaction_id) {
        this.transactions++;
        this.transactionCents += cents;
      }
      this.previous = line;
      const known = Object.keys(line).filter((name) => this.fields.has(name)).length;
      this.otherFields += Object.keys(line).length - known + (this.fields.size - known);
      v2 += `${toV2Json(line as FileValues)}\n`;
      if (!this.hasExtras) continue;
      const share = centsOf(line.allocation_amount);
      if (share !== undefined) this.knownShares++;
      this.shareCents += share ?? 0n;
      others += `${JSON.stringify(extraNames.map((name) => line[name]))}\n`;
      money += `${moneyNames.map((name) => toCsvValue(name, line[name])).join()}\r\n`;
    }
    this.digest.update(v2);
    this.extras.update(others);
    this.money.update(money);
  }

  end(): DoorFigures {
    const { lines, transactions, deposits, knownShares } = this;
    return {
      ...{ lines: String(lines), transactions: String(transactions), deposits: String(deposits) },
      ...{ amountByLine: toMoney(this.lineCents), amountByTransaction: toMoney(this.transactionCents) },
      ...{ digest: this.digest.digest('hex'), otherFields: String(this.otherFields) },
      ...(this.hasExtras && {
        amountByAllocation: lines > 0 && knownShares === 0 ? NO_SHARE : toMoney(this.shareCents),
        unknownShares: String(lines - knownShares),
        extras: this.extras.digest('hex'),
        moneyDigest: this.money.digest('hex'),
      }),
    };
  }
}

/** A value of the CSV file of money. Shares, which may be unknown, and numbers have no quotes. */
const toCsvValue = (name: LineName, value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '').replace(/^""$/, '');
  if (lineFields[name].isNullable || lineFields[name].type === 'number') return text;
  const guarded = lineFields[name].type === 'id' || lineFields[name].type === 'text' ? guardFormula(text) : text;
  return `"${guarded.replaceAll('"', '""')}"`;
};

const centsOf = (value: unknown): bigint | undefined => (typeof value === 'string' ? toCents(value) : undefined);
