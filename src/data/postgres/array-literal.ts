/** PostgreSQL's text form of an array (manual, Array Input and Output Syntax). */
export const toArrayLiteral = (values: readonly (string | number)[]): string =>
  `{${values.map((value) => `"${String(value).replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;
