import { createHash } from 'node:crypto';
import type { KeyColumns, KeysetPage, KeyType, OrderKey } from '../data/keyset';
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
  readonly columns: KeyColumns;
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
  const scopeText = JSON.stringify(scope.query);
  const after = toKey('after', parameters.after, scope.columns, scopeText);
  const before = toKey('before', parameters.before, scope.columns, scopeText);
  const rows = await list({ after, before, limit: length + 1, fromEnd });
  const hasMore = rows.length > length;
  const nodes = fromEnd ? rows.slice(-length) : rows.slice(0, length);
  return {
    nodes,
    hasNextPage: fromEnd ? before !== undefined : hasMore,
    hasPreviousPage: fromEnd ? hasMore : after !== undefined,
    cursorOf: ({ key }) => toCursor(key, scopeText),
  };
}

function toCursor(key: OrderKey, scopeText: string): string {
  const place = Buffer.from(JSON.stringify(key)).toString('base64url');
  return checksum(place, scopeText) + place;
}

/** A checksum, not a secret: whoever makes a cursor gets no further than by the filters that the query has anyway. */
function checksum(place: string, scopeText: string): string {
  return createHash('sha256').update(`${scopeText}\n${place}`).digest('base64url').slice(0, CHECKSUM_LENGTH);
}

function toKey(name: string, cursor: string | null | undefined, columns: KeyColumns, scopeText: string): OrderKey | undefined {
  if (cursor === undefined || cursor === null) return undefined;
  const place = cursor.slice(CHECKSUM_LENGTH);
  const key: unknown = checksum(place, scopeText) === cursor.slice(0, CHECKSUM_LENGTH) ? parse(place) : undefined;
  if (!isKey(key, Object.values(columns))) throw new InputError(`${name} is not a cursor of this query`);
  return key;
}

function parse(place: string): unknown {
  try {
    return JSON.parse(Buffer.from(place, 'base64url').toString()) as unknown;
  } catch {
    return undefined;
  }
}

const IS_VALUE: Readonly<Record<KeyType, (text: string) => boolean>> = {
  text: (text) => !text.includes('\0'),
  date: isLocalDate,
  numeric: (text) => toCents(text) !== undefined,
  bigint: (text) => /^[0-9]{1,16}$/.test(text),
};

const isKey = (key: unknown, types: readonly KeyType[]): key is OrderKey =>
  Array.isArray(key) &&
  key.length === types.length &&
  types.every((type, index) => {
    const text: unknown = key[index];
    return typeof text === 'string' && IS_VALUE[type](text);
  });
