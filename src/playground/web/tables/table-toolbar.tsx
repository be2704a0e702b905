import { useEffect, type RefObject } from 'react';
import { createPortal } from 'react-dom';
import { createCellFormat } from '../values/cell-format';
import type { ColumnLayout } from './column-layout';
import { ColumnsMenu } from './columns-menu';

/** The pause in typing after which a search runs. */
const SEARCH_PAUSE_MS = 150;

interface TableToolbarProps {
  readonly field: RefObject<HTMLInputElement | null>;
  /** The text of the search field. */
  readonly typed: string;
  readonly onType: (text: string) => void;
  /** Called with the typed text when somebody stops typing. */
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
  /** True while rows are still coming. */
  readonly isComing: boolean;
  /** True while rows are searched or filtered. */
  readonly isPart: boolean;
  /** The search and the filters in words. */
  readonly conditions: readonly string[];
  /** Takes the search and the filters away. */
  readonly onClear: () => void;
  readonly message: string;
  /** A sentence about a filter that cannot be read; empty without one. */
  readonly problem: string;
  /** The place of the page for notices. Without it they stand at the end of the bar. */
  readonly notices: Element | null | undefined;
}

/** The bar above a table: search, filters, columns, copy, print, and the number of its rows. */
export function TableToolbar(props: TableToolbarProps) {
  const { field, typed, onType, onSearch, hasFilters, onFilters, layout, onWiden, onCopyAll, onPrint, isPart, isComing, onClear, notices } =
    props;
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
        onChange={(event) => onType(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onSearch(typed);
        }}
        // Whoever presses a button next means the rows of what was typed.
        onBlur={() => onSearch(typed)}
      />
      <button type="button" className="table-button" aria-pressed={hasFilters} onClick={() => onFilters(!hasFilters)}>
        Filter these rows
      </button>
      <ColumnsMenu layout={layout} onWiden={onWiden} />
      <button type="button" className="table-button" onClick={onCopyAll} disabled={isComing}>
        Copy all
      </button>
      {onPrint && (
        <button type="button" className="table-button" onClick={onPrint} disabled={isComing}>
          Print
        </button>
      )}
      <span className="table-count" role="status">
        {describeCount(props)}
      </span>
      {isPart && (
        <button type="button" className="table-button" onClick={onClear}>
          Clear
        </button>
      )}
      {notices ? createPortal(<TableNotices {...props} />, notices) : <TableNotices {...props} />}
    </div>
  );
}

/** The line says what was copied last, which filter cannot be read, and which rows the table shows. */
function TableNotices({ message, problem, isPart, conditions }: TableToolbarProps) {
  return (
    <>
      <span className="problem" role="alert">
        {problem}
      </span>
      <span role="status">{message}</span>
      {isPart && conditions.length > 0 && <span className="table-conditions">Only rows of: {conditions.join(' · ')}</span>}
    </>
  );
}

function describeCount({ count, allCount, isPart, isComing }: TableToolbarProps): string {
  if (count === undefined) return '';
  const { format } = createCellFormat(navigator.languages);
  const rows = `${format(allCount, 'count')} ${allCount === 1 ? 'row' : 'rows'}`;
  return isPart || isComing ? `${format(count, 'count')} of ${rows}` : rows;
}
