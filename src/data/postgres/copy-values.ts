import { escapeLiteral } from 'pg';
import { AppError } from '../../errors';
import type { Prisma } from '../../generated/prisma/client';

// COPY takes no bind parameters. Each value in a COPY has a cast in SQL, which tells its type.

const CAST = /^::([a-z]+(?:\[\])?)/;
/**
 * The texts that a value of each type may have when it is written into a statement. Texts may have any but NUL, which would end the
 * statement.
 */
const FORMS: Readonly<Record<string, RegExp>> = {
  int: /^-?\d{1,10}$/,
  bigint: /^-?\d{1,19}$/,
  numeric: /^-?\d+(\.\d+)?$/,
  date: /^\d{4}-\d\d-\d\d$/,
  boolean: /^(true|false)$/,
  'bigint[]': /^\{("-?\d{1,19}"(,(?!\})|(?=\})))*\}$/,
  'date[]': /^\{("\d{4}-\d\d-\d\d"(,(?!\})|(?=\})))*\}$/,
  text: /^[^\0]*$/,
  'text[]': /^\{[^\0]*\}$/,
};
/**
 * What stands before a name that somebody looks for. It is a setting, which no list of statements shows. PostgreSQL would read and cast a
 * setting anew for each row that a filter tries, which takes longer than the row itself; a name is folded once for the statement.
 */
const BEFORE_NAME = /\bfold_for_search\($/;

/** The names in a SELECT, which are settings of the transaction when `withSettings` copies it, and the expressions that make them from `$1` on. */
export function toSettings(select: Prisma.Sql): { readonly expressions: readonly string[]; readonly values: readonly unknown[] } {
  const positions = [...select.values.keys()].filter((position) => isSet(select, position));
  return {
    expressions: positions.map((position, index) => `set_config('${toSetting(position)}', $${index + 1}, true)`),
    values: positions.map((position) => select.values[position]),
  };
}

/** The COPY of a SELECT with names as settings of its transaction, and constants for all other values. */
export const withSettings = (select: Prisma.Sql): string =>
  toCopy(select, (position) => (isSet(select, position) ? `current_setting('${toSetting(position)}')` : toConstant(select, position)));

/** The COPY of a SELECT with all values as constants. */
export const withConstants = (select: Prisma.Sql): string => toCopy(select, (position) => toConstant(select, position));

/** The COPY of a SELECT without its values, which may be a donor's. */
export const withoutValues = (select: Prisma.Sql): string => toCopy(select, (position) => `$${position + 1}`);

const isSet = ({ strings }: Prisma.Sql, position: number): boolean => BEFORE_NAME.test(strings[position]!);

const toSetting = (position: number): string => `gateway.value_${position + 1}`;

/** A value as a constant, which is quoted here and nowhere else. Throws for a value whose text has not the form of its type: a fault of the gateway. */
function toConstant({ strings, values }: Prisma.Sql, position: number): string {
  const type = typeAt(strings, position);
  const value = String(values[position]);
  if (!FORMS[type]?.test(value)) {
    throw new AppError('INTERNAL_SERVER_ERROR', { cause: new Error(`A value of a COPY is no ${type === '' ? 'typed value' : type}`) });
  }
  return escapeLiteral(value);
}

const typeAt = (strings: readonly string[], position: number): string => CAST.exec(strings[position + 1]!)?.[1] ?? '';

/** The COPY of a SELECT with each value written at its place. */
function toCopy({ strings }: Prisma.Sql, write: (position: number) => string): string {
  const parts = strings.slice(1).map((next, position) => write(position) + next);
  return `COPY (${strings[0]}${parts.join('')}) TO STDOUT`;
}
