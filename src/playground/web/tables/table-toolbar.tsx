import { useEffect, useRef, useState } from 'react';
import { createCellFormat } from '../values/cell-format';
import type { ColumnLayout } from './column-layout';
import { ColumnsMenu } from './columns-menu';

/** The pause in typing after which a search runs. */
const SEARCH_PAUSE_MS = 150;

interface TableToolbarProps {
  readonly search: string;
  readonly onSearch: (search: string) => void;
  readonly hasFilters: boolean;
  readonly onFilters: (hasFilters: boolean) => void;
  readonly layout: ColumnLayout;
  readonly onWiden: (id: string, steps: -1 | 1) => void;
  readonly onCopyAll: () => void;
  readonly onPrint: (() => void) | undefined;
  /** The number of rows that are shown; undefined until it is known. */
  readonly count: number | undefined;
  readonly allCount: number;
  /** True while rows are searched or filtered. */
  readonly isPart: boolean;
  /** The search and the filters in words. */
  readonly conditions: readonly string[];
  /** Takes the search and the filters away. */
  readonly onShowAll: () => void;
  readonly message: string;
  /** A sentence about a filter that cannot be read; empty without one. */
  readonly problem: string;
}

/** The bar above a table: search, filters, columns, copy, print, and the number of its rows. */
export function TableToolbar(props: TableToolbarProps) {
  const { search, onSearch, hasFilters, onFilters, layout, onWiden, onCopyAll, onPrint, isPart, conditions, onShowAll } = props;
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(search);
  useEffect(() => {
    const pause = setTimeout(() => onSearch(typed), SEARCH_PAUSE_MS);
    return () => clearTimeout(pause);
  }, [typed, onSearch]);
  return (
    <div className="table-toolbar">
      <input
        ref={field}
        type="search"
        aria-label="Search in these rows"
        placeholder="Search…"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onSearch(typed);
        }}
        // Whoever presses a button next means the rows of what was typed.
        onBlur={() => onSearch(typed)}
      />
      <button type="button" className="table-button" aria-pressed={hasFilters} onClick={() => onFilters(!hasFilters)}>
        Filters
      </button>
      <ColumnsMenu layout={layout} onWiden={onWiden} />
      <button type="button" className="table-button" onClick={onCopyAll}>
        Copy all
      </button>
      {onPrint && (
        <button type="button" className="table-button" onClick={onPrint}>
          Print
        </button>
      )}
      <span className="table-count" role="status">
        {describeCount(props)}
      </span>
      <span role="status">{props.message}</span>
      <span className="problem" role="alert">
        {props.problem}
      </span>
      {isPart && conditions.length > 0 && (
        <div className="table-conditions">
          <span>Only rows of: {conditions.join(' · ')}</span>
          <button
            type="button"
            className="table-button"
            onClick={() => {
              setTyped('');
              onShowAll();
              // This button goes with the conditions, and the focus would go with it.
              field.current?.focus();
            }}
          >
            Show all rows
          </button>
        </div>
      )}
    </div>
  );
}

function describeCount({ count, allCount, isPart }: TableToolbarProps): string {
  if (count === undefined) return '';
  const { format } = createCellFormat(navigator.languages);
  const rows = `${format(allCount, 'count')} ${allCount === 1 ? 'row' : 'rows'}`;
  return isPart ? `${format(count, 'count')} of ${rows}` : rows;
}
