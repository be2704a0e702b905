import { Prisma } from '../../generated/prisma/client';

type Values = readonly (string | number)[];

const { sql, raw } = Prisma;

/** PostgreSQL's text form of an array (manual, Array Input and Output Syntax). */
export const toArrayLiteral = (values: Values): string =>
  `{${values.map((value) => `"${String(value).replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;

/**
 * The condition that a column has one of the values. A single value has a text of its own: PostgreSQL reckons with ten values of an array
 * that it does not know, and would plan a kept statement anew each time that there is one.
 */
export const isAmong = (column: string, values: Values, type: string): Prisma.Sql =>
  values.length === 1
    ? sql`${raw(column)} = ${String(values[0])}::${raw(type)}`
    : sql`${raw(column)} = ANY(${toArrayLiteral(values)}::${raw(type)}[])`;

/** The values as rows of a FROM clause, with the same difference. The clause names their column. */
export const rowsOf = (values: Values, type: string): Prisma.Sql =>
  values.length === 1 ? sql`(VALUES (${String(values[0])}::${raw(type)}))` : sql`unnest(${toArrayLiteral(values)}::${raw(type)}[])`;
