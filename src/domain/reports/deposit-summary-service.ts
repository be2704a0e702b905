import { createHash } from 'node:crypto';
import {
  extraFigures,
  groupOrderFields,
  toGroupOrder,
  type AskedOfGroups,
  type ExtraFigure,
  type DepositSummaryStore,
  type GroupOrder,
  type GroupRow,
  type Period,
  type SummaryQuestion,
} from '../../data/reports/deposit-summary-store';
import type { LineSet } from '../../data/books/line-set';
import { keyFields } from '../../data/postgres/keyset';
import type { ReportSnapshot } from '../../data/reading/report-snapshot';
import type { RequestBooks } from '../../data/books/request-books';
import { InputError } from '../../errors';
import type { FileQuery } from '../../formats/file-address';
import { conditionsTellDonors, readGroupConditions, type GroupConditionsInput } from '../../formats/group-conditions';
import { groupColumns, groupContact, groupsTellDonors, type GroupBy, type GroupKey } from '../../formats/line-groups';
import { lineFields } from '../../line/line-fields';
import { toCopyRow } from '../../rows/copy-encoding';
import { renderRows, type RowStream } from '../../rows/row-stream';
import type { RowColumn } from '../../rows/row-template';
import { ALL_TIME, daysBetween, type LocalDate } from '../../values/dates';
import { valueAt } from '../../values/paths';
import type { MemberAccess } from '../access/access-service';
import { toNarrowedLineSet, type DepositDetailService, type LineParameters } from './deposit-detail-service';
import { digestLayouts, type DigestName, type LineDigests } from './control-totals';
import { findDateOrderFault } from './date-order';
import { toGroupConditions } from './group-filter';
import { readPage, type Page, type PageParameters } from '../paging/keyset-page';
import { readLineFilter, tellsDonors } from './line-filter';
import type { SealedPlaces } from '../paging/sealed-places';
import { toFigures, type SummaryFigures } from './summary-figures';

export interface SummaryGroup extends SummaryFigures {
  readonly key: GroupKey;
}

/** A group of a page, which has the fields of its place too. */
export interface PlacedGroup extends SummaryGroup {
  /** The number of all groups. */
  readonly groups: number;
}

/** The figures of all groups that a page does not show. */
export interface SummaryRest extends SummaryFigures {
  /** The number of these groups. */
  readonly groups: number;
}

/** A page of groups. */
export interface GroupPage extends Page<PlacedGroup> {
  /** Null when the page shows all groups. */
  rest(extras: readonly ExtraFigure[]): Promise<SummaryRest | null>;
}

/** The groups of a summary as a caller asks for them. */
export interface Grouping {
  readonly groupBy: readonly GroupBy[];
  /** The first month of quarters and years, 1 to 12; January when it is missing. */
  readonly fiscalYearStart?: number | undefined;
  readonly compareWith?: Period | null | undefined;
  /** The conditions on groups. With them, groups, totals and the rest are those of the chosen groups. */
  readonly having?: GroupConditionsInput | null | undefined;
}

/** The lines and the groups of a summary. */
export interface SummaryQuery extends Grouping {
  readonly lineSet: LineSet;
  /** The first date, where the caller gave one: only then is there a period to compare with another. */
  readonly startDate?: LocalDate | null | undefined;
  readonly mayReadDonors: boolean;
}

/** A summary of one state of the data. Each part is read when it is asked for. */
export interface DepositSummary {
  readonly lineSet: LineSet;
  readonly groupBy: readonly GroupBy[];
  /** A text that tells this summary from others of the same data version. */
  readonly key: string;
  totals(extras: readonly ExtraFigure[]): Promise<SummaryFigures>;
  /** A page of the chosen groups, one for each combination of the `groupBy` values that lines have. Throws INVALID_PARAMETERS as `readPage`. */
  groups(asked: AskedOfGroups, order: GroupOrder, page: PageParameters, sealed: SealedPlaces): Promise<GroupPage>;
  /** All groups in the order of their values, some at a time, from the snapshot of a file. */
  allGroups(asked: AskedOfGroups, snapshot: ReportSnapshot): AsyncGenerator<SummaryGroup[]>;
  countGroups(): Promise<number>;
  /** The digests that are asked for, from one reading of the lines. Whoever may not read donors gets the money digest alone. */
  digests(asked: readonly DigestName[]): Promise<Partial<LineDigests>>;
}

/** Control totals of a line set. */
export class DepositSummaryService {
  constructor(
    private readonly store: DepositSummaryStore,
    private readonly details: DepositDetailService,
  ) {}

  /** Opens a summary. It reads each part when it is asked for, unless the part of this data version is known. */
  summarize({ mayReadDonors, ...query }: SummaryQuery, books: RequestBooks): DepositSummary {
    const question = toQuestion(query);
    const { lineSet, groupBy } = question;
    const allowed = (extras: readonly ExtraFigure[]) => extras.filter((extra) => extra !== 'donors' || mayReadDonors);
    /** The question of the totals. Those of all groups are kept for all groupings. */
    const whole = question.having ? question : { ...question, groupBy: [] };
    const once = <Value extends object>(name: unknown[], compute: (snapshot: ReportSnapshot) => Promise<Value>) =>
      books.once(JSON.stringify(name), compute);
    const countGroups = async () =>
      groupBy.length === 0
        ? 0
        : (await once(['group count', question], async (snapshot) => ({ count: await this.store.countGroups(question, snapshot) }))).count;
    return {
      lineSet,
      groupBy,
      key: JSON.stringify(['summary', mayReadDonors, question]),
      totals: (asked) => {
        const extras = allowed(asked);
        return once(['totals', extras, whole], async (snapshot) =>
          toFigures(await this.store.totals(whole, extras, snapshot), question, extras),
        );
      },
      groups: async (asked, order, page, sealed) => {
        const { contact } = asked;
        const extras = allowed(withRankOf(order, asked.extras));
        const keyOrder = toGroupOrder(question, order);
        const list = { order: keyOrder, query: ['groups', question, order], count: countGroups, sealed };
        const found = await readPage<PlacedGroup>(page, list, async (bounds) =>
          groupBy.length === 0
            ? []
            : once(['groups', extras, contact, question, order, bounds], async (snapshot) => {
                const rows = await this.store.groups(question, { extras, contact }, order, bounds, snapshot);
                return toGroups(rows, question, { extras, contact }, keyFields(keyOrder));
              }),
        );
        const shown = found.nodes.map(({ key }) => key);
        const all = found.nodes[0]?.groups;
        return {
          ...found,
          ...(all !== undefined && { totalCount: () => all }),
          rest: async (askedOfRest) => {
            const groups = (all ?? (await countGroups())) - shown.length;
            if (groups === 0) return null;
            const extrasOfRest = allowed(askedOfRest);
            const figures = await once(['rest', extrasOfRest, question, shown], async (snapshot) =>
              toFigures(await this.store.totals(question, extrasOfRest, snapshot, shown), question, extrasOfRest),
            );
            return { groups, ...figures };
          },
        };
      },
      allGroups: ({ extras, contact }, snapshot) => this.allGroups(question, { extras: allowed(extras), contact }, snapshot),
      countGroups,
      digests: (asked) => {
        const names = asked.filter((name) => name === 'moneyDigest' || mayReadDonors);
        return once(['digests', names, lineSet], (snapshot) => this.digests(names, lineSet, snapshot));
      },
    };
  }

  /** Passes the groups on as soon as all their rows are there. */
  private async *allGroups(question: SummaryQuestion, asked: AskedOfGroups, snapshot: ReportSnapshot): AsyncGenerator<SummaryGroup[]> {
    let begun: GroupRow[] = [];
    for await (const rows of this.store.allGroups(question, asked, snapshot)) {
      const known = [...begun, ...rows];
      const last = known.at(-1)!.position;
      const end = known.findIndex(({ position }) => position === last);
      yield toGroups(known.slice(0, end), question, asked);
      begun = known.slice(end);
    }
    yield toGroups(begun, question, asked);
  }

  private async digests(names: readonly DigestName[], lineSet: LineSet, snapshot: ReportSnapshot): Promise<Partial<LineDigests>> {
    const [name, another] = names;
    if (name === undefined) return {};
    if (another !== undefined) return this.details.readFigures(lineSet, snapshot);
    const { head, template } = digestLayouts[name];
    const hash = createHash('sha256').update(head);
    for await (const rows of this.details.bytes(lineSet, template, snapshot)) hash.update(rows);
    return { [name]: hash.digest('hex') };
  }
}

/**
 * The line set whose totals a member may read. A filter, groups and conditions that tell donors apart need the privilege to read donors. Throws
 * PRIVILEGE_NOT_FOUND, and as `toNarrowedLineSet`.
 */
export async function authorizeTotals(
  access: { authorizeDonors(): Promise<unknown> },
  { organization }: Pick<MemberAccess, 'organization'>,
  lines: LineParameters,
  { groupBy, having }: Grouping,
): Promise<LineSet> {
  const areTold = groupsTellDonors(groupBy) || conditionsTellDonors(readGroupConditions(having));
  if (areTold || tellsDonors(readLineFilter(lines.filter))) await access.authorizeDonors();
  return toNarrowedLineSet(organization.id, lines);
}

/** The groups that a file asks for. */
export const toGrouping = ({
  lines,
  groupBy = [],
  fiscalYearStart,
  compareWith,
  having,
}: FileQuery): Grouping & Pick<SummaryQuery, 'startDate'> => ({
  startDate: lines.startDate,
  ...{ groupBy, fiscalYearStart, compareWith, having },
});

/** Checks a grouping. Throws INVALID_PARAMETERS, or START_DATE_AFTER_END_DATE for the compared period. */
function toQuestion({
  lineSet,
  startDate,
  groupBy,
  fiscalYearStart = 1,
  compareWith,
  having,
}: Omit<SummaryQuery, 'mayReadDonors'>): SummaryQuestion {
  if (!Number.isInteger(fiscalYearStart) || fiscalYearStart < 1 || fiscalYearStart > 12) {
    throw new InputError(`fiscalYearStart is ${fiscalYearStart}; it must be a month from 1 to 12`, 'fiscalYearStart');
  }
  if (compareWith) assertComparable(startDate, compareWith);
  const conditions = toGroupConditions(having, { isGrouped: groupBy.length > 0, isCompared: Boolean(compareWith) });
  return { lineSet, groupBy: [...new Set(groupBy)], fiscalYearStart, compareWith: compareWith ?? undefined, having: conditions };
}

/** The dates of a compared period are moved to begin with the period, give or take a month. */
function assertComparable(startDate: LocalDate | null | undefined, compared: Period): void {
  const fault = findDateOrderFault(compared.startDate, compared.endDate, 'compareWith');
  if (fault) throw fault;
  if (!startDate) throw new InputError('compareWith needs a startDate to compare with', 'compareWith');
  const isMovedOn = compared.startDate < startDate;
  if (isMovedOn && daysBetween(compared.startDate, compared.endDate) > daysBetween(startDate, ALL_TIME.endDate) - 31) {
    throw new InputError('compareWith is too long: beside the period it would reach beyond the year 9999', 'compareWith');
  }
}

/** An order by an extra figure needs the figure. */
function withRankOf({ field }: GroupOrder, extras: readonly ExtraFigure[]): ExtraFigure[] {
  const ordered = extraFigures.filter((extra) => extra === groupOrderFields[field]);
  return [...new Set([...ordered, ...extras])];
}

/** The groups of rows that stand in the order of the groups, with the fields of their places. */
function toGroups(
  rows: readonly GroupRow[],
  question: SummaryQuestion,
  { extras, contact }: AskedOfGroups,
  placeFields: readonly string[] = [],
): PlacedGroup[] {
  const found = new Map<number, GroupRow[]>();
  for (const row of rows) found.set(row.position, [...(found.get(row.position) ?? []), row]);
  return [...found.values()].map((parts) => {
    const first = parts[0]!;
    const place = pick(first, placeFields);
    return { ...place, groups: first.groups, key: toKey(first, question.groupBy, contact), ...toFigures(parts, question, extras) };
  });
}

/**
 * The rows of a summary's file: one for each group, or a single one when nothing is grouped. A column's `field` is a path into the group,
 * its steps joined by dots, such as `all.byLine.amount`. With a `limit`, they are the first so many groups.
 */
export function toSummaryRows(
  summary: DepositSummary,
  groupBy: readonly GroupBy[],
  snapshot: ReportSnapshot,
  limit = Infinity,
): RowStream<SummaryGroup> {
  async function* read(asked: AskedOfGroups): AsyncGenerator<SummaryGroup[]> {
    if (groupBy.length > 0) yield* summary.allGroups(asked, snapshot);
    else yield [{ key: {}, ...(await summary.totals(asked.extras)) }];
  }
  async function* toCopy(columns: readonly RowColumn[]): AsyncGenerator<Buffer> {
    const asked = findAsked(
      columns.map(({ field }) => field),
      groupBy,
    );
    let left = limit;
    for await (const groups of read(asked)) {
      const shown = groups.slice(0, left);
      yield Buffer.from(shown.map((group) => toCopyRow(columns.map((column) => figureOf(group, column)))).join(''));
      left -= shown.length;
      if (left === 0) return;
    }
  }
  return {
    key: summary.key,
    objects: async () => {
      const found: SummaryGroup[] = [];
      for await (const groups of read({ extras: extraFigures, contact: groupContact(groupBy) })) found.push(...groups);
      return found;
    },
    bytes: (template) => renderRows(toCopy(template.columns), template),
  };
}

/** The extra figures among those at these paths, such as `all.deposits`. */
export const findExtras = (paths: readonly string[]): ExtraFigure[] =>
  extraFigures.filter((extra) => paths.some((path) => path.endsWith(`.${extra}`)));

/** The extra figures and the contact among the values of groups at these paths, such as `key.zip`. */
export const findAsked = (paths: readonly string[], groupBy: readonly GroupBy[]): AskedOfGroups => ({
  extras: findExtras(paths),
  contact: groupContact(groupBy).filter((name) => paths.some((path) => `.${path}`.endsWith(`.key.${lineFields[name].field}`))),
});

/** The value at a path of a group; null when the caller may not have it. */
function figureOf(group: SummaryGroup, { field, isLowerCase }: RowColumn): string | number | null {
  const value = valueAt(group, field.split('.'));
  if (value === undefined) throw new Error(`A group has no ${field}`);
  return isLowerCase ? (value as string).toLowerCase() : (value as string | number | null);
}

function toKey(row: GroupKey, groupBy: readonly GroupBy[], contact: AskedOfGroups['contact']): GroupKey {
  const fields = groupBy.flatMap((by) => groupColumns(by).map(([, { field }]) => field));
  return pick(row, [...fields, ...contact.map((name) => lineFields[name].field)]);
}

const pick = (row: GroupKey, fields: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(fields.map((field) => [field, (row as Readonly<Record<string, unknown>>)[field]]));
