import type { ColumnSamples } from './column-samples';

/**
 * Decides how a column's values are aligned and written, on the screen and in a spreadsheet. A `word` is one of an enum, which the worker
 * keeps as people write it: “Posted”, whether an answer says `POSTED` or a file `posted`. A `month` is the date of a first day that stands
 * for a month or more; a `quarter` and a `year` are named by their first and last month.
 */
export type ColumnKind = 'text' | 'word' | 'count' | 'money' | 'percent' | 'date' | 'month' | 'quarter' | 'year' | 'instant';

/** True for dates and times, which are text that sorts as it stands. */
export const isTime = (kind: ColumnKind): boolean => times.includes(kind);
const times: readonly ColumnKind[] = ['date', 'month', 'quarter', 'year', 'instant'];

/** True for numbers and amounts, which are compared by their size. */
export const isNumber = (kind: ColumnKind): boolean => kind === 'count' || kind === 'money' || kind === 'percent';

/** True for a column whose values are shown whole or not at all: a part of a number, a date or an id would pass for another one. */
export const isNeverCut = ({ kind, isCode = false }: TableColumn): boolean => isCode || (kind !== 'text' && kind !== 'word');

/** A column of a table. */
export interface TableColumn {
  /** Unique in the table: the path of the value in the answer, such as `all.byTransaction.amount`. */
  readonly id: string;
  /** The name as people say it, such as “To this fund”. */
  readonly title: string;
  readonly kind: ColumnKind;
  /** The path of the value before a change, which `id` leads to after it. The cell has a pair where they differ, such as “10.50 → 20.50”. */
  readonly before?: string;
  /** True for the list of the fields that a change has changed. Its cell has each of them by its title, before and after. */
  readonly isDifference?: true;
  /** The time zone by whose clock instants are written and days of a filter begin; without it, this computer's. */
  readonly timeZone?: string;
  /** A sentence that explains the column, shown with its name. */
  readonly about?: string;
  /** False where a sum of the column would count money twice: a gift of two funds is in two rows. Counts and amounts only. */
  readonly adds: boolean;
  /** True for differences, whose values are written with their signs. */
  readonly isSigned?: boolean | undefined;
  /** True for a text of which a part would pass for another one, such as an id. It is never cut. */
  readonly isCode?: boolean;
  /** True for a part of a name. The parts with which a row begins lead on together. */
  readonly isName?: boolean;
  /** The value of rows that are of nothing single, such as the gifts without a donor. These rows come last in every order. */
  readonly restValue?: string;
  /** True for one of many columns that stand side by side, each only as wide as its values. */
  readonly isCompact?: boolean;
  /** True for a column that is shown only when somebody chooses it. */
  readonly isHidden?: boolean;
  /** True for a hidden column that files have all the same: its one value stands over the rows, and a file has nothing over them. */
  readonly isInFiles?: boolean;
}

/**
 * A value as the gateway wrote it: exact decimals and dates are text. Null is unknown; an empty text means that there is no value to know.
 */
export type Cell = string | number | boolean | null;

export type Row = readonly Cell[];

/** Which rows are shown, and in which order. */
export interface Arrangement {
  /** Rows are shown where each of these words is the beginning of a word of its own in some cell, case and accents aside. */
  readonly search: string;
  readonly filters: readonly ColumnFilter[];
  readonly sort: { readonly column: string; readonly isDescending: boolean } | undefined;
}

/** A condition on a column: a part of a text, case and accents aside, or a range whose ends are included. */
export interface ColumnFilter {
  readonly column: string;
  readonly text?: string;
  readonly min?: string;
  readonly max?: string;
}

/** The rows that an arrangement shows. */
export interface Arranged {
  /** Counts the arrangements of the table, so that rows of an earlier one are told apart. */
  readonly serial: number;
  readonly count: number;
  /** The sum of each column that adds, by its id. */
  readonly sums: Readonly<Record<string, ColumnSum>>;
}

/** An exact sum of a column's known values, and the number of unknown ones. The sum is null when no value is known. */
export interface ColumnSum {
  readonly sum: string | null;
  readonly unknown: number;
}

export interface LoadProgress {
  readonly rows: number;
  /** The number of rows in all; undefined until it is known. */
  readonly allRows: number | undefined;
}

/** A table of the rows that have come so far. It grows under its number until it is whole, and is dropped by whoever was told of it. */
export interface GrowingTable extends LoadProgress {
  readonly table: LoadedTable;
}

/** Where the worker reads the rows of a table. */
export type RowSource =
  /**
   * The CSV file of a query, checked against the receipt. `names` has the file's name of each column, such as
   * `allocation_amount`.
   */
  | { readonly kind: 'file'; readonly query: string; readonly variables: object; readonly names: readonly string[] }
  /**
   * The pages of a connection of the query's answer, read with the query's variables `first` and `after`, up to a number of rows. Rows after
   * the first page come from the query’s CSV file in one stream, where `rest` is given.
   */
  | {
      readonly kind: 'pages';
      readonly query: string;
      readonly variables: object;
      readonly list: string;
      readonly maxRows?: number;
      readonly rest?: RestOfRows;
    };

/** The file that has the rows of a list in the same order, all of them. */
export interface RestOfRows {
  /** The file's name of each column. */
  readonly names: readonly string[];
  /** The path of the number of the state that the first page is of. The file is of the same one. */
  readonly version: string;
}

export interface LoadRequest {
  readonly provision: string;
  readonly source: RowSource;
  readonly columns: readonly TableColumn[];
}

/** The rows of a table that the worker holds, and how wide they are. */
export type KeptTable = Pick<LoadedTable, 'id' | 'count' | 'samples'>;

/** A table that the worker holds. */
export interface LoadedTable {
  readonly id: number;
  readonly count: number;
  /** Values of each column that tells how wide it is. */
  readonly samples: ColumnSamples;
  /** The version of the books that all rows are of. */
  readonly version: number;
  /** The data of the first answer without the rows of its list; null for a file. */
  readonly data: unknown;
  /** The digest of the lines that the rows were checked against; null for pages, for rows that are not whole, and for a user who may not have it. */
  readonly digest: string | null;
}
