import type { ColumnKind, Row, TableColumn } from '../values/table-types';

/** A list of an answer as a table, all of it on the page. Charts are drawn from it. */
export interface ResultTable {
  /** The path of the list in the answer, such as `depositSummary.groups.nodes`. */
  readonly name: string;
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly ResultRow[];
  /** True where no group is missing: nothing came in for a group that is not there. */
  readonly isWhole?: boolean;
  /** The column that is drawn first. */
  readonly main?: string | undefined;
}

export interface ResultColumn {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'decimal';
  /** The name for people, where it differs. */
  readonly title?: string;
  /** True where the values of the rows may be added up. */
  readonly adds?: boolean;
}

/** A row's values by column name. A value that is null in the answer, or not there, is undefined. */
export type ResultRow = Readonly<Record<string, string | number | boolean | undefined>>;

const kinds: Readonly<Partial<Record<ColumnKind, ResultColumn['kind']>>> = { count: 'number', money: 'decimal' };

/** Makes a table of rows that the worker sent. */
export function toResultTable(
  { name, columns }: { readonly name: string; readonly columns: readonly TableColumn[] },
  rows: readonly Row[],
): ResultTable {
  const toValue = (row: Row, n: number): ResultRow[string] => {
    const value = row[n] ?? undefined;
    return value === '' && columns[n]?.kind !== 'text' ? undefined : value;
  };
  return {
    name,
    columns: columns.map(({ id, kind }) => ({ name: id, kind: kinds[kind] ?? 'text' })),
    rows: rows.map((row) => Object.fromEntries(columns.map(({ id }, n) => [id, toValue(row, n)]))),
  };
}
