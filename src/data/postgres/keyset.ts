import { Prisma } from '../../generated/prisma/client';

/** A row's place in an order, as texts that a cursor may hold: the values of its fields named as the columns. */
export type OrderKey = readonly string[];

/** Types of columns that rows can be put in order by, none of them ever null. */
export type KeyType = 'text' | 'date' | 'numeric' | 'bigint';

export interface KeyOrder {
  /** The columns with their types. Together they are unique among the rows; with `isPersonal`, the last one is by itself. */
  readonly columns: Readonly<Record<string, KeyType>>;
  /** By how many of the first columns an index finds where a page begins. */
  readonly indexed?: number;
  /** Where the columns are personal data, a place is known by the last one alone, and the others are looked up. */
  readonly isPersonal?: boolean;
}

/** So many rows after one place and before another: the first of them, or the last. */
export interface KeysetPage {
  readonly after?: OrderKey | undefined;
  readonly before?: OrderKey | undefined;
  readonly limit: number;
  readonly fromEnd: boolean;
}

interface PageQuery {
  readonly values: Prisma.Sql;
  readonly from: string;
  /** Whose rows. */
  readonly owned: Prisma.Sql;
  /** Which of them. */
  readonly where: Prisma.Sql;
  readonly order: KeyOrder;
  readonly isDescending?: boolean;
  readonly page: KeysetPage;
}

/** The columns that a place is known by. */
export function keyColumns({ columns, isPersonal }: KeyOrder): KeyOrder['columns'] {
  return isPersonal ? Object.fromEntries(Object.entries(columns).slice(-1)) : columns;
}

const { sql, raw, join } = Prisma;

/** The rows of a page; from the list's end on where the last are asked for. */
export function selectPage({ values, from, owned, where, order, isDescending = false, page }: PageQuery): Prisma.Sql {
  const { after, before, limit, fromEnd } = page;
  const names = Object.keys(order.columns);
  const [onwards, back] = isDescending ? (['<', '>'] as const) : (['>', '<'] as const);
  const beyond = (comparison: '<' | '>', key: OrderKey): Prisma.Sql[] => {
    if (order.isPersonal) return [sql`(${list(names)}) ${raw(comparison)} (${lookUp(from, owned, order, key)})`];
    const { indexed = 0 } = order;
    return [...(indexed > 0 ? [compare(order, indexed, `${comparison}=`, key)] : []), compare(order, names.length, comparison, key)];
  };
  const conditions = [owned, where, ...(after ? beyond(onwards, after) : []), ...(before ? beyond(back, before) : [])];
  const direction = isDescending === fromEnd ? 'ASC' : 'DESC';
  return sql`SELECT ${values} FROM ${raw(from)} AS source WHERE ${join(conditions, ' AND ')}
    ORDER BY ${list(names.map((name) => `source.${name} ${direction}`))} LIMIT ${limit}::int`;
}

/** The first columns of an order against those of a place. */
function compare({ columns }: KeyOrder, length: number, operator: string, key: OrderKey): Prisma.Sql {
  const compared = Object.entries(columns).slice(0, length);
  const values = compared.map(([, type], index) => sql`${key[index]}::${raw(type)}`);
  return sql`(${list(compared.map(([name]) => name))}) ${raw(operator)} (${join(values)})`;
}

/** The place of the row that a key names; nothing follows a row that is no more, so that whoever finds nothing must ask for it. */
function lookUp(from: string, owned: Prisma.Sql, { columns }: KeyOrder, key: OrderKey): Prisma.Sql {
  const [name, type] = Object.entries(columns).at(-1)!;
  return sql`SELECT ${list(Object.keys(columns))} FROM ${raw(from)} WHERE ${owned} AND ${raw(name)} = ${key[0]}::${raw(type)}`;
}

/** Names that are the code's own, never a caller's. */
const list = (names: readonly string[]): Prisma.Sql => raw(names.join(', '));
