/** The form of a value in an answer: `text` in quotes, `number` without quotes, `boolean` so or null, `nullable` in quotes or null. */
type ValueKind = 'text' | 'number' | 'boolean' | 'nullable';

/**
 * A column of a template: the field that it takes from a row, such as Prisma's name of a column of the lines, and the form of its value.
 */
export interface RowColumn {
  readonly field: string;
  readonly kind: ValueKind;
  /** True for free text, which CSV guards, because a spreadsheet could run it as a formula. */
  readonly freeText?: boolean;
  /** True for an enum's value that is written in lower case. */
  readonly isLowerCase?: boolean;
  /** True when the rows do not show the column, which is read for something else. */
  readonly isHidden?: boolean;
  /** The type of the record whose global id is written, computed from the field. */
  readonly globalIdOf?: string;
  /** The object after the column: it is null where the column is null. The column itself is not shown. */
  readonly section?: RowSection;
}

/** The extent of an object in a template: the columns in it, and the bytes of the literal after them that end it. */
interface RowSection {
  readonly columns: number;
  readonly closing: number;
}

/** The form of a row: the literals before each column, after the last one and between two rows. A hidden column has an empty one. */
export interface RowTemplate {
  readonly encoding: 'json' | 'csv';
  readonly columns: readonly RowColumn[];
  /** One literal for each of `columns`. The quotes of a `text` value belong to the literals before and after it. */
  readonly before: readonly Buffer[];
  readonly end: Buffer;
  readonly separator: Buffer;
}

/**
 * A member of a JSON row: a column's value, the same text in every row, or an object of members. An object with `unless` is null where that
 * column is null; there is no such object within another one.
 */
export type JsonMember = { readonly key: string } & (
  RowColumn | { readonly constant: string } | { readonly members: readonly JsonMember[]; readonly unless?: RowColumn }
);

/**
 * Creates the template of JSON rows such as `{"deposit_id":"…","donor_id":1}`, with the members in the given order. `separator` stands
 * between two rows, `terminator` after each.
 */
export function createJsonTemplate(members: readonly JsonMember[], separator = ',', terminator = ''): RowTemplate {
  const columns: RowColumn[] = [];
  const before: Buffer[] = [];
  let literal = '';
  const addColumn = (column: RowColumn, quote: string): void => {
    before.push(Buffer.from(literal + quote));
    columns.push(column);
    literal = quote;
  };
  const addObject = (inner: readonly JsonMember[]): void => {
    literal += '{';
    inner.forEach((member, position) => {
      literal += `${position > 0 ? ',' : ''}${JSON.stringify(member.key)}:`;
      if ('constant' in member) literal += JSON.stringify(member.constant);
      else if ('members' in member) addMembers(member);
      else addColumn(member, member.kind === 'text' ? '"' : '');
    });
    literal += '}';
  };
  const addMembers = ({ members: inner, unless }: Extract<JsonMember, { readonly members: readonly JsonMember[] }>): void => {
    const opening = columns.length;
    if (unless) addColumn(unless, '');
    addObject(inner);
    if (!unless) return;
    const section = { columns: columns.length - opening - 1, closing: Buffer.byteLength(literal) };
    columns[opening] = { ...unless, section };
  };
  addObject(members);
  return { encoding: 'json', columns, before, end: Buffer.from(`${literal}${terminator}`), separator: Buffer.from(separator) };
}

/** Creates the template of CSV records (RFC 4180, CRLF). Text, dates and amounts stand in quotes, numbers do not; null is empty. */
export function createCsvTemplate(columns: readonly RowColumn[]): RowTemplate {
  const quote = (column: RowColumn | undefined): string => (column?.kind === 'text' ? '"' : '');
  return {
    encoding: 'csv',
    columns,
    before: columns.map((column, position) => Buffer.from(`${quote(columns[position - 1])}${position > 0 ? ',' : ''}${quote(column)}`)),
    end: Buffer.from(`${quote(columns.at(-1))}\r\n`),
    separator: Buffer.alloc(0),
  };
}

/** Puts the columns of two lists into one, in which those of each list are found in their order. */
export function joinColumns(first: readonly RowColumn[], second: readonly RowColumn[]): RowColumn[] {
  const joined: RowColumn[] = [];
  let rest = second;
  for (const column of first) {
    const skipped = rest.findIndex(({ field }) => field === column.field);
    joined.push(...rest.slice(0, Math.max(skipped, 0)), column);
    rest = rest.slice(skipped + 1);
  }
  return [...joined, ...rest];
}

/** The template of the same rows for an output that has further columns. `columns` must have the template's own in their order. */
export function widenTemplate(template: RowTemplate, columns: readonly RowColumn[]): RowTemplate {
  const before: Buffer[] = [];
  let shown = 0;
  const widened = columns.map((column): RowColumn => {
    const isShown = template.columns[shown]?.field === column.field;
    before.push(isShown ? template.before[shown]! : Buffer.alloc(0));
    return isShown ? template.columns[shown++]! : { ...column, isHidden: true };
  });
  return { ...template, columns: widened, before };
}
