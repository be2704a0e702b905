import type { QueryResultRow } from 'pg';
import { groupFigures, type FigureType, type GroupCondition, type GroupFigure } from '../../formats/group-conditions';
import { groupColumns, groupsTellDonors, type ContactName, type GroupBy, type GroupKey } from '../../formats/line-groups';
import { Prisma } from '../../generated/prisma/client';
import type { LocalDate } from '../../values/dates';
import { lineFields } from '../../line/line-fields';
import { DATE_COLUMNS, whereLines, whereState, type LineSet } from '../books/line-set';
import { toArrayLiteral } from '../postgres/value-list';
import { keyFields, selectPage, type KeyOrder, type KeysetPage } from '../postgres/keyset';
import type { ReportSnapshot } from '../reading/report-snapshot';
import { groupings, groupValues, labelOf, moveOf } from './summary-groupings';

/** The figures that cost time of their own, and are made only when they are asked for: two counts a pass over the lines, two dates a twentieth. */
export const extraFigures = ['deposits', 'donors', 'firstGift', 'lastGift'] as const;
export type ExtraFigure = (typeof extraFigures)[number];

/** The values of groups that cost more than their figures, and are read only when they are asked for. */
export interface AskedOfGroups {
  readonly extras: readonly ExtraFigure[];
  /** The contact of each group's donor. */
  readonly contact: readonly ContactName[];
}

/** Counts and exact sums over the lines of a line set. Amounts are text with two decimals. */
export interface SummaryRow {
  /** ALL counts posted and pending deposits together. POSTED and PENDING have rows of their own only when the line set includes both. */
  readonly part: 'ALL' | 'POSTED' | 'PENDING';
  /** True for the figures of the period that is compared. */
  readonly isCompared: boolean;
  readonly lines: number;
  readonly transactions: number;
  /** Missing where it was not asked for. */
  readonly deposits?: number;
  /** Missing where it was not asked for. */
  readonly donors?: number;
  readonly splitTransactions: number;
  readonly lineAmount: string;
  readonly lineFeeAmount: string;
  readonly lineNetAmount: string;
  readonly transactionAmount: string;
  readonly transactionFeeAmount: string;
  readonly transactionNetAmount: string;
  /** The sum of the shares that are known or inferred; null when there are none. */
  readonly allocationAmount: string | null;
  /** The first and the last date of the lines, of deposits or of transactions as the line set says. Missing where they were not asked for. */
  readonly firstGift?: LocalDate | null;
  readonly lastGift?: LocalDate | null;
  /** Allocations whose share the books state. */
  readonly knownAllocations: number;
  /** Allocations without a stated share that are the only one of their gift, so that the share is the gift's amount. */
  readonly inferredAllocations: number;
}

/** A row of a group, which has the fields of its place too. `position` counts the groups of a reading; `groups` is the number of all. */
export type GroupRow = GroupKey & SummaryRow & { readonly position: number; readonly groups: number };

/** Both dates are included. */
export interface Period {
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
}

/** The lines and the groups of figures. */
export interface SummaryQuestion {
  readonly lineSet: LineSet;
  readonly groupBy: readonly GroupBy[];
  /** The first month of quarters and years, 1 to 12. */
  readonly fiscalYearStart: number;
  /** The period whose figures stand beside those of the line set. */
  readonly compareWith?: Period | undefined;
  /** The conditions that all groups meet by the figures of their part ALL; undefined for all groups. */
  readonly having?: readonly GroupCondition[] | undefined;
}

const { sql, raw, join, empty } = Prisma;

const ONCE = 'FILTER (WHERE line_of_transaction = 1)';
/** The figures over the rows of `selectLines`, by their names in a SummaryRow. */
const FIGURES: Readonly<Record<string, string>> = {
  lines: 'count(*)',
  transactions: `count(*) ${ONCE}`,
  splitTransactions: 'count(*) FILTER (WHERE line_of_transaction = 2)',
  lineAmount: 'COALESCE(sum(amount), 0)',
  lineFeeAmount: 'COALESCE(sum(fee_amount), 0)',
  lineNetAmount: 'COALESCE(sum(amount) - sum(fee_amount), 0)',
  transactionAmount: `COALESCE(sum(amount) ${ONCE}, 0)`,
  transactionFeeAmount: `COALESCE(sum(fee_amount) ${ONCE}, 0)`,
  transactionNetAmount: `COALESCE(sum(amount) ${ONCE} - sum(fee_amount) ${ONCE}, 0)`,
  allocationAmount: 'sum(allocation_amount)',
  knownAllocations: 'count(allocation_amount) FILTER (WHERE NOT allocation_amount_inferred)',
  inferredAllocations: 'count(*) FILTER (WHERE allocation_amount_inferred)',
};
const EXTRAS: Readonly<Record<ExtraFigure, string>> = {
  deposits: 'count(*) FILTER (WHERE line_of_deposit = 1)',
  donors: 'count(DISTINCT NULLIF(donor_id, 0))',
  firstGift: 'min(counted_on)',
  lastGift: 'max(counted_on)',
};
/** The casts with which figures leave the database: amounts as exact text, dates as text, counts as numbers. */
const CASTS = { count: 'float8', amount: 'numeric(40, 2)::text', date: 'text' } as const;
const TYPES: Readonly<Partial<Record<string, FigureType>>> = groupFigures;
const toOutput = (name: string): string => `figure."${name}"::${CASTS[TYPES[name] ?? 'count']} AS "${name}"`;

/** The figures that groups can be ordered by. An order by KEY is that of the groups' values. */
export const groupOrderFields = {
  KEY: null,
  LINES: 'lines',
  TRANSACTIONS: 'transactions',
  SPLIT_TRANSACTIONS: 'splitTransactions',
  DEPOSITS: 'deposits',
  DONORS: 'donors',
  LINE_AMOUNT: 'lineAmount',
  LINE_FEE_AMOUNT: 'lineFeeAmount',
  LINE_NET_AMOUNT: 'lineNetAmount',
  TRANSACTION_AMOUNT: 'transactionAmount',
  TRANSACTION_FEE_AMOUNT: 'transactionFeeAmount',
  TRANSACTION_NET_AMOUNT: 'transactionNetAmount',
  ALLOCATION_AMOUNT: 'allocationAmount',
} as const satisfies Readonly<Record<string, keyof SummaryRow | null>>;
export type GroupOrderField = keyof typeof groupOrderFields;
/** Groups with equal figures follow their values. A figure that is not known comes last. */
export interface GroupOrder {
  readonly field: GroupOrderField;
  readonly isDescending: boolean;
}

/** The order of a question's groups, by a figure and by the values that make them. */
export const toGroupOrder = ({ groupBy }: Pick<SummaryQuestion, 'groupBy'>, { field }: GroupOrder): KeyOrder => ({
  columns: {
    ...(groupOrderFields[field] !== null && ({ rank: 'numeric' } as const)),
    ...Object.fromEntries(groupBy.map((by, index) => [`key_${index + 1}`, groupings[by].key.type])),
  },
  isPersonal: groupsTellDonors(groupBy),
});

/** Reads the rows of a SELECT. */
export interface RowReader {
  list<Row extends QueryResultRow>(select: Prisma.Sql): Promise<readonly Readonly<Row>[]>;
}

export class DepositSummaryStore {
  /**
   * Reads the totals of the lines of all groups that are chosen: one row for each part. `without` are the values of groups whose lines are
   * left out.
   */
  totals(
    question: SummaryQuestion,
    extras: readonly ExtraFigure[],
    snapshot: ReportSnapshot,
    without: readonly GroupKey[] = [],
  ): Promise<readonly SummaryRow[]> {
    const whole = { ...question, groupBy: [] };
    const chosen = question.having ? sql`chosen AS (${selectChosen(question)}), ` : empty;
    const figures = withFigures(whole, extras, { question, without });
    return snapshot.list<SummaryRow>(sql`WITH ${chosen}${figures} SELECT ${raw(outputOf(whole, extras))} FROM figure`);
  }

  /** Reads a page of the groups: the rows of each, one after the other, in the order of the groups. */
  groups(
    question: SummaryQuestion,
    asked: AskedOfGroups,
    order: GroupOrder,
    page: KeysetPage,
    rows: RowReader,
  ): Promise<readonly Readonly<GroupRow>[]> {
    return rows.list<GroupRow>(selectGroups(question, asked, order, page));
  }

  /** Reads all groups in the order of their values, some at a time. */
  allGroups(question: SummaryQuestion, asked: AskedOfGroups, snapshot: ReportSnapshot): AsyncGenerator<GroupRow[]> {
    return snapshot.batches<GroupRow>(selectGroups(question, asked, { field: 'KEY', isDescending: false }));
  }

  /** Counts the groups. */
  async countGroups(question: SummaryQuestion, snapshot: ReportSnapshot): Promise<number> {
    const keys = raw(keysOf(question).join(', '));
    const groups = question.having
      ? selectChosen(question)
      : sql`WITH line AS (${selectLines(question, [])}) SELECT DISTINCT ${keys} FROM line`;
    const [row] = await snapshot.list<{ count: number }>(sql`SELECT count(*)::float8 AS count FROM (${groups}) AS found`);
    return row!.count;
  }
}

/** The groups of a question whose lines are added up together: those that meet its conditions, without those that are named. */
interface SomeGroups {
  readonly question: SummaryQuestion;
  readonly without: readonly GroupKey[];
}

/** The SELECT of the values of the groups that meet the conditions. */
const selectChosen = (question: SummaryQuestion): Prisma.Sql => sql`WITH ${withFigures(question, [])} ${selectKeys(question)}`;

/** The SELECT over `figure` of the values of the groups that meet the conditions, with further columns of each. */
function selectKeys(question: SummaryQuestion, ...columns: readonly string[]): Prisma.Sql {
  const keys = keysOf(question).join(', ');
  const conditions = (question.having ?? []).map(({ figure, isCompared, compares, value }) => {
    const type = CONDITION_TYPES[groupFigures[figure]];
    return sql`${raw(`(${figureOf(figure, isCompared)}) ${compares}`)} ${String(value)}::${raw(type)}`;
  });
  const having = conditions.length > 0 ? sql` HAVING ${join(conditions, ' AND ')}` : empty;
  return sql`SELECT ${raw([keys, ...columns].join(', '))} FROM figure WHERE part = 'ALL' GROUP BY ${raw(keys)}${having}`;
}
const CONDITION_TYPES = { count: 'bigint', amount: 'numeric', date: 'date' } as const;

/** A figure of a group, of one of the two periods. A period without lines counts as 0, and has no dates. */
function figureOf(name: GroupFigure, isCompared: boolean): string {
  const side = isCompared ? 'is_compared' : 'NOT is_compared';
  const figure = `max("${name}") FILTER (WHERE ${side})`;
  return groupFigures[name] === 'date' ? figure : `CASE WHEN bool_or(${side}) THEN ${figure} ELSE 0 END`;
}

/** The names of the columns that make the groups, in `line` and `figure`. */
const keysOf = ({ groupBy }: SummaryQuestion): string[] => groupBy.map((_by, index) => `key_${index + 1}`);

/**
 * The common table `figure`: in each group a row for ALL, and rows for POSTED and PENDING when the line set includes both, of the period
 * and of the one that is compared. Without a grouping, all lines are one group.
 */
function withFigures(question: SummaryQuestion, asked: readonly ExtraFigure[], some?: SomeGroups): Prisma.Sql {
  const conditions = question.groupBy.length > 0 ? (question.having ?? []) : [];
  const extras = extraFigures.filter((extra) => asked.includes(extra) || conditions.some(({ figure }) => figure === extra));
  const keys = keysOf(question);
  const all = [...keys, ...(question.compareWith ? ['is_compared'] : [])].join(', ');
  const [part, sets] =
    question.lineSet.pending === 'WITH'
      ? [
          `CASE WHEN grouping(deposit_status) = 1 THEN 'ALL' ELSE deposit_status::text END`,
          `GROUPING SETS ((${[...(all === '' ? [] : [all]), 'deposit_status'].join(', ')}), (${all}))`,
        ]
      : [`'ALL'`, `GROUPING SETS ((${all}))`];
  const figures = { ...FIGURES, ...Object.fromEntries(extras.map((extra) => [extra, EXTRAS[extra]])) };
  const columns = [
    ...keys,
    ...question.groupBy.flatMap((by) => groupings[by].labels ?? []).map((column) => `min(${column}) AS ${labelOf(column)}`),
    `${question.compareWith ? 'is_compared' : 'false'} AS is_compared`,
    `${part} AS part`,
    ...Object.entries(figures).map(([name, expression]) => `${expression} AS "${name}"`),
  ];
  return sql`line AS (${selectLines(question, extras, some)}),
    figure AS (SELECT ${raw(columns.join(', '))} FROM line GROUP BY ${raw(sets)})`;
}

/** The output of a row of `figure`. */
function outputOf(question: SummaryQuestion, extras: readonly ExtraFigure[]): string {
  const values = question.groupBy.flatMap((by, index) =>
    groupValues(by, `key_${index + 1}`).map(([field, expression]) => `${expression} AS "${field}"`),
  );
  return [...values, 'figure.part', 'figure.is_compared AS "isCompared"', ...[...Object.keys(FIGURES), ...extras].map(toOutput)].join(', ');
}

function selectGroups(
  question: SummaryQuestion,
  { extras, contact }: AskedOfGroups,
  groupOrder: GroupOrder,
  page?: KeysetPage,
): Prisma.Sql {
  const { isDescending } = groupOrder;
  const order = toGroupOrder(question, groupOrder);
  const keys = keysOf(question).join(', ');
  const rank = groupOrderFields[groupOrder.field];
  const infinity = `'${isDescending ? '-' : ''}Infinity'`;
  const direction = isDescending ? 'DESC' : 'ASC';
  const places = Object.keys(order.columns).map((name) => `${name} ${direction}`);
  // A figure that is not known comes last in both directions.
  const ranks = rank === null ? [] : [`COALESCE((${figureOf(rank, false)})::numeric, ${infinity}) AS rank`];
  const ranked = selectKeys(question, 'count(*) OVER () AS groups', ...ranks);
  const chosen = page
    ? selectPage({ values: sql`*`, from: sql`ranked AS source`, where: sql`true`, order, isDescending, page })
    : sql`SELECT * FROM ranked`;
  const contacts = contact.map((name) => `numbered.${name} AS "${lineFields[name].field}"`);
  const place = keyFields(order).map((field) => `${field === 'rank' ? 'round(rank, 2)' : field}::text AS "${field}"`);
  return sql`WITH ${withFigures(question, extras)}, ranked AS (${ranked}), chosen AS (${chosen}),
    numbered AS (SELECT *, row_number() OVER (ORDER BY ${raw(places.join(', '))}) AS position FROM chosen${withContact(question, contact)})
    SELECT ${raw([outputOf(question, extras), ...contacts, ...place].join(', '))}, numbered.position::float8 AS position, numbered.groups::float8 AS groups
    FROM numbered JOIN figure USING (${raw(keys)}) ORDER BY numbered.position`;
}

/**
 * The join that adds the contact of its donor to each chosen group. All lines of a donor have the same in one state, and the latest of them is
 * read as a whole, found by an index. Added up with the figures, the texts would take part in the sorting of all lines.
 */
function withContact({ groupBy, lineSet: { organizationId, state } }: SummaryQuestion, contact: readonly ContactName[]): Prisma.Sql {
  if (contact.length === 0) return empty;
  const donor = raw(`chosen.key_${groupBy.indexOf('DONOR') + 1}`);
  return sql` LEFT JOIN LATERAL (SELECT ${raw(contact.join(', '))} FROM deposit_line
      WHERE ${whereState(state)} AND organization_id = ${organizationId}::int AND donor_id = ${donor}
      ORDER BY deposit_date DESC, allocation_id DESC LIMIT 1) AS contact ON true`;
}

/**
 * The SELECT of the lines, each with its number among those of its transaction, and of its deposit, in its group. The windows follow the
 * order of the report, in which an index has the lines, so that most selections sort no more than the lines of a deposit. The dates of the
 * period that is compared are moved to those of the line set, so that both periods fall into the same groups.
 */
function selectLines(question: SummaryQuestion, extras: readonly ExtraFigure[], some?: SomeGroups): Prisma.Sql {
  const { lineSet, compareWith } = question;
  const own = selectPeriod(question, extras, lineSet, some);
  if (!compareWith) return own;
  const compared = selectPeriod(question, extras, { ...lineSet, ...compareWith, days: undefined }, some);
  return sql`SELECT *, false AS is_compared FROM (${own}) AS own UNION ALL SELECT *, true FROM (${compared}) AS compared`;
}

function selectPeriod(
  { lineSet, groupBy, fiscalYearStart }: SummaryQuestion,
  extras: readonly ExtraFigure[],
  period: LineSet,
  some: SomeGroups | undefined,
): Prisma.Sql {
  const toExpression = (by: GroupBy): string => {
    const { expression, moves } = groupings[by].key;
    const date = DATE_COLUMNS[period.dateBasis];
    return expression(moves ? moveOf(date, moves, period.startDate, lineSet.startDate) : date, fiscalYearStart);
  };
  const splitsOf = (by: GroupBy): string => {
    const { key, splits } = groupings[by];
    return splits ?? (key.moves && period.dateBasis === 'TRANSACTION_DATE' ? 'deposits' : '');
  };
  const splitting = (...splits: readonly string[]): string[] => groupBy.filter((by) => splits.includes(splitsOf(by))).map(toExpression);
  const numbered = (columns: readonly string[], name: string): string =>
    `row_number() OVER (PARTITION BY ${columns.join(', ')}) AS ${name}`;
  const columns = [
    ...groupBy.map((by, index) => `${toExpression(by)} AS key_${index + 1}`),
    ...groupBy.flatMap((by) => groupings[by].labels ?? []),
    `${DATE_COLUMNS[period.dateBasis]} AS counted_on`,
    'deposit_status, amount, fee_amount, allocation_amount, allocation_amount_inferred',
    numbered(['deposit_date', 'deposit_id', 'transaction_id', ...splitting('transactions')], 'line_of_transaction'),
    ...(extras.includes('deposits')
      ? [numbered(['deposit_date', 'deposit_id', ...splitting('deposits', 'transactions')], 'line_of_deposit')]
      : []),
    ...(extras.includes('donors') ? ['donor_id'] : []),
  ];
  const conditions = [whereLines(period), ...(some ? whereSome(some, toExpression) : [])];
  return sql`SELECT ${raw(columns.join(', '))} FROM deposit_line WHERE ${join(conditions, ' AND ')}`;
}

/** The conditions on the lines of some groups, by their values. */
function whereSome({ question, without }: SomeGroups, toExpression: (by: GroupBy) => string): Prisma.Sql[] {
  const values = raw(question.groupBy.map(toExpression).join(', '));
  return [
    ...(question.having ? [sql`(${values}) IN (SELECT ${raw(keysOf(question).join(', '))} FROM chosen)`] : []),
    ...(without.length > 0 ? [sql`(${values}) NOT IN (SELECT * FROM unnest(${keyArrays(question, without)}))`] : []),
  ];
}

/** The values of groups as one array for each way of grouping. */
function keyArrays({ groupBy }: SummaryQuestion, keys: readonly GroupKey[]): Prisma.Sql {
  const arrays = groupBy.map((by) => {
    const [[, { field }]] = groupColumns(by) as [ReturnType<typeof groupColumns>[number]];
    return sql`${toArrayLiteral(keys.map((key) => key[field as keyof GroupKey]!))}::${raw(groupings[by].key.type)}[]`;
  });
  return join(arrays);
}
