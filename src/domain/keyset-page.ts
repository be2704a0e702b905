import { createHash } from 'node:crypto';
import { keyColumns, type KeyOrder, type KeysetPage, type KeyType, type OrderKey } from '../data/keyset';
import { isLocalDate } from '../dates';
import { InputError } from '../errors';
import { toCents } from '../money';

/** A page as Relay's connection specification asks for it. With `last`, `first` does not count. */
export interface PageParameters {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** What the cursors of a page belong to: they are good for no other rows and no other order. */
export interface PageScope {
  readonly order: KeyOrder;
  /** Anything that tells these rows from others. */
  readonly query: unknown;
}

export interface Page<Row> {
  readonly nodes: readonly Row[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** The opaque text by which a caller goes on from a row. */
  cursorOf(row: Row): string;
}

export const MAX_PAGE_LENGTH = 1000;
const CHECKSUM_LENGTH = 16;

/**
 * Reads a page's rows, one more than it holds to see whether others follow. Throws INVALID_PARAMETERS for a length out of bounds and
 * for a cursor that is not one of this query's.
 */
export async function readPage<Row extends { readonly key: OrderKey }>(
  parameters: PageParameters,
  scope: PageScope,
  list: (page: KeysetPage) => Promise<Row[]>,
): Promise<Page<Row>> {
  const fromEnd = typeof parameters.last === 'number';
  const [name, length] = fromEnd ? (['last', parameters.last] as const) : (['first', parameters.first] as const);
  if (typeof length !== 'number' || length < 1 || length > MAX_PAGE_LENGTH) {
    throw new InputError(`${name} is ${length ?? 'missing'}; it must be between 1 and ${MAX_PAGE_LENGTH}`);
  }
  const after = toKey('after', parameters.after, scope);
  const before = toKey('before', parameters.before, scope);
  const rows = await list({ after, before, limit: length + 1, fromEnd });
  const hasMore = rows.length > length;
  const nodes = fromEnd ? rows.slice(-length) : rows.slice(0, length);
  return {
    nodes,
    hasNextPage: fromEnd ? before !== undefined : hasMore,
    hasPreviousPage: fromEnd ? hasMore : after !== undefined,
    cursorOf: ({ key }) => toCursor(key, scope),
  };
}

function toCursor(key: OrderKey, scope: PageScope): string {
  const place = key.map((text) => Buffer.from(text).toString('base64url')).join('.');
  return checksum(place, scope) + place;
}

/** A checksum, not a secret: whoever makes a cursor gets no further than by the filters that the query has anyway. */
function checksum(place: string, { query }: PageScope): string {
  return createHash('sha256')
    .update(`${JSON.stringify(query)}\n${place}`)
    .digest('base64url')
    .slice(0, CHECKSUM_LENGTH);
}

function toKey(name: string, cursor: string | null | undefined, scope: PageScope): OrderKey | undefined {
  if (cursor === undefined || cursor === null) return undefined;
  const place = cursor.slice(CHECKSUM_LENGTH);
  const key = place.split('.').map((text) => Buffer.from(text, 'base64url').toString());
  const types = Object.values(keyColumns(scope.order));
  // Whoever computes a checksum can make a cursor, so that its texts are checked as any input.
  const isPlace = key.length === types.length && types.every((type, index) => IS_VALUE[type](key[index]!));
  if (!isPlace || checksum(place, scope) !== cursor.slice(0, CHECKSUM_LENGTH))
    throw new InputError(`${name} is not a cursor of this query`);
  return key;
}

const IS_VALUE: Readonly<Record<KeyType, (text: string) => boolean>> = {
  text: (text) => !text.includes('\0'),
  date: isLocalDate,
  numeric: (text) => toCents(text) !== undefined,
  bigint: (text) => /^[0-9]{1,16}$/.test(text),
};
