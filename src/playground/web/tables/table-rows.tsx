import { memo, type ReactNode } from 'react';
import { createCellFormat } from '../values/cell-format';
import type { ShownColumn } from './column-layout';
import { isTooWide, type MeasureText } from './column-widths';
import type { Arranged, Cell, ColumnSum, Row } from '../values/table-types';

/** The widths of the columns in which not every value has room, and the measure of a text. */
interface Room {
  readonly limits: readonly (number | undefined)[];
  readonly measure: MeasureText;
}

/**
 * Shows a text that has room in its column. A number, a date or an id without room becomes `###`, as in a spreadsheet; screen readers, the
 * pointer and copies get the whole of it.
 */
function fit(text: string, limit: number | undefined, measure: MeasureText, isTotal = false): { content: ReactNode; title?: string } {
  // A total goes on in the next line between its words.
  const parts = isTotal ? text.split(' ') : [text];
  if (limit === undefined || !isTooWide(parts, limit, measure, isTotal)) return { content: text };
  const content = (
    <>
      <span aria-hidden="true">###</span>
      <span className="hidden-text">{text}</span>
    </>
  );
  return { content, title: text };
}

interface TableRowProps extends Room {
  readonly place: number;
  /** Pixels between the top of the first row and this one. */
  readonly start: number;
  readonly columns: readonly ShownColumn[];
  /** Undefined until the row has been fetched. */
  readonly row: Row | undefined;
  /** The first and the last selected column; -1 when no cell of the row is selected. */
  readonly selectedFrom: number;
  readonly selectedTo: number;
  /** The column in which the keyboard stands; -1 in other rows. */
  readonly head: number;
  readonly onOpen: ((row: Row) => void) | undefined;
  readonly onTouch: ((row: Row) => void) | undefined;
  /** Gives undefined for a row that leads nowhere. */
  readonly toOpenName: ((row: Row) => string | undefined) | undefined;
}

/** Memoized, so that scrolling renders only the rows that come into view. */
export const TableRow = memo(function TableRow({
  place,
  start,
  columns,
  limits,
  measure,
  row,
  onOpen,
  onTouch,
  toOpenName,
  ...selection
}: TableRowProps) {
  const { cell } = createCellFormat(navigator.languages);
  const { selectedFrom, selectedTo, head } = selection;
  const first = columns[0];
  const openName = row && onOpen && first ? (toOpenName ? toOpenName(row) : cell(row[first.place] ?? null, first.column)) : undefined;
  const toClass = (kind: string, column: number): string =>
    [kind, column >= selectedFrom && column <= selectedTo && 'selected', column === head && 'head'].filter(Boolean).join(' ');
  return (
    <div
      role="row"
      aria-rowindex={place + 2}
      data-row={place}
      className="table-row"
      onClick={
        row &&
        onTouch &&
        (({ target }) => {
          if (!(target as Element).closest('button')) onTouch(row);
        })
      }
      style={{ transform: `translateY(${String(start)}px)` }}
    >
      {columns.map(({ column, place: at }, n) => {
        const text = row ? cell(row[at] ?? null, column) : '';
        const { content, title } = fit(text, limits[n], measure);
        const isOpener =
          openName !== undefined && (n === 0 || (text !== '' && columns.slice(0, n + 1).every((each) => each.column.isName)));
        return (
          <div key={column.id} role="cell" className={toClass(column.kind, n)} title={title}>
            {isOpener ? (
              <button
                type="button"
                className="row-open"
                // The rest of a name leads where its beginning does, and is no second stop of the keyboard.
                {...(n === 0
                  ? { 'aria-label': openName.includes(text) ? `Open ${openName}` : `Open ${openName}, ${text}` }
                  : { tabIndex: -1 })}
                onClick={() => row && onOpen?.(row)}
              >
                {content || '…'}
              </button>
            ) : (
              content
            )}
          </div>
        );
      })}
    </div>
  );
});

/** The gateway's own totals of all rows, by column id: a value, or a sum of which a part is unknown. */
export type GivenTotals = Readonly<Record<string, Cell | ColumnSum>>;

interface TotalsRowProps extends Room {
  readonly columns: readonly ShownColumn[];
  readonly arranged: Arranged;
  /** Shown while all rows are. Undefined takes the sums of the rows. */
  readonly totals: GivenTotals | undefined;
  readonly isPart: boolean;
}

/** The totals under the rows. They stay in sight while the rows scroll. */
export function TotalsRow({ columns, arranged, totals, isPart, limits, measure }: TotalsRowProps) {
  return (
    <div role="row" aria-rowindex={arranged.count + 2} className="table-row table-totals">
      {columns.map((shown, n) => {
        const text = toTotal(shown, n === 0, arranged, isPart ? undefined : totals, isPart);
        const { content, title } = fit(text, limits[n], measure, true);
        return (
          <div key={shown.column.id} role="cell" className={shown.column.kind} title={title}>
            {content}
          </div>
        );
      })}
    </div>
  );
}

/** The total of a column. A column of amounts or numbers that must not be added up gets a dash. */
export function toTotal(
  { column }: ShownColumn,
  isFirst: boolean,
  { sums }: Arranged,
  totals: GivenTotals | undefined,
  isPart: boolean,
): string {
  const { id, kind } = column;
  const { cell, format } = createCellFormat(navigator.languages);
  const total = totals && id in totals ? totals[id] : sums[id];
  const title = isPart ? 'Total of these rows' : 'Total';
  if (total === undefined) return isFirst ? title : kind === 'money' || kind === 'count' ? '–' : '';
  if (typeof total !== 'object' || total === null) return cell(total, column);
  const unknown = total.sum !== null && total.unknown > 0 ? ` + ${format(total.unknown, 'count')} unknown` : '';
  return `${cell(total.sum, column)}${unknown}`;
}
