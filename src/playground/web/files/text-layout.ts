import type { Row, TableColumn } from '../values/table-types';
import { writeCsvHeader, writeCsvRows } from './csv-rows';
import type { FileFormat } from '../../../values/file-formats';

/** A file of text: what is before the rows, how rows are written, and what is after them. */
interface TextLayout {
  readonly head: string;
  readonly toText: (rows: readonly Row[]) => string;
  readonly tail: string;
}

/**
 * Creates the layout of a file of text, in the forms that the gateway's own files have. A row of CSV has the columns' titles above it,
 * because people read it. A row of JSON has the columns' ids, which are unique and stay when a title changes.
 */
export function createTextLayout(format: FileFormat, columns: readonly TableColumn[]): TextLayout {
  switch (format) {
    case 'csv':
      return {
        head: writeCsvHeader(columns),
        toText: (rows) => writeCsvRows(rows, columns),
        tail: '',
      };
    case 'ndjson':
      return {
        head: '',
        toText: (rows) => rows.map((row) => `${toJson(row, columns)}\n`).join(''),
        tail: '',
      };
    case 'json': {
      let separator = '';
      const toText = (rows: readonly Row[]): string => {
        const text = rows.map((row) => toJson(row, columns)).join(',');
        const before = separator;
        separator = ',';
        return before + text;
      };
      return { head: '{"response":[', toText, tail: ']}' };
    }
  }
}

/** Amounts stay text: a number of JSON is a float to most readers. */
const toJson = (row: Row, columns: readonly TableColumn[]): string =>
  JSON.stringify(Object.fromEntries(columns.map(({ id }, position) => [id, row[position] ?? null])));
