import { memo, type ReactNode } from 'react';
import { createCellFormat } from './cell-format';
import type { ShownColumn } from './column-layout';
import type { Arranged, Cell, ColumnSum, Row } from './table-types';

interface TableRowProps {
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
  readonly toOpenName: ((row: Row) => string) | undefined;
}

/** Memoized, so that scrolling renders only the rows that come into view. */
export const TableRow = memo(function TableRow({ place, start, columns, row, onOpen, toOpenName, ...selection }: TableRowProps) {
  const { format } = createCellFormat(navigator.languages);
  const { selectedFrom, selectedTo, head } = selection;
  const toClass = (kind: string, column: number): string =>
    [kind, column >= selectedFrom && column <= selectedTo && 'selected', column === head && 'head'].filter(Boolean).join(' ');
  return (
    <div
      role="row"
      aria-rowindex={place + 2}
      data-row={place}
      className="table-row"
      style={{ transform: `translateY(${String(start)}px)` }}
    >
      {columns.map(({ column, place: at }, n) => {
        const text = row ? format(row[at] ?? null, column.kind) : '';
        return (
          <div key={column.id} role="cell" className={toClass(column.kind, n)}>
            {n === 0 && row && onOpen ? (
              <button type="button" className="row-open" aria-label={`Open ${toOpenName?.(row) ?? text}`} onClick={() => onOpen(row)}>
                {text || '…'}
              </button>
            ) : (
              text
            )}
          </div>
        );
      })}
    </div>
  );
});

/** The gateway's own totals of all rows, by column id: a value, or a sum of which a part is unknown. */
export type GivenTotals = Readonly<Record<string, Cell | ColumnSum>>;

interface TotalsRowProps {
  readonly columns: readonly ShownColumn[];
  readonly arranged: Arranged;
  /** Shown while all rows are. Undefined takes the sums of the rows. */
  readonly totals: GivenTotals | undefined;
  readonly isPart: boolean;
}

/** The totals under the rows. They stay in sight while the rows scroll. */
export function TotalsRow({ columns, arranged, totals, isPart }: TotalsRowProps) {
  return (
    <div role="row" aria-rowindex={arranged.count + 2} className="table-row table-totals">
      {columns.map((shown, n) => (
        <div key={shown.column.id} role="cell" className={shown.column.kind}>
          {toTotal(shown, n === 0, arranged, isPart ? undefined : totals, isPart)}
        </div>
      ))}
    </div>
  );
}

/** The total of a column. A column of amounts or numbers that must not be added up gets a dash. */
export function toTotal(
  { column: { id, kind } }: ShownColumn,
  isFirst: boolean,
  { sums }: Arranged,
  totals: GivenTotals | undefined,
  isPart: boolean,
): ReactNode {
  const { format } = createCellFormat(navigator.languages);
  const total = totals && id in totals ? totals[id] : sums[id];
  const title = isPart ? 'Total of these rows' : 'Total';
  if (total === undefined) return isFirst ? title : kind === 'money' || kind === 'count' ? '–' : '';
  if (typeof total !== 'object' || total === null) return format(total, kind);
  const unknown = total.sum !== null && total.unknown > 0 ? ` + ${format(total.unknown, 'count')} unknown` : '';
  return `${format(total.sum, kind)}${unknown}`;
}
