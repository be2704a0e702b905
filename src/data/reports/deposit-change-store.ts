import { changeClasses, type ChangeClass } from '../../values/change-classes';
import { Prisma } from '../../generated/prisma/client';
import { lineFields, lineNames, type LineName } from '../../line/line-fields';
import type { RowColumn } from '../../rows/row-template';
import { CASTS, IS_CURRENT } from '../books/line-columns';
import { whereInside, type LineSet } from '../books/line-set';
import { keyFields, selectPage, type KeyOrder, type KeysetPage } from '../postgres/keyset';
import { toArrayLiteral } from '../postgres/value-list';
import { numberOf, type VersionStamp } from '../postgres/version-stamp';
import type { Copy, ReportSnapshot } from '../reading/report-snapshot';

/** The lines that two states of the books tell differently, as far as one of the two lies in the set. */
export interface ChangeSet {
  readonly lineSet: LineSet;
  readonly from: VersionStamp;
  /** Undefined for the newest state. */
  readonly to: VersionStamp | undefined;
}

/** What changes add to the figures of the set. Amounts are exact decimal text. */
export interface EffectRow {
  readonly lines: number;
  readonly transactions: number;
  readonly deposits: number;
  readonly lineAmount: string;
  readonly lineFeeAmount: string;
  readonly transactionAmount: string;
  readonly transactionFeeAmount: string;
  /** The shares that are known or inferred. */
  readonly allocationAmount: string;
  readonly unknownAllocations: number;
}

/** The values of a line before its change, by names such as `before.amount`, and after it. Those of a side without a line are null. */
export interface ChangeRow extends EffectRow {
  readonly class: ChangeClass;
  /** The names of the columns that differ; empty where one of the two lines is missing. */
  readonly columns: readonly LineName[];
  /** True where the line of that side lies in the set; null where there is none. */
  readonly wasInside: boolean | null;
  readonly isInside: boolean | null;
  readonly [value: string]: unknown;
}

/** The changes of a class, and those of a class in a fund. */
export interface ClassRow extends EffectRow {
  readonly class: ChangeClass;
  readonly changes: number;
}
export interface FundRow extends ClassRow {
  readonly designationId: number;
  readonly designation: string;
}

/** The order of changes: that of the report, by the line after the change, or before it where there is none after. */
export const changeOrder: KeyOrder = {
  columns: { deposit_date: 'date', deposit_id: 'text', transaction_id: 'text', allocation_id: 'text' },
};

const { sql, raw } = Prisma;

/** Finds what changed between two states of the books. */
export class DepositChangeStore {
  /** Reads a page of the changes; of all classes unless some are given. */
  async list(
    set: ChangeSet,
    classes: readonly ChangeClass[] | undefined,
    page: KeysetPage,
    snapshot: ReportSnapshot,
  ): Promise<readonly ChangeRow[]> {
    const select = selectPage({ values: raw(ROW_VALUES), from: sql`source`, where: isOf(classes), order: changeOrder, page });
    const rows = await snapshot.list<ChangeRow>(sql`WITH ${withChanges(set)}, source AS (${raw(SOURCE)}) ${select}`);
    return page.fromEnd ? [...rows].reverse() : rows;
  }

  /** Reads all changes, or those of some classes, in their order as COPY's text format. The `field` of each column is a path of a change. */
  copyChanges(
    copy: Copy,
    set: ChangeSet,
    classes: readonly ChangeClass[] | undefined,
    columns: readonly RowColumn[],
  ): AsyncGenerator<Buffer> {
    const order = raw(Object.keys(changeOrder.columns).join(', '));
    return copy(sql`WITH ${withChanges(set)}, source AS (${raw(SOURCE)})
      SELECT ${raw(columns.map(toCopied).join(', '))} FROM source WHERE ${isOf(classes)} ORDER BY ${order}`);
  }

  /** Adds up the changes of each class. */
  totals(set: ChangeSet, snapshot: ReportSnapshot): Promise<readonly ClassRow[]> {
    return snapshot.list<ClassRow>(sql`WITH ${withChanges(set)}
      SELECT (${raw(CLASSES)})[rank] AS class, count(DISTINCT no)::float8 AS changes, ${raw(EFFECTS)} FROM effect GROUP BY rank ORDER BY rank`);
  }

  /** Adds up the changes of each class in each fund, which has its later name. A gift counts once in each fund that has a share of it. */
  fundTotals(set: ChangeSet, snapshot: ReportSnapshot): Promise<readonly FundRow[]> {
    return snapshot.list<FundRow>(sql`WITH ${withChanges(set, true)}
      SELECT designation_id::float8 AS "designationId", fund.designation, (${raw(CLASSES)})[rank] AS class, ${raw(FIGURES)}
      FROM (SELECT designation_id, rank, count(DISTINCT no)::float8 AS changes, ${raw(EFFECTS)} FROM effect GROUP BY designation_id, rank) AS figure
      FULL JOIN (
        SELECT designation_id, COALESCE(max(designation) FILTER (WHERE sign = 1), max(designation)) AS designation FROM placed GROUP BY designation_id
      ) AS fund USING (designation_id)
      ORDER BY designation_id, rank`);
  }
}

const isOf = (classes: readonly ChangeClass[] | undefined): Prisma.Sql =>
  classes ? sql`class = ANY (${toArrayLiteral(classes)}::text[])` : sql`true`;

/** The columns that a figure depends on: money, and what places a line among the lines of a report. */
const MONEY = ['amount', 'fee_amount', 'net_amount', 'allocation_amount'] as const satisfies readonly LineName[];
const OF_DEPOSIT = ['deposit_date', 'deposit_id', 'deposit_status'] as const satisfies readonly LineName[];
const OF_GIFT = ['transaction_date', 'status', 'donor_id'] as const satisfies readonly LineName[];
const PLACES: readonly LineName[] = [...OF_DEPOSIT, ...OF_GIFT, 'designation_id'];
/** What two gifts have in common that are one but for their ids, beside the shares of their funds. */
const SAME_GIFT = [...OF_DEPOSIT, ...OF_GIFT, 'amount', 'fee_amount'].join(', ');
/** A share as a part of a key: unknown ones are equal. */
const SHARE = `COALESCE(allocation_amount::text, '')`;

const namesOf = (names: readonly string[], write: (name: string) => string): string => names.map(write).join(', ');
const differ = (names: readonly string[]): string =>
  `(${namesOf(names, (name) => `before_${name}`)}) IS DISTINCT FROM (${namesOf(names, (name) => `after_${name}`)})`;

/** The values of a line. A share that is not known was neither stated nor inferred. */
const LINE_VALUES = namesOf(lineNames, (name) =>
  name === 'allocation_amount_inferred' ? `CASE WHEN allocation_amount IS NOT NULL THEN ${name} END AS ${name}` : name,
);

const CLASS = `CASE WHEN before_allocation_id IS NULL THEN 'ADDED' WHEN after_allocation_id IS NULL THEN 'REMOVED'
  WHEN ${differ(MONEY)} THEN 'MONEY' WHEN before_is_inside <> after_is_inside OR ${differ(PLACES)} OR before_gift <> after_gift THEN 'MOVED'
  WHEN ${differ(['transaction_id', 'allocation_id'])} THEN 'REKEYED'
  WHEN is_erased THEN 'ERASED' ELSE 'RELABELLED' END`;
const COLUMNS = `CASE WHEN before_allocation_id IS NULL OR after_allocation_id IS NULL THEN '{}'::text[] ELSE array_remove(ARRAY[${namesOf(
  lineNames,
  (name) => `CASE WHEN before_${name} IS DISTINCT FROM after_${name} THEN '${name}' END`,
)}], NULL) END`;

/** True where rows of a window are of both states. */
const isOfBoth = (window: string): string => `min(side) OVER ${window} < max(side) OVER ${window}`;

/**
 * The common tables `change`, of the changed lines, and `effect`, of what each adds to the figures; with `isByFund`, to those of its fund.
 * PostgreSQL knows nothing of the rows of such tables, and would look through all of one for each row of another. So they are joined in ways
 * that have no such plan, or not at all. The tables before, in their order:
 * - `around`: the gifts of lines of the set that were written anew between the two states, those of their deposits, and those that lines of
 *   these come from or go to;
 * - `written`: the lines of these gifts as the first state has them, with side -1, and as the second one has them, with side 1;
 * - `gifts`, `named`: lines that one side alone has, or whose gift it alone has. A gift that is gone as a whole is called by the id of the new
 *   one that is equal but for its ids: of the one that has a line of it, or else of the one in its turn;
 * - `shares`, `keyed`: all lines with the key of their change, which a line that is gone shares with a new one of the same gift, fund and money;
 * - `beside`: both sides of each change; `returned`: lines that came back to what they were, so that they have not changed. Lines whose
 *   first state has lost texts by an erasure since count as changed, although their sides are equal now: whoever read it before has other texts;
 * - `entry`, `placed`: the lines of each side that lie in the set. The first of a gift, and of a deposit, stands for it.
 */
function withChanges({ lineSet, from, to }: ChangeSet, isByFund = false): Prisma.Sql {
  const since = numberOf(from);
  const organization = sql`organization_id = ${lineSet.organizationId}::int`;
  // The constant lets PostgreSQL read the partition of the current lines alone.
  const [stands, hasEnded] =
    to === undefined
      ? [raw(IS_CURRENT), raw(`NOT ${IS_CURRENT}`)]
      : [sql`until > ${numberOf(to)}::bigint`, sql`until <= ${numberOf(to)}::bigint`];
  const hasBegun = to === undefined ? sql`true` : sql`since <= ${numberOf(to)}::bigint`;
  const inside = whereInside(lineSet);
  const ofSide = {
    '-1': sql`${organization} AND since <= ${since}::bigint AND until > ${since}::bigint AND ${hasEnded}`,
    '1': sql`${organization} AND since > ${since}::bigint AND ${hasBegun} AND ${stands}`,
  };
  /** Reads both sides. */
  const readWritten = (values: Prisma.Sql): Prisma.Sql =>
    sql`SELECT -1 AS side, ${values} FROM deposit_line WHERE ${ofSide['-1']} UNION ALL SELECT 1, ${values} FROM deposit_line WHERE ${ofSide['1']}`;
  /**
   * The condition that a line which has not changed has these values of another one. OFFSET keeps it from being joined, and the sums keep it from
   * the indexes by version, which have most lines.
   */
  const hasUnchanged = (of: string, columns: readonly string[], more = sql``): Prisma.Sql =>
    sql`EXISTS (SELECT FROM deposit_line
      WHERE ${organization} AND since + 0 <= ${since}::bigint AND ${to === undefined ? raw(IS_CURRENT) : sql`until + 0 > ${numberOf(to)}::bigint`}${more}
      AND (${raw(columns.join(', '))}) = (${raw(namesOf(columns, (name) => `${of}.${name}`))}) OFFSET 0)`;
  const fund = isByFund ? ['designation_id'] : [];
  /** The condition that an entry stands for its gift or deposit, and that no line that has not changed is of the same. */
  const isFirst = (kind: 'transaction' | 'deposit', columns: readonly string[]): Prisma.Sql =>
    sql`${raw(`turn_of_${kind} = 1 AND NOT stays_${kind}`)} AND NOT ${hasUnchanged('placed', columns, sql` AND ${inside}`)}
      AND (${raw(namesOf(columns, (name) => `placed.${name}`))}) NOT IN (SELECT ${raw(namesOf(columns, (name) => `before_${name}`))} FROM returned)`;
  return sql`around AS MATERIALIZED (
    SELECT DISTINCT transaction_id, true AS is_around FROM (
      SELECT transaction_id, bool_or(is_near) OVER (PARTITION BY allocation_id) AS is_near FROM (
        SELECT transaction_id, allocation_id,
          bool_or(is_inside) OVER (PARTITION BY allocation_id) OR bool_or(is_inside) OVER (PARTITION BY deposit_date, deposit_id) AS is_near
        FROM (${readWritten(sql`allocation_id, transaction_id, deposit_date, deposit_id, ${inside} AS is_inside`)}) AS line
      ) AS line
    ) AS line WHERE is_near
  ), written AS MATERIALIZED (
    SELECT *, count(*) OVER (PARTITION BY allocation_id) = 1 AS is_single, NOT ${raw(isOfBoth('(PARTITION BY transaction_id)'))} AS is_lone,
      max(transaction_id) FILTER (WHERE side = 1) OVER (PARTITION BY allocation_id) AS later_id
    FROM (${readWritten(sql`${raw(LINE_VALUES)}, ${inside} AS is_inside, erased_version > ${since}::bigint AS is_erased`)}) AS line FULL JOIN around USING (transaction_id)
    WHERE COALESCE(is_around, false)
  ), gifts AS (
    SELECT *, is_lone AND NOT ${hasUnchanged('written', ['deposit_date', 'deposit_id', 'transaction_id'])} AS is_whole,
      count(*) OVER gift AS lines, sum(hashtextextended(designation_id || ' ' || ${raw(SHARE)}, 0)) OVER gift AS shares_hash,
      max(later_id) FILTER (WHERE NOT is_single) OVER gift AS kept_id
    FROM written WHERE is_single OR is_lone WINDOW gift AS (PARTITION BY side, transaction_id)
  ), named AS (
    SELECT *, CASE WHEN is_whole AND ${raw(isOfBoth('same'))} THEN max(transaction_id) FILTER (WHERE side = 1) OVER same ELSE transaction_id END AS gift
    FROM (
      SELECT *, CASE WHEN kept_id IS NULL THEN dense_rank() OVER (
          PARTITION BY side, is_whole, kept_id, ${raw(SAME_GIFT)}, lines, shares_hash ORDER BY payment_type, main_memo, transaction_id
        ) END AS gift_turn
      FROM gifts
    ) AS turned WINDOW same AS (PARTITION BY is_whole, kept_id, gift_turn, ${raw(SAME_GIFT)}, lines, shares_hash)
  ), shares AS (
    SELECT *, row_number() OVER (
        PARTITION BY side, is_single, gift, ${raw(SAME_GIFT)}, designation_id, ${raw(SHARE)} ORDER BY designation_memo, allocation_id
      ) AS turn
    FROM named
  ), keyed AS MATERIALIZED (
    SELECT side, ${raw(lineNames.join(', '))}, is_inside, is_erased, gift,
      CASE WHEN is_single AND ${raw(isOfBoth('same'))} THEN min(allocation_id) FILTER (WHERE side = -1) OVER same ELSE allocation_id END AS key
    FROM shares WINDOW same AS (PARTITION BY is_single, gift, ${raw(SAME_GIFT)}, designation_id, ${raw(SHARE)}, turn)
    UNION ALL
    SELECT side, ${raw(lineNames.join(', '))}, is_inside, is_erased, transaction_id, allocation_id FROM written WHERE NOT is_single AND NOT is_lone
  ), beside AS MATERIALIZED (
    SELECT ${raw(namesOf([...lineNames, 'is_inside', 'gift'], (name) => `earlier.${name} AS before_${name}, later.${name} AS after_${name}`))},
      COALESCE(earlier.is_erased, false) AS is_erased
    FROM (SELECT * FROM keyed WHERE side = -1) AS earlier FULL JOIN (SELECT * FROM keyed WHERE side = 1) AS later ON later.key = earlier.key
  ), returned AS MATERIALIZED (
    SELECT * FROM beside WHERE before_is_inside AND NOT is_erased AND NOT ${raw(differ(lineNames))}
  ), ranked AS (
    SELECT *, array_position(${raw(CLASSES)}, class) AS rank,
      ${raw(namesOf(Object.keys(changeOrder.columns), (name) => `COALESCE(after_${name}, before_${name}) AS ${name}`))}
    FROM (
      SELECT *, ${raw(CLASS)} AS class, ${raw(COLUMNS)} AS columns
      FROM beside WHERE (before_is_inside OR after_is_inside) AND (is_erased OR ${raw(differ(lineNames))})
    ) AS classed
  ), change AS MATERIALIZED (
    SELECT *, row_number() OVER (ORDER BY rank, allocation_id) AS no FROM ranked
  ), entry AS (
    ${raw(entriesOf('before', -1))} UNION ALL ${raw(entriesOf('after', 1))}
  ), placed AS MATERIALIZED (
    SELECT *, ${raw((['transaction', 'deposit'] as const).map((kind) => firstOf(kind, fund)).join(', '))} FROM entry
  ), effect AS (
    SELECT no, rank, designation_id, sign AS lines, 0 AS transactions, 0 AS deposits, sign * amount AS line_amount, sign * fee_amount AS line_fee_amount,
      0 AS transaction_amount, 0 AS transaction_fee_amount, sign * COALESCE(allocation_amount, 0) AS allocation_amount,
      CASE WHEN allocation_amount IS NULL THEN sign ELSE 0 END AS unknown_allocations
    FROM placed
    UNION ALL
    SELECT no_of_transaction, rank_of_transaction, designation_id, 0, sign, 0, 0, 0, sign * amount, sign * fee_amount, 0, 0
    FROM placed WHERE ${isFirst('transaction', ['deposit_date', 'deposit_id', 'transaction_id', ...fund])}
    UNION ALL
    SELECT no_of_deposit, rank_of_deposit, designation_id, 0, 0, sign, 0, 0, 0, 0, 0, 0
    FROM placed WHERE ${isFirst('deposit', ['deposit_date', 'deposit_id', ...fund])}
  )`;
}

const CLASSES = `ARRAY[${changeClasses.map((name) => `'${name}'`).join(', ')}]`;

/**
 * The turn of an entry among those of its gift or deposit, and the change that these count at: the first one. A deposit that both sides have,
 * and a gift of the same amounts, stay as they were.
 */
function firstOf(kind: 'transaction' | 'deposit', fund: readonly string[]): string {
  const all = `OVER (PARTITION BY ${[...fund, `${kind}_id`].join(', ')})`;
  const same = kind === 'deposit' ? [] : ['amount', 'fee_amount'].map((name) => ` AND min(${name}) ${all} = max(${name}) ${all}`);
  return `row_number() OVER (PARTITION BY ${[...fund, `${kind}_id`].join(', ')}, sign ORDER BY no) AS turn_of_${kind},
      min(no) ${all} AS no_of_${kind}, min(rank) ${all} AS rank_of_${kind}, min(sign) ${all} < max(sign) ${all}${same.join('')} AS stays_${kind}`;
}

const ENTRY = [
  'deposit_date',
  'deposit_id',
  'transaction_id',
  'designation_id',
  'designation',
  'amount',
  'fee_amount',
  'allocation_amount',
] as const;
/** The lines of one side of the changes that lie in the set, with the sign of what they add. */
const entriesOf = (side: 'before' | 'after', sign: 1 | -1): string =>
  `SELECT no, rank, ${sign} AS sign, ${namesOf(ENTRY, (name) => `${side}_${name} AS ${name}`)} FROM change WHERE ${side}_is_inside`;

const toCamelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const AMOUNTS = ['line_amount', 'line_fee_amount', 'transaction_amount', 'transaction_fee_amount', 'allocation_amount'];
const COUNTS = ['lines', 'transactions', 'deposits', 'unknown_allocations'];
const EFFECTS = [
  ...COUNTS.map((name) => `sum(effect.${name})::float8 AS "${toCamelCase(name)}"`),
  ...AMOUNTS.map((name) => `sum(effect.${name})::numeric(40, 2)::text AS "${toCamelCase(name)}"`),
].join(', ');

const FIGURES = ['changes', ...[...COUNTS, ...AMOUNTS].map(toCamelCase)].map((name) => `"${name}"`).join(', ');

// Each change has figures. A FULL JOIN has no plan that looks through all of them for each change.
const SOURCE = `SELECT change.*, figure.* FROM change FULL JOIN (SELECT no AS of_no, ${EFFECTS} FROM effect GROUP BY no) AS figure ON of_no = no`;

/** The value of a column of one side, as it leaves the database. */
function toValue(side: 'before' | 'after', name: LineName): string {
  const { field, type } = lineFields[name];
  return `${side}_${name}${CASTS[type] ?? ''} AS "${side}.${field}"`;
}

const ROW_VALUES = [
  'class, columns, before_is_inside AS "wasInside", after_is_inside AS "isInside"',
  ...(['before', 'after'] as const).flatMap((side) => lineNames.map((name) => toValue(side, name))),
  ...[...COUNTS, ...AMOUNTS].map((name) => `"${toCamelCase(name)}"`),
  // The place of the change in the list.
  ...keyFields(changeOrder).map((field, at) => `source.${Object.keys(changeOrder.columns)[at]}::text AS "${field}"`),
].join(', ');

const isInside = (side: 'before' | 'after'): string => `COALESCE(${side}_is_inside, false)::text`;
const net = (grain: 'line' | 'transaction'): string => `("${grain}Amount"::numeric - "${grain}FeeAmount"::numeric)::text`;
/** The expressions by which COPY writes the values of a change, by their paths. */
const COPIED: Readonly<Record<string, string>> = {
  class: 'class',
  columns: `array_to_string(columns, ',')`,
  wasInside: isInside('before'),
  isInside: isInside('after'),
  'effect.lines': '"lines"',
  'effect.transactions': '"transactions"',
  'effect.deposits': '"deposits"',
  'effect.byLine.amount': '"lineAmount"',
  'effect.byLine.feeAmount': '"lineFeeAmount"',
  'effect.byLine.netAmount': net('line'),
  'effect.byTransaction.amount': '"transactionAmount"',
  'effect.byTransaction.feeAmount': '"transactionFeeAmount"',
  'effect.byTransaction.netAmount': net('transaction'),
  'effect.byAllocation.amount': '"allocationAmount"',
  'effect.byAllocation.unknown': '"unknownAllocations"',
  ...Object.fromEntries(
    (['before', 'after'] as const).flatMap((side) => lineNames.map((name) => [`${side}.${lineFields[name].field}`, `${side}_${name}`])),
  ),
};

/** The expression by which COPY writes a column. Booleans are cast to text, because COPY itself writes them as t and f. */
function toCopied({ field, kind, isLowerCase }: RowColumn): string {
  const expression = COPIED[field];
  if (expression === undefined) throw new Error(`A change has no ${field}`);
  if (isLowerCase) return `lower(${expression}::text)`;
  return kind === 'boolean' ? `${expression}::text` : expression;
}
