import { Prisma } from '../../generated/prisma/client';

/** A row's place in an order: the values of the order's key columns, as text. A cursor holds it. */
export type OrderKey = readonly string[];

/** The types of the columns of an order. None of the columns is ever null. */
export type KeyType = 'text' | 'date' | 'numeric' | 'bigint' | 'deposit_status';

export interface KeyOrder {
  /** The columns, or expressions over them, with their types. Together they identify a row. */
  readonly columns: Readonly<Record<string, KeyType>>;
  /** The fields of a row that hold the values of columns with another name. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The number of leading columns that an index has, so that it can find the beginning of a page. */
  readonly indexed?: number;
  /** True when the columns hold personal values, so that cursors are sealed. */
  readonly isPersonal?: boolean;
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
  /** The rows, which are called `source`. */
  readonly from: Prisma.Sql;
  readonly where: Prisma.Sql;
  readonly order: KeyOrder;
  readonly isDescending?: boolean;
  readonly page: KeysetPage;
}

/** A column's name alone. It could mean a value of the SELECT with the same name, where an expression always means columns. */
const IS_NAME = /^\w+$/;

/**
 * The fields of a row that hold the values of its place: depositDate for deposit_date, unless the order names another field. Expressions
 * have fields of their own, which `selectPage` adds and no caller sees.
 */
export const keyFields = ({ columns, fields }: KeyOrder): string[] =>
  Object.keys(columns).map((column, index) => {
    const field = IS_NAME.test(column) ? column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : `key${index}`;
    return fields?.[column] ?? field;
  });

/** Those of the fields that are columns, which the caller of `selectPage` selects. */
export const columnKeyFields = (order: KeyOrder): string[] =>
  keyFields(order).filter((_field, index) => IS_NAME.test(Object.keys(order.columns)[index]!));

const { sql, raw, join } = Prisma;

/** The text of a value, which compares as the value itself. An amount has two decimals even where no row was added up. */
const toText = (expression: string, type: KeyType): string =>
  type === 'numeric' ? `round(${expression}, 2)::text` : `(${expression})::text`;

/** The SELECT of a page's rows. With `fromEnd`, they come in reverse order. */
export function selectPage({ values, from, where, order, isDescending = false, page }: PageQuery): Prisma.Sql {
  const { after, before, limit, fromEnd } = page;
  const { columns, indexed = 0 } = order;
  const names = Object.keys(columns);
  const [onwards, back] = isDescending ? (['<', '>'] as const) : (['>', '<'] as const);
  const beyond = (comparison: '<' | '>', key: OrderKey): Prisma.Sql[] => [
    ...(indexed > 0 ? [compare(order, indexed, `${comparison}=`, key)] : []),
    compare(order, names.length, comparison, key),
  ];
  const conditions = [where, ...(after ? beyond(onwards, after) : []), ...(before ? beyond(back, before) : [])];
  const direction = isDescending === fromEnd ? 'ASC' : 'DESC';
  const fields = keyFields(order);
  const computed = Object.entries(columns).flatMap(([name, type], index) =>
    IS_NAME.test(name) ? [] : `, ${toText(name, type)} AS "${fields[index]}"`,
  );
  return sql`SELECT ${values}${raw(computed.join(''))} FROM ${from} WHERE ${join(conditions, ' AND ')}
    ORDER BY ${list(names.map((name) => `${IS_NAME.test(name) ? `source.${name}` : name} ${direction}`))} LIMIT ${raw(toLimit(limit))}`;
}

/** The limit is part of the text: PostgreSQL plans a statement with an unknown limit for a tenth of all rows. */
function toLimit(limit: number): string {
  if (!Number.isSafeInteger(limit) || limit < 0) throw new Error(`${limit} is no number of rows`);
  return String(limit);
}

/** Compares the first columns of an order with the values of a place. */
function compare({ columns }: KeyOrder, length: number, operator: string, key: OrderKey): Prisma.Sql {
  const compared = Object.entries(columns).slice(0, length);
  const values = compared.map(([, type], index) => sql`${key[index]}::${raw(type)}`);
  return sql`(${list(compared.map(([name]) => name))}) ${raw(operator)} (${join(values)})`;
}

/** Puts names into SQL as they are: they are always the code's own, never a caller's. */
const list = (names: readonly string[]): Prisma.Sql => raw(names.join(', '));
