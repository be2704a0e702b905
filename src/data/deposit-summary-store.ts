import type { GroupBy, GroupKey } from '../formats/line-groups';
import { Prisma } from '../generated/prisma/client';
import { whereLines, type LineSet } from './line-set';
import type { ReportSnapshot } from './postgres/report-snapshot';

/** Counts and exact sums over the lines of a line set. Amounts are text with two decimals. */
export interface SummaryRow {
  /** ALL counts posted and pending deposits together. POSTED and PENDING have rows of their own only when the line set includes both. */
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
  /** The sum of the shares that are known or inferred; null when there are none. */
  readonly allocationAmount: string | null;
  /** Allocations whose share the books state. */
  readonly knownAllocations: number;
  /** Allocations without a stated share that are the only one of their gift, so that the share is the gift's amount. */
  readonly inferredAllocations: number;
}

const { sql, raw } = Prisma;

/** For each way to group: the expressions of GROUP BY, and the values that a group's row takes from them. */
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
/** The sum over lines, read from rows of one transaction each: a split gift counts once for each of its lines. */
const perLine = (of: string): string => `sum(${of}) + COALESCE(sum((lines - 1) * ${of}) FILTER (WHERE lines > 1), 0)`;
/** The figures of a SummaryRow, computed over the rows of `selectGifts`. */
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
  `sum(share)::${EXACT}::text AS "allocationAmount"`,
  'COALESCE(sum(known), 0)::float8 AS "knownAllocations"',
  'COALESCE(sum(inferred), 0)::float8 AS "inferredAllocations"',
].join(', ');
const TRANSACTION = 'deposit_status, deposit_id, transaction_id, donor_id, amount, fee_amount';

export class DepositSummaryStore {
  /** Reads the totals of the whole line set: one row for each part. */
  totals(lineSet: LineSet, snapshot: ReportSnapshot): Promise<SummaryRow[]> {
    return snapshot.list<SummaryRow>(sql`WITH gift AS (${selectGifts(lineSet, [])}) ${selectFigures(lineSet, [])}`);
  }

  /** Reads the totals of each group, ordered by the groups' values; at most `maxRows` rows. */
  groups(lineSet: LineSet, groupBy: readonly GroupBy[], maxRows: number, snapshot: ReportSnapshot): Promise<(GroupKey & SummaryRow)[]> {
    const columns = groupBy.flatMap((by) => GROUPS[by].columns);
    const names = columns.map((column) => column.replace(/^.* AS /s, ''));
    const values = groupBy.flatMap((by) => GROUPS[by].values);
    return snapshot.list<GroupKey & SummaryRow>(sql`WITH gift AS (${selectGifts(lineSet, columns)})
      ${selectFigures(lineSet, names, values)} ORDER BY ${raw(names.join(', '))}, part LIMIT ${maxRows}::int`);
  }
}

/**
 * The SELECT of a row for ALL in each group by these names, and of rows for POSTED and PENDING when the line set includes both. Without
 * names, all lines are one group.
 */
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

/** The SELECT of a row for each pair of a transaction and a group with lines of it. */
function selectGifts(lineSet: LineSet, columns: readonly string[]): Prisma.Sql {
  const ordinals = columns.map((_column, index) => `${index + 1}`);
  return sql`SELECT ${raw([...columns, TRANSACTION].join(', '))}, count(*) AS lines, sum(allocation_amount) AS share,
      count(allocation_amount) FILTER (WHERE NOT allocation_amount_inferred) AS known,
      count(*) FILTER (WHERE allocation_amount_inferred) AS inferred
    FROM deposit_line WHERE ${whereLines(lineSet)} GROUP BY ${raw([...ordinals, TRANSACTION].join(', '))}`;
}
