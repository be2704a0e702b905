import { useRef, type PointerEvent } from 'react';
import type { LayoutHeader } from './column-layout';
import { FilterFields } from './filter-fields';
import type { TypedFilter } from '../rows/filter-text';
import type { TableColumn } from '../values/table-types';

/** The pixels that a pointer moves before a press becomes a drag. */
const DRAG_START = 6;

interface ColumnHeaderProps {
  readonly column: TableColumn;
  readonly header: LayoutHeader;
  readonly direction: 'none' | 'ascending' | 'descending';
  readonly onSort: () => void;
  /** The filter's fields as typed; undefined while filters are not shown. */
  readonly filter: TypedFilter | undefined;
  readonly onFilter: (typed: TypedFilter) => void;
  /** Called before a column's edge is dragged. */
  readonly onResize: () => void;
  /** Called when this column is dropped on another one. */
  readonly onMove: (to: string) => void;
}

/**
 * The head of a column: a click sorts, a drag of the title moves the column, a drag of the edge makes it wider. The “Columns” menu does
 * both by keyboard.
 */
export function ColumnHeader({ column, header, direction, onSort, filter, onFilter, onResize, onMove }: ColumnHeaderProps) {
  const { id, title, kind, about } = column;
  const drag = useRef<{ readonly startX: number; isMoving: boolean }>(undefined);
  const begin = (event: PointerEvent<HTMLElement>): void => {
    // A finger scrolls the table.
    if (event.button !== 0 || event.pointerType === 'touch') return;
    drag.current = { startX: event.clientX, isMoving: false };
  };
  const go = (event: PointerEvent<HTMLElement>): void => {
    if (!drag.current) return;
    // The button may have been let go outside of the title.
    if ((event.buttons & 1) === 0) {
      drag.current = undefined;
      return;
    }
    if (Math.abs(event.clientX - drag.current.startX) > DRAG_START && !drag.current.isMoving) {
      drag.current.isMoving = true;
      event.currentTarget.setPointerCapture(event.pointerId);
    }
    if (drag.current.isMoving) markTarget(event.currentTarget, headerAt(event));
  };
  const end = (event: PointerEvent<HTMLElement>): void => {
    const to = drag.current?.isMoving ? headerAt(event)?.dataset.column : undefined;
    markTarget(event.currentTarget, undefined);
    if (to !== undefined && to !== id) onMove(to);
    // The click that follows a drag must not sort.
    setTimeout(() => (drag.current = undefined));
  };
  return (
    <div role="columnheader" aria-sort={direction} className={`column-head ${kind}`} data-column={id}>
      <button
        type="button"
        className="column-sort"
        title={about}
        onPointerDown={begin}
        onPointerMove={go}
        onPointerUp={end}
        onPointerCancel={end}
        onClick={() => drag.current?.isMoving || onSort()}
      >
        {title}
      </button>
      <span
        className="column-edge"
        aria-hidden="true"
        onMouseDown={(event) => {
          onResize();
          header.getResizeHandler()(event);
        }}
        onTouchStart={(event) => {
          onResize();
          header.getResizeHandler()(event);
        }}
      />
      {filter && <FilterFields column={column} typed={filter} onChange={onFilter} />}
    </div>
  );
}

function headerAt({ clientX, currentTarget }: PointerEvent<HTMLElement>): HTMLElement | undefined {
  const heads = [...(currentTarget.closest('[role=row]')?.querySelectorAll<HTMLElement>('[data-column]') ?? [])];
  return heads.find((head) => {
    const { left, right } = head.getBoundingClientRect();
    return clientX >= left && clientX < right;
  });
}

/** Shows on which column the dragged one would be dropped. */
function markTarget(dragged: HTMLElement, target: HTMLElement | undefined): void {
  for (const head of dragged.closest('[role=row]')?.querySelectorAll('[data-column]') ?? []) {
    head.classList.toggle('drop-target', head === target);
  }
}
