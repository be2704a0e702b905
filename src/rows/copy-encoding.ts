/** Writes a row in COPY's text format. */
export function toCopyRow(values: readonly (string | number | null)[]): string {
  return `${values.map((value) => (value === null ? '\\N' : String(value).replace(/[\\\b\t\n\v\f\r]/g, toCopyEscape))).join('\t')}\n`;
}

const toCopyEscape = (character: string): string =>
  ({ '\b': '\\b', '\t': '\\t', '\n': '\\n', '\v': '\\v', '\f': '\\f', '\r': '\\r' })[character] ?? `\\${character}`;
