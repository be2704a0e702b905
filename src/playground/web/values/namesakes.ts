/** Writes a name with what tells it apart from the same name of another: “Ada Lovelace (12, London)”. */
export function disambiguate(name: string, marks: readonly (string | number | boolean | null | undefined)[]): string {
  const known = marks.filter((mark) => mark !== null && mark !== undefined && mark !== '');
  return known.length === 0 ? name : `${name} (${known.join(', ')})`;
}
