import type { ScheduleRow, ScheduleStore } from '../../data/mail/schedule-store';
import type { NewSavedReport, SavedReport, SavedReportList, SavedReportStore } from '../../data/reports/saved-report-store';
import { AppError, InputError } from '../../errors';
import { reservedNames, type FileQuery } from '../../formats/file-address';
import { ALL_TIME } from '../../values/dates';
import type { FindDates, PeriodDates, PeriodName } from '../../values/periods';
import { MAX_NAME_LENGTH, MAX_TITLE_LENGTH } from '../../values/saved-report-limits';
import type { ChangingUser, RightsAudit } from '../audit/rights-audit';

/** A GraphQL query and the values of its variables. */
export interface ReportDocument {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Reads report documents with the GraphQL schema, which this room does not have. Both methods throw INVALID_PARAMETERS with the fault. */
export interface ReportDocuments {
  toFileQuery(document: ReportDocument): FileQuery;
  variableNames(query: string): readonly string[];
}

/** The variables of a report that a named period gives values. */
export const REPORT_DATES = ['startDate', 'endDate'] as const;

/** The document of a saved report, with the dates that its period has now. */
export const toReportDocument = (
  { query, variables, period }: Pick<SavedReport, 'query' | 'variables' | 'period'>,
  findDates: FindDates,
): ReportDocument => ({
  query,
  variables: period === null ? variables : { ...variables, ...findDates(period) },
});

/** Throws INVALID_PARAMETERS for a query to which a period, of a schedule where it is given, cannot give dates. Takes the names of its variables. */
export function assertTakesDates(names: readonly string[], schedule?: string): void {
  const missing = REPORT_DATES.find((name) => !names.includes(name));
  if (missing !== undefined) refusePeriod(`the query has no variable $${missing} to take its dates`, schedule);
}

/**
 * Throws INVALID_PARAMETERS for a report to which a period that is not its own cannot give dates, and for one that compares with dates of its
 * own: the period would move one of the two alone.
 */
export function assertTakesPeriod(documents: ReportDocuments, { query, variables }: ReportDocument, schedule?: string): void {
  assertTakesDates(documents.variableNames(query), schedule);
  const { compareWith } = documents.toFileQuery(toReportDocument({ query, variables, period: 'all-time' }, () => ALL_TIME));
  if (compareWith) refuseCompared(compareWith, schedule);
}

/** Refuses a period that would move, without the dates that a report compares with. */
export function refuseCompared({ startDate, endDate }: PeriodDates, schedule?: string): never {
  refusePeriod(`the report compares with ${startDate} to ${endDate}, which would not move along`, schedule);
}

function refusePeriod(fault: string, schedule: string | undefined): never {
  const [argument, giver] = schedule === undefined ? ['period', 'period'] : ['query', `schedule ${schedule}`];
  throw new InputError(`${giver}: ${fault}`, argument);
}

/** The most saved reports that an organization may have. */
export const MAX_SAVED_REPORTS = 500;
const MAX_LENGTH = 30_000;
/** The limit for all of an organization's reports together, because one answer lists them all. */
const MAX_ALL_LENGTH = 1_000_000;
/** A name has only characters that need no escapes in an address. */
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
/** The most variables that the query of a report may have. */
export const MAX_REPORT_PARAMETERS = 50;

/** A report to save. */
export interface ReportToSave extends Omit<NewSavedReport, 'title' | 'period'> {
  /** Undefined when the report is called by its name. */
  readonly title?: string | undefined;
  /** The named period that gives `startDate` and `endDate` their values anew each time; undefined where they have values of their own. */
  readonly period?: PeriodName | undefined;
  /** The time at which the report that this one replaces was last saved; undefined when it replaces none. */
  readonly replaces?: Date | undefined;
}

/**
 * Keeps the queries that an organization saved under names, so that the addresses of their files stay the same. A provision may be bound to a
 * name, so that a change of the report is one of rights.
 */
export class SavedReportService {
  constructor(
    private readonly store: SavedReportStore,
    private readonly schedules: ScheduleStore,
    private readonly rights: RightsAudit,
  ) {}

  /** The organization's reports, or those of some names, which need not exist. Throws INVALID_PARAMETERS for too many names. */
  async list(organizationId: number, { names, order }: SavedReportList = {}): Promise<SavedReport[]> {
    if (names && names.length > MAX_SAVED_REPORTS) {
      throw new InputError(`filter.names has ${names.length} values; the limit is ${MAX_SAVED_REPORTS}`, 'filter.names');
    }
    return this.store.list(organizationId, { names: names?.filter((name) => NAME.test(name)), order });
  }

  /** The report of a name. Throws NOT_FOUND when there is none. */
  async get(organizationId: number, name: string): Promise<SavedReport> {
    const report = await this.find(organizationId, name);
    if (!report) throw new AppError('NOT_FOUND');
    return report;
  }

  /** The report of a name; null when there is none. */
  async find(organizationId: number, name: string): Promise<SavedReport | null> {
    return NAME.test(name) ? this.store.find(organizationId, name) : null;
  }

  /**
   * Saves a report, in place of the one that was last saved at `replaces`, or under a name of its own. Throws INVALID_PARAMETERS with the
   * fault, and REPORT_CONFLICT that says who saved the report of this name, and when. An operator saves it when there is no `user`.
   */
  async save(
    organizationId: number,
    { replaces, ...given }: ReportToSave,
    documents: ReportDocuments,
    user?: ChangingUser,
  ): Promise<SavedReport> {
    const { name } = given;
    if (!NAME.test(name) || name.length > MAX_NAME_LENGTH) {
      throw new InputError(
        `name must be small letters and digits, parted by single hyphens, at most ${MAX_NAME_LENGTH} characters`,
        'name',
      );
    }
    const report = { ...given, title: toTitle(given.title) ?? name, period: given.period ?? null };
    const { query, variables, period } = report;
    const length = toText('query', query).length + toJson(variables).length;
    if (length > MAX_LENGTH) throw new InputError(`query and variables are longer than ${MAX_LENGTH} characters together`, 'query');
    const names = documents.variableNames(query);
    if (names.length > MAX_REPORT_PARAMETERS) {
      throw new InputError(`query has ${names.length} variables; the limit is ${MAX_REPORT_PARAMETERS}`, 'query');
    }
    const unknown = Object.keys(variables).find((variable) => !names.includes(variable));
    if (unknown !== undefined) throw new InputError(`variables: the query has no $${unknown}`, 'variables');
    const taken = names.find((variable) => reservedNames.includes(variable));
    if (taken !== undefined) throw new InputError(`query: the variable $${taken} would be taken for an option of the file`, 'query');
    if (period !== null) {
      assertTakesPeriod(documents, report);
      const own = REPORT_DATES.find((date) => Object.hasOwn(variables, date));
      if (own !== undefined) throw new InputError(`variables: $${own} takes its value from the period`, 'variables');
    }
    documents.toFileQuery(toReportDocument(report, () => ALL_TIME));
    for (const { id } of await this.schedules.list(organizationId, name)) assertTakesPeriod(documents, report, id);
    const others = await this.store.measureOthers(organizationId, name);
    if (others.count >= MAX_SAVED_REPORTS || others.length + length > MAX_ALL_LENGTH) {
      throw new InputError(`there are ${others.count} reports of ${others.length} characters already; delete one first`);
    }
    const found = await this.store.find(organizationId, name);
    if (found?.updatedAt.getTime() !== replaces?.getTime()) return refuse(name, found);
    await this.rights.note(organizationId, 'report save', `report ${name}`, found ? 'replaced' : 'new', user);
    const saved = replaces ? await this.store.update(organizationId, report, replaces) : await this.store.insert(organizationId, report);
    // Another change may have come between.
    return saved ?? refuse(name, await this.store.find(organizationId, name));
  }

  /**
   * Deletes the report of a name with the schedules by which it is mailed, which it returns, as an operator when there is no `user`. Throws
   * NOT_FOUND when there is none.
   */
  async delete(organizationId: number, name: string, user?: ChangingUser): Promise<readonly ScheduleRow[]> {
    await this.get(organizationId, name);
    const schedules = await this.schedules.list(organizationId, name);
    const subject = `report ${name}`;
    for (const { id } of schedules) await this.rights.note(organizationId, 'schedule delete', subject, `schedule ${id}`, user);
    await this.rights.note(organizationId, 'report delete', subject, undefined, user);
    if (!(await this.store.delete(organizationId, name))) throw new AppError('NOT_FOUND');
    return schedules;
  }
}

function refuse(name: string, found: SavedReport | null): never {
  const fault = found
    ? `${name} was saved by ${found.updatedBy ?? 'the command line'} at ${found.updatedAt.toISOString()}`
    : `there is no ${name}`;
  throw new AppError('REPORT_CONFLICT', { fault, argument: 'replaces' });
}

/** The title of a report without the blanks around it; undefined when there is none. */
function toTitle(given: string | undefined): string | undefined {
  const title = given === undefined ? '' : toText('title', given).trim();
  if (title.length > MAX_TITLE_LENGTH) throw new InputError(`title is longer than ${MAX_TITLE_LENGTH} characters`, 'title');
  if (/\p{Cc}/u.test(title)) throw new InputError('title has control characters', 'title');
  return title === '' ? undefined : title;
}

/** Writes variables as JSON. Throws INVALID_PARAMETERS for texts that the database cannot store and for values nested too deeply. */
function toJson(variables: unknown): string {
  try {
    return JSON.stringify(variables, (key, value: unknown) => {
      toText('variables', key);
      return typeof value === 'string' ? toText('variables', value) : value;
    });
  } catch (error) {
    if (error instanceof RangeError) throw new InputError('variables are nested too deeply', 'variables');
    throw error;
  }
}

function toText(name: string, text: string): string {
  if (text.includes('\0')) throw new InputError(`${name} has a NUL character`, name);
  return text;
}
