import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type CSSProperties } from 'react';
import { useErrorBoundary } from 'react-error-boundary';
import type { PrintHead } from './print-sheet';
import { useArrangedRows } from '../rows/arranged-rows';
import { useFieldFocus } from '../look/field-focus';
import { createCellFormat } from '../values/cell-format';
import { ColumnHeader } from './column-header';
import { useColumnLayout } from './column-layout';
import { useNarrowScreen } from './narrow-table';
import { RowSheet } from './row-sheet';
import { createTextMeasure, widthOfContent, widthOfTitle, type MeasureText } from './column-widths';
import { useCellSelection } from './cell-selection';
import { describeArrangement, describeUnreadable, toArrangement, type KeptView, type TypedFilters } from '../rows/filter-text';
import { TablePrint } from './table-print';
import { bringColumnIntoView, mostScrolled, ROW_HEIGHT, TableBody, TOUCH_ROW_HEIGHT } from './table-body';
import { useTableEdges } from './table-edges';
import type { TableClient } from '../rows/table-client';
import { TotalsRow, toTotal, type GivenTotals } from './table-rows';
import { TableToolbar, type NoticeSlots } from './table-toolbar';
import {
  isNumber,
  type Arranged,
  type Arrangement,
  type LoadedTable,
  type LoadProgress,
  type Row,
  type TableColumn,
} from '../values/table-types';

/** The part of a table that is shown at the moment: its rows, and the ids of its shown columns in order. */
export interface TableView {
  readonly arrangement: Arrangement;
  readonly arranged: Arranged;
  readonly columnIds: readonly string[];
}

interface DataTableProps {
  readonly client: TableClient;
  readonly table: Pick<LoadedTable, 'id' | 'count' | 'samples'>;
  /** The rows that have come so far, while others follow: a part can be looked at, and neither copied as a whole nor printed. */
  readonly coming?: LoadProgress | undefined;
  /** The columns that the table was loaded with, in the same order. The list must stay the same from render to render. */
  readonly columns: readonly TableColumn[];
  /** The name of the table for screen readers. */
  readonly label: string;
  /** The name under which the browser keeps the order, sizes and choice of the columns. Without it they are forgotten. */
  readonly layoutName?: string | undefined;
  /** Holds the search, the filters and the sorting, for a table that takes the place of this one. */
  readonly kept?: { current: KeptView } | undefined;
  /** The order of the rows while nobody has chosen one; without it, that in which they were loaded. It must stay the same from render to render. */
  readonly sortedBy?: Arrangement['sort'];
  /** The gateway's own totals. While rows are searched or filtered, the sums of the shown ones take their place. */
  readonly totals?: GivenTotals | undefined;
  /** Opens a row: its first cell becomes a button. Both functions must stay the same from render to render. */
  readonly onOpenRow?: ((row: Row) => void) | undefined;
  /** The name of a row in its button; the text of its first cell when this is not given. */
  readonly toRowName?: ((row: Row) => string | undefined) | undefined;
  /** The head of the print sheet. Without it, the table has no button to print. */
  readonly print?: PrintHead | undefined;
  /** Called with what is shown, at each change. */
  readonly onView?: ((view: TableView) => void) | undefined;
  /** Called with true when somebody scrolls down, and with false at the first row. */
  readonly onScrolled?: ((isScrolled: boolean) => void) | undefined;
  /** The places of the page for notices. Without them they stand in the toolbar. */
  readonly slots?: NoticeSlots | undefined;
}

/**
 * Shows a table that the worker holds: searched, filtered, sorted, with columns in any order and size, and with totals that stay in sight.
 */
export function DataTable({
  client,
  table,
  coming,
  columns,
  label,
  layoutName,
  kept,
  sortedBy,
  totals,
  onOpenRow,
  toRowName,
  print,
  onView,
  onScrolled,
  slots,
}: DataTableProps) {
  const [search, setSearch] = useState(kept?.current.search ?? '');
  const [typedSearch, setTypedSearch] = useState(search);
  const searchField = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<TypedFilters>(kept?.current.typed ?? {});
  const [hasFilters, setHasFilters] = useState(kept?.current.hasFilters ?? false);
  const [sort, setSort] = useState<Arrangement['sort']>(kept?.current.sort);
  useEffect(() => {
    if (kept) kept.current = { ...kept.current, search, typed, hasFilters, sort, columns };
  }, [kept, search, typed, hasFilters, sort, columns]);
  const [isPrintAsked, setIsPrintAsked] = useState(false);
  const { showBoundary } = useErrorBoundary();
  const arrangement = useMemo(
    () => toArrangement(columns, { search, typed, hasFilters, sort: sort ?? sortedBy }, navigator.languages),
    [search, typed, hasFilters, sort, sortedBy, columns],
  );
  const rows = useArrangedRows(client, table, arrangement, showBoundary);
  const { arranged } = rows;
  const [measure, setMeasure] = useState<MeasureText>(() => MEASURES_NOTHING);
  const { part: frame, focusField } = useFieldFocus<HTMLDivElement>();
  useLayoutEffect(() => {
    const { current } = frame;
    if (current) setMeasure(() => createTextMeasure(current));
  }, [frame]);
  const isPart = Boolean(rows.arrangement && (rows.arrangement.search !== '' || rows.arrangement.filters.length > 0));
  const isNarrow = useNarrowScreen();
  const needed = useMemo(
    () =>
      Object.fromEntries(
        columns.map((column, place) => {
          const total = arranged ? toTotal({ column, place }, false, arranged, isPart ? undefined : totals, isPart) : '';
          const content = widthOfContent(column, table.samples[column.id] ?? [], total, measure);
          return [column.id, { content, title: widthOfTitle(column, measure, isNarrow) }];
        }),
      ),
    [columns, table, arranged, totals, isPart, measure, isNarrow],
  );
  const rowHeight = isNarrow ? TOUCH_ROW_HEIGHT : ROW_HEIGHT;
  const [sheet, setSheet] = useState<Row>();
  const layout = useColumnLayout(columns, layoutName, needed, isNarrow);
  useTableEdges(frame, onScrolled);
  const { shown, listed, filedIds } = layout;
  const justShown = useRef<string>(undefined);
  useEffect(() => {
    const place = shown.findIndex(({ column }) => column.id === justShown.current);
    justShown.current = undefined;
    if (place >= 0 && frame.current) bringColumnIntoView(frame.current, place);
  }, [shown, frame]);
  const show = (id: string, isShown: boolean): void => {
    if (isShown) justShown.current = id;
    layout.show(id, isShown);
  };
  const selection = useCellSelection({
    ...{ client, table: table.id, frame, rows, columns: shown, rowHeight },
    onOpenRow: isNarrow ? setSheet : onOpenRow,
  });
  const describe = (described: readonly TableColumn[]): string[] =>
    describeArrangement(rows.arrangement ?? arrangement, described, createCellFormat(navigator.languages).format);
  const conditions = describe(columns);
  const { leftOut } = print ?? {};
  const printed = leftOut ? describe(listed.flatMap(({ column }) => (leftOut.includes(column.id) ? [] : column))) : conditions;
  // A total of nothing but its name would only take room.
  const isTotalled = (laidOut: typeof shown): boolean =>
    laidOut.some(({ column: { id, adds } }) => adds || (totals !== undefined && id in totals));
  const hasTotals = isTotalled(shown);

  useEffect(() => {
    if (arranged && rows.arrangement) onView?.({ arrangement: rows.arrangement, arranged, columnIds: filedIds });
  }, [arranged, rows.arrangement, filedIds, onView]);

  // Figures begin with the largest, and names with the first letter. The third press brings the order of the rows back.
  const sortBy = (column: string): void =>
    setSort((chosen) => {
      const before = chosen ?? sortedBy;
      const isLargestFirst = columns.some(({ id, kind }) => id === column && isNumber(kind));
      if (before?.column !== column) return { column, isDescending: isLargestFirst };
      return before.isDescending === isLargestFirst ? { column, isDescending: !isLargestFirst } : undefined;
    });
  const clear = (): void => {
    setSearch('');
    setTypedSearch('');
    setTyped({});
    // The button goes with the conditions, and the focus would go with it.
    searchField.current?.focus();
  };
  const isNothing = isPart && arranged?.count === 0;
  const freeze = (): void => layout.freeze(widthsOf(frame.current));
  const endAsking = useCallback(() => setIsPrintAsked(false), []);
  const directionOf = (id: string) =>
    arrangement.sort?.column !== id ? 'none' : arrangement.sort.isDescending ? 'descending' : 'ascending';
  return (
    <div className="data-table">
      <TableToolbar
        layout={{ ...layout, show }}
        {...{ hasFilters, isPart, isNarrow, conditions, slots }}
        most={mostScrolled(rowHeight)}
        field={searchField}
        typed={typedSearch}
        onType={setTypedSearch}
        onSearch={setSearch}
        onFilters={(isShown) => {
          setHasFilters(isShown);
          if (isShown) focusField();
        }}
        onClear={clear}
        onWiden={(id, steps) => {
          freeze();
          layout.widen(id, steps);
        }}
        onCopyAll={selection.copyAll}
        onPrint={print && (() => setIsPrintAsked(true))}
        count={arranged?.count}
        allCount={coming?.allRows ?? table.count}
        isComing={coming !== undefined}
        message={selection.message}
        fault={[hasFilters ? describeUnreadable(columns, typed, navigator.languages) : '', selection.fault].join(' ').trim()}
      />
      <div className="table-edges">
        <div
          ref={frame}
          className="table-frame"
          role="table"
          aria-label={label}
          aria-rowcount={(arranged?.count ?? table.count) + (hasTotals ? 2 : 1)}
          aria-colcount={shown.length}
          aria-busy={rows.isBusy}
          tabIndex={0}
          style={
            {
              '--columns': layout.template,
              '--row-width': `${String(layout.minWidth)}px`,
              '--row-height': `${String(rowHeight)}px`,
            } as CSSProperties
          }
          {...selection.handlers}
        >
          <div role="row" aria-rowindex={1} className="table-row table-names" onFocus={({ target }) => bringFocused(frame.current, target)}>
            {layout.headers.map((header) => {
              const column = columns.find(({ id }) => id === header.column.id);
              if (!column) return null;
              return (
                <ColumnHeader
                  key={column.id}
                  {...{ column, header }}
                  direction={directionOf(column.id)}
                  onSort={() => sortBy(column.id)}
                  filter={hasFilters ? (typed[column.id] ?? NOTHING_TYPED) : undefined}
                  onFilter={(filter) => setTyped((before) => ({ ...before, [column.id]: filter }))}
                  onResize={freeze}
                  onMove={(to) => layout.move(column.id, to)}
                />
              );
            })}
          </div>
          <TableBody
            key={rowHeight}
            {...{ frame, rows, measure, rowHeight }}
            onTouch={isNarrow ? setSheet : undefined}
            limits={layout.limits}
            columns={shown}
            range={selection.range}
            onOpen={onOpenRow}
            toOpenName={toRowName}
          />
          {arranged && hasTotals && !isNothing && (
            <TotalsRow columns={shown} limits={layout.limits} {...{ arranged, totals, isPart, measure }} />
          )}
        </div>
        {isNothing && (
          <p className="table-nothing">
            <span>
              None of the {createCellFormat(navigator.languages).format(table.count, 'count')} rows fits: {conditions.join(' · ')}.
            </span>
            <button type="button" className="table-button" onClick={clear}>
              Clear
            </button>
          </p>
        )}
      </div>
      <span className="hidden-text" aria-live="polite">
        {describeHead(selection, rows, shown)}
      </span>
      <RowSheet
        row={sheet}
        columns={listed}
        openName={sheet && onOpenRow && (toRowName ? toRowName(sheet) : 'it')}
        onOpen={() => {
          setSheet(undefined);
          if (sheet) onOpenRow?.(sheet);
        }}
        onClose={() => setSheet(undefined)}
      />
      {print && !coming && (
        <TablePrint
          {...{ client, table, print, rows, totals, isPart, frame }}
          hasTotals={isTotalled(listed)}
          columns={listed}
          conditions={printed}
          isAsked={isPrintAsked}
          onAnswered={endAsking}
        />
      )}
    </div>
  );
}

const NOTHING_TYPED = {};
/** The measure before there is an element with a font. */
const MEASURES_NOTHING: MeasureText = () => 0;

/** The widths of the columns as they are on the screen, by column id. */
function widthsOf(frame: HTMLDivElement | null): Record<string, number> {
  const heads = [...(frame?.querySelectorAll<HTMLElement>('[data-column]') ?? [])];
  return Object.fromEntries(heads.map((head) => [head.dataset.column ?? '', Math.round(head.getBoundingClientRect().width)]));
}

/** Brings the column whose head the keyboard has come to into sight, as a whole. Under a pointer, nothing moves. */
function bringFocused(frame: HTMLElement | null, focused: HTMLElement): void {
  const heads = [...(frame?.querySelectorAll('[role=columnheader]') ?? [])];
  const place = heads.findIndex((head) => head.contains(focused));
  if (frame && place >= 0 && focused.matches(':focus-visible')) bringColumnIntoView(frame, place);
}

/** The cell with the keyboard, in words for a screen reader, which sees no outline. */
function describeHead(
  { range }: ReturnType<typeof useCellSelection>,
  { rowAt }: ReturnType<typeof useArrangedRows>,
  columns: ReturnType<typeof useColumnLayout>['shown'],
): string {
  const shown = range && columns[range.head.column];
  const row = range && rowAt(range.head.row);
  if (!shown || !row) return '';
  const { column, place } = shown;
  const { cell, format } = createCellFormat(navigator.languages);
  return `${column.title}, row ${format(range.head.row + 1, 'count')}: ${cell(row[place] ?? null, column) || 'empty'}`;
}
