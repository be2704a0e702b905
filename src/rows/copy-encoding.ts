/** The bytes with a meaning in COPY's text format (PostgreSQL manual, COPY, Text Format). */
export const TAB = 0x09;
export const NEWLINE = 0x0a;
export const BACKSLASH = 0x5c;
/** The N of `\N`, which stands for null. */
export const NULL_MARK = 0x4e;

/** The byte that each letter after a backslash stands for; any other byte stands for itself. */
export const UNESCAPED: Readonly<Record<number, number>> = { 0x62: 0x08, 0x66: 0x0c, 0x6e: 0x0a, 0x72: 0x0d, 0x74: 0x09, 0x76: 0x0b };

/** Writes a row in COPY's text format. */
export function toCopyRow(values: readonly (string | number | null)[]): string {
  return `${values.map((value) => (value === null ? '\\N' : String(value).replace(/[\\\t\n\r]/g, toCopyEscape))).join('\t')}\n`;
}

const toCopyEscape = (character: string): string => ({ '\t': '\\t', '\n': '\\n', '\r': '\\r' })[character] ?? `\\${character}`;
