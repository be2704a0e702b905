import { getLocalTimeZone, parseDate } from '@internationalized/date';

const VERSION = /^[1-9]\d{0,14}$/;
/** True for the number of a data version. */
export const isVersion = (text: string): boolean => VERSION.test(text);

/** A state of the books as the gateway takes it. */
export type AsOf = { readonly version: number } | { readonly at: string };

/** The state of the books that the gateway is asked for; undefined for the newest one. A day stands for its last millisecond in the zone. */
export function toAsOf(state: string, timeZone: string): AsOf | undefined {
  if (state === '') return undefined;
  if (isVersion(state)) return { version: Number(state) };
  return { at: endOfDay(state, timeZone) };
}

/** The same state as the address of a file has it. */
export function toStateText(state: string, timeZone: string): string | undefined {
  const asOf = toAsOf(state, timeZone);
  return asOf && ('at' in asOf ? asOf.at : String(asOf.version));
}

/** The first millisecond of a day, by the clock of a time zone. */
export const startOfDay = (day: string, timeZone = getLocalTimeZone()): string => parseDate(day).toDate(timeZone).toISOString();

/** The last millisecond of a day, by the clock of a time zone. */
export const endOfDay = (day: string, timeZone = getLocalTimeZone()): string =>
  new Date(parseDate(day).add({ days: 1 }).toDate(timeZone).getTime() - 1).toISOString();
