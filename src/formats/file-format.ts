import { createCsvTemplate, createJsonTemplate, type JsonMember, type RowColumn, type RowTemplate } from '../rows/row-template';

/** The formats of files. `json` is laid out as a v2 answer, `ndjson` has one of its lines to a line, `csv` is RFC 4180 with a header record. */
export const fileFormats = ['json', 'ndjson', 'csv'] as const;
export type FileFormat = (typeof fileFormats)[number];

/** Columns of a file by their names in it. */
export type FileColumns = Readonly<Record<string, RowColumn>>;

/** The texts before the first row and after the last, and the rows between them. */
export interface FileLayout {
  readonly head: string;
  readonly template: RowTemplate;
  readonly tail: string;
}

/** Lays out rows of these columns, in this order. */
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
