import type { LocalDate } from '../../values/dates';
import type { MailFormat } from '../../values/mail-schedules';
import type { OrganizationCalendar, PeriodDates, PeriodName } from '../../values/periods';
import type { Database } from '../postgres/database';
import {
  CLAIM,
  HOLD,
  IS_AWAITED,
  LIST_DUE,
  LIST_MAILS,
  NOTE_FAILED,
  NOTE_REFUSED,
  NOTE_SENT,
  PLAN,
  RELEASE,
  REQUEST,
} from './mail-statements';

/** A schedule that is due, at the moment of a look. */
export interface DueSchedule extends OrganizationCalendar {
  readonly id: string;
  readonly cron: string;
  readonly period: PeriodName;
  readonly nextAt: Date;
  /** The time of the database, by which gateways with other clocks agree. */
  readonly now: Date;
}

/** The mails of a period of a schedule. */
export interface NewMails extends PeriodDates {
  readonly period: PeriodName;
  readonly dueAt: Date;
}

/** The outcome of writing down the mails of a time. */
export interface PlannedMails {
  readonly organizationId: number;
  /** True when nobody may get the mails any more. */
  readonly isPaused: boolean;
  /** The number of the recipients who may not get them. */
  readonly refused: number;
}

/** A mail that this process makes and sends now. */
export interface ClaimedMail extends PeriodDates, OrganizationCalendar {
  readonly id: string;
  readonly holder: string;
  /** The number of this attempt, from 1 on. */
  readonly attempts: number;
  readonly username: string;
  readonly organizationId: number;
  readonly organization: string;
  readonly currency: string | null;
  readonly report: string;
  readonly period: PeriodName;
  readonly format: MailFormat;
}

export type MailState = 'PENDING' | 'SENT' | 'FAILED' | 'REFUSED';

/** A mail in the log of a schedule. */
export interface MailRow {
  readonly id: string;
  readonly recipient: string;
  /** True for a mail of a "send now". */
  readonly isRequested: boolean;
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly dueAt: Date;
  readonly state: MailState;
  readonly attempts: number;
  /** Null for a mail that is not tried again. */
  readonly nextAttemptAt: Date | null;
  readonly sentAt: Date | null;
  readonly sentAs: MailFormat | null;
  /** The reason why the newest attempt failed, or why nothing is sent. */
  readonly failure: string | null;
  readonly dataVersion: number | null;
}

/** The place that a mail goes to, or the reason why it must not. */
export interface MailAddress {
  readonly email: string | null;
  readonly refusal: string | null;
}

const MOST_DUE = 100;

/** The mails of schedules. All times are those of the database. */
export class MailStore {
  constructor(private readonly database: Database) {}

  listDue(): Promise<DueSchedule[]> {
    return this.database.query<DueSchedule & Record<string, unknown>>({ name: 'due-schedules', text: LIST_DUE, values: [MOST_DUE] });
  }

  /**
   * Writes the mails of a time down, before any is sent, and sets the next time. A recipient gets no second mail of a period. Undefined when
   * another gateway has planned that time.
   */
  async plan({ id, nextAt: seenAt }: Pick<DueSchedule, 'id' | 'nextAt'>, mails: NewMails, nextAt: Date): Promise<PlannedMails | undefined> {
    const values = [...toValues(id, '', mails), seenAt, nextAt];
    return (await this.database.query<PlannedMails & Record<string, unknown>>({ name: 'plan-mails', text: PLAN, values }))[0];
  }

  /** True where a request would add no mail, as those of earlier ones wait for all recipients. */
  async isAwaited(id: string): Promise<boolean> {
    return (await this.database.query<{ isAwaited: boolean }>({ text: IS_AWAITED, values: [id] }))[0]!.isAwaited;
  }

  /** Writes mails down that somebody asks for now. Returns their number, without those to recipients for whom one waits already. */
  async request(id: string, request: string, mails: NewMails): Promise<number> {
    return (await this.database.query({ text: REQUEST, values: toValues(id, request, mails) })).length;
  }

  /** Takes mails that may be tried, for some seconds. */
  claim(limit: number, holder: string, heldSeconds: number): Promise<ClaimedMail[]> {
    const values = [limit, holder, heldSeconds];
    return this.database.query<ClaimedMail & Record<string, unknown>>({ name: 'claim-mails', text: CLAIM, values });
  }

  /** Holds a mail for the seconds of its sending. Undefined when it is not this process's any more. */
  async hold({ id, holder }: ClaimedMail, heldSeconds: number): Promise<MailAddress | undefined> {
    const values = [id, holder, heldSeconds];
    return (await this.database.query<MailAddress & Record<string, unknown>>({ name: 'hold-mail', text: HOLD, values }))[0];
  }

  async noteSent({ id, holder }: ClaimedMail, sentAs: MailFormat, dataVersion: number): Promise<void> {
    await this.database.query({ name: 'sent-mail', text: NOTE_SENT, values: [id, holder, sentAs, dataVersion] });
  }

  async noteRefused({ id, holder }: ClaimedMail, reason: string): Promise<void> {
    await this.database.query({ name: 'refused-mail', text: NOTE_REFUSED, values: [id, holder, reason] });
  }

  /** Notes that an attempt has failed, and the seconds until the next one; null when there is none. */
  async noteFailed({ id, holder }: ClaimedMail, reason: string, waitSeconds: number | null): Promise<void> {
    await this.database.query({ name: 'failed-mail', text: NOTE_FAILED, values: [id, holder, reason, waitSeconds] });
  }

  async release({ id, holder }: ClaimedMail): Promise<void> {
    await this.database.query({ name: 'release-mail', text: RELEASE, values: [id, holder] });
  }

  /** The newest mails of a schedule, the newest first. */
  list(scheduleId: string, limit: number): Promise<MailRow[]> {
    return this.database.query<MailRow & Record<string, unknown>>({ text: LIST_MAILS, values: [scheduleId, limit] });
  }
}

const toValues = (id: string, request: string, { startDate, endDate, period, dueAt }: NewMails) => [
  ...[id, request, startDate, endDate, period, dueAt],
];
