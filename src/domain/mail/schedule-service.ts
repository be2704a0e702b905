import { randomUUID } from 'node:crypto';
import type { MailRow, MailStore } from '../../data/mail/mail-store';
import type { ScheduleFigures, ScheduleRow, ScheduleStore } from '../../data/mail/schedule-store';
import { AppError, InputError } from '../../errors';
import { isUuid } from '../../values/ids';
import { CronTimes, movingPeriods } from '../../values/mail-schedules';
import { datesAt, toPeriodEnum, type OrganizationCalendar } from '../../values/periods';
import type { OrganizationService } from '../access/organization-service';
import type { ChangingUser, RightsAudit } from '../audit/rights-audit';
import { assertTakesPeriod, type ReportDocuments, type SavedReportService } from '../reports/saved-report-service';

/** A schedule to save. */
export interface ScheduleToSave extends Pick<ScheduleRow, 'report' | 'cron' | 'period' | 'format' | 'recipients'> {
  /** The schedule that it takes the place of; null for a new one. */
  readonly id?: string | null | undefined;
  /** The time at which that one was last saved. */
  readonly replaces?: Date | null | undefined;
}

type Calendar = OrganizationCalendar & { readonly id: number };

interface ScheduleParts {
  readonly schedules: ScheduleStore;
  readonly mails: MailStore;
  readonly organizations: OrganizationService;
  readonly savedReports: SavedReportService;
  readonly rights: RightsAudit;
  /** True where a mail server is set. */
  readonly isOn: boolean;
}

/** The most schedules of an organization, because one answer lists them all. */
export const MAX_SCHEDULES = 200;
const MAX_RECIPIENTS = 50;
const AWAITED = 'the mails that were asked for before still wait to be sent';
const MAX_CRON_LENGTH = 100;

/** Manages the schedules by which saved reports are mailed, for users and operators. An operator makes a change that has no `user`. */
export class ScheduleService {
  constructor(private readonly parts: ScheduleParts) {}

  /** True where the gateway sends mails. */
  get isOn(): boolean {
    return this.parts.isOn;
  }

  /** The schedules of an organization, or of all, by report. */
  list(organizationId: number | null): Promise<ScheduleRow[]> {
    return this.parts.schedules.list(organizationId);
  }

  /** The names of the users who may get mails: those with the privilege of the report and an address. */
  listRecipients(organizationId: number): Promise<string[]> {
    return this.parts.schedules.listRecipients(organizationId);
  }

  /** A schedule of an organization, or of any. Throws NOT_FOUND. */
  async get(organizationId: number | null, id: string): Promise<ScheduleRow> {
    const found = isUuid(id) ? await this.parts.schedules.find(id) : null;
    if (!found || (organizationId !== null && found.organizationId !== organizationId)) throw new AppError('NOT_FOUND', { argument: 'id' });
    return found;
  }

  /** The newest mails of a schedule, the newest first. Throws NOT_FOUND. */
  async listMails(organizationId: number | null, id: string, limit: number): Promise<MailRow[]> {
    await this.get(organizationId, id);
    return this.parts.mails.list(id, limit);
  }

  /**
   * Saves a schedule, whose next time is after now. One that is paused stays so. Throws INVALID_PARAMETERS with the fault, NOT_FOUND, and
   * SCHEDULE_CONFLICT, which says who saved the schedule and when, where it is not the one that its saver has seen.
   */
  async save(
    calendar: Calendar,
    { id: given, replaces, ...schedule }: ScheduleToSave,
    documents: ReportDocuments,
    user: ChangingUser,
  ): Promise<ScheduleRow> {
    if (!this.isOn) throw new InputError('this gateway sends no mails: its operator has set no mail server');
    const { report, period, recipients } = schedule;
    const earlier = given === undefined || given === null ? undefined : await this.get(calendar.id, given);
    if (earlier && earlier.updatedAt.getTime() !== replaces?.getTime()) return refuse(earlier);
    if (earlier && earlier.report !== report) throw new InputError(`the schedule is of the report ${earlier.report}`, 'report');
    const saved = await this.parts.savedReports.find(calendar.id, report);
    if (!saved) throw new InputError(`there is no saved report ${report}`, 'report');
    assertTakesPeriod(documents, saved);
    if (!movingPeriods.includes(period)) throw new InputError(`period: ${toPeriodEnum(period)} does not move`, 'period');
    const times = toTimes(schedule.cron, calendar);
    if (recipients.length === 0 || recipients.length > MAX_RECIPIENTS) {
      throw new InputError(`recipients has ${recipients.length} values; it must have from 1 to ${MAX_RECIPIENTS}`, 'recipients');
    }
    const known = await this.listRecipients(calendar.id);
    const unknown = recipients.find((name) => !known.includes(name));
    if (unknown !== undefined)
      throw new InputError(`recipients: ${unknown} is no user with the privilege of the report and an address`, 'recipients');
    if (!earlier && (await this.list(calendar.id)).length >= MAX_SCHEDULES) {
      throw new InputError(`there are ${MAX_SCHEDULES} schedules already; delete one first`);
    }
    const id = earlier?.id ?? randomUUID();
    await this.note({ id, organizationId: calendar.id, report }, 'save', `${period} to ${recipients.join(' ')}`, user);
    const next = { ...schedule, id, organizationId: calendar.id, nextAt: times.after(new Date()), updatedBy: user.caller.username };
    const isSaved = await this.parts.schedules.save(next, earlier?.updatedAt);
    const found = await this.get(calendar.id, id);
    // Another saving may have come between.
    return isSaved ? found : refuse(found);
  }

  /** Pauses a schedule. Throws NOT_FOUND. */
  async pause(organizationId: number | null, id: string, user?: ChangingUser): Promise<ScheduleRow> {
    const schedule = await this.get(organizationId, id);
    await this.note(schedule, 'pause', undefined, user);
    await this.parts.schedules.pause(id, user ? `${user.caller.username} has paused it` : 'an operator has paused it');
    return this.get(organizationId, id);
  }

  /** Lets a schedule go on with the time after now. Throws NOT_FOUND. */
  async resume(organizationId: number | null, id: string, user?: ChangingUser): Promise<ScheduleRow> {
    const schedule = await this.get(organizationId, id);
    const calendar = await this.parts.organizations.get(schedule.organization);
    await this.note(schedule, 'resume', undefined, user);
    await this.parts.schedules.resume(id, toTimes(schedule.cron, calendar).after(new Date()));
    return this.get(organizationId, id);
  }

  /**
   * Sends the period of now at once, also where it was sent already. Throws NOT_FOUND, and INVALID_PARAMETERS while mails that were asked for
   * wait for all recipients: each goes to one of them once.
   */
  async sendNow(organizationId: number | null, id: string, user?: ChangingUser): Promise<ScheduleRow> {
    if (user && !this.isOn) throw new InputError('this gateway sends no mails: its operator has set no mail server');
    const schedule = await this.get(organizationId, id);
    const { period } = schedule;
    const dueAt = new Date();
    const dates = datesAt(await this.parts.organizations.get(schedule.organization), dueAt)(period);
    const isAwaited = schedule.recipients.length > 0 && (await this.parts.mails.isAwaited(id));
    if (isAwaited) throw new InputError(AWAITED, 'id');
    await this.note(schedule, 'send', `${dates.startDate} to ${dates.endDate}`, user);
    const count = await this.parts.mails.request(id, randomUUID(), { ...dates, period, dueAt });
    // Another request may have come between.
    if (count === 0 && schedule.recipients.length > 0) throw new InputError(AWAITED, 'id');
    return schedule;
  }

  /** Deletes a schedule with its log. Throws NOT_FOUND. */
  async delete(organizationId: number | null, id: string, user?: ChangingUser): Promise<ScheduleRow> {
    const schedule = await this.get(organizationId, id);
    await this.note(schedule, 'delete', undefined, user);
    await this.parts.schedules.delete(id);
    return schedule;
  }

  /** Pauses all schedules of a restored backup: it does not know what was mailed after it. Returns their number. */
  pauseRestored(): Promise<number> {
    return this.parts.schedules.pauseAll('a backup was restored');
  }

  /** The figures of every organization that has a schedule. */
  listFigures(): Promise<ScheduleFigures[]> {
    return this.parts.schedules.listFigures();
  }

  private note(
    { organizationId, id, report }: Pick<ScheduleRow, 'organizationId' | 'id' | 'report'>,
    verb: string,
    detail: string | undefined,
    user: ChangingUser | undefined,
  ): Promise<void> {
    const words = [`schedule ${id}`, ...(detail === undefined ? [] : [detail])].join(': ');
    return this.parts.rights.note(organizationId, `schedule ${verb}`, `report ${report}`, words, user);
  }
}

function refuse({ id, updatedAt, updatedBy }: ScheduleRow): never {
  const fault = `schedule ${id} was saved by ${updatedBy} at ${updatedAt.toISOString()}`;
  throw new AppError('SCHEDULE_CONFLICT', { fault, argument: 'replaces' });
}

function toTimes(cron: string, { timeZone }: OrganizationCalendar): CronTimes {
  try {
    if (cron.length > MAX_CRON_LENGTH) throw new Error(`it is longer than ${MAX_CRON_LENGTH} characters`);
    return new CronTimes(cron, timeZone);
  } catch (error) {
    throw new InputError(`cron: ${(error as Error).message.replace(/^CronPattern: /, '')}`, 'cron');
  }
}
