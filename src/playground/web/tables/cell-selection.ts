import { useEffect, useRef, useState, type KeyboardEvent, type PointerEvent, type RefObject } from 'react';
import { copyText } from '../look/clipboard';
import { createCellFormat, formatRows } from '../values/cell-format';
import type { ArrangedRows } from '../rows/arranged-rows';
import { cornersOf, moveRange, type CellPlace, type CellRange } from './cell-range';
import type { ShownColumn } from './column-layout';
import { mostScrolled } from './table-body';
import type { TableClient } from '../rows/table-client';
import type { Row } from '../values/table-types';

interface SelectionOptions {
  readonly client: TableClient;
  readonly table: number;
  readonly frame: RefObject<HTMLDivElement | null>;
  readonly rows: ArrangedRows;
  readonly columns: readonly ShownColumn[];
  /** Pixels. */
  readonly rowHeight: number;
  readonly onOpenRow: ((row: Row) => void) | undefined;
}

interface CellSelection {
  readonly range: CellRange | undefined;
  /** A sentence on the last copy, until rows or columns change; empty without one. */
  readonly message: string;
  /** A sentence on the failure of the last copy, until the next one; empty without one. */
  readonly fault: string;
  readonly copyAll: () => void;
  readonly handlers: {
    readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
    readonly onPointerDown: (event: PointerEvent<HTMLElement>) => void;
    readonly onPointerMove: (event: PointerEvent<HTMLElement>) => void;
  };
}

const NO_MESSAGE = { text: '', isFault: false };

/** Selects a range of cells by mouse and keyboard, and copies it for a spreadsheet. */
export function useCellSelection({ client, table, frame, rows, columns, rowHeight, onOpenRow }: SelectionOptions): CellSelection {
  const { arranged, rowAt } = rows;
  const [range, setRange] = useState<CellRange>();
  const [message, setMessage] = useState(NO_MESSAGE);
  const serial = arranged?.serial;
  const shown = useRef({ table, serial, columns });
  shown.current = { table, serial, columns };
  // The cells of a range are others once rows or columns are others.
  useEffect(() => {
    setRange(undefined);
    setMessage((before) => (before.isFault ? before : NO_MESSAGE));
  }, [table, serial, columns]);

  const count = arranged?.count ?? 0;
  const copy = (from: number, to: number, copied: readonly ShownColumn[], withTitles: boolean): void => {
    const { current } = shown;
    if (current.serial === undefined) return;
    const tell = (text: string): void => {
      if (shown.current.serial === current.serial && shown.current.columns === current.columns) setMessage({ text, isFault: false });
    };
    setMessage(NO_MESSAGE);
    const ids = copied.map(({ column }) => column.id);
    client
      .cells(table, current.serial, from, to, ids, withTitles)
      .then(copyText)
      .then(
        () => tell(toCopied(to - from, withTitles ? undefined : ids.length)),
        // Nothing is on the clipboard, whatever the table shows by now.
        (error: unknown) => setMessage({ text: (error as Error).message, isFault: true }),
      );
  };
  const copyRange = (): void => {
    if (!range) return;
    const { first, last } = cornersOf(range);
    copy(first.row, last.row + 1, columns.slice(first.column, last.column + 1), false);
  };
  const press = (event: KeyboardEvent<HTMLElement>): void => {
    // Keys in a header's button or field are its own.
    if (event.target !== event.currentTarget) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c') {
      if (!range) return;
      copyRange();
    } else if (event.key === 'Escape') {
      setRange(undefined);
    } else if (event.key === 'Enter') {
      const row = range && rowAt(range.head.row);
      if (!row || !onOpenRow) return;
      onOpenRow(row);
    } else {
      const pageRows = Math.max(1, Math.floor((frame.current?.clientHeight ?? 0) / rowHeight) - 3);
      const moved = moveRange(range, event, { rows: Math.min(count, mostScrolled(rowHeight)), columns: columns.length, pageRows });
      if (!moved) return;
      setRange(moved);
    }
    event.preventDefault();
  };
  const begin = (event: PointerEvent<HTMLElement>): void => {
    const place = placeOf(event);
    // A finger scrolls the table, and buttons in cells stay buttons.
    if (!place || event.button !== 0 || event.pointerType === 'touch') return;
    setRange((before) => ({ anchor: event.shiftKey && before ? before.anchor : place, head: place }));
  };
  const drag = (event: PointerEvent<HTMLElement>): void => {
    if ((event.buttons & 1) === 0 || !range) return;
    const place = placeOf(event);
    if (!place || (place.row === range.head.row && place.column === range.head.column)) return;
    setRange({ anchor: range.anchor, head: place });
  };
  return {
    range,
    message: message.isFault ? '' : message.text,
    fault: message.isFault ? message.text : '',
    copyAll: () => copy(0, count, columns, true),
    handlers: { onKeyDown: press, onPointerDown: begin, onPointerMove: drag },
  };
}

/** The place of the cell under the pointer; undefined outside the rows, and on a button in a cell. */
function placeOf({ target }: PointerEvent<HTMLElement>): CellPlace | undefined {
  if (!(target instanceof Element) || target.closest('button')) return undefined;
  const cell = target.closest('[role=cell]');
  const row = cell?.closest<HTMLElement>('[data-row]');
  if (!cell || !row) return undefined;
  return { row: Number(row.dataset.row), column: [...row.children].indexOf(cell) };
}

function toCopied(rows: number, columns: number | undefined): string {
  if (columns === undefined) return `Copied ${formatRows(rows, navigator.languages)}`;
  const cells = rows * columns;
  return `Copied ${createCellFormat(navigator.languages).format(cells, 'count')} ${cells === 1 ? 'cell' : 'cells'}`;
}
