import { createCellFormat } from '../values/cell-format';
import { readTypedNumber } from '../values/exact-decimal';
import { isTime, type Arrangement, type ColumnFilter, type ColumnKind, type TableColumn } from '../values/table-types';

/** The fields of a column's filter as a person types them. */
export interface TypedFilter {
  readonly text?: string;
  readonly min?: string;
  readonly max?: string;
}

export type TypedFilters = Readonly<Record<string, TypedFilter>>;

/** The search, the filters as they were typed, and the sorting of a table. */
export interface KeptView {
  readonly search?: string;
  readonly typed?: TypedFilters;
  readonly hasFilters?: boolean;
  readonly sort?: Arrangement['sort'];
  /** The figure of a pivot, or the list, where somebody chose one of them. */
  readonly shape?: string | undefined;
  /** The columns of the table that the filters are of. */
  readonly columns?: readonly TableColumn[];
}

/** Columns of these kinds are filtered by a range, and all others by a part of their text. */
export const isRange = ({ kind }: TableColumn): boolean => kind !== 'text' && kind !== 'word';

/** True for a bound that cannot be read, which then filters nothing. */
export function isUnreadable({ kind }: TableColumn, typed: string | undefined, locales: readonly string[]): boolean {
  return (
    !isTime(kind) && kind !== 'text' && kind !== 'word' && Boolean(typed?.trim()) && readTypedNumber(typed ?? '', locales) === undefined
  );
}

/** Says which columns have a bound that cannot be read, and so filters nothing. Empty when there is none. */
export function describeUnreadable(columns: readonly TableColumn[], typed: TypedFilters, locales: readonly string[]): string {
  const titles = columns
    .filter((column) => [typed[column.id]?.min, typed[column.id]?.max].some((bound) => isUnreadable(column, bound, locales)))
    .map(({ title }) => `“${title}”`);
  return titles.length === 0 ? '' : `The filter of ${titles.join(', ')} is no number, so it filters nothing.`;
}

/** The conditions of typed filters, with exact bounds. */
function toFilters(columns: readonly TableColumn[], typed: TypedFilters, locales: readonly string[]): ColumnFilter[] {
  return columns.flatMap((column): ColumnFilter[] => {
    const { text = '', min = '', max = '' } = typed[column.id] ?? {};
    const toBound = (bound: string): string | undefined => (isTime(column.kind) ? bound || undefined : readTypedNumber(bound, locales));
    const [low, high] = isRange(column) ? [toBound(min), toBound(max)] : [];
    const part = isRange(column) ? '' : text.trim();
    if (part === '' && low === undefined && high === undefined) return [];
    return [
      {
        column: column.id,
        ...(part !== '' && { text: part }),
        ...(low !== undefined && { min: low }),
        ...(high !== undefined && { max: high }),
      },
    ];
  });
}

/** The rows that a person asks for. Filters that are not shown filter nothing. */
export function toArrangement(columns: readonly TableColumn[], view: KeptView, locales: readonly string[]): Arrangement {
  const { search = '', typed = {}, hasFilters = false, sort } = view;
  return {
    search: search.trim(),
    filters: hasFilters ? toFilters(columns, typed, locales) : [],
    // The next answer may have another column of this name, or none.
    sort: columns.some(({ id }) => id === sort?.column) ? sort : undefined,
  };
}

/** The search and the filters in words. `write` writes a bound of a range for whoever reads them. */
export function describeArrangement(
  { search, filters }: Arrangement,
  columns: readonly TableColumn[],
  write: (bound: string, kind: ColumnKind) => string,
): string[] {
  const described = filters.flatMap(({ column, text, min, max }) => {
    const { title, kind } = columns.find(({ id }) => id === column) ?? {};
    if (title === undefined || kind === undefined) return [];
    // The bounds of times are days: “from Oct 15” leaves October out of a column of months.
    const bound = isTime(kind) ? 'date' : kind;
    const part = text === undefined ? '' : ` contains “${text}”`;
    const low = min === undefined ? '' : ` from ${write(min, bound)}`;
    const high = max === undefined ? '' : ` up to ${write(max, bound)}`;
    return [`${title}${part}${low}${high}`];
  });
  return [...(search === '' ? [] : [`Search: “${search}”`]), ...described];
}

/** Says which search and filters a program, a saved report or a file of the gateway goes without; undefined where all rows are shown. */
export function describeLost(arrangement: Arrangement, columns: readonly TableColumn[], locales: readonly string[]): string | undefined {
  const lost = describeArrangement(arrangement, columns, createCellFormat(locales).format);
  return lost.length === 0
    ? undefined
    : `The search and the filters of the table are no part of it, so it has all rows: ${lost.join('; ')}.`;
}
