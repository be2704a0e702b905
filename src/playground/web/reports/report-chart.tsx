import { useEffect, useMemo, useState } from 'react';
import { useErrorBoundary } from 'react-error-boundary';
import { ResultChart } from '../charts/result-chart';
import { NotePrint, type PrintHead } from '../tables/print-sheet';
import type { ResultTable } from '../rows/result-tables';
import { toResultTable } from '../rows/result-tables';
import type { TableClient } from '../rows/table-client';
import type { LoadedTable, Row, TableColumn } from '../values/table-types';
import { isContact } from './report-columns';

interface ReportChartProps {
  readonly client: TableClient;
  readonly table: LoadedTable;
  readonly columns: readonly TableColumn[];
  readonly title: string;
  /** The name of the picture's file, without what it ends in. */
  readonly fileName: string;
  /** The head of the print sheet. */
  readonly print: PrintHead;
}

/** A chart of more groups would be a wall of color. */
const MAX_GROUPS = 100_000;
const TOO_LONG = 'This report has too many rows for a chart. Divide it by month, or choose a shorter period.';

/** Draws a figure of a report's groups. The groups come from the worker. */
export function ReportChart({ client, table, columns, title, fileName, print }: ReportChartProps) {
  const [rows, setRows] = useState<readonly Row[]>();
  const { showBoundary } = useErrorBoundary();
  const isTooLong = table.count > MAX_GROUPS;
  useEffect(() => {
    if (!isTooLong) client.loadedRows(table.id, 0, table.count).then(setRows, showBoundary);
  }, [client, table, isTooLong, showBoundary]);
  const drawn = useMemo<ResultTable | undefined>(() => rows && toDrawn(title, columns, rows), [title, columns, rows]);
  const note = isTooLong ? TOO_LONG : 'The chart is still being drawn. Print again in a moment.';
  if (!drawn) {
    return (
      <>
        {isTooLong && <p className="note">{TOO_LONG}</p>}
        <NotePrint {...{ title, note }} lines={print.lines} />
      </>
    );
  }
  return (
    <section className="result" aria-label="Chart">
      <ResultChart table={drawn} {...{ fileName, print }} />
    </section>
  );
}

/** The groups with their figures. The first amount that may be added up is drawn first. */
function toDrawn(name: string, columns: readonly TableColumn[], rows: readonly Row[]): ResultTable {
  const table = toResultTable({ name, columns }, rows);
  return {
    ...table,
    isWhole: true,
    main: columns.find(({ kind, adds, isHidden }) => kind === 'money' && adds && !isHidden)?.id,
    columns: table.columns
      .map((column, n) => ({ ...column, title: columns[n]?.title ?? column.name, adds: columns[n]?.adds ?? false }))
      // A bar is named by its donor, and not by an address.
      .filter(({ name }) => !isContact(name)),
  };
}
