import type { GroupBy, GroupKey } from '../formats/line-groups';
import { Prisma } from '../generated/prisma/client';
import { whereLines, type LineSet } from './line-set';
import type { ReportSnapshot } from './postgres/report-snapshot';

/** The counts that cost a pass of their own over the lines, and are made only when they are asked for. */
export const costlyCounts = ['deposits', 'donors'] as const;
export type CostlyCount = (typeof costlyCounts)[number];

/** Counts and exact sums over the lines of a line set. Amounts are text with two decimals. */
export interface SummaryRow {
  /** ALL counts posted and pending deposits together. POSTED and PENDING have rows of their own only when the line set includes both. */
  readonly part: 'ALL' | 'POSTED' | 'PENDING';
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
  /** Allocations whose share the books state. */
  readonly knownAllocations: number;
  /** Allocations without a stated share that are the only one of their gift, so that the share is the gift's amount. */
  readonly inferredAllocations: number;
}

const { sql, raw } = Prisma;

interface Grouping {
  /** The columns that the grouping takes from a line. The first is the one that makes the group. */
  readonly columns: readonly string[];
  /** The values of a group's row. */
  readonly values: readonly string[];
  /** The lines of one deposit, or even of one transaction, may be in several groups. */
  readonly splits?: 'deposits' | 'transactions';
}

const GROUPS: Readonly<Record<GroupBy, Grouping>> = {
  DAY: { columns: ['deposit_date'], values: ['deposit_date::text AS day'] },
  WEEK: { columns: [`date_trunc('week', deposit_date::timestamp)::date AS week`], values: ['week::text AS week'] },
  MONTH: { columns: [`date_trunc('month', deposit_date::timestamp)::date AS month`], values: ['month::text AS month'] },
  DESIGNATION: {
    columns: ['designation_id', 'designation'],
    // The name belongs to the id, and grouping by a number is quicker than by a number and a text.
    values: ['designation_id::float8 AS "designationId"', 'min(designation) AS "designation"'],
    splits: 'transactions',
  },
  STATUS: { columns: ['status'], values: ['status'], splits: 'deposits' },
  ACCOUNT_TYPE: { columns: ['account_type'], values: ['account_type AS "accountType"'], splits: 'deposits' },
  PAYMENT_TYPE: { columns: ['payment_type'], values: ['payment_type AS "paymentType"'], splits: 'deposits' },
};

const EXACT = 'numeric(40, 2)';
const exact = (sum: string, name: string): string => `COALESCE(${sum}, 0)::${EXACT}::text AS "${name}"`;
const ONCE = 'FILTER (WHERE line_of_transaction = 1)';
/** The figures of a SummaryRow, computed over the rows of `selectLines`. */
const FIGURES = [
  'count(*)::float8 AS lines',
  `count(*) ${ONCE}::float8 AS transactions`,
  'count(*) FILTER (WHERE line_of_transaction = 2)::float8 AS "splitTransactions"',
  exact('sum(amount)', 'lineAmount'),
  exact('sum(fee_amount)', 'lineFeeAmount'),
  exact('sum(amount) - sum(fee_amount)', 'lineNetAmount'),
  exact(`sum(amount) ${ONCE}`, 'transactionAmount'),
  exact(`sum(fee_amount) ${ONCE}`, 'transactionFeeAmount'),
  exact(`sum(amount) ${ONCE} - sum(fee_amount) ${ONCE}`, 'transactionNetAmount'),
  `sum(allocation_amount)::${EXACT}::text AS "allocationAmount"`,
  'count(allocation_amount) FILTER (WHERE NOT allocation_amount_inferred)::float8 AS "knownAllocations"',
  'count(*) FILTER (WHERE allocation_amount_inferred)::float8 AS "inferredAllocations"',
];
const COUNTS: Readonly<Record<CostlyCount, string>> = {
  deposits: 'count(*) FILTER (WHERE line_of_deposit = 1)::float8 AS deposits',
  donors: 'count(DISTINCT NULLIF(donor_id, 0))::float8 AS donors',
};
/** The columns of a line that the figures are made of. */
const COUNTED = 'deposit_status, amount, fee_amount, allocation_amount, allocation_amount_inferred';

export class DepositSummaryStore {
  /** Reads the totals of the whole line set: one row for each part. */
  totals(lineSet: LineSet, counts: readonly CostlyCount[], snapshot: ReportSnapshot): Promise<SummaryRow[]> {
    return snapshot.list<SummaryRow>(selectFigures(lineSet, [], counts));
  }

  /** Reads the totals of each group, ordered by the groups' values; at most `maxRows` rows. */
  groups(
    lineSet: LineSet,
    groupBy: readonly GroupBy[],
    counts: readonly CostlyCount[],
    maxRows: number,
    snapshot: ReportSnapshot,
  ): Promise<(GroupKey & SummaryRow)[]> {
    const order = [...groupBy.map(keyOf), 'part'].join(', ');
    return snapshot.list<GroupKey & SummaryRow>(
      sql`${selectFigures(lineSet, groupBy, counts)} ORDER BY ${raw(order)} LIMIT ${maxRows}::int`,
    );
  }
}

/** The name of the column that makes the groups. */
const keyOf = (by: GroupBy): string => GROUPS[by].columns[0]!.replace(/^.* AS /s, '');

/**
 * The SELECT of a row for ALL in each group, and of rows for POSTED and PENDING when the line set includes both. Without a grouping, all
 * lines are one group.
 */
function selectFigures(lineSet: LineSet, groupBy: readonly GroupBy[], counts: readonly CostlyCount[]): Prisma.Sql {
  const keys = groupBy.map(keyOf);
  const all = keys.join(', ');
  const [part, sets] =
    lineSet.pending === 'WITH'
      ? [
          `CASE WHEN grouping(deposit_status) = 1 THEN 'ALL' ELSE deposit_status::text END`,
          `GROUPING SETS ((${[...keys, 'deposit_status'].join(', ')}), (${all}))`,
        ]
      : [`'ALL'`, `GROUPING SETS ((${all}))`];
  const values = groupBy.flatMap((by) => GROUPS[by].values);
  const figures = [...values, `${part} AS part`, ...FIGURES, ...counts.map((count) => COUNTS[count])].join(', ');
  return sql`WITH line AS (${selectLines(lineSet, groupBy, counts)}) SELECT ${raw(figures)} FROM line GROUP BY ${raw(sets)}`;
}

/**
 * The SELECT of the lines, each with its number among those of its transaction, and of its deposit, in its group. The windows follow the
 * order of the report, in which an index has the lines, so that most selections sort no more than the lines of a deposit.
 */
function selectLines(lineSet: LineSet, groupBy: readonly GroupBy[], counts: readonly CostlyCount[]): Prisma.Sql {
  const keysThat = (...splits: readonly Grouping['splits'][]): string[] =>
    groupBy.filter((by) => splits.includes(GROUPS[by].splits)).map(keyOf);
  const numbered = (columns: readonly string[], name: string): string =>
    `row_number() OVER (PARTITION BY ${columns.join(', ')}) AS ${name}`;
  const columns = [
    ...groupBy.flatMap((by) => GROUPS[by].columns),
    COUNTED,
    numbered(['deposit_date', 'deposit_id', 'transaction_id', ...keysThat('transactions')], 'line_of_transaction'),
    ...(counts.includes('deposits')
      ? [numbered(['deposit_date', 'deposit_id', ...keysThat('deposits', 'transactions')], 'line_of_deposit')]
      : []),
    ...(counts.includes('donors') ? ['donor_id'] : []),
  ];
  return sql`SELECT ${raw(columns.join(', '))} FROM deposit_line WHERE ${whereLines(lineSet)}`;
}
