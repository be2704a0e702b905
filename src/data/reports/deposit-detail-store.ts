import { Prisma } from '../../generated/prisma/client';
import { LATE, lineFields, type LineValues } from '../../line/line-fields';
import type { RowColumn } from '../../rows/row-template';
import { CASTS, toColumn } from '../books/line-columns';
import { folded } from './entity-set';
import { linesFrom } from '../books/late-lines';
import { whereLines, type LineSet } from '../books/line-set';
import type { ColumnPacking } from '../schema/citus';
import type { Database } from '../postgres/database';
import { columnKeyFields, selectPage, type KeyOrder, type KeysetPage } from '../postgres/keyset';
import type { Copy, ReportSnapshot } from '../reading/report-snapshot';
import type { RequestBooks } from '../books/request-books';

/** The fields that lines can be ordered by. The lines' ids decide between equal values. */
export type LineOrderField = 'DATE' | 'AMOUNT' | 'DONOR_NAME' | 'DESIGNATION';

export interface LineOrder {
  readonly field: LineOrderField;
  readonly direction: 'ASC' | 'DESC';
}

/** The lines of a set in an order, each with these fields and those that its cursor holds. */
interface LineList {
  readonly lineSet: LineSet;
  readonly order: LineOrder;
  readonly fields: readonly string[];
}

const { sql, raw } = Prisma;

export const lineOrders: Readonly<Record<LineOrderField, KeyOrder>> = {
  DATE: { columns: { deposit_date: 'date', deposit_id: 'text', transaction_id: 'text', allocation_id: 'text' }, indexed: 4 },
  AMOUNT: { columns: { amount: 'numeric', allocation_id: 'text' } },
  // The order of donors and of designations. A line of nobody has no names.
  DONOR_NAME: {
    columns: { [`COALESCE(named.last_name, '')`]: 'text', [`COALESCE(named.first_name, '')`]: 'text', allocation_id: 'text' },
    isPersonal: true,
  },
  DESIGNATION: { columns: { [`COALESCE(named.name, '')`]: 'text', allocation_id: 'text' } },
};

/**
 * Lines with the folded names that they are ordered by. These are read from the donors and the funds, because folding the names of every line
 * would take seven times as long as the page. An inner join would let PostgreSQL read all lines again for each name that it meets first.
 */
const withNames =
  (table: string, id: string, names: readonly string[]) =>
  (organizationId: number): Prisma.Sql => sql`LEFT JOIN (
    SELECT id, ${raw(names.map((name) => `${folded(name)} AS ${name}`).join(', '))} FROM ${raw(table)}
    WHERE organization_id = ${organizationId}::int) AS named ON named.id = ${raw(id)}`;
/** Lines of a past state with the folded names that they had then. */
const withOwnNames = (names: Readonly<Record<string, string>>): Prisma.Sql =>
  sql`CROSS JOIN LATERAL (SELECT ${raw(
    Object.entries(names)
      .map(([name, column]) => `${folded(`source.${column}`)} AS ${name}`)
      .join(', '),
  )}) AS named`;
const PAST_LINES_IN_ORDER: { readonly [Field in LineOrderField]?: Prisma.Sql } = {
  DONOR_NAME: withOwnNames({ last_name: 'donor_last_name', first_name: 'donor_first_name' }),
  DESIGNATION: withOwnNames({ name: 'designation' }),
};
const LINES_IN_ORDER: { readonly [Field in LineOrderField]?: (organizationId: number) => Prisma.Sql } = {
  DONOR_NAME: withNames('donor', 'donor_id', ['last_name', 'first_name']),
  DESIGNATION: withNames('designation', 'designation_id', ['name']),
};
const REPORT_ORDER = columnList(Object.keys(lineOrders.DATE.columns));

export class DepositDetailStore {
  constructor(
    private readonly database: Database,
    /** Undefined where columns are read by themselves. */
    private readonly packing: ColumnPacking | undefined,
  ) {}

  /**
   * Reads the lines in report order as COPY's text format, by a COPY of the snapshot: all of them, or those of a page. The `field` of each
   * column is Prisma's name of a column of the lines.
   */
  copyLines(
    { copy, snapshot }: { readonly copy: Copy; readonly snapshot: ReportSnapshot },
    lineSet: LineSet,
    columns: readonly RowColumn[],
    page?: KeysetPage,
  ): AsyncGenerator<Buffer> {
    const { organizationId } = lineSet;
    const isLateRead = hasLate(columns.map(({ field }) => field));
    const read = (values: Prisma.Sql): AsyncGenerator<Buffer> =>
      copy(page ? selectLinesOfPage(values, lineSet, isLateRead, page) : selectLines(values, lineSet, isLateRead));
    if (!this.packing || this.packing.isForeignTo(organizationId)) return read(columnList(columns.map(toCopied)));
    const copied = columns.map((column) => ({
      expression: toCopied(column),
      isNullable: column.kind === 'nullable' || column.kind === 'boolean' || column.section !== undefined,
    }));
    return this.packing.read(read, copied, { organizationId, onForeign: () => snapshot.markBroken() });
  }

  /** Reads the lines as objects, in report order. */
  list(lineSet: LineSet): Promise<LineValues[]> {
    return this.database.list<LineValues>(selectLines(LINE_VALUES, lineSet, true));
  }

  /** Reads a page of lines from the snapshot of the books or, with `isShort`, as a short statement. */
  async listPage(
    { lineSet, order, fields }: LineList,
    page: KeysetPage,
    { books, isShort }: { readonly books: RequestBooks; readonly isShort: boolean },
  ): Promise<readonly Partial<LineValues>[]> {
    const select = selectPage({
      values: toValues([...fields, ...columnKeyFields(lineOrders[order.field])]),
      from: fromLines(order.field, lineSet, hasLate(fields)),
      where: whereLines(lineSet),
      order: lineOrders[order.field],
      isDescending: order.direction === 'DESC',
      page,
    });
    const lines = await (isShort
      ? books.list<Partial<LineValues>>(lineSet.organizationId, select)
      : books.snapshot.list<Partial<LineValues>>(select));
    return page.fromEnd ? lines.reverse() : lines;
  }

  async count(lineSet: LineSet, snapshot: ReportSnapshot): Promise<{ count: number }> {
    const [row] = await snapshot.list<{ count: number }>(
      sql`SELECT count(*)::float8 AS count FROM deposit_line WHERE ${whereLines(lineSet)}`,
    );
    return row!;
  }
}

/** The lines of a set, with the names that they are ordered by. */
const fromLines = (field: LineOrderField, lineSet: LineSet, hasLate: boolean): Prisma.Sql => {
  const names = lineSet.state === undefined ? LINES_IN_ORDER[field]?.(lineSet.organizationId) : PAST_LINES_IN_ORDER[field];
  return sql`${linesFrom(lineSet, hasLate)} AS source ${names ?? Prisma.empty}`;
};

const selectLines = (values: Prisma.Sql, lineSet: LineSet, hasLate: boolean): Prisma.Sql =>
  sql`SELECT ${values} FROM ${linesFrom(lineSet, hasLate)} AS source WHERE ${whereLines(lineSet)} ORDER BY ${REPORT_ORDER}`;

const selectLinesOfPage = (values: Prisma.Sql, lineSet: LineSet, hasLate: boolean, page: KeysetPage): Prisma.Sql =>
  selectPage({ values, from: sql`${linesFrom(lineSet, hasLate)} AS source`, where: whereLines(lineSet), order: lineOrders.DATE, page });

const hasLate = (fields: readonly string[]): boolean => fields.includes(LATE);

/** Puts columns or expressions into SQL as they are: they are always the code's own, never a caller's. */
function columnList(columns: readonly string[]): Prisma.Sql {
  return raw(columns.join(', '));
}

/** The value of a field of a line. A share that is not known was neither stated nor inferred. */
function toValue(field: string): string {
  if (field === 'allocationAmountInferred') return '(CASE WHEN allocation_amount IS NOT NULL THEN allocation_amount_inferred END)';
  return field === LATE ? LATE : toColumn(field);
}

/** The expression by which COPY writes a column. Booleans are cast to text, because COPY itself writes them as t and f. */
function toCopied({ field, kind, isLowerCase, globalIdOf, section }: RowColumn): string {
  const column = toValue(field);
  // A line of nobody has donor 0, which stands for no object.
  if (section) return `NULLIF(${column}, 0)`;
  if (globalIdOf !== undefined) return toGlobalIdSql(globalIdOf, column);
  if (isLowerCase) return `lower(${column}::text)`;
  return kind === 'boolean' ? `${column}::text` : column;
}

/** The global id of a record in a line, as `parseEntityId` reads it. PostgreSQL's base64 has line breaks. */
const toGlobalIdSql = (type: string, column: string): string =>
  `translate(encode(convert_to('${type}:' || ${column}, 'UTF8'), 'base64'), E'+/=\\n', '-_')`;

const CASTS_OF_FIELDS = new Map(Object.values(lineFields).map(({ field, type }) => [field, CASTS[type]]));
const LINE_VALUES = toValues([...CASTS_OF_FIELDS.keys(), LATE]);

/** The values of fields of a line, each once. */
function toValues(fields: readonly string[]): Prisma.Sql {
  return columnList([...new Set(fields)].map((field) => `${toValue(field)}${CASTS_OF_FIELDS.get(field) ?? ''} AS "${field}"`));
}
