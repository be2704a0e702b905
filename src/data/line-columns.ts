import { Prisma } from '../generated/prisma/client';

/** Prisma's names of the columns of the lines. */
export const lineFields = Object.keys(Prisma.DepositLineScalarFieldEnum);

/** The column of a field of the lines: donor_id for donorId. Throws for any other name, because the result becomes part of SQL. */
export function toColumn(field: string): string {
  if (!Object.hasOwn(Prisma.DepositLineScalarFieldEnum, field)) throw new Error(`A line has no column for ${JSON.stringify(field)}`);
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The columns of a line that the view computes from the books. */
export const computedColumns: readonly string[] = lineFields.map(toColumn).filter((column) => column !== 'since' && column !== 'until');

/** The columns that the view computes, of a table in a statement. */
export const columnsOf = (table: string): string => computedColumns.map((column) => `${table}.${column}`).join(', ');

/** The expression of the names of the columns in which the lines of two tables differ. */
export const differingColumns = (left: string, right: string): string =>
  `array_remove(ARRAY[${computedColumns.map((column) => `CASE WHEN ${left}.${column} IS DISTINCT FROM ${right}.${column} THEN '${column}' END`).join(', ')}], NULL)`;

/** The condition on lines that are current. It is a constant, so that the planner reads their partition alone. */
export const IS_CURRENT = `until = ${Number.MAX_SAFE_INTEGER}`;
