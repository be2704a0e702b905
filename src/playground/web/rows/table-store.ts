import { ColumnIndex, NO_RANK } from './column-index';
import { foldWords } from '../values/folded-text';
import { longestValues, sampleValues, type ColumnSamples } from '../values/column-samples';
import { isNeverCut, isTime, type Arranged, type Arrangement, type Cell, type Row, type TableColumn } from '../values/table-types';
import { datePattern } from '../values/cell-format';
import { blankedNumberPattern } from '../values/exact-decimal';
import { decimalPoint, toCellLine, toNameLine } from './spreadsheet-text';
import { ValueList } from '../values/value-list';

/** A column with its values. */
export interface StoredColumn {
  readonly column: TableColumn;
  readonly values: ValueList;
}

/** The rows that a file takes at once. */
const FILE_PIECE_ROWS = 1000;

/** The message for places of an order that the person sees no more: they would name other rows. */
const CHANGED = 'The rows have just changed. Try again.';

/** Counts the arrangements of all tables: rows of one that has grown must not pass for rows of the table before. */
let lastSerial = 0;

/** Holds the rows of one table compactly, and shows some of them in some order. */
export class TableStore {
  readonly count: number;
  readonly #columns: readonly StoredColumn[];
  /** The decimal sign of cells that are copied. */
  readonly #point: string;
  /** The forms of what the page writes with spaces in it, and which is one word of a search all the same. */
  readonly #spaced: readonly RegExp[];
  readonly #indexes: ReadonlyMap<string, ColumnIndex>;
  #serial = 0;
  /** The rows that are shown, in order; undefined while all are shown as they were loaded. */
  #shown: Uint32Array | undefined;

  /** The values must be complete: the store seals them. */
  constructor(columns: readonly StoredColumn[], locales: readonly string[]) {
    for (const { values } of columns) values.seal();
    this.#point = decimalPoint(locales);
    this.#spaced = [datePattern(locales), blankedNumberPattern(locales) ?? []].flat();
    this.#columns = columns;
    this.count = columns[0]?.values.length ?? 0;
    this.#indexes = new Map(
      columns.map(({ column, values }) => [column.id, new ColumnIndex(values, column.kind, locales, column.timeZone)]),
    );
  }

  get columns(): readonly TableColumn[] {
    return this.#columns.map(({ column }) => column);
  }

  /** Values of each column that tell how wide it is. The width of a date is known without them. */
  samples(): ColumnSamples {
    const measured = this.#columns.filter(({ column }) => !isTime(column.kind) || column.before !== undefined);
    return Object.fromEntries(
      measured.map(({ column, values }) => [column.id, isNeverCut(column) ? sampleValues(values) : longestValues(values)]),
    );
  }

  /** Searches, filters, sorts and adds up. Rows with equal values keep the order in which they were loaded. */
  arrange({ search, filters, sort }: Arrangement): Arranged {
    const kept = this.#find(search, filters);
    const sorted = sort && this.#sort(kept ?? Uint32Array.from({ length: this.count }, (_, row) => row), sort);
    this.#shown = this.#withRestLast(sorted ?? kept);
    this.#serial = ++lastSerial;
    return { serial: this.#serial, count: this.#shownCount(), sums: this.#sums() };
  }

  /** Shown rows from one place up to, and without, another. */
  rows(from: number, to: number): Row[] {
    return this.#slice(from, to, (place) => this.#shown?.[place] ?? place);
  }

  /** As `rows`; undefined when the arrangement that the caller knows is out of date. */
  rowsOf(serial: number, from: number, to: number): Row[] | undefined {
    return serial === this.#serial ? this.rows(from, to) : undefined;
  }

  /** All rows as they were loaded, from one place up to, and without, another. */
  loadedRows(from: number, to: number): Row[] {
    return this.#slice(Math.max(0, from), Math.min(to, this.count), (place) => place, this.count);
  }

  /**
   * Shown cells as text for a spreadsheet, with the columns' titles as the first line when that is asked for. Throws when the arrangement
   * that the caller knows is out of date.
   */
  cells(serial: number, from: number, to: number, columnIds: readonly string[], withTitles: boolean): string {
    this.#assertCurrent(serial);
    const chosen = columnIds.flatMap((id) => this.#columns.find(({ column }) => column.id === id) ?? []);
    const lines = withTitles ? [toNameLine(chosen.map(({ column }) => column))] : [];
    for (let place = Math.max(0, from); place < Math.min(to, this.#shownCount()); place++) {
      const row = this.#shown?.[place] ?? place;
      lines.push(
        toCellLine(
          chosen.map(({ column, values }) => ({ kind: column.kind, value: values.at(row) })),
          this.#point,
        ),
      );
    }
    return lines.join('\n');
  }

  /**
   * The shown rows with some columns, piece by piece, for a file. The columns are in the order of their ids. Throws when the arrangement
   * that the caller knows is out of date.
   */
  shownRows(
    serial: number,
    columnIds: readonly string[],
  ): { readonly columns: readonly TableColumn[]; readonly rows: Iterable<readonly Row[]> } {
    this.#assertCurrent(serial);
    const chosen = columnIds.flatMap((id) => this.#columns.find(({ column }) => column.id === id) ?? []);
    // The file is of the rows that are shown now, whatever is searched for meanwhile.
    const shown = this.#shown;
    const count = this.#shownCount();
    const pieceAt = (from: number): Row[] =>
      Array.from({ length: Math.min(FILE_PIECE_ROWS, count - from) }, (_, n) => {
        const row = shown?.[from + n] ?? from + n;
        return chosen.map(({ values }) => values.at(row));
      });
    function* pieces(): Generator<readonly Row[]> {
      for (let from = 0; from < count; from += FILE_PIECE_ROWS) yield pieceAt(from);
    }
    return { columns: chosen.map(({ column }) => column), rows: pieces() };
  }

  #assertCurrent(serial: number): void {
    if (serial !== this.#serial) throw new Error(CHANGED);
  }

  #shownCount(): number {
    return this.#shown?.length ?? this.count;
  }

  #slice(from: number, to: number, rowAt: (place: number) => number, count = this.#shownCount()): Row[] {
    const length = Math.max(0, Math.min(to, count) - from);
    return Array.from({ length }, (_, n): Cell[] => {
      const row = rowAt(from + n);
      return this.#columns.map(({ values }) => values.at(row));
    });
  }

  /** The rows that search and filters keep, in the order of the load; undefined when they keep all. */
  #find(search: string, filters: Arrangement['filters']): Uint32Array | undefined {
    const words = toWords(search, this.#spaced);
    const conditions = filters.filter(({ text, min, max }) => [text, min, max].some((each) => each !== undefined && each !== ''));
    if (words.length === 0 && conditions.length === 0) return undefined;
    const isKept = new Uint8Array(this.count).fill(1);
    for (const filter of conditions) this.#keepMatching(filter, isKept);
    for (const word of new Set(words)) this.#keepWithWord(word, words, isKept);
    return Uint32Array.from(isKept.keys()).filter((row) => isKept[row] === 1);
  }

  #keepMatching(filter: Arrangement['filters'][number], isKept: Uint8Array): void {
    const { column, text, min, max } = filter;
    const index = this.#indexOf(column);
    const matches = index.codesOfFilter({
      column,
      ...(text && { text }),
      ...(min && { min }),
      ...(max && { max }),
    });
    const { codes } = this.#valuesOf(column);
    for (let row = 0; row < this.count; row++) if (matches[codes[row] ?? 0] === 0) isKept[row] = 0;
  }

  /**
   * Each word of the search needs a word of its own. The words that begin with “ada” are also those for “adams”, so that the words which begin
   * with one of the search must be as many as those of the search that do.
   */
  #keepWithWord(word: string, words: readonly string[], isKept: Uint8Array): void {
    const start = foldWords(word);
    const needed = words.filter((other) => ` ${foldWords(other)}`.startsWith(` ${start}`)).length;
    const found = new Uint32Array(this.count);
    for (const { column, values } of this.#columns) {
      const counts = this.#indexOf(column.id).countsOfWord(word);
      if (counts.every((count) => count === 0)) continue;
      const { codes } = values;
      for (let row = 0; row < this.count; row++) found[row]! += counts[codes[row] ?? 0] ?? 0;
    }
    for (let row = 0; row < this.count; row++) if (found[row]! < needed) isKept[row] = 0;
  }

  /** Counts the rows of each rank and puts each row into its place, which is faster than to compare rows, and keeps the order of equals. */
  #sort(rows: Uint32Array, { column, isDescending }: NonNullable<Arrangement['sort']>): Uint32Array {
    const ranks = this.#indexOf(column).ranks();
    const { codes } = this.#valuesOf(column);
    const last = ranks.length;
    const placeOf = (row: number): number => {
      const rank = ranks[codes[row] ?? 0] ?? NO_RANK;
      if (rank === NO_RANK) return last;
      return isDescending ? last - 1 - rank : rank;
    };
    const starts = new Uint32Array(last + 2);
    for (const row of rows) starts[placeOf(row) + 1]! += 1;
    for (let place = 1; place < starts.length; place++) starts[place]! += starts[place - 1]!;
    const sorted = new Uint32Array(rows.length);
    for (const row of rows) sorted[starts[placeOf(row)]!++] = row;
    return sorted;
  }

  /** Moves the rows of nothing single behind the others. Undefined for all rows as they were loaded. */
  #withRestLast(rows: Uint32Array | undefined): Uint32Array | undefined {
    const { column, values } = this.#columns.find((each) => each.column.restValue !== undefined) ?? {};
    if (!column || !values) return rows;
    const isRest = values.kept.map((value) => String(value) === column.restValue);
    if (!isRest.includes(true)) return rows;
    const [single, rest]: [number[], number[]] = [[], []];
    for (const row of rows ?? values.codes.keys()) (isRest[values.codes[row] ?? 0] ? rest : single).push(row);
    return Uint32Array.from([...single, ...rest]);
  }

  #sums(): Arranged['sums'] {
    const adding = this.#columns.filter(({ column }) => column.adds);
    return Object.fromEntries(
      adding.map(({ column, values }) => {
        const rowsOfCode = new Uint32Array(values.kept.length);
        for (const row of this.#shown ?? values.codes.keys()) rowsOfCode[values.codes[row] ?? 0]! += 1;
        return [column.id, this.#indexOf(column.id).sum(rowsOfCode)];
      }),
    );
  }

  #indexOf(id: string): ColumnIndex {
    const index = this.#indexes.get(id);
    if (!index) throw new Error(`The table has no column ${id}.`);
    return index;
  }

  #valuesOf(id: string): ValueList {
    const stored = this.#columns.find(({ column }) => column.id === id);
    if (!stored) throw new Error(`The table has no column ${id}.`);
    return stored.values;
  }
}

/**
 * The words of a search. A date is one word, and so is an amount with blanks in it: the 3 of “Oct 3, 2026” must not find the 30th. A sign
 * between two words, as in “Smith & Jones”, is none, and one that stands alone may begin a number.
 */
function toWords(search: string, spaced: readonly RegExp[]): readonly string[] {
  const whole = spaced.flatMap((form) => search.match(form) ?? []);
  const others = spaced.reduce((text, form) => text.replace(form, ' '), search).split(/\s+/);
  const written = [...whole, ...others].filter((word) => word !== '');
  const words = written.filter((word) => foldWords(word) !== '');
  return words.length > 0 ? words : written;
}

/** Makes a store of complete rows, whose cells are in the order of the columns. */
export function storeRows(columns: readonly TableColumn[], rows: Iterable<Row>, locales: readonly string[]): TableStore {
  const stored = columns.map((column) => ({ column, values: new ValueList() }));
  for (const row of rows) stored.forEach(({ values }, n) => values.append(row[n] ?? null));
  return new TableStore(stored, locales);
}
