import type { Prisma } from '../../generated/prisma/client';

// COPY takes no bind parameters.

const setting = (n: number): string => `gateway.value_${n}`;

/** The values of a SELECT as settings of the transaction, for `withSettings`: the expressions that make them from `$1` on. */
export const toSettings = ({ values }: Prisma.Sql): string[] =>
  values.map((_value, index) => `set_config('${setting(index + 1)}', $${index + 1}, true)`);

/** The COPY of a SELECT that reads its values from the settings. */
export const withSettings = ({ strings }: Prisma.Sql): string =>
  toCopy(strings, (position) => `current_setting('${setting(position + 1)}')`);

/** The COPY of a SELECT whose values are written at their places. */
export function toCopy(strings: readonly string[], write: (position: number) => string): string {
  const parts = strings.slice(1).map((next, position) => write(position) + next);
  return `COPY (${strings[0]}${parts.join('')}) TO STDOUT`;
}
