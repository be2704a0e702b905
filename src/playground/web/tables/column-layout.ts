import {
  columnOrderingFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  tableFeatures,
  useTable,
  type Header,
} from '@tanstack/react-table';
import { useEffect, useMemo, useState } from 'react';
import { inKeptOrder, keepLayout, readKeptLayout } from './kept-layout';
import { findMainColumns } from './narrow-table';
import { isNeverCut, type Row, type TableColumn } from '../values/table-types';

const features = tableFeatures({ columnOrderingFeature, columnResizingFeature, columnSizingFeature, columnVisibilityFeature });
/** The rows are in the worker. The library has only the columns. */
const NO_ROWS: readonly Row[] = [];
const MIN_WIDTH = 64;
/** No column is wider at first, whatever an id holds. */
const MAX_WIDTH = 600;
/** The width of texts, which may be cut, where all columns have room, where they do not, and on a narrow screen. */
const [MAX_TEXT, LEAST_TEXT, NARROW_TEXT] = [340, 220, 84];
const WIDTH_STEP = 24;

/** A column that is shown. */
export interface ShownColumn {
  readonly column: TableColumn;
  /** The place of its cells in the rows as they were loaded. */
  readonly place: number;
}

/** The pixels that the values and the title of a column need. */
export interface NeededWidth {
  readonly content: number;
  readonly title: number;
}

export type LayoutHeader = Header<typeof features, Row>;

/** Order, sizes and visibility of a table's columns. */
export interface ColumnLayout {
  /** All columns in order, the hidden ones included. */
  readonly all: readonly { readonly column: TableColumn; readonly isShown: boolean }[];
  readonly shown: readonly ShownColumn[];
  /** Those that prints have: on a narrow screen also the ones without room. */
  readonly listed: readonly ShownColumn[];
  /** The ids of those that files have: the listed ones, and those whose value stands over the rows. */
  readonly filedIds: readonly string[];
  readonly headers: readonly LayoutHeader[];
  /** The CSS value of `grid-template-columns` of every row. */
  readonly template: string;
  /**
   * For each shown column the width that it has, where not all of its values have room in it; undefined elsewhere. The list stays the same
   * while it holds the same.
   */
  readonly limits: readonly (number | undefined)[];
  /** The least width of a row, in pixels. */
  readonly minWidth: number;
  readonly show: (id: string, isShown: boolean) => void;
  /** Puts a column next to another one, on the side that it comes from. */
  readonly move: (id: string, to: string) => void;
  /** Puts a column one place further left or right. */
  readonly shift: (id: string, step: -1 | 1) => void;
  /** Makes a column of a frozen layout wider, or narrower, by a step. */
  readonly widen: (id: string, steps: -1 | 1) => void;
  /** Keeps the columns as wide as they are on the screen. A column can then be dragged wider without the others moving. */
  readonly freeze: (widths: Readonly<Record<string, number>>) => void;
  /** Shows the columns as they were at first. */
  readonly reset: () => void;
}

/**
 * Lays columns out, each as wide as its content at first. Only texts give way where the table has no room for all. With a name, the browser keeps what the person changes, and the next table
 * of the name begins so.
 */
export function useColumnLayout(
  columns: readonly TableColumn[],
  name: string | undefined,
  needed: Readonly<Record<string, NeededWidth>>,
  isNarrow: boolean,
): ColumnLayout {
  const [kept] = useState(() => readKeptLayout(name));
  const [chosen, setChosen] = useState(kept.chosen);
  const definitions = useMemo(
    () =>
      columns.map((column) => {
        const { content = 0, title = 0 } = needed[column.id] ?? {};
        return {
          id: column.id,
          header: column.title,
          accessorFn: () => null,
          size: Math.max(MIN_WIDTH, Math.min(content, isNeverCut(column) ? MAX_WIDTH : MAX_TEXT), title),
          minSize: MIN_WIDTH,
        };
      }),
    [columns, needed],
  );
  const columnVisibility = useMemo(() => {
    const main = isNarrow ? findMainColumns(columns) : undefined;
    return Object.fromEntries(columns.map(({ id, isHidden = false }) => [id, chosen[id] ?? (main ? main.includes(id) : !isHidden)]));
  }, [columns, chosen, isNarrow]);
  const [initialState] = useState(() => ({
    columnOrder: inKeptOrder(
      kept.order,
      columns.map(({ id }) => id),
    ),
    columnSizing: kept.sizes,
  }));
  const table = useTable({
    features,
    columns: definitions,
    data: NO_ROWS,
    columnResizeMode: 'onChange',
    initialState,
    state: { columnVisibility },
  });
  const { columnSizing, columnOrder } = table.state;
  useEffect(() => {
    if (name !== undefined) keepLayout(name, { chosen, order: columnOrder, sizes: columnSizing });
  }, [name, chosen, columnOrder, columnSizing]);
  const isFrozen = Object.keys(columnSizing).length > 0;
  const ordered = table.getAllLeafColumns();
  const order = ordered.map(({ id }) => id);
  const byId = new Map(columns.map((column, place) => [column.id, { column, place }]));
  const visible = table.getVisibleLeafColumns();
  const shownKey = visible.map(({ id }) => id).join('\n');
  // Rows render anew when this list changes, so it must be the same while it holds the same.
  const shown = useMemo(() => shownKey.split('\n').flatMap((id) => findPlace(columns, id)), [columns, shownKey]);
  const listedKey = isNarrow ? order.filter((id) => chosen[id] ?? !byId.get(id)?.column.isHidden).join('\n') : shownKey;
  const listed = useMemo(() => listedKey.split('\n').flatMap((id) => findPlace(columns, id)), [columns, listedKey]);
  const listedIds = listedKey.split('\n');
  const filedKey = order.filter((id) => listedIds.includes(id) || (byId.get(id)?.column.isInFiles && chosen[id] !== false)).join('\n');
  const filedIds = useMemo(() => filedKey.split('\n'), [filedKey]);
  const sizes = visible.map((column) => column.getSize());
  const limitsKey = visible
    .map(({ id }, n) => {
      const column = byId.get(id)?.column;
      return column && isNeverCut(column) && (needed[id]?.content ?? 0) > (sizes[n] ?? 0) ? sizes[n] : '';
    })
    .join(',');
  const limits = useMemo(() => limitsKey.split(',').map((size) => (size === '' ? undefined : Number(size))), [limitsKey]);
  /** The width to which a column may shrink. */
  const leasts = visible.map(({ id }, n) => {
    const [column, size = MIN_WIDTH] = [byId.get(id)?.column, sizes[n]];
    if (isFrozen || !column || isNeverCut(column)) return size;
    return Math.min(size, isNarrow ? NARROW_TEXT : Math.max(needed[id]?.title ?? 0, LEAST_TEXT));
  });
  const move = (id: string, to: string): void => {
    const next = order.filter((each) => each !== id);
    next.splice(order.indexOf(to), 0, id);
    table.setColumnOrder(next);
  };
  return {
    all: ordered.flatMap(({ id }) => {
      const column = byId.get(id)?.column;
      return column ? [{ column, isShown: columnVisibility[id] ?? true }] : [];
    }),
    shown,
    listed,
    filedIds,
    headers: table.getHeaderGroups()[0]?.headers ?? [],
    // Three columns fill a narrow screen, each in its proportion.
    template: sizes.map((size, n) => `minmax(${String(leasts[n])}px, ${String(size)}${isNarrow && !isFrozen ? 'fr' : 'px'})`).join(' '),
    limits,
    minWidth: leasts.reduce((sum, size) => sum + size, 0),
    show: (id, isShown) => setChosen((before) => ({ ...before, [id]: isShown })),
    move,
    shift: (id, step) => {
      const to = order[order.indexOf(id) + step];
      if (to !== undefined) move(id, to);
    },
    widen: (id, steps) =>
      table.setColumnSizing((before) => ({
        ...before,
        // A column that was shown after the others were frozen has no size of its own yet.
        [id]: Math.max(MIN_WIDTH, (before[id] ?? table.getColumn(id)?.getSize() ?? 0) + steps * WIDTH_STEP),
      })),
    freeze: (widths) => {
      if (!isFrozen) table.setColumnSizing({ ...widths });
    },
    reset: () => {
      setChosen({});
      table.resetColumnOrder(true);
      table.resetColumnSizing(true);
    },
  };
}

function findPlace(columns: readonly TableColumn[], id: string): ShownColumn[] {
  const place = columns.findIndex((column) => column.id === id);
  const column = columns[place];
  return column ? [{ column, place }] : [];
}
