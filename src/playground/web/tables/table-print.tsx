import { useEffect, useState, type RefObject } from 'react';
import { useErrorBoundary } from 'react-error-boundary';
import { describePrint, PrintSheet, usePrinting, type PrintHead } from './print-sheet';
import type { ArrangedRows } from '../rows/arranged-rows';
import { createCellFormat, formatRows } from '../values/cell-format';
import type { ShownColumn } from './column-layout';
import type { TableClient } from '../rows/table-client';
import { toTotal, type GivenTotals } from './table-rows';
import type { Arranged, LoadedTable, Row } from '../values/table-types';

/** The most rows of a print: about a hundred pages. */
const MAX_ROWS = 5_000;
/** The rows that are read at once. More of them would keep the page busy. */
const PIECE_ROWS = 500;
/** The columns beyond which a sheet is written small, so that a row stays one line. */
const MANY_COLUMNS = 8;
/** The most compact columns beside each other on a sheet: a year of months with its total and share. */
const MAX_COMPACT = 14;

interface TablePrintProps {
  readonly client: TableClient;
  readonly table: Pick<LoadedTable, 'id' | 'count'>;
  readonly print: PrintHead;
  readonly columns: readonly ShownColumn[];
  /** The search and the filters in words, as far as the sheet has them. */
  readonly conditions: readonly string[];
  readonly rows: Pick<ArrangedRows, 'arranged' | 'isBusy'>;
  readonly totals: GivenTotals | undefined;
  readonly isPart: boolean;
  readonly hasTotals: boolean;
  /** The table on the screen, which is printed while it is in front. */
  readonly frame: RefObject<Element | null>;
  /** True once somebody has pressed the button, until the browser prints. */
  readonly isAsked: boolean;
  readonly onAnswered: () => void;
}

/**
 * Prints the shown rows as a plain table, because the table on the screen holds only the visible ones. The browser's own print waits for
 * nobody, so the rows are read before anybody prints.
 */
export function TablePrint({ client, table, rows, frame, isAsked, onAnswered, ...sheet }: TablePrintProps) {
  const { arranged, isBusy } = rows;
  const read = useRowsToPrint(client, table, arranged);
  const [isReady, setIsReady] = useState(false);
  const isPrinting = usePrinting(frame);
  const { showBoundary } = useErrorBoundary();
  const most = arranged && Math.min(arranged.count, MAX_ROWS);
  const isWanted = isAsked && !isBusy;
  useEffect(() => {
    if (!isWanted || !read) return undefined;
    if (read.problem !== undefined) return showBoundary(read.problem);
    if (read.rows.length !== most) return undefined;
    setIsReady(true);
    // The browser prints what it has laid out, so the sheet comes first.
    const next = requestAnimationFrame(() => {
      onAnswered();
      window.print();
    });
    return () => cancelAnimationFrame(next);
  }, [isWanted, read, most, onAnswered, showBoundary]);
  useEffect(() => {
    const end = (): void => setIsReady(false);
    window.addEventListener('afterprint', end);
    return () => window.removeEventListener('afterprint', end);
  }, []);
  return isPrinting || isReady ? <TableSheet {...{ table, arranged, ...sheet }} rows={read?.rows ?? []} /> : null;
}

interface ReadRows {
  readonly of: Arranged;
  readonly rows: readonly Row[];
  readonly problem?: unknown;
}

/** Reads the first rows of an arrangement, piece by piece. Undefined before the first piece. */
function useRowsToPrint(client: TableClient, { id }: Pick<LoadedTable, 'id'>, arranged: Arranged | undefined): ReadRows | undefined {
  const [read, setRead] = useState<ReadRows>();
  useEffect(() => {
    if (!arranged) return undefined;
    let isOld = false;
    const most = Math.min(arranged.count, MAX_ROWS);
    const readAll = async (): Promise<void> => {
      let rows: readonly Row[] = [];
      do {
        const piece = await client.rowsOf(id, arranged.serial, rows.length, Math.min(rows.length + PIECE_ROWS, most));
        if (isOld || !piece) return;
        rows = [...rows, ...piece];
        setRead({ of: arranged, rows });
      } while (rows.length < most);
    };
    // Nobody may ever print these rows: the problem is told to whoever does.
    readAll().catch((problem: unknown) => isOld || setRead({ of: arranged, rows: [], problem }));
    return () => {
      isOld = true;
    };
  }, [client, id, arranged]);
  return read?.of === arranged ? read : undefined;
}

type TableSheetProps = Pick<TablePrintProps, 'table' | 'print' | 'columns' | 'conditions' | 'totals' | 'isPart' | 'hasTotals'> & {
  readonly arranged: Arranged | undefined;
  readonly rows: readonly Row[];
};

function TableSheet({ table, print, columns, conditions, arranged, totals, isPart, hasTotals, rows }: TableSheetProps) {
  const { cell, format } = createCellFormat(navigator.languages);
  const toCount = (count: number): string => format(count, 'count');
  const count = arranged?.count ?? table.count;
  const missing = count - rows.length;
  const all = formatRows(table.count, navigator.languages);
  const part = isPart ? `${toCount(count)} of ${all}, searched or filtered` : all;
  const cut = missing > 0 && rows.length === MAX_ROWS ? `; only the first ${toCount(rows.length)} are printed` : '';
  const printed = columns.filter(({ column }) => !print.leftOut?.includes(column.id));
  const parts = toParts(printed);
  return (
    <PrintSheet title={print.title} lines={[...print.lines, ...conditions]} isWide={columns.some(({ column }) => column.isCompact)}>
      <p>
        {part}
        {cut}. {describePrint(print)}
      </p>
      {missing > 0 && (
        <p className="print-note">
          {toCount(missing)} {missing === 1 ? 'row is' : 'rows are'} not on this sheet
          {cut === '' ? ', because the page was still reading. Print again in a moment.' : '.'}
        </p>
      )}
      {parts.map((part) => (
        <table key={part.map(({ column }) => column.id).join()} className={part.length > MANY_COLUMNS ? 'print-small' : undefined}>
          <thead>
            <tr>
              {part.map(({ column }) => (
                <th key={column.id} className={column.kind}>
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, place) => (
              <tr key={place}>
                {part.map(({ column, place: at }) => (
                  <td key={column.id} className={column.kind}>
                    {cell(row[at] ?? null, column)}
                  </td>
                ))}
              </tr>
            ))}
            {/* A foot of the table would stand on every page, as if it were the total of the page. Under a part it would pass for its sum. */}
            {arranged && hasTotals && missing === 0 && (
              <tr className="print-totals">
                {part.map((shown, n) => (
                  <td key={shown.column.id} className={shown.column.kind}>
                    {toTotal(shown, n === 0, arranged, isPart ? undefined : totals, isPart)}
                  </td>
                ))}
              </tr>
            )}
          </tbody>
        </table>
      ))}
    </PrintSheet>
  );
}

/** Divides columns that are too many for a sheet into tables, each with the columns that name the rows. */
function toParts(columns: readonly ShownColumn[]): readonly (readonly ShownColumn[])[] {
  const compact = columns.filter(({ column }) => column.isCompact);
  const parts = Array.from({ length: Math.max(1, Math.ceil(compact.length / MAX_COMPACT)) }, (_, n) =>
    compact.slice(n * MAX_COMPACT, (n + 1) * MAX_COMPACT),
  );
  return parts.map((part) => columns.filter((each) => !each.column.isCompact || part.includes(each)));
}
