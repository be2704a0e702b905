/** Writes a row in COPY's text format. */
export function toCopyRow(values: readonly (string | number | null)[]): string {
  return `${values.map((value) => (value === null ? '\\N' : String(value).replace(/[\\\t\n\r]/g, toCopyEscape))).join('\t')}\n`;
}

const toCopyEscape = (character: string): string => ({ '\t': '\\t', '\n': '\\n', '\r': '\\r' })[character] ?? `\\${character}`;
