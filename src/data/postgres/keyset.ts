import { Prisma } from '../../generated/prisma/client';

/** A row's place in an order: the values of the order's key columns, as text. A cursor holds it. */
export type OrderKey = readonly string[];

/** The types of the columns of an order. None of the columns is ever null. */
export type KeyType = 'text' | 'date' | 'numeric' | 'bigint' | 'deposit_status';

export interface KeyOrder {
  /** The columns, or expressions over them, with their types. Together they identify a row; with `isLookedUp`, the last one alone does. */
  readonly columns: Readonly<Record<string, KeyType>>;
  /** The fields of a row that hold the values of columns with another name. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The number of leading columns that an index has, so that it can find the beginning of a page. */
  readonly indexed?: number;
  /**
   * True when the columns hold personal or computed values. A place has the last column's value alone, and the database looks up the
   * others.
   */
  readonly isLookedUp?: boolean;
}

/** The bounds of a page: the first `limit` rows between two places, or the last ones. */
export interface KeysetPage {
  readonly after?: OrderKey | undefined;
  readonly before?: OrderKey | undefined;
  readonly limit: number;
  readonly fromEnd: boolean;
}

interface PageQuery {
  readonly values: Prisma.Sql;
  readonly from: string;
  /** The condition on the rows' owner. */
  readonly owned: Prisma.Sql;
  /** The condition that selects some of the owner's rows. */
  readonly where: Prisma.Sql;
  readonly order: KeyOrder;
  readonly isDescending?: boolean;
  readonly page: KeysetPage;
}

/** The columns whose values make up a place. */
export function keyColumns({ columns, isLookedUp }: KeyOrder): KeyOrder['columns'] {
  return isLookedUp ? Object.fromEntries(Object.entries(columns).slice(-1)) : columns;
}

/** The fields of a row that hold the values of its place: depositDate for deposit_date, unless the order names another field. */
export const keyFields = (order: KeyOrder): string[] =>
  Object.keys(keyColumns(order)).map(
    (column) => order.fields?.[column] ?? column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  );

const { sql, raw, join } = Prisma;

/** The SELECT of a page's rows. With `fromEnd`, they come in reverse order. */
export function selectPage({ values, from, owned, where, order, isDescending = false, page }: PageQuery): Prisma.Sql {
  const { after, before, limit, fromEnd } = page;
  const names = Object.keys(order.columns);
  const [onwards, back] = isDescending ? (['<', '>'] as const) : (['>', '<'] as const);
  const beyond = (comparison: '<' | '>', key: OrderKey): Prisma.Sql[] => {
    if (order.isLookedUp) return [sql`(${list(names)}) ${raw(comparison)} (${lookUp(from, owned, order, key)})`];
    const { indexed = 0 } = order;
    return [...(indexed > 0 ? [compare(order, indexed, `${comparison}=`, key)] : []), compare(order, names.length, comparison, key)];
  };
  const conditions = [owned, where, ...(after ? beyond(onwards, after) : []), ...(before ? beyond(back, before) : [])];
  const direction = isDescending === fromEnd ? 'ASC' : 'DESC';
  return sql`SELECT ${values} FROM ${raw(from)} AS source WHERE ${join(conditions, ' AND ')}
    ORDER BY ${list(names.map((name) => `${IS_NAME.test(name) ? `source.${name}` : name} ${direction}`))} LIMIT ${raw(toLimit(limit))}`;
}

/** The limit is part of the text: PostgreSQL plans a statement with an unknown limit for a tenth of all rows. */
function toLimit(limit: number): string {
  if (!Number.isSafeInteger(limit) || limit < 0) throw new Error(`${limit} is no number of rows`);
  return String(limit);
}

/** A column's name alone could mean a value of the SELECT with the same name. An expression always means columns. */
const IS_NAME = /^\w+$/;

/** Compares the first columns of an order with the values of a place. */
function compare({ columns }: KeyOrder, length: number, operator: string, key: OrderKey): Prisma.Sql {
  const compared = Object.entries(columns).slice(0, length);
  const values = compared.map(([, type], index) => sql`${key[index]}::${raw(type)}`);
  return sql`(${list(compared.map(([name]) => name))}) ${raw(operator)} (${join(values)})`;
}

/**
 * Looks up the column values of the row that a place names. When the row no longer exists, the page is empty: a caller that reads no rows
 * must check that the row exists.
 */
function lookUp(from: string, owned: Prisma.Sql, { columns }: KeyOrder, key: OrderKey): Prisma.Sql {
  const [name, type] = Object.entries(columns).at(-1)!;
  return sql`SELECT ${list(Object.keys(columns))} FROM ${raw(from)} AS source WHERE ${owned} AND ${raw(name)} = ${key[0]}::${raw(type)}`;
}

/** Puts names into SQL as they are: they are always the code's own, never a caller's. */
const list = (names: readonly string[]): Prisma.Sql => raw(names.join(', '));
