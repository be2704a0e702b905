import { createHash } from 'node:crypto';
import { keyColumns, type KeyOrder, type KeysetPage, type KeyType, type OrderKey } from '../data/postgres/keyset';
import { InputError } from '../errors';
import { isLocalDate } from '../values/dates';
import { toCents } from '../values/money';

/** A page as Relay's connection specification asks for it. With `last`, `first` does not count. */
export interface PageParameters {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** The list that a page is of. Its cursors are good for no other rows and no other order. */
export interface PagedList {
  readonly order: KeyOrder;
  /** Anything that tells these rows from others. */
  readonly query: unknown;
  /** How many rows there are on all pages. */
  readonly count: () => Promise<number>;
  /** Where a place is looked up in the data: whether its row is still there. */
  readonly hasPlace?: (key: OrderKey) => Promise<boolean>;
}

export interface Page<Row> {
  readonly nodes: readonly Row[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** The opaque text by which a caller goes on from a row. */
  readonly cursorOf: (row: Row) => string;
  readonly count: PagedList['count'];
}

export const MAX_PAGE_LENGTH = 1000;
const CHECKSUM_LENGTH = 16;

/** Reads a page's rows. Throws as `toBounds`, and for a cursor whose place is no more: nothing would follow it, as at a list's end. */
export async function readPage<Row extends object>(
  parameters: PageParameters,
  list: PagedList,
  read: (bounds: KeysetPage) => Promise<readonly Row[]>,
): Promise<Page<Row>> {
  const bounds = toBounds(parameters, list);
  const rows = await read(bounds);
  if (rows.length === 0) await assertPlaces(bounds, list);
  return toPage(rows, bounds, list);
}

async function assertPlaces({ after, before }: KeysetPage, { hasPlace }: PagedList): Promise<void> {
  for (const [name, key] of Object.entries({ after, before })) {
    if (key && hasPlace && !(await hasPlace(key))) throw new InputError(`${name} is the cursor of a row that is no more; begin again`);
  }
}

/**
 * Which rows to read: one more than the page holds, to see whether others follow. Throws INVALID_PARAMETERS for a length out of bounds
 * and for a cursor that is not one of this query's.
 */
export function toBounds(parameters: PageParameters, list: PagedList): KeysetPage {
  const fromEnd = typeof parameters.last === 'number';
  const [name, length] = fromEnd ? (['last', parameters.last] as const) : (['first', parameters.first] as const);
  if (typeof length !== 'number' || !isLength(length))
    throw new InputError(`${name} is ${length ?? 'missing'}; it must be between 1 and ${MAX_PAGE_LENGTH}`);
  const after = toKey('after', parameters.after, list);
  const before = toKey('before', parameters.before, list);
  return { after, before, limit: length + 1, fromEnd };
}

/** The same for several lists at once: undefined where that is wrong for all, or the page lies at a cursor, which is of one list. */
export function toSharedBounds({ first, after, last, before }: PageParameters): KeysetPage | undefined {
  const length = last ?? first;
  if (typeof length !== 'number' || !isLength(length) || typeof after === 'string' || typeof before === 'string') return undefined;
  return { after: undefined, before: undefined, limit: length + 1, fromEnd: typeof last === 'number' };
}

const isLength = (length: number): boolean => length >= 1 && length <= MAX_PAGE_LENGTH;

/** The page of the rows that were read within the bounds. */
export function toPage<Row extends object>(rows: readonly Row[], bounds: KeysetPage, list: PagedList): Page<Row> {
  const { after, before, limit, fromEnd } = bounds;
  const hasMore = rows.length === limit;
  return {
    nodes: !hasMore ? rows : fromEnd ? rows.slice(1) : rows.slice(0, -1),
    hasNextPage: fromEnd ? before !== undefined : hasMore,
    hasPreviousPage: fromEnd ? hasMore : after !== undefined,
    cursorOf: (row) => toCursor(row, list),
    count: list.count,
  };
}

function toCursor(row: object, list: PagedList): string {
  const values = row as Readonly<Record<string, unknown>>;
  const key = Object.keys(keyColumns(list.order)).map((column) => String(values[toField(column)]));
  const place = key.map((text) => Buffer.from(text).toString('base64url')).join('.');
  return checksum(place, list) + place;
}

/** How a row names what it holds of a column: deposit_date is depositDate. */
const toField = (column: string): string => column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A checksum, not a secret: whoever makes a cursor gets no further than by the filters that the query has anyway. */
function checksum(place: string, { query }: PagedList): string {
  return createHash('sha256')
    .update(`${JSON.stringify(query)}\n${place}`)
    .digest('base64url')
    .slice(0, CHECKSUM_LENGTH);
}

function toKey(name: string, cursor: string | null | undefined, list: PagedList): OrderKey | undefined {
  if (cursor === undefined || cursor === null) return undefined;
  const place = cursor.slice(CHECKSUM_LENGTH);
  const key = place.split('.').map((text) => Buffer.from(text, 'base64url').toString());
  const types = Object.values(keyColumns(list.order));
  // Whoever computes a checksum can make a cursor, so that its texts are checked as any input.
  const isPlace = key.length === types.length && types.every((type, index) => IS_VALUE[type](key[index]!));
  if (!isPlace || checksum(place, list) !== cursor.slice(0, CHECKSUM_LENGTH)) throw new InputError(`${name} is not a cursor of this query`);
  return key;
}

const IS_VALUE: Readonly<Record<KeyType, (text: string) => boolean>> = {
  text: (text) => !text.includes('\0'),
  date: isLocalDate,
  numeric: (text) => toCents(text) !== undefined,
  bigint: (text) => /^[0-9]{1,16}$/.test(text),
};
