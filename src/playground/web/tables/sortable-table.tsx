import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useMemo, useRef, useState } from 'react';
import { copyText } from '../look/clipboard';
import { formatRows } from '../look/figures';
import { sortRows, toCell, toCells, type ResultColumn, type ResultRow, type ResultTable } from './result-tables';

const ROW_HEIGHT = 28;
const MIN_COLUMN_WIDTH = 110;
/** Pixels for each character of a column's name, with room for the sorting sign. */
const CHARACTER_WIDTH = 9;

interface Sorting {
  /** The name of the sorted column. The next answer may have a different column of this name, or none. */
  readonly name: string;
  readonly isDescending: boolean;
}

/** Shows a list as a table that is sorted by clicks on its columns. The page holds only visible rows, so that 100,000 scroll smoothly. */
export function SortableTable({ table }: { readonly table: ResultTable }) {
  const [sorting, setSorting] = useState<Sorting>();
  const sorted = sorting && table.columns.find(({ name }) => name === sorting.name);
  const isDescending = sorting?.isDescending ?? false;
  const rows = useMemo(() => (sorted ? sortRows(table.rows, sorted, isDescending) : table.rows), [table, sorted, isDescending]);
  const [copying, setCopying] = useState<{ readonly of: readonly ResultRow[]; readonly text: string }>();
  const frame = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const sortBy = (column: ResultColumn): void =>
    setSorting({ name: column.name, isDescending: sorted?.name === column.name && !isDescending });
  const copy = (): void => {
    copyText(toCells(table, rows)).then(
      () => setCopying({ of: rows, text: `Copied ${formatRows(rows.length)}` }),
      (error: unknown) => setCopying({ of: rows, text: (error as Error).message }),
    );
  };
  const template = useMemo(() => toTemplate(table.columns), [table]);
  const directionOf = ({ name }: ResultColumn) => (sorted?.name !== name ? 'none' : isDescending ? 'descending' : 'ascending');
  return (
    <>
      <div className="result-head">
        <span>{formatRows(rows.length)}</span>
        <button type="button" onClick={copy}>
          Copy cells
        </button>
        <span role="status">{copying?.of === rows ? copying.text : ''}</span>
      </div>
      <div ref={frame} className="result-frame" role="table" aria-label={table.name} aria-rowcount={rows.length + 1} tabIndex={0}>
        <div role="row" aria-rowindex={1} className="result-row result-names" style={template}>
          {table.columns.map((column) => (
            <div key={column.name} role="columnheader" aria-sort={directionOf(column)} className={column.kind}>
              <button type="button" onClick={() => sortBy(column)}>
                {column.name}
              </button>
            </div>
          ))}
        </div>
        <div role="rowgroup" className="result-rows" style={{ height: virtualizer.getTotalSize(), minWidth: template.minWidth }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => (
            <TableRow key={index} index={index} start={start} columns={table.columns} row={rows[index]} template={template} />
          ))}
        </div>
      </div>
    </>
  );
}

interface RowTemplate {
  readonly gridTemplateColumns: string;
  readonly minWidth: number;
}

/** The columns of every row. Each row is a grid of its own, so widths must not depend on contents, or columns would not line up. */
function toTemplate(columns: readonly ResultColumn[]): RowTemplate {
  const widths = columns.map(({ name }) => Math.max(MIN_COLUMN_WIDTH, name.length * CHARACTER_WIDTH));
  return {
    gridTemplateColumns: widths.map((width) => `minmax(${String(width)}px, ${String(width)}fr)`).join(' '),
    minWidth: widths.reduce((sum, width) => sum + width, 0),
  };
}

interface TableRowProps {
  readonly index: number;
  /** Pixels between the top of the first row and this one. */
  readonly start: number;
  readonly columns: readonly ResultColumn[];
  readonly row: ResultRow | undefined;
  readonly template: RowTemplate;
}

/** Memoized, so that scrolling renders only the rows that come into view. */
const TableRow = memo(function TableRow({ index, start, columns, row, template }: TableRowProps) {
  return (
    <div role="row" aria-rowindex={index + 2} className="result-row" style={{ ...template, transform: `translateY(${String(start)}px)` }}>
      {columns.map((column) => (
        <div key={column.name} role="cell" className={column.kind}>
          {row && toCell(row, column)}
        </div>
      ))}
    </div>
  );
});
