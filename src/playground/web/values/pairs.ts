/** Stands between the value of a field before a change and that after it. Each is written as the gateway writes it. */
const ARROW = ' → ';

/** A value before a change and after it, as one text. */
export const toPair = (before: string, after: string): string => before + ARROW + after;

/** The values of a pair, or the one value of a field that has not changed. */
export const valuesOf = (text: string): readonly string[] => text.split(ARROW);

/** The value after a change, or the only one: pairs are sorted and compared by it. */
export const laterOf = (text: string): string => valuesOf(text).at(-1) ?? '';

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufeff]/;

/** Writes pairs so that the arrow leads from the first to the second, also between texts that are read from right to left. */
export function withArrows(text: string): string {
  if (!text.includes(ARROW) || !RIGHT_TO_LEFT.test(text)) return text;
  return `\u2066${text.replaceAll(ARROW, ' \u200e→\u200e ')}\u2069`;
}
