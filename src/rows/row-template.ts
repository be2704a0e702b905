/** How a value stands in an answer: `text` between quotes, `number` and `boolean` bare, `nullable` between quotes or null. */
type ValueKind = 'text' | 'number' | 'boolean' | 'nullable';

/** A column of the report (its Prisma field name) where a template wants its value. */
export interface RowColumn {
  readonly field: string;
  readonly kind: ValueKind;
  /** CSV only: free text, in which a spreadsheet would run a formula. */
  readonly freeText?: boolean;
  /** One of an enum's values, in small letters. */
  readonly isLowerCase?: boolean;
}

/** A door's picture of one row: the bytes before each column, after the last, and between two rows. */
export interface RowTemplate {
  readonly encoding: 'json' | 'csv';
  readonly columns: readonly RowColumn[];
  /** As long as `columns`. The opening quote of a `text` value belongs to the bytes before it, its closing quote to those after. */
  readonly before: readonly Buffer[];
  readonly end: Buffer;
  readonly separator: Buffer;
}

/** One member of a JSON row: a column's value or the same text in every row. */
export type JsonMember = { readonly key: string } & (RowColumn | { readonly constant: string });

/** Rows as JSON objects: `{"deposit_id":"…","donor_id":1}`, members in the given order, a separator between and a terminator after each. */
export function createJsonTemplate(members: readonly JsonMember[], separator = ',', terminator = ''): RowTemplate {
  const columns: RowColumn[] = [];
  const before: Buffer[] = [];
  let literal = '{';
  members.forEach((member, position) => {
    literal += `${position > 0 ? ',' : ''}${JSON.stringify(member.key)}:`;
    if ('constant' in member) {
      literal += JSON.stringify(member.constant);
      return;
    }
    const quote = member.kind === 'text' ? '"' : '';
    before.push(Buffer.from(literal + quote));
    columns.push(member);
    literal = quote;
  });
  return { encoding: 'json', columns, before, end: Buffer.from(`${literal}}${terminator}`), separator: Buffer.from(separator) };
}

/** Rows as CSV records (RFC 4180, CRLF), text, dates and amounts between quotes, numbers bare, null as nothing. */
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
