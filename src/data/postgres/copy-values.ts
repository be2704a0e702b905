import { escapeLiteral } from 'pg';
import type { Prisma } from '../../generated/prisma/client';

// COPY takes no bind parameters.

const setting = (n: number): string => `gateway.value_${n}`;

/** The values of a SELECT as settings of the transaction, for `withSettings`: the expressions that make them from `$1` on. */
export const toSettings = ({ values }: Prisma.Sql): string[] =>
  values.map((_value, index) => `set_config('${setting(index + 1)}', $${index + 1}, true)`);

/** The COPY of a SELECT that reads its values from the settings. */
export const withSettings = ({ strings }: Prisma.Sql): string =>
  toCopy(strings, (position) => `current_setting('${setting(position + 1)}')`);

/**
 * The texts that a value of each type may have when it is written into a statement. Texts may have any but NUL, which would end the
 * statement.
 */
const FORMS: Readonly<Record<string, RegExp>> = {
  int: /^-?\d{1,10}$/,
  bigint: /^-?\d{1,19}$/,
  numeric: /^-?\d{1,30}(\.\d{1,10})?$/,
  date: /^\d{4}-\d\d-\d\d$/,
  boolean: /^(true|false)$/,
  'bigint[]': /^\{("-?\d{1,19}"(,(?!\})|(?=\})))*\}$/,
  'date[]': /^\{("\d{4}-\d\d-\d\d"(,(?!\})|(?=\})))*\}$/,
  text: /^[^\0]*$/,
  'text[]': /^\{[^\0]*\}$/,
};
const CAST = /^::([a-z]+(?:\[\])?)/;

/**
 * The COPY of a SELECT with its values as constants, for a distributed database: settings do not reach its nodes, and hide from it the
 * organization whose node has the rows. Each value has the cast of a type whose form it meets, and is quoted here and nowhere else. Throws
 * for any other value.
 */
export const withConstants = ({ strings, values }: Prisma.Sql): string =>
  toCopy(strings, (position) => {
    const type = CAST.exec(strings[position + 1]!)?.[1] ?? '';
    const value = String(values[position]);
    if (!FORMS[type]?.test(value)) throw new Error(`A value of a COPY is no ${type === '' ? 'typed value' : type}`);
    return escapeLiteral(value);
  });

function toCopy(strings: readonly string[], write: (position: number) => string): string {
  const parts = strings.slice(1).map((next, position) => write(position) + next);
  return `COPY (${strings[0]}${parts.join('')}) TO STDOUT`;
}
