import { isLocalDate } from '../values/dates';

/** A state of the books: that after a change, by the number of its data version, or that of an instant. */
export type AsOf = { readonly version: number; readonly at?: undefined } | { readonly at: Date; readonly version?: undefined };

const VERSION = /^[1-9][0-9]{0,14}$/;
/** An instant with its offset from UTC (RFC 3339), in the form that GraphQL takes. Without an offset, it would depend on who reads it. */
const INSTANT = /^(\d{4}-\d{2}-\d{2})[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[-+](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Reads a state from an address or an argument: `12`, or `2026-11-01T00:00:00Z`. Undefined for any other text. */
export function parseAsOf(text: string): AsOf | undefined {
  if (VERSION.test(text)) return { version: Number(text) };
  const [, day] = INSTANT.exec(text) ?? [];
  return isLocalDate(day) ? { at: new Date(text.toUpperCase()) } : undefined;
}

export const formatAsOf = ({ version, at }: AsOf): string => (at ? at.toISOString() : String(version));

/** The form of a state in an address, for messages. */
export const AS_OF_FORM = 'the number of a version, or an instant like 2026-11-01T00:00:00Z';

/** The names of the parameter of a file and of the argument of an operation. */
export const asOfNames = { file: 'as_of', operation: 'asOf' } as const;

/** The condition by which the audit tells that lines of a past state were read: `as_of=12`. */
export const toStateCondition = (name: string, asOf: AsOf): string => `${name}=${formatAsOf(asOf)}`;
