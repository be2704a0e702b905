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
  const objects = rows.map((row) => `${toObjectText(members, row.values())}${terminator}`);
  return objects.join(separator);
}

function toObjectText(members: readonly JsonMember[], values: Iterator<Value>): string {
  const texts = members.map((member) => `${JSON.stringify(member.key)}:${toMemberText(member, values)}`);
  return `{${texts.join(',')}}`;
}

function toMemberText(member: JsonMember, values: Iterator<Value>): string {
  if ('constant' in member) return JSON.stringify(member.constant);
  if (!('members' in member)) return JSON.stringify(values.next().value);
  const isNull = member.unless !== undefined && values.next().value === null;
  const text = toObjectText(member.members, values);
  return isNull ? 'null' : text;
}

/** Records in CSV, with the guard against formulas. */
export function toCsvText(columns: readonly RowColumn[], rows: readonly Row[]): string {
  const toCell = ({ kind, freeText }: RowColumn, value: Value): string => {
    const text = value === null ? '' : String(value).replaceAll('"', '""');
    const guarded = freeText && /^'*[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
    return kind === 'text' ? `"${guarded}"` : guarded;
  };
  return rows.map((row) => `${columns.map((column, position) => toCell(column, row[position]!)).join(',')}\r\n`).join('');
}
