import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, type RefObject } from 'react';
import type { ArrangedRows } from '../rows/arranged-rows';
import { cornersOf, type CellRange } from './cell-range';
import type { ShownColumn } from './column-layout';
import type { MeasureText } from './column-widths';
import { TableRow } from './table-rows';
import type { Row } from '../values/table-types';

/** A finger needs more height than a pointer. */
export const [ROW_HEIGHT, TOUCH_ROW_HEIGHT] = [28, 40];
/** Pixels. Firefox makes no element higher than about 17,890,000, and Chromium 33,554,000. */
const MAX_HEIGHT = 16_800_000;
/** The most rows that a table scrolls through: 600,000 of the usual height. */
export const mostScrolled = (rowHeight: number): number => Math.floor(MAX_HEIGHT / rowHeight);
/** Rows that are in the page above and below the visible ones. */
const OVERSCAN = 12;

interface TableBodyProps {
  /** Pixels. */
  readonly rowHeight: number;
  /** The element that scrolls. */
  readonly frame: RefObject<HTMLDivElement | null>;
  readonly columns: readonly ShownColumn[];
  readonly rows: ArrangedRows;
  /** The widths of columns in which not every value has room. */
  readonly limits: readonly (number | undefined)[];
  readonly measure: MeasureText;
  readonly range: CellRange | undefined;
  readonly onOpen: ((row: Row) => void) | undefined;
  /** Called with a row that somebody touches or clicks beside its button. */
  readonly onTouch: ((row: Row) => void) | undefined;
  readonly toOpenName: ((row: Row) => string | undefined) | undefined;
}

/** The rows of a table. The page holds only the visible ones, so that 150,000 scroll smoothly. A scroll renders nothing but this. */
export function TableBody({ rowHeight, frame, columns, rows, limits, measure, range, onOpen, onTouch, toOpenName }: TableBodyProps) {
  const { arranged, rowAt, want } = rows;
  const virtualizer = useVirtualizer({
    count: Math.min(arranged?.count ?? 0, mostScrolled(rowHeight)),
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
  });
  const items = virtualizer.getVirtualItems();
  const [from, to] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => want(from, to), [want, from, to]);
  const { row: headRow, column: headColumn } = range?.head ?? { row: -1, column: -1 };
  useEffect(() => {
    if (headRow >= 0) bringIntoView(frame.current, headRow, headColumn, rowHeight);
  }, [frame, headRow, headColumn, rowHeight]);
  const corners = range && cornersOf(range);
  return (
    <div role="rowgroup" className="table-body" style={{ height: virtualizer.getTotalSize() }}>
      {items.map(({ index, start }) => {
        const isSelected = corners && index >= corners.first.row && index <= corners.last.row;
        return (
          <TableRow
            key={index}
            place={index}
            {...{ start, columns, limits, measure, onOpen, onTouch, toOpenName }}
            row={rowAt(index)}
            selectedFrom={isSelected ? corners.first.column : -1}
            selectedTo={isSelected ? corners.last.column : -1}
            head={index === headRow ? headColumn : -1}
          />
        );
      })}
    </div>
  );
}

/** Scrolls the cell with the keyboard into the part of the frame that header and totals leave free. */
function bringIntoView(frame: HTMLDivElement | null, row: number, column: number, rowHeight: number): void {
  if (!frame) return;
  const heights = [...frame.querySelectorAll<HTMLElement>(':scope > .table-names, :scope > .table-totals')].map(
    (each) => each.offsetHeight,
  );
  const free = frame.clientHeight - heights.reduce((sum, height) => sum + height, 0);
  const top = row * rowHeight;
  if (top < frame.scrollTop) frame.scrollTop = top;
  else if (top + rowHeight > frame.scrollTop + free) frame.scrollTop = top + rowHeight - free;
  bringColumnIntoView(frame, column);
}

/** Scrolls a column, by its place, into the part of the frame that the first column leaves free. */
export function bringColumnIntoView(frame: HTMLElement, column: number): void {
  const [first, ...others] = frame.querySelectorAll<HTMLElement>('[role=columnheader]');
  const head = others[column - 1];
  if (!first) return;
  // The first column stays in sight by itself where it is frozen, and covers what is beneath it.
  const covered = getComputedStyle(first).position === 'sticky' ? first.offsetWidth : 0;
  const { offsetLeft, offsetWidth } = head ?? first;
  if (!head && covered > 0) return;
  if (offsetLeft - covered < frame.scrollLeft) frame.scrollLeft = offsetLeft - covered;
  else if (offsetLeft + offsetWidth > frame.scrollLeft + frame.clientWidth) frame.scrollLeft = offsetLeft + offsetWidth - frame.clientWidth;
}
