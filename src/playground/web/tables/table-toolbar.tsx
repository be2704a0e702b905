import { useEffect, type ReactNode, type RefObject } from 'react';
import { createPortal } from 'react-dom';
import { createCellFormat, formatRows } from '../values/cell-format';
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
  /** True for a screen with room for three columns. */
  readonly isNarrow: boolean;
  /** The most rows that the table scrolls through. */
  readonly most: number;
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
  /** A sentence about what was done last; empty without one. */
  readonly message: string;
  /** Sentences about a filter that cannot be read and a copy that failed; empty without one. */
  readonly fault: string;
  readonly slots: NoticeSlots | undefined;
}

/** The places of the page for notices of a table: what has just happened is in sight before what stands. */
export interface NoticeSlots {
  readonly news: Element | null;
  readonly notices: Element | null;
}

/** The bar above a table: search, filters, columns, copy, print, and the number of its rows. */
export function TableToolbar(props: TableToolbarProps) {
  const { field, typed, onType, onSearch, hasFilters, onFilters, layout, onWiden, onCopyAll, onPrint, isPart, isNarrow, isComing } = props;
  const { onClear, slots } = props;
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
      <button type="button" className="table-button table-wide" onClick={onCopyAll} disabled={isComing}>
        Copy all
      </button>
      {onPrint && (
        <button type="button" className="table-button table-wide" onClick={onPrint} disabled={isComing}>
          Print
        </button>
      )}
      <span className="table-count" role="status">
        {describeCount(props)}
      </span>
      {isNarrow && <span className="table-hint">Touch a row to see all of it.</span>}
      {isPart && (
        <button type="button" className="table-button" onClick={onClear}>
          Clear
        </button>
      )}
      {inSlot(<TableNews {...props} />, slots?.news)}
      {inSlot(<TableNotices {...props} />, slots?.notices)}
    </div>
  );
}

const inSlot = (notice: ReactNode, slot: Element | null | undefined): ReactNode => (slot ? createPortal(notice, slot) : notice);

/** Says which filter cannot be read, and what was copied last or why it was not. */
const TableNews = ({ message, fault }: TableToolbarProps) => (
  <>
    <span className="problem" role="alert">
      {fault}
    </span>
    <span role="status">{message}</span>
  </>
);

/** Says which rows the table shows, and which ones nobody can scroll to. */
function TableNotices({ isPart, conditions, most, count = 0 }: TableToolbarProps) {
  return (
    <>
      {count > most && (
        <span role="note">
          The table scrolls through the first {createCellFormat(navigator.languages).format(most, 'count')} rows. Search, filter or sort to
          see others; copies and files have all of them.
        </span>
      )}
      {isPart && conditions.length > 0 && <span className="table-conditions">Only rows of: {conditions.join(' · ')}</span>}
    </>
  );
}

function describeCount({ count, allCount, isPart, isComing }: TableToolbarProps): string {
  if (count === undefined) return '';
  const rows = formatRows(allCount, navigator.languages);
  return isPart || isComing ? `${createCellFormat(navigator.languages).format(count, 'count')} of ${rows}` : rows;
}
