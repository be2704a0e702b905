import { Prisma } from '../generated/prisma/client';

/** A row's place in an order: the text of each of the order's columns. */
export type OrderKey = readonly string[];

/** Types of columns that rows can be put in order by, none of them ever null. */
export type KeyType = 'text' | 'date' | 'numeric' | 'bigint';

/** The columns of an order with their types. Together they are unique among the rows. */
export type KeyColumns = Readonly<Record<string, KeyType>>;

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
  readonly where: Prisma.Sql;
  readonly columns: KeyColumns;
  readonly isDescending?: boolean;
  /** By how many of the first columns an index finds where the page begins. */
  readonly indexed?: number;
  readonly page: KeysetPage;
}

const { sql, raw, join } = Prisma;

/** The rows of a page with their places as `key`; from the list's end on where the last are asked for. */
export function selectPage({ values, from, where, columns, isDescending = false, indexed = 0, page }: PageQuery): Prisma.Sql {
  const { after, before, limit, fromEnd } = page;
  const names = Object.keys(columns);
  const [onwards, back] = isDescending ? ['<', '>'] : ['>', '<'];
  const conditions = [
    where,
    ...(after ? beyond(columns, onwards, after, indexed) : []),
    ...(before ? beyond(columns, back, before, indexed) : []),
  ];
  const direction = isDescending === fromEnd ? 'ASC' : 'DESC';
  return sql`SELECT ${values}, ARRAY[${raw(names.map((name) => `${name}::text`).join(', '))}] AS key
    FROM ${raw(from)} AS source WHERE ${join(conditions, ' AND ')}
    ORDER BY ${raw(names.map((name) => `source.${name} ${direction}`).join(', '))} LIMIT ${limit}::int`;
}

/** What comes after a place in an order, or before it. */
function beyond(columns: KeyColumns, comparison: string, key: OrderKey, indexed: number): Prisma.Sql[] {
  const compare = (length: number, operator: string): Prisma.Sql => {
    const compared = Object.entries(columns).slice(0, length);
    const values = compared.map(([, type], index) => sql`${key[index]}::${raw(type)}`);
    return sql`(${raw(compared.map(([name]) => name).join(', '))}) ${raw(operator)} (${join(values)})`;
  };
  const all = Object.keys(columns).length;
  return [...(indexed > 0 && indexed < all ? [compare(indexed, `${comparison}=`)] : []), compare(all, comparison)];
}

/** PostgreSQL's array literal (manual, Array Input and Output Syntax). */
export const toArray = (values: readonly (string | number)[]): string =>
  `{${values.map((value) => `"${String(value).replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;
