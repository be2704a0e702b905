import { useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { useErrorBoundary } from 'react-error-boundary';
import { createCellFormat } from './cell-format';
import type { ShownColumn } from './column-layout';
import type { TableClient } from './table-client';
import { toTotal, type GivenTotals } from './table-rows';
import type { Arranged, LoadedTable, Row } from './table-types';

/** The most rows of a print: about a hundred pages. */
const MAX_ROWS = 5_000;

/** What stands above the rows of a print. */
export interface PrintHead {
  readonly title: string;
  /** A line each, such as the period, the filters and the total figures. */
  readonly lines: readonly string[];
  /** The version of the books that the rows are of. */
  readonly version: number;
}

interface PrintSheetProps {
  readonly client: TableClient;
  readonly table: Pick<LoadedTable, 'id' | 'count'>;
  readonly print: PrintHead;
  readonly columns: readonly ShownColumn[];
  /** The search and the filters in words. */
  readonly conditions: readonly string[];
  readonly arranged: Arranged;
  readonly totals: GivenTotals | undefined;
  readonly isPart: boolean;
  readonly hasTotals: boolean;
  /** Called when the browser has printed, or was told not to. */
  readonly onEnd: () => void;
}

/** Prints the shown rows as a plain table, because the table on the screen holds only the visible ones. */
export function PrintSheet({ client, table, print, columns, conditions, arranged, totals, isPart, hasTotals, onEnd }: PrintSheetProps) {
  const [read, setRead] = useState<{ readonly serial: number; readonly rows: readonly Row[] }>();
  const { showBoundary } = useErrorBoundary();
  const { serial } = arranged;
  // While the worker arranges anew there are no rows to print. The next arrangement reads them.
  useEffect(() => {
    client.rowsOf(table.id, serial, 0, MAX_ROWS).then((found) => found && setRead({ serial, rows: found }), showBoundary);
  }, [client, table.id, serial, showBoundary]);
  const rows = read?.serial === serial ? read.rows : undefined;
  useEffect(() => {
    if (!rows) return undefined;
    window.addEventListener('afterprint', onEnd);
    // The browser prints what it has laid out, so the sheet comes first.
    const frame = requestAnimationFrame(() => window.print());
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener('afterprint', onEnd);
    };
  }, [rows, onEnd]);
  if (!rows) return null;
  const { format } = createCellFormat(navigator.languages);
  const toCount = (count: number): string => format(count, 'count');
  const all = `${toCount(table.count)} ${table.count === 1 ? 'row' : 'rows'}`;
  const part = isPart ? `${toCount(arranged.count)} of ${all}, searched or filtered` : all;
  const cut = arranged.count > rows.length ? `; only the first ${toCount(rows.length)} are printed` : '';
  return createPortal(
    <section className="print-sheet">
      <h1>{print.title}</h1>
      {[...print.lines, ...conditions].map((line) => (
        <p key={line}>{line}</p>
      ))}
      <p>
        {part}
        {cut}. The books are at version {toCount(print.version)}. Printed {format(new Date().toISOString(), 'instant')}.
      </p>
      <table>
        <thead>
          <tr>
            {columns.map(({ column }) => (
              <th key={column.id} className={column.kind}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place}>
              {columns.map(({ column, place: at }) => (
                <td key={column.id} className={column.kind}>
                  {format(row[at] ?? null, column.kind)}
                </td>
              ))}
            </tr>
          ))}
          {/* A foot of the table would stand on every page, as if it were the total of the page. */}
          {hasTotals && (
            <tr className="print-totals">
              {columns.map((shown, n) => (
                <td key={shown.column.id} className={shown.column.kind}>
                  {toTotal(shown, n === 0, arranged, isPart ? undefined : totals, isPart)}
                </td>
              ))}
            </tr>
          )}
        </tbody>
      </table>
    </section>,
    document.body,
  );
}
