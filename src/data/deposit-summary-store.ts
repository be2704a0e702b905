import type { GroupBy, GroupKey } from '../formats/line-groups';
import { Prisma } from '../generated/prisma/client';
import { whereLines, type LineSet } from './line-set';
import type { ReportSnapshot } from './postgres/report-snapshot';

/** Counts and exact sums of the lines selected; amounts are text with two decimals. */
export interface SummaryRow {
  /** ALL is posted and pending together; the other parts stand apart where both were selected. */
  readonly part: 'ALL' | 'POSTED' | 'PENDING';
  readonly lines: number;
  readonly transactions: number;
  readonly deposits: number;
  readonly donors: number;
  readonly splitTransactions: number;
  readonly lineAmount: string;
  readonly lineFeeAmount: string;
  readonly lineNetAmount: string;
  readonly transactionAmount: string;
  readonly transactionFeeAmount: string;
  readonly transactionNetAmount: string;
  /** Sum of the shares that are known or inferred; null where there are none. */
  readonly allocationAmount: string | null;
  /** Allocations whose own amount the books have. */
  readonly knownAllocations: number;
  /** Allocations that are all that their gift has. */
  readonly inferredAllocations: number;
}

const { sql, raw } = Prisma;

/** The SQL by which lines are grouped, and the values that a group's row has of it. */
const GROUPS: Readonly<Record<GroupBy, { readonly columns: readonly string[]; readonly values: readonly string[] }>> = {
  DAY: { columns: ['deposit_date'], values: ['deposit_date::text AS day'] },
  WEEK: { columns: [`date_trunc('week', deposit_date::timestamp)::date AS week`], values: ['week::text AS week'] },
  MONTH: { columns: [`date_trunc('month', deposit_date::timestamp)::date AS month`], values: ['month::text AS month'] },
  DESIGNATION: {
    columns: ['designation_id', 'designation'],
    values: ['designation_id::float8 AS "designationId"', 'designation AS "designation"'],
  },
  STATUS: { columns: ['status'], values: ['status'] },
  ACCOUNT_TYPE: { columns: ['account_type'], values: ['account_type AS "accountType"'] },
  PAYMENT_TYPE: { columns: ['payment_type'], values: ['payment_type AS "paymentType"'] },
};

const EXACT = 'numeric(40, 2)';
const exact = (sum: string, name: string): string => `COALESCE(${sum}, 0)::${EXACT}::text AS "${name}"`;
/** A split gift counts once by transaction, and once for each of its lines by line. */
const perLine = (of: string): string => `sum(${of}) + COALESCE(sum((lines - 1) * ${of}) FILTER (WHERE lines > 1), 0)`;
/** Over transactions with the number of their lines selected. */
const FIGURES = [
  'COALESCE(sum(lines), 0)::float8 AS lines',
  'count(*)::float8 AS transactions',
  'count(DISTINCT deposit_id)::float8 AS deposits',
  'count(DISTINCT NULLIF(donor_id, 0))::float8 AS donors',
  'count(*) FILTER (WHERE lines > 1)::float8 AS "splitTransactions"',
  exact(perLine('amount'), 'lineAmount'),
  exact(perLine('fee_amount'), 'lineFeeAmount'),
  exact(`${perLine('amount')} - (${perLine('fee_amount')})`, 'lineNetAmount'),
  exact('sum(amount)', 'transactionAmount'),
  exact('sum(fee_amount)', 'transactionFeeAmount'),
  exact('sum(amount) - sum(fee_amount)', 'transactionNetAmount'),
  `sum(COALESCE(known_share, inferred_share))::${EXACT}::text AS "allocationAmount"`,
  'COALESCE(sum(known), 0)::float8 AS "knownAllocations"',
  'count(inferred_share)::float8 AS "inferredAllocations"',
].join(', ');
const TRANSACTION = 'deposit_status, deposit_id, transaction_id, donor_id, amount, fee_amount';

export class DepositSummaryStore {
  /** All lines together. */
  totals(lineSet: LineSet, snapshot: ReportSnapshot): Promise<SummaryRow[]> {
    return snapshot.list<SummaryRow>(sql`WITH gift AS (${selectGifts(lineSet, [], [])}) ${selectFigures(lineSet, [])}`);
  }

  /** The same for each group, in the groups' order; at most `maxRows` rows. */
  groups(lineSet: LineSet, groupBy: readonly GroupBy[], maxRows: number, snapshot: ReportSnapshot): Promise<(GroupKey & SummaryRow)[]> {
    const columns = groupBy.flatMap((by) => GROUPS[by].columns);
    const names = columns.map((column) => column.replace(/^.* AS /s, ''));
    const values = groupBy.flatMap((by) => GROUPS[by].values);
    return snapshot.list<GroupKey & SummaryRow>(sql`WITH gift AS (${selectGifts(lineSet, groupBy, columns)})
      ${selectFigures(lineSet, names, values)} ORDER BY ${raw(names.join(', '))}, part LIMIT ${maxRows}::int`);
  }
}

/** A row of all, and where posted and pending gifts were selected one for each of the two; for every group by these names. */
function selectFigures({ pending }: LineSet, names: readonly string[], values: readonly string[] = []): Prisma.Sql {
  const all = names.join(', ');
  const [part, sets] =
    pending === 'WITH'
      ? [
          `CASE WHEN grouping(deposit_status) = 1 THEN 'ALL' ELSE deposit_status::text END`,
          `GROUPING SETS ((${[...names, 'deposit_status'].join(', ')}), (${all}))`,
        ]
      : [`'ALL'`, `GROUPING SETS ((${all}))`];
  return raw(`SELECT ${[...values, `${part} AS part`, FIGURES].join(', ')} FROM gift GROUP BY ${sets}`);
}

/** A row for each transaction, and each group that its lines are in. An inferred share is a gift's only one. */
function selectGifts(lineSet: LineSet, groupBy: readonly GroupBy[], columns: readonly string[]): Prisma.Sql {
  const ordinals = columns.map((_column, index) => `${index + 1}`);
  // A gift's rows then follow each other as its window wants them.
  const first = isParted(lineSet, groupBy) ? ['transaction_id'] : [];
  return sql`SELECT ${raw([...columns, TRANSACTION].join(', '))},
      count(*) AS lines, count(allocation_known_amount) AS known, sum(allocation_known_amount) AS known_share,
      ${raw(inferredShare(lineSet, groupBy))} AS inferred_share
    FROM deposit_detail WHERE ${whereLines(lineSet)} GROUP BY ${raw([...first, ...ordinals, TRANSACTION].join(', '))}`;
}

/**
 * The view's rule, which asks of each line whether its gift has others. Designations alone part a gift: without conditions on them all
 * lines of it are at hand, and counting those takes a year's totals no time at all instead of twice their own.
 */
function inferredShare(lineSet: LineSet, groupBy: readonly GroupBy[]): string {
  if (lineSet.filter.designationIds) return 'sum(CASE WHEN allocation_known_amount IS NULL THEN allocation_amount END)';
  const linesOfGift = isParted(lineSet, groupBy) ? 'sum(count(*)) OVER (PARTITION BY transaction_id)' : 'count(*)';
  return `CASE WHEN ${linesOfGift} = 1 AND count(allocation_known_amount) = 0 THEN amount END`;
}

/** Whether all lines of a gift are selected and stand in several groups. */
const isParted = ({ filter }: LineSet, groupBy: readonly GroupBy[]): boolean =>
  filter.designationIds === undefined && groupBy.includes('DESIGNATION');
