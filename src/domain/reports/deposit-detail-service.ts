import { lineOrders, type DepositDetailStore, type LineOrder } from '../../data/reports/deposit-detail-store';
import type { LineSet } from '../../data/books/line-set';
import type { Copy, ReportSnapshot } from '../../data/reading/report-snapshot';
import { keyFields, type OrderKey } from '../../data/postgres/keyset';
import { numberOf } from '../../data/postgres/version-stamp';
import type { RequestBooks } from '../../data/books/request-books';
import { AppError } from '../../errors';
import type { DateBasis, LineFilterInput, PendingChoice } from '../../formats/line-conditions';
import { lineFields, type LineValues } from '../../line/line-fields';
import { LastRow } from '../../rows/copy-encoding';
import { CopySpool } from '../../rows/copy-spool';
import { renderRows, type RowStream } from '../../rows/row-stream';
import { joinColumns, widenTemplate, type RowColumn, type RowTemplate } from '../../rows/row-template';
import { ALL_TIME, isLocalDate, type LocalDate } from '../../values/dates';
import { FigureReader, withFigureColumns, type LineFigures } from './control-totals';
import { assertDateOrder } from './date-order';
import { readPage, type Page, type PageParameters } from '../paging/keyset-page';
import { toLineFilter } from './line-filter';
import type { SealedPlaces } from '../paging/sealed-places';

/** A report's parameters as a caller sent them. */
export interface ReportParameters {
  readonly startDate: unknown;
  readonly endDate: unknown;
  readonly includePending: unknown;
}

/** The parameters that choose lines, as a caller sent them. A date that is missing does not bound them. */
export interface LineParameters {
  readonly startDate?: LocalDate | null;
  readonly endDate?: LocalDate | null;
  /** The dates of deposits when it is missing. */
  readonly dateBasis?: DateBasis;
  readonly includePending?: boolean;
  /** Takes precedence over `includePending`. */
  readonly pending?: PendingChoice;
  readonly filter?: LineFilterInput | null;
}

/** Checked parameters: two calendar dates in order, both included, and the choice of pending deposits. */
export interface ReportPeriod {
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly pending: PendingChoice;
}

/** The rows of the report. */
export interface LineStream extends RowStream<LineValues> {
  /** Reads the rows as `bytes` does, and their figures in the same reading. */
  bytesWithFigures(template: RowTemplate): RowsWithFigures;
  /**
   * Reads the figures before the rows, unless those of this data version are known. Rows that memory has room for are kept meanwhile, so
   * that the database is asked once.
   */
  bytesAfterFigures(template: RowTemplate): Promise<RowsAfterFigures>;
  /** Reads the rows of a page as `bytes` does. */
  pageBytes(template: RowTemplate, page: RowBounds): RowPage;
  /** Counts the rows, unless their number in this data version is known. It is asked before the rows. */
  count(): Promise<number>;
}

/** The bounds of a page in report order: the first rows after a place, so many at most. */
export interface RowBounds {
  readonly after?: OrderKey | undefined;
  readonly limit: number;
}

export interface RowPage {
  readonly rows: AsyncGenerator<Buffer>;
  /** The number of the rows; undefined until the last of them has been read. */
  readonly rowCount: () => number | undefined;
  /** The place of the last row, when there are as many rows as the limit allows, so that others may follow. */
  readonly end: () => OrderKey | undefined;
}

interface RowsWithFigures {
  readonly rows: AsyncGenerator<Buffer>;
  /** Undefined until the rows have been read to their end. */
  readonly figures: () => LineFigures | undefined;
}

interface RowsAfterFigures {
  readonly rows: AsyncGenerator<Buffer>;
  readonly figures: LineFigures;
}

export class DepositDetailService {
  constructor(private readonly store: DepositDetailStore) {}

  /** Reads the figures and the data version of all lines of an organization, those of pending deposits too. */
  async readAll(organizationId: number, snapshot: ReportSnapshot): Promise<LineFigures & { readonly dataVersion: number }> {
    const lineSet = toLineSet(organizationId, { ...ALL_TIME, pending: 'WITH' });
    const figures = await this.readFigures(lineSet, snapshot, snapshot.prepare());
    return { ...figures, dataVersion: numberOf(snapshot.version!) };
  }

  /** Reads the figures of lines alone. */
  async readFigures(lineSet: LineSet, snapshot: ReportSnapshot, copy: Copy = (select) => snapshot.copy(select)): Promise<LineFigures> {
    const columns = withFigureColumns([]);
    const reader = new FigureReader(columns);
    for await (const piece of this.store.copyLines({ copy, snapshot }, lineSet, columns)) reader.add(piece);
    return reader.end();
  }

  /**
   * The report: a line for each allocation, ordered by deposit date, deposit, transaction and allocation. Its bytes are read after all
   * other data of the answer.
   */
  report(lineSet: LineSet, books: RequestBooks): LineStream {
    const { snapshot } = books;
    const copy = snapshot.prepare();
    let rowCount: number | undefined;
    const bytes = (template: RowTemplate) =>
      renderRows(this.store.copyLines({ copy, snapshot }, lineSet, template.columns), template, (rows) => (rowCount = rows));
    return {
      key: JSON.stringify(['lines', lineSet]),
      bytes,
      rowCount: () => rowCount,
      bytesWithFigures: (template) => {
        const columns = withFigureColumns(template.columns);
        let figures: LineFigures | undefined;
        const lines = readFigures(this.store.copyLines({ copy, snapshot }, lineSet, columns), columns, (read) => (figures = read));
        return { rows: renderRows(lines, widenTemplate(template, columns)), figures: () => figures };
      },
      bytesAfterFigures: async (template) => {
        const columns = withFigureColumns(template.columns);
        const spool = new CopySpool(snapshot.signal);
        const figures = await books.once(JSON.stringify(['figures', lineSet]), async () => {
          const lines = this.store.copyLines({ copy: (select) => snapshot.copy(select), snapshot }, lineSet, columns);
          let read: LineFigures | undefined;
          await spool.keep(readFigures(lines, columns, (found) => (read = found)));
          return read!;
        });
        const kept = spool.read();
        if (!kept) return { figures, rows: bytes(template) };
        await snapshot.end();
        return { figures, rows: renderRows(kept, widenTemplate(template, columns)) };
      },
      pageBytes: (template, { after, limit }) => {
        const columns = joinColumns(template.columns, PLACE_COLUMNS);
        const lastRow = new LastRow();
        const page = { after, limit, fromEnd: false };
        const lines = passOn(this.store.copyLines({ copy, snapshot }, lineSet, columns, page), lastRow);
        let found: number | undefined;
        return {
          rows: renderRows(lines, widenTemplate(template, columns), (rows) => (found = rows)),
          rowCount: () => found,
          end: () => (found === limit ? toPlaceOf(lastRow, columns) : undefined),
        };
      },
      count: () => this.count(lineSet, books),
      objects: () => this.store.list(lineSet),
    };
  }

  /** The lines of the report as bytes, for a reader that needs them before the rest of the answer, such as the digest. */
  bytes(lineSet: LineSet, template: RowTemplate, snapshot: ReportSnapshot): AsyncGenerator<Buffer> {
    return renderRows(this.store.copyLines({ copy: (select) => snapshot.copy(select), snapshot }, lineSet, template.columns), template);
  }

  /**
   * A page of the lines, which have the fields that are asked for and those of their cursors. A page that `isShort` is a short statement.
   * Throws INVALID_PARAMETERS when the page's parameters are wrong.
   */
  page(
    { lineSet, order, fields }: { readonly lineSet: LineSet; readonly order: LineOrder; readonly fields: readonly string[] },
    page: PageParameters,
    { books, sealed, isShort }: { readonly books: RequestBooks; readonly sealed: SealedPlaces; readonly isShort: boolean },
  ): Promise<Page<Partial<LineValues>>> {
    const list = {
      order: lineOrders[order.field],
      query: ['lines', lineSet, order],
      count: () => this.count(lineSet, books),
      sealed,
    };
    return readPage(page, list, (bounds) => this.store.listPage({ lineSet, order, fields }, bounds, { books, isShort }));
  }

  private async count(lineSet: LineSet, books: RequestBooks): Promise<number> {
    const { count } = await books.once(JSON.stringify(['count', lineSet]), (state) => this.store.count(lineSet, state));
    return count;
  }
}

const PLACE_FIELDS = keyFields(lineOrders.DATE);
/** The columns of a line's place in the report, in the order in which the columns of lines have them. */
const PLACE_COLUMNS = Object.values(lineFields)
  .filter(({ field }) => PLACE_FIELDS.includes(field))
  .map(({ field }): RowColumn => ({ field, kind: 'text' }));

/** The place of the last row; undefined where there is no row. */
function toPlaceOf({ values }: LastRow, columns: readonly RowColumn[]): OrderKey | undefined {
  return values && PLACE_FIELDS.map((field) => values[columns.findIndex((column) => column.field === field)]!);
}

async function* passOn(copy: AsyncIterable<Buffer>, lastRow: LastRow): AsyncGenerator<Buffer> {
  for await (const piece of copy) {
    lastRow.add(piece);
    yield piece;
  }
}

/** Passes COPY's output on and reads its figures meanwhile, which `onEnd` gets. */
async function* readFigures(
  copy: AsyncIterable<Buffer>,
  columns: readonly RowColumn[],
  onEnd: (figures: LineFigures) => void,
): AsyncGenerator<Buffer> {
  // A report that still waits for its first rows occupies no renderer.
  let reader: FigureReader | undefined;
  for await (const piece of copy) {
    reader ??= new FigureReader(columns);
    reader.add(piece);
    yield piece;
  }
  onEnd((reader ?? new FigureReader(columns)).end());
}

/** Checks a report's parameters. Throws INVALID_PARAMETERS, or START_DATE_AFTER_END_DATE when only the order of the dates is wrong. */
export function toReportPeriod({ startDate, endDate, includePending }: ReportParameters): ReportPeriod {
  if (!isLocalDate(startDate) || !isLocalDate(endDate) || typeof includePending !== 'boolean') throw new AppError('INVALID_PARAMETERS');
  assertDateOrder(startDate, endDate);
  return { startDate, endDate, pending: includePending ? 'WITH' : 'WITHOUT' };
}

/** The line set of an organization and a period of deposit dates, without a filter. */
export const toLineSet = (organizationId: number, period: ReportPeriod): LineSet => ({
  ...{ organizationId, ...period, filter: {} },
  dateBasis: 'DEPOSIT_DATE',
});

/** The line set of an organization and of the parameters that choose lines. Throws as `toReportPeriod` and `toLineFilter`. */
export function toNarrowedLineSet(organizationId: number, parameters: LineParameters): LineSet {
  const { dateBasis = 'DEPOSIT_DATE', includePending = false, pending, filter } = parameters;
  const dates = { startDate: parameters.startDate ?? ALL_TIME.startDate, endDate: parameters.endDate ?? ALL_TIME.endDate };
  const period = toReportPeriod({ ...dates, includePending });
  return { organizationId, ...period, dateBasis, pending: pending ?? period.pending, filter: toLineFilter(filter) };
}
