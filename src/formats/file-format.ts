import { createCsvTemplate, createJsonTemplate, type JsonMember, type RowColumn, type RowTemplate } from '../rows/row-template';
import type { FileFormat } from '../values/file-formats';

/** A column of a file. In JSON, columns of the same object are its members, without the object's name in theirs. */
type FileColumn = RowColumn & { readonly inside?: FileObject };

/** An object in the rows of a file. With `unless`, it is null where that column is null. */
export interface FileObject {
  readonly key: string;
  readonly unless?: RowColumn;
}

/** The columns of a file, by their names in the file. The names of an object's columns begin with its key and `_`. */
export type FileColumns = Readonly<Record<string, FileColumn>>;

/** The text before the first row, the template of the rows, and the text after the last row. */
export interface FileLayout {
  readonly head: string;
  readonly template: RowTemplate;
  readonly tail: string;
}

/** Creates the layout of a file with these columns, in their order. NDJSON ends with a row of `last`, where that is given. */
export function createFileLayout(format: FileFormat, columns: FileColumns, last?: object): FileLayout {
  switch (format) {
    case 'json':
      return { head: '{"response":[', template: createJsonTemplate(toMembers(columns), ','), tail: ']}' };
    case 'ndjson':
      return { head: '', template: createJsonTemplate(toMembers(columns), '', '\n'), tail: last ? `${JSON.stringify(last)}\n` : '' };
    case 'csv':
      return { head: `${Object.keys(columns).join(',')}\r\n`, template: createCsvTemplate(Object.values(columns)), tail: '' };
  }
}

/** The members of a JSON row. An object stands where its first column does. */
function toMembers(columns: FileColumns): JsonMember[] {
  const members: JsonMember[] = [];
  const objects = new Map<string, JsonMember[]>();
  for (const [name, { inside, ...column }] of Object.entries(columns)) {
    if (!inside) {
      members.push({ key: name, ...column });
      continue;
    }
    const { key, unless } = inside;
    const known = objects.get(key) ?? [];
    if (known.length === 0) members.push({ key, members: known, ...(unless && { unless }) });
    known.push({ key: name.slice(key.length + 1), ...column });
    objects.set(key, known);
  }
  return members;
}
