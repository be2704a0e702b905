import { createHash } from 'node:crypto';
import { extraColumns, moneyColumns, v2Columns } from '../../formats/file-columns';
import { createFileLayout, type FileLayout } from '../../formats/file-format';
import { v2Layouts } from '../../formats/v2-line';
import { LineTotals, type TotalledRows } from '../../rows/line-totals';
import { RowRenderer } from '../../rows/row-renderer';
import { joinColumns, widenTemplate, type RowColumn } from '../../rows/row-template';
import { toMoney, type Money } from '../../values/money';

/** The counts and sums of a file's lines, by which a copy of them can be checked. */
export interface ControlTotals {
  readonly lines: number;
  readonly transactions: number;
  readonly deposits: number;
  /** A split transaction counts once for each of its lines. */
  readonly byLine: { readonly amount: Money };
  /** Each transaction counts once. */
  readonly byTransaction: { readonly amount: Money };
  /** The sum of the shares, which is null when there are lines and no share is known or inferred, and the number of unknown shares. */
  readonly byAllocation: { readonly amount: Money | null; readonly unknown: number };
}

/** The digests of lines in report order, each a SHA-256 in hex. */
export interface LineDigests {
  /** The digest of each line's v2 JSON object followed by LF. */
  readonly digest: string;
  /** The digest of the CSV file of the columns of money: that of a file with `columns=money`. */
  readonly moneyDigest: string;
}

export type DigestName = keyof LineDigests;

/** The control totals of lines and their digests. */
export interface LineFigures extends LineDigests {
  readonly totals: ControlTotals;
}

const DIGEST_ROWS = v2Layouts.ndjson.template;
const MONEY = createFileLayout('csv', moneyColumns);
const TOTALLED: TotalledRows = {
  template: MONEY.template,
  dates: [v2Columns.transaction_date, v2Columns.deposit_date],
  transaction: v2Columns.transaction_id,
  amount: v2Columns.amount,
  share: extraColumns.allocation_amount,
};
const READ: readonly RowColumn[] = joinColumns(DIGEST_ROWS.columns, MONEY.template.columns);

/** The columns of a file together with those that its figures are read from. */
export const withFigureColumns = (shown: readonly RowColumn[]): RowColumn[] => joinColumns(shown, READ);

/** The layouts whose bytes a digest alone is of. */
export const digestLayouts = { digest: v2Layouts.ndjson, moneyDigest: MONEY } as const satisfies Readonly<Record<DigestName, FileLayout>>;

/** Reads the figures of lines from COPY's text output of `columns`, the lines in report order. */
export class FigureReader {
  private readonly totals: LineTotals;
  private readonly rows: RowRenderer;
  private readonly hash = createHash('sha256');
  private readonly moneyHash = createHash('sha256').update(MONEY.head);

  constructor(columns: readonly RowColumn[]) {
    // The totals are read from the rows of the money digest, which are rendered once for both.
    this.totals = new LineTotals(columns, TOTALLED, (rows) => this.moneyHash.update(rows));
    this.rows = RowRenderer.open(widenTemplate(DIGEST_ROWS, columns));
  }

  /** Adds output, which may be cut anywhere. */
  add(copy: Buffer): void {
    this.totals.add(copy);
    for (const rows of this.rows.add(copy)) this.hash.update(rows);
  }

  /** Returns the figures. Throws when the output has ended within a row. */
  end(): LineFigures {
    this.hash.update(this.rows.end());
    const { lines, transactions, deposits, knownShares, ...cents } = this.totals.end();
    this.rows.release();
    return {
      totals: {
        lines,
        transactions,
        deposits,
        byLine: { amount: toMoney(cents.lineCents) },
        byTransaction: { amount: toMoney(cents.transactionCents) },
        byAllocation: { amount: lines > 0 && knownShares === 0 ? null : toMoney(cents.shareCents), unknown: lines - knownShares },
      },
      digest: this.hash.digest('hex'),
      moneyDigest: this.moneyHash.digest('hex'),
    };
  }
}
