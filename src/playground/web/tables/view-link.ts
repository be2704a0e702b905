import { readDecimal, readTypedNumber, writeTypedNumber } from '../values/exact-decimal';
import { isRange, type KeptView, type TypedFilter } from '../rows/filter-text';
import { isTime, type Arrangement, type TableColumn } from '../values/table-types';

/** The parameters of a link that say which rows of a table are shown, as names and values. */
export type ViewParameters = readonly (readonly [name: string, value: string])[];

/** Begins the names of these parameters, so that none of them is taken for another choice. */
const PREFIX = 'rows.';
const SEARCH = `${PREFIX}search`;
const SORT = `${PREFIX}sort`;
/** The figure of a pivot, or the list. */
const SHAPE = `${PREFIX}show`;
/** The parameters of a column's filter, by the field that they fill. */
const bounds = { text: 'contains', min: 'from', max: 'to' } as const;
const DAY = /^\d{4}-\d\d-\d\d$/;
/** A search of more characters would keep the page busy, and mail programs cut a longer link. */
const MAX_LENGTH = 1000;

/** The column that a parameter is about; undefined for the search and the shape. */
export const columnOfParameter = ([name, value]: ViewParameters[number]): string | undefined =>
  name === SORT ? value.replace(/^-/, '') : /^rows\.(.+)\.(contains|from|to)$/.exec(name)?.[1];

export const isViewParameter = (name: string): boolean => name.startsWith(PREFIX);

/**
 * Writes the shape, the search, the filters and the sorting of a table. Bounds are exact, so that they are the same in every language. Throws an Error
 * whose message the page shows.
 */
export function toViewParameters({ search, filters, sort }: Arrangement, shape = ''): ViewParameters {
  const parameters = [
    ...(shape === '' ? [] : [[SHAPE, shape] as const]),
    ...(search === '' ? [] : [[SEARCH, search] as const]),
    ...filters.flatMap((filter) =>
      (['text', 'min', 'max'] as const).flatMap((field) => {
        const value = filter[field];
        return value === undefined ? [] : [[`${PREFIX}${filter.column}.${bounds[field]}`, value] as const];
      }),
    ),
    ...(sort ? [[SORT, `${sort.isDescending ? '-' : ''}${sort.column}`] as const] : []),
  ];
  if (parameters.some(([, value]) => value.length > MAX_LENGTH)) throw new Error('The search or a filter is too long for a link.');
  return parameters;
}

/** The shape of a table whose rows are the groups as they came. */
export const LIST = 'list';

export interface ReadView {
  readonly view: KeptView;
  /** The names of parameters that say nothing about this table. They narrow nothing. */
  readonly unread: readonly string[];
}

/** Reads what a link says about a table with these columns, as somebody of these locales would type it. */
export function readView(parameters: ViewParameters, columns: readonly TableColumn[], locales: readonly string[]): ReadView {
  const unread: string[] = [];
  const typed = new Map<string, TypedFilter>();
  let [search, sort, shape]: [string | undefined, Arrangement['sort'], string | undefined] = [undefined, undefined, undefined];
  for (const [name, value] of parameters) {
    const filter = columns
      .flatMap((column) => (['text', 'min', 'max'] as const).map((field) => ({ column, field })))
      .find(({ column: { id }, field }) => name === `${PREFIX}${id}.${bounds[field]}`);
    const known = filter && typed.get(filter.column.id);
    const text = filter && known?.[filter.field] === undefined ? toTyped(value, filter, locales) : undefined;
    const sorted = columns.find(({ id }) => id === value.replace(/^-/, ''));
    if (name === SEARCH && search === undefined && value.length <= MAX_LENGTH) search = value;
    else if (name === SHAPE && shape === undefined && (value === LIST || columns.some(({ id }) => id === value))) shape = value;
    else if (name === SORT && sorted && !sort) sort = { column: sorted.id, isDescending: value.startsWith('-') };
    else if (filter && text !== undefined) typed.set(filter.column.id, { ...known, [filter.field]: text });
    else unread.push(name);
  }
  return {
    view: {
      ...(search !== undefined && { search }),
      ...(shape !== undefined && { shape }),
      ...(typed.size > 0 && { typed: Object.fromEntries(typed), hasFilters: true }),
      sort,
    },
    unread: [...new Set(unread)],
  };
}

interface Field {
  readonly column: TableColumn;
  readonly field: keyof typeof bounds;
}

/** The text that a person would type into the field of a filter; undefined for a value that the field cannot have. */
function toTyped(value: string, { column, field }: Field, locales: readonly string[]): string | undefined {
  if (isRange(column) !== (field !== 'text') || value.trim() === '' || value.length > MAX_LENGTH) return undefined;
  if (field === 'text') return value;
  if (isTime(column.kind)) return isDay(value) ? value : undefined;
  if (!readDecimal(value)) return undefined;
  const typed = writeTypedNumber(value, locales);
  return readTypedNumber(typed, locales) === undefined ? undefined : typed;
}

/** True for a day that the calendar has: a browser takes the 30th of February for one of March. */
function isDay(value: string): boolean {
  const time = DAY.test(value) ? Date.parse(`${value}T00:00:00Z`) : NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}
