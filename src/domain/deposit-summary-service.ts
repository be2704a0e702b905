import { createHash } from 'node:crypto';
import type { BookReader } from '../data/book-reader';
import { costlyCounts, type CostlyCount, type DepositSummaryStore, type SummaryRow } from '../data/deposit-summary-store';
import type { LineSet } from '../data/line-set';
import type { ReportSnapshot } from '../data/postgres/report-snapshot';
import { InputError } from '../errors';
import { groupColumns, type GroupBy, type GroupKey } from '../formats/line-groups';
import { v2Layouts } from '../formats/v2-line';
import { toCopyRow } from '../rows/copy-encoding';
import { renderRows, type RowStream } from '../rows/row-stream';
import type { Money } from '../values/money';
import { valueAt } from '../values/paths';
import type { MemberAccess, RequestAccess } from './access-service';
import { toNarrowedLineSet, type DepositDetailService, type LineParameters } from './deposit-detail-service';
import { tellsDonors } from './line-filter';

/** Sums of transactions' amounts. A transaction counts either once or once for each of its lines. */
export interface SummaryAmounts {
  readonly amount: Money;
  readonly feeAmount: Money;
  readonly netAmount: Money;
}

export interface SummaryTotals {
  readonly lines: number;
  readonly transactions: number;
  /** Null where it was not asked for. */
  readonly deposits: number | null;
  /**
   * Null where it was not asked for, and for callers who may not read donors: counted over few gifts, donors would show which gifts have
   * the same giver.
   */
  readonly donors: number | null;
  /** Transactions with several lines in the set. */
  readonly splitTransactions: number;
  /** A split transaction counts once for each of its lines. */
  readonly byLine: SummaryAmounts;
  /** Each transaction counts once. */
  readonly byTransaction: SummaryAmounts;
  /** The shares of the allocations. */
  readonly byAllocation: AllocationAmounts;
}

/** The sum of the shares, and the numbers of shares that the books state, that were inferred and that are unknown. */
export interface AllocationAmounts {
  /** Null when there are shares, but none is known or inferred. */
  readonly amount: Money | null;
  readonly known: number;
  readonly inferred: number;
  readonly unknown: number;
}

/** The totals of posted and pending deposits, together and apart. */
interface SummaryParts {
  readonly all: SummaryTotals;
  readonly posted: SummaryTotals;
  readonly pending: SummaryTotals;
}

export interface SummaryGroup extends SummaryParts {
  readonly key: GroupKey;
}

/** The lines and the groups of a summary. */
export interface SummaryQuery {
  readonly lineSet: LineSet;
  readonly groupBy: readonly GroupBy[];
  readonly mayReadDonors: boolean;
}

/** A summary of one state of the data. Each part is read when it is asked for. */
export interface DepositSummary {
  /** A text that tells this summary from others of the same data version. */
  readonly key: string;
  totals(counts: readonly CostlyCount[]): Promise<SummaryParts>;
  /** A group for each combination of the `groupBy` values, in order. Throws INVALID_PARAMETERS when there are more than MAX_GROUPS. */
  groups(counts: readonly CostlyCount[]): Promise<SummaryGroup[]>;
  /** SHA-256, in hex, of the lines in report order, each as its v2 JSON object followed by LF. */
  digest(): Promise<string>;
}

export const MAX_GROUPS = 2000;
/** A group has one row for ALL, and two more when posted and pending deposits are both in the set. */
const ROWS_PER_GROUP = 3;

const ZERO = { amount: '0.00', feeAmount: '0.00', netAmount: '0.00' };
const NOTHING: SummaryTotals = {
  ...{ lines: 0, transactions: 0, deposits: 0, donors: 0, splitTransactions: 0 },
  ...{ byLine: ZERO, byTransaction: ZERO, byAllocation: { amount: '0.00', known: 0, inferred: 0, unknown: 0 } },
};

/** Control totals of a line set. */
export class DepositSummaryService {
  constructor(
    private readonly store: DepositSummaryStore,
    private readonly details: DepositDetailService,
  ) {}

  /** Opens a summary. It reads each part when it is asked for, unless the part of this data version is known. */
  summarize({ lineSet, groupBy, mayReadDonors }: SummaryQuery, reader: BookReader): DepositSummary {
    const by = [...new Set(groupBy)];
    const allowed = (counts: readonly CostlyCount[]) => counts.filter((count) => count !== 'donors' || mayReadDonors);
    return {
      key: JSON.stringify(['summary', mayReadDonors, lineSet, by]),
      totals: (asked) => {
        const counts = allowed(asked);
        return reader.once(JSON.stringify(['totals', counts, lineSet]), async (snapshot) =>
          toParts(await this.store.totals(lineSet, counts, snapshot), lineSet, counts),
        );
      },
      groups: (asked) => {
        if (by.length === 0) return Promise.resolve([]);
        const counts = allowed(asked);
        return reader.once(JSON.stringify(['groups', counts, lineSet, by]), (snapshot) => this.groups(lineSet, by, counts, snapshot));
      },
      digest: async () => (await reader.once(JSON.stringify(['digest', lineSet]), (snapshot) => this.digest(lineSet, snapshot))).sha256,
    };
  }

  private async digest(lineSet: LineSet, snapshot: ReportSnapshot): Promise<{ sha256: string }> {
    const hash = createHash('sha256');
    const lines = this.details.bytes(lineSet, v2Layouts.ndjson.template, snapshot);
    for await (const rows of lines) hash.update(rows);
    return { sha256: hash.digest('hex') };
  }

  private async groups(
    lineSet: LineSet,
    groupBy: readonly GroupBy[],
    counts: readonly CostlyCount[],
    snapshot: ReportSnapshot,
  ): Promise<SummaryGroup[]> {
    const rows = await this.store.groups(lineSet, groupBy, counts, MAX_GROUPS * ROWS_PER_GROUP + 1, snapshot);
    const groups = new Map<string, { key: GroupKey; rows: SummaryRow[] }>();
    for (const row of rows) {
      const key = toKey(row, groupBy);
      const name = JSON.stringify(key);
      const group = groups.get(name) ?? { key, rows: [] };
      group.rows.push(row);
      groups.set(name, group);
    }
    if (groups.size > MAX_GROUPS || rows.length > MAX_GROUPS * ROWS_PER_GROUP) {
      throw new InputError(`groupBy gives more than ${MAX_GROUPS} groups; group by less, or choose a shorter period`);
    }
    return [...groups.values()].map(({ key, rows: parts }) => ({ key, ...toParts(parts, lineSet, counts) }));
  }
}

/**
 * The line set whose totals a member may read. A filter that tells donors apart needs the privilege to read donors. Throws
 * PRIVILEGE_NOT_FOUND, and as `toNarrowedLineSet`.
 */
export async function authorizeTotals(access: RequestAccess, { organization }: MemberAccess, lines: LineParameters): Promise<LineSet> {
  const lineSet = toNarrowedLineSet(organization.id, lines);
  if (tellsDonors(lineSet.filter)) await access.authorizeDonors();
  return lineSet;
}

/**
 * The rows of a summary's file: one for each group, or a single one when nothing is grouped. A column's `field` is a path into the group,
 * its steps joined by dots, such as `all.byLine.amount`.
 */
export function toSummaryRows(summary: DepositSummary, groupBy: readonly GroupBy[]): RowStream<SummaryGroup> {
  const read = async (counts: readonly CostlyCount[]): Promise<SummaryGroup[]> =>
    groupBy.length > 0 ? summary.groups(counts) : [{ key: {}, ...(await summary.totals(counts)) }];
  async function* toCopy(fields: readonly string[]): AsyncGenerator<Buffer> {
    const groups = await read(findCounts(fields));
    yield Buffer.from(groups.map((group) => toCopyRow(fields.map((field) => figureOf(group, field)))).join(''));
  }
  return {
    key: summary.key,
    objects: () => read(costlyCounts),
    bytes: (template) => renderRows(toCopy(template.columns.map(({ field }) => field)), template),
  };
}

/** The costly counts among the figures at these paths, such as `all.deposits`. */
export const findCounts = (paths: readonly string[]): CostlyCount[] =>
  costlyCounts.filter((count) => paths.some((path) => path.endsWith(`.${count}`)));

/** The value at a path of a group; null when the caller may not have it. */
function figureOf(group: SummaryGroup, field: string): string | number | null {
  const value = valueAt(group, field.split('.'));
  if (value === undefined) throw new Error(`A group has no ${field}`);
  return value as string | number | null;
}

function toParts(rows: readonly SummaryRow[], { pending }: LineSet, counts: readonly CostlyCount[]): SummaryParts {
  const read = (part: SummaryRow['part']): SummaryTotals => {
    const row = rows.find((each) => each.part === part);
    const { deposits, donors, ...totals } = row ? toTotals(row) : NOTHING;
    return { ...totals, deposits: counts.includes('deposits') ? deposits : null, donors: counts.includes('donors') ? donors : null };
  };
  const all = read('ALL');
  return {
    all,
    posted: pending === 'WITHOUT' ? all : read('POSTED'),
    pending: pending === 'ONLY' ? all : read('PENDING'),
  };
}

function toTotals(row: SummaryRow): SummaryTotals {
  const { lines, transactions, deposits = null, donors = null, splitTransactions } = row;
  const { allocationAmount, knownAllocations: known, inferredAllocations: inferred } = row;
  return {
    ...{ lines, transactions, deposits, donors, splitTransactions },
    byLine: { amount: row.lineAmount, feeAmount: row.lineFeeAmount, netAmount: row.lineNetAmount },
    byTransaction: { amount: row.transactionAmount, feeAmount: row.transactionFeeAmount, netAmount: row.transactionNetAmount },
    byAllocation: { amount: lines === 0 ? ZERO.amount : allocationAmount, known, inferred, unknown: lines - known - inferred },
  };
}

function toKey(row: GroupKey, groupBy: readonly GroupBy[]): GroupKey {
  const fields = groupBy.flatMap((by) => groupColumns(by).map(([, { field }]) => field));
  return Object.fromEntries(fields.map((field) => [field, (row as Readonly<Record<string, unknown>>)[field]]));
}
