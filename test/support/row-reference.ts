import type { JsonMember, RowColumn } from '../../src/rows/row-template';

export type Value = string | number | boolean | null;
export type Row = readonly Value[];

const COPY_ESCAPES: Readonly<Record<string, string>> = {
  ...{ '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\v': '\\v', '\\': '\\\\' },
};

/** Rows as COPY's text output has them (PostgreSQL manual, COPY, Text Format). */
export function toCopyText(rows: readonly Row[]): string {
  const toField = (value: Value): string =>
    value === null ? '\\N' : String(value).replace(/[\b\f\n\r\t\v\\]/g, (character) => COPY_ESCAPES[character]!);
  return rows.map((row) => `${row.map(toField).join('\t')}\n`).join('');
}

/** Rows in JSON, each value by JSON.stringify. */
export function toJsonText(members: readonly JsonMember[], rows: readonly Row[], separator = ',', terminator = ''): string {
  const objects = rows.map((row) => {
    const values = row.values();
    const texts = members.map((member) => {
      const value = 'constant' in member ? member.constant : values.next().value;
      return `${JSON.stringify(member.key)}:${JSON.stringify(value)}`;
    });
    return `{${texts.join(',')}}${terminator}`;
  });
  return objects.join(separator);
}

/** Records in CSV, with the guard against formulas. */
export function toCsvText(columns: readonly RowColumn[], rows: readonly Row[]): string {
  const toCell = ({ kind, freeText }: RowColumn, value: Value): string => {
    const text = value === null ? '' : String(value).replaceAll('"', '""');
    const guarded = freeText && /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return kind === 'text' ? `"${guarded}"` : guarded;
  };
  return rows.map((row) => `${columns.map((column, position) => toCell(column, row[position]!)).join(',')}\r\n`).join('');
}
