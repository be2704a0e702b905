import { Prisma, type DepositLine } from '../../generated/prisma/client';
import { moneyNames, type FieldType, type LineValues } from '../../line/line-fields';
import type { KeyType } from '../postgres/keyset';

// The build fails here when Prisma's model lacks a field of the lines, or has one that they lack.
({}) satisfies { [Field in Exclude<keyof LineValues, keyof DepositLine>]: never };
({}) satisfies {
  [
    Field in Exclude<
      keyof DepositLine,
      keyof LineValues | 'organizationId' | 'since' | 'until' | 'moneySince' | 'erasedVersion' | 'donorSearch'
    >
  ]: never;
};

/** The column of a field of the lines: donor_id for donorId. Throws for any other name, because the result becomes part of SQL. */
export function toColumn(field: string): string {
  if (!Object.hasOwn(Prisma.DepositLineScalarFieldEnum, field)) throw new Error(`A line has no column for ${JSON.stringify(field)}`);
  return toSnakeCase(field);
}

export const toSnakeCase = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The type of a column in SQL, by the type of its field. */
export const SQL_TYPES: Readonly<Record<FieldType, KeyType | 'boolean'>> = {
  ...({ id: 'text', text: 'text', name: 'text', code: 'text' } as const),
  ...({ number: 'bigint', date: 'date', money: 'numeric', status: 'deposit_status', boolean: 'boolean' } as const),
};

/** The casts with which values leave the database: dates become text; numeric ids, all of them below 2^53, become doubles, which hold them exactly. */
export const CASTS: { readonly [Type in FieldType]?: string } = { date: '::text', number: '::float8', status: '::text' };

/** The columns of a line that tell of versions. */
export const VERSION_COLUMNS: readonly string[] = ['since', 'until', 'money_since', 'erased_version'];

/** The columns of a line that the view computes from the books. */
export const computedColumns: readonly string[] = Object.keys(Prisma.DepositLineScalarFieldEnum)
  .map(toSnakeCase)
  .filter((column) => !VERSION_COLUMNS.includes(column));

/** The money of a line of a table in a statement, as the money digest covers it: that is what a closed month keeps. */
export const moneyOf = (table: string): string => moneyNames.map((column) => `${table}.${column}`).join(', ');

/** The columns that the view computes, of a table in a statement. */
export const columnsOf = (table: string): string => computedColumns.map((column) => `${table}.${column}`).join(', ');

/** The expression of the names of the columns in which the lines of two tables differ. */
export const differingColumns = (left: string, right: string): string =>
  `array_remove(ARRAY[${computedColumns.map((column) => `CASE WHEN ${left}.${column} IS DISTINCT FROM ${right}.${column} THEN '${column}' END`).join(', ')}], NULL)`;

/** The condition on lines that are current. It is a constant, so that the planner reads their partition alone. */
export const IS_CURRENT = `until = ${Number.MAX_SAFE_INTEGER}`;
