import { createHash } from 'node:crypto';
import { keyFields, type KeyOrder, type KeysetPage, type KeyType, type OrderKey } from '../../data/postgres/keyset';
import { InputError } from '../../errors';
import { isLocalDate } from '../../values/dates';
import { toCents } from '../../values/money';
import type { Eventually } from './loader';
import type { SealedPlaces } from './sealed-places';

/** The parameters of a page in Relay's connection specification. `first` is ignored when `last` is given. */
export interface PageParameters {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** A list that is read in pages. Its cursors fit no other rows and no other order. */
export interface PagedList {
  readonly order: KeyOrder;
  /** A JSON value that tells the rows of this list from those of other lists. */
  readonly query: unknown;
  /** Counts the rows on all pages. */
  readonly count: () => Eventually<number>;
  /** Seals the places of an order by personal values. */
  readonly sealed?: SealedPlaces;
}

/** Writes places as text, each for the digest of its list's query. */
export interface PlaceForm {
  write(place: OrderKey, query: string): Eventually<string>;
  /** Undefined for a text that was never a place of the list. */
  read(text: string, query: string): OrderKey | 'expired' | undefined;
}

/** A row with its cursor, the opaque text with which a caller continues from it. */
export interface Edge<Row> {
  readonly node: Row;
  /** Computed when it is asked for, because a cursor has a checksum. */
  readonly cursor: () => Eventually<string>;
}

/** The place of a page in its list. */
export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** The cursors of the first and the last row; null when the page is empty. */
  readonly startCursor: () => Eventually<string> | null;
  readonly endCursor: () => Eventually<string> | null;
}

/** A page with the names that its fields have in Relay's specification. */
export interface Page<Row> {
  readonly nodes: readonly Row[];
  readonly edges: () => readonly Edge<Row>[];
  readonly pageInfo: PageInfo;
  readonly totalCount: PagedList['count'];
}

export const MAX_PAGE_LENGTH = 1000;
const CHECKSUM_LENGTH = 16;

/** Reads a page. Throws as `toBounds`. */
export async function readPage<Row extends object>(
  parameters: PageParameters,
  list: PagedList,
  read: (bounds: KeysetPage) => Promise<readonly Row[]>,
): Promise<Page<Row>> {
  const { after, before } = parameters;
  const form = list.order.isPersonal
    ? await list.sealed!.open([after, before].flatMap((cursor) => (cursor ? placeOf(cursor) : [])))
    : PLAIN_FORM;
  const bounds = toBounds(parameters, list, form);
  return toPage(await read(bounds), bounds, list, form);
}

/** The form of places that anybody may read. */
const PLAIN_FORM: PlaceForm = {
  write: (place) => place.map((value) => Buffer.from(value).toString('base64url')).join('.'),
  read: (text) => text.split('.').map((value) => Buffer.from(value, 'base64url').toString()),
};

/**
 * The bounds of the rows to read. They include one row more than the page holds, to see whether others follow. Throws INVALID_PARAMETERS
 * for a length out of bounds, for a cursor of another query and for one that has expired.
 */
export function toBounds(parameters: PageParameters, list: PagedList, form = PLAIN_FORM): KeysetPage {
  const fromEnd = typeof parameters.last === 'number';
  const [name, length] = fromEnd ? (['last', parameters.last] as const) : (['first', parameters.first] as const);
  if (typeof length !== 'number' || !isLength(length))
    throw new InputError(`${name} is ${length ?? 'missing'}; it must be between 1 and ${MAX_PAGE_LENGTH}`, name);
  const after = toKey('after', parameters.after, list, form);
  const before = toKey('before', parameters.before, list, form);
  return { after, before, limit: length + 1, fromEnd };
}

/**
 * The bounds of the same page in several lists. Undefined when the length is out of bounds, and when the page has a cursor, because a
 * cursor belongs to one list.
 */
export function toSharedBounds({ first, after, last, before }: PageParameters): KeysetPage | undefined {
  const length = last ?? first;
  if (typeof length !== 'number' || !isLength(length) || typeof after === 'string' || typeof before === 'string') return undefined;
  return { after: undefined, before: undefined, limit: length + 1, fromEnd: typeof last === 'number' };
}

const isLength = (length: number): boolean => length >= 1 && length <= MAX_PAGE_LENGTH;

/** The page of the rows that were read within the bounds. */
export function toPage<Row extends object>(rows: readonly Row[], bounds: KeysetPage, list: PagedList, form = PLAIN_FORM): Page<Row> {
  const { after, before, limit, fromEnd } = bounds;
  const hasMore = rows.length === limit;
  const nodes = !hasMore ? rows : fromEnd ? rows.slice(1) : rows.slice(0, -1);
  const fields = keyFields(list.order);
  let query: string | undefined;
  const cursorOf = (row: Row): Eventually<string> => {
    const place = fields.map((field) => String((row as Readonly<Record<string, unknown>>)[field]));
    const digest = (query ??= digestQuery(list.query));
    const text = form.write(place, digest);
    return text instanceof Promise ? text.then((late) => checksum(late, digest) + late) : checksum(text, digest) + text;
  };
  const toCursorOf = (row: Row | undefined) => (): Eventually<string> | null => (row ? cursorOf(row) : null);
  return {
    nodes,
    edges: () =>
      nodes.map((node) => {
        let cursor: Eventually<string> | undefined;
        return { node, cursor: () => (cursor ??= cursorOf(node)) };
      }),
    pageInfo: {
      hasNextPage: fromEnd ? before !== undefined : hasMore,
      hasPreviousPage: fromEnd ? hasMore : after !== undefined,
      startCursor: toCursorOf(nodes[0]),
      endCursor: toCursorOf(nodes.at(-1)),
    },
    totalCount: list.count,
  };
}

/** The digest of a list's query, which may have a thousand values: it is computed once for all cursors of a page. */
export const digestQuery = (query: unknown): string => createHash('sha256').update(JSON.stringify(query)).digest('base64url');

/** The text of the place in a cursor. */
const placeOf = (cursor: string): string => cursor.slice(CHECKSUM_LENGTH);

/** A checksum, not a secret: a made-up cursor reaches no rows that the query's own filters would not reach. */
const checksum = (place: string, query: string): string =>
  createHash('sha256').update(`${query}\n${place}`).digest('base64url').slice(0, CHECKSUM_LENGTH);

function toKey(name: string, cursor: string | null | undefined, { order, query }: PagedList, form: PlaceForm): OrderKey | undefined {
  if (cursor === undefined || cursor === null) return undefined;
  const text = placeOf(cursor);
  const digest = digestQuery(query);
  const place = cursor.startsWith(checksum(text, digest)) ? form.read(text, digest) : undefined;
  if (place === 'expired') throw new InputError(`${name} is a cursor that has expired; begin again`, name);
  const types = Object.values(order.columns);
  // Anybody can compute the checksum and make up a cursor, so its texts are checked like any input.
  const isPlace = place?.length === types.length && types.every((type, index) => IS_VALUE[type](place[index]!));
  if (!isPlace) throw new InputError(`${name} is not a cursor of this query`, name);
  return place;
}

const IS_VALUE: Readonly<Record<KeyType, (text: string) => boolean>> = {
  text: (text) => !text.includes('\0'),
  date: isLocalDate,
  // A figure of a group that is not known stands beyond all others.
  numeric: (text) => toCents(text) !== undefined || /^-?Infinity$/.test(text),
  bigint: (text) => /^[0-9]{1,16}$/.test(text),
  deposit_status: (text) => text === 'POSTED' || text === 'PENDING',
};
