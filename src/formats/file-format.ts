import { createCsvTemplate, createJsonTemplate, type JsonMember, type RowColumn, type RowTemplate } from '../rows/row-template';
import type { FileFormat } from '../values/file-formats';

/** The columns of a file, by their names in the file. */
export type FileColumns = Readonly<Record<string, RowColumn>>;

/** The text before the first row, the template of the rows, and the text after the last row. */
export interface FileLayout {
  readonly head: string;
  readonly template: RowTemplate;
  readonly tail: string;
}

/** Creates the layout of a file with these columns, in their order. */
export function createFileLayout(format: FileFormat, columns: FileColumns): FileLayout {
  const members: readonly JsonMember[] = Object.entries(columns).map(([key, column]) => ({ key, ...column }));
  switch (format) {
    case 'json':
      return { head: '{"response":[', template: createJsonTemplate(members, ','), tail: ']}' };
    case 'ndjson':
      return { head: '', template: createJsonTemplate(members, '', '\n'), tail: '' };
    case 'csv':
      return { head: `${Object.keys(columns).join(',')}\r\n`, template: createCsvTemplate(Object.values(columns)), tail: '' };
  }
}
