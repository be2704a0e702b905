import { Prisma } from '../../generated/prisma/client';
import { lineFields, lineNames, type LineName } from '../../line/line-fields';
import { CASTS, IS_CURRENT } from '../books/line-columns';
import { whereInside, type LineSet } from '../books/line-set';
import { keyFields, selectPage, type KeyOrder, type KeysetPage } from '../postgres/keyset';
import { toArrayLiteral } from '../postgres/value-list';
import { numberOf, type VersionStamp } from '../postgres/version-stamp';
import type { ReportSnapshot } from '../reading/report-snapshot';

/** The classes of changes. A gift's effect counts in the first class that a changed line of it has. */
export const changeClasses = ['MONEY', 'ADDED', 'REMOVED', 'MOVED', 'REKEYED', 'RELABELLED'] as const;
export type ChangeClass = (typeof changeClasses)[number];

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

  /** Adds up the changes of each class. */
  totals(set: ChangeSet, snapshot: ReportSnapshot): Promise<readonly ClassRow[]> {
    return snapshot.list<ClassRow>(sql`WITH ${withChanges(set)}
      SELECT class, count(DISTINCT no)::float8 AS changes, ${raw(EFFECTS)} FROM effect JOIN change USING (no) GROUP BY class, rank ORDER BY rank`);
  }

  /** Adds up the changes of each class in each fund. A gift counts once in each fund that has a share of it. */
  fundTotals(set: ChangeSet, snapshot: ReportSnapshot): Promise<readonly FundRow[]> {
    return snapshot.list<FundRow>(sql`WITH ${withChanges(set, true)}
      SELECT effect.designation_id::float8 AS "designationId", max(effect.designation) AS designation, class, count(DISTINCT no)::float8 AS changes,
        ${raw(EFFECTS)}
      FROM effect JOIN change USING (no) GROUP BY effect.designation_id, class, rank ORDER BY effect.designation_id, rank`);
  }
}

const isOf = (classes: readonly ChangeClass[] | undefined): Prisma.Sql =>
  classes ? sql`class = ANY (${toArrayLiteral(classes)}::text[])` : sql`true`;

/** The columns that a figure depends on: money, and what places a line among the lines of a report. */
const MONEY = ['amount', 'fee_amount', 'net_amount', 'allocation_amount'] as const satisfies readonly LineName[];
const PLACES = [
  'deposit_id',
  'deposit_date',
  'transaction_date',
  'deposit_status',
  'status',
  'donor_id',
  'designation_id',
] as const satisfies readonly LineName[];
/** Those of them that all lines of a gift share. */
const OF_GIFT = [
  'deposit_id',
  'deposit_date',
  'transaction_date',
  'deposit_status',
  'status',
  'donor_id',
  'amount',
  'fee_amount',
] as const satisfies readonly LineName[];

const namesOf = (names: readonly string[], write: (name: string) => string): string => names.map(write).join(', ');
const differ = (names: readonly string[]): string =>
  `(${namesOf(names, (name) => `before_${name}`)}) IS DISTINCT FROM (${namesOf(names, (name) => `after_${name}`)})`;
/** A share as a part of a key: unknown ones are equal. */
const SHARE = `COALESCE(allocation_amount::text, '')`;

/** The values of a line. A share that is not known was neither stated nor inferred. */
const LINE_VALUES = namesOf(lineNames, (name) =>
  name === 'allocation_amount_inferred' ? `CASE WHEN allocation_amount IS NOT NULL THEN ${name} END AS ${name}` : name,
);

const CLASS = `CASE WHEN before_allocation_id IS NULL THEN 'ADDED' WHEN after_allocation_id IS NULL THEN 'REMOVED'
  WHEN ${differ(MONEY)} THEN 'MONEY' WHEN ${differ(PLACES)} THEN 'MOVED'
  WHEN before_allocation_id <> after_allocation_id THEN 'REKEYED'
  WHEN before_transaction_id <> after_transaction_id THEN CASE WHEN is_renamed THEN 'REKEYED' ELSE 'MOVED' END
  ELSE 'RELABELLED' END`;
const COLUMNS = `CASE WHEN before_allocation_id IS NULL OR after_allocation_id IS NULL THEN '{}'::text[] ELSE array_remove(ARRAY[${namesOf(
  lineNames,
  (name) => `CASE WHEN before_${name} IS DISTINCT FROM after_${name} THEN '${name}' END`,
)}], NULL) END`;

/**
 * The common tables `change`, of the changed lines, and `effect`, of what each adds to the figures; with `isByFund`, to those of its fund. The
 * tables between them, in their order:
 * - `touched`: the ids of lines of the set that were written anew between the two states;
 * - `earlier`, `later`: these lines and the others of their gifts, as each state has them;
 * - `returned`: those that came back to what they were, so that they have not changed;
 * - `renamed`: the gifts that are gone, each with a new one that is equal but for its ids;
 * - `net`, `pair`, `paired`: the lines of both sides beside each other, by their id, and then by what they have in common;
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
  const values = sql`${raw(LINE_VALUES)}, ${inside} AS is_inside`;
  const isSame = (of: string, columns: readonly string[]): string => namesOf(columns, (name) => `${of}.${name}`);
  /** The condition that both states have a line with these values of another one. */
  const bothHave = (of: string, columns: readonly string[], inside: Prisma.Sql): Prisma.Sql =>
    sql`EXISTS (SELECT FROM deposit_line WHERE ${organization} AND since <= ${since}::bigint AND ${stands} AND ${inside}
      AND (${raw(columns.join(', '))}) = (${raw(isSame(of, columns))}))`;
  const fund = isByFund ? ['designation_id'] : [];
  /** The condition that an entry is the first of its kind on its side, and that no line that has not changed is of the same. */
  const isFirst = (kind: 'transaction' | 'deposit', columns: readonly string[]): Prisma.Sql =>
    sql`${raw(`turn_of_${kind}`)} = 1 AND NOT ${bothHave('placed', columns, inside)}
      AND (${raw(isSame('placed', columns))}) NOT IN (SELECT ${raw(columns.join(', '))} FROM returned WHERE is_inside)`;
  const wholeGifts = (
    of: string,
    other: string,
  ): Prisma.Sql => sql`SELECT *, row_number() OVER (PARTITION BY ${raw(OF_GIFT.join(', '))}, shares ORDER BY transaction_id) AS turn
    FROM (
      SELECT transaction_id, ${raw(OF_GIFT.join(', '))}, array_agg(designation_id || ' ' || ${raw(SHARE)} ORDER BY designation_id, ${raw(SHARE)}) AS shares
      FROM ${raw(of)} GROUP BY transaction_id, ${raw(OF_GIFT.join(', '))}
    ) AS gift
    WHERE NOT EXISTS (SELECT FROM ${raw(other)} WHERE ${raw(other)}.transaction_id = gift.transaction_id)
      AND NOT ${bothHave('gift', ['deposit_date', 'deposit_id', 'transaction_id'], sql`true`)}`;
  const single = (
    side: 'before' | 'after',
  ): Prisma.Sql => sql`SELECT net.*, row_number() OVER (PARTITION BY ${raw(keyOfLine(side))} ORDER BY ${raw(side)}_allocation_id) AS turn,
      ARRAY[${raw(keyOfLine(side))}]::text[] AS key
    FROM net ${raw(side === 'before' ? 'LEFT JOIN renamed ON gone_id = before_transaction_id' : '')}
    WHERE ${raw(side === 'before' ? 'after' : 'before')}_allocation_id IS NULL`;
  const wasWritten = sql`${organization} AND since <= ${since}::bigint AND until > ${since}::bigint AND ${hasEnded}`;
  const isWritten = sql`${organization} AND since > ${since}::bigint AND ${hasBegun} AND ${stands}`;
  const ids = (written: Prisma.Sql): Prisma.Sql =>
    sql`SELECT allocation_id, transaction_id FROM deposit_line WHERE ${written} AND ${inside}`;
  const lines = (written: Prisma.Sql): Prisma.Sql => sql`SELECT ${values} FROM deposit_line WHERE ${written} AND (
      ${inside} OR allocation_id IN (SELECT allocation_id FROM touched) OR transaction_id IN (SELECT transaction_id FROM touched)
    )`;
  return sql`touched AS MATERIALIZED (
    ${ids(wasWritten)} UNION ${ids(isWritten)}
  ), earlier AS MATERIALIZED (
    ${lines(wasWritten)}
  ), later AS MATERIALIZED (
    ${lines(isWritten)}
  ), returned AS (
    SELECT earlier.* FROM earlier JOIN later ON later.allocation_id = earlier.allocation_id
    WHERE (${raw(isSame('earlier', lineNames))}) IS NOT DISTINCT FROM (${raw(isSame('later', lineNames))})
  ), renamed AS (
    SELECT gone.transaction_id AS gone_id, come.transaction_id AS come_id
    FROM (${wholeGifts('earlier', 'later')}) AS gone JOIN (${wholeGifts('later', 'earlier')}) AS come USING (${raw(OF_GIFT.join(', '))}, shares, turn)
  ), net AS (
    SELECT ${raw(namesOf([...lineNames, 'is_inside'], (name) => `earlier.${name} AS before_${name}, later.${name} AS after_${name}`))}
    FROM earlier FULL JOIN later ON later.allocation_id = earlier.allocation_id
  ), pair AS (
    SELECT gone.before_allocation_id AS gone_id, come.after_allocation_id AS come_id
    FROM (${single('before')}) AS gone JOIN (${single('after')}) AS come USING (key, turn)
  ), paired AS (
    SELECT ${raw(namesOf([...lineNames, 'is_inside'], (name) => `net.before_${name}, COALESCE(net.after_${name}, come.after_${name}) AS after_${name}`))}
    FROM net LEFT JOIN pair ON pair.gone_id = net.before_allocation_id AND net.after_allocation_id IS NULL
    LEFT JOIN net AS come ON come.after_allocation_id = pair.come_id AND come.before_allocation_id IS NULL
    WHERE net.before_allocation_id IS NOT NULL OR net.after_allocation_id NOT IN (SELECT come_id FROM pair)
  ), classed AS (
    SELECT paired.*, ${raw(CLASS)} AS class, ${raw(COLUMNS)} AS columns
    FROM (SELECT paired.*, renamed.gone_id IS NOT NULL AS is_renamed FROM paired
      LEFT JOIN renamed ON gone_id = before_transaction_id AND come_id = after_transaction_id) AS paired
    WHERE (before_is_inside OR after_is_inside) AND ${raw(differ(lineNames))}
  ), ranked AS (
    SELECT *, array_position(${toArrayLiteral(changeClasses)}::text[], class) AS rank,
      ${raw(namesOf(Object.keys(changeOrder.columns), (name) => `COALESCE(after_${name}, before_${name}) AS ${name}`))}
    FROM classed
  ), change AS MATERIALIZED (
    SELECT *, row_number() OVER (ORDER BY rank, allocation_id) AS no FROM ranked
  ), entry AS (
    ${raw(entriesOf('before', -1))} UNION ALL ${raw(entriesOf('after', 1))}
  ), placed AS (
    SELECT *, ${raw(
      (['transaction', 'deposit'] as const)
        .map((kind) => {
          const partition = [...fund, `${kind}_id`].join(', ');
          return `row_number() OVER (PARTITION BY ${partition}, sign ORDER BY no) AS turn_of_${kind}, min(no) OVER (PARTITION BY ${partition}) AS no_of_${kind}`;
        })
        .join(', '),
    )}
    FROM entry
  ), effect AS (
    SELECT no, designation_id, designation, sign AS lines, 0 AS transactions, 0 AS deposits, sign * amount AS line_amount, sign * fee_amount AS line_fee_amount,
      0 AS transaction_amount, 0 AS transaction_fee_amount, sign * COALESCE(allocation_amount, 0) AS allocation_amount,
      CASE WHEN allocation_amount IS NULL THEN sign ELSE 0 END AS unknown_allocations
    FROM placed
    UNION ALL
    SELECT no_of_transaction, designation_id, designation, 0, sign, 0, 0, 0, sign * amount, sign * fee_amount, 0, 0
    FROM placed WHERE ${isFirst('transaction', ['deposit_date', 'deposit_id', 'transaction_id', ...fund])}
    UNION ALL
    SELECT no_of_deposit, designation_id, designation, 0, 0, sign, 0, 0, 0, 0, 0, 0
    FROM placed WHERE ${isFirst('deposit', ['deposit_date', 'deposit_id', ...fund])}
  )`;
}

/** The values that two lines of one share have in common, whatever their ids are. A gift that has a new id counts by that one. */
const keyOfLine = (side: 'before' | 'after'): string =>
  [
    side === 'before' ? 'COALESCE(come_id, before_transaction_id)' : 'after_transaction_id',
    ...OF_GIFT.map((name) => `${side}_${name}::text`),
    `${side}_designation_id::text`,
    `COALESCE(${side}_allocation_amount::text, '')`,
  ].join(', ');

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
  `SELECT no, ${sign} AS sign, ${namesOf(ENTRY, (name) => `${side}_${name} AS ${name}`)} FROM change WHERE ${side}_is_inside`;

const toCamelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const AMOUNTS = ['line_amount', 'line_fee_amount', 'transaction_amount', 'transaction_fee_amount', 'allocation_amount'];
const COUNTS = ['lines', 'transactions', 'deposits', 'unknown_allocations'];
const EFFECTS = [
  ...COUNTS.map((name) => `sum(effect.${name})::float8 AS "${toCamelCase(name)}"`),
  ...AMOUNTS.map((name) => `sum(effect.${name})::numeric(40, 2)::text AS "${toCamelCase(name)}"`),
].join(', ');

const SOURCE = `SELECT change.*, figure.* FROM change JOIN (SELECT no AS of_no, ${EFFECTS} FROM effect GROUP BY no) AS figure ON of_no = no`;

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
