import type { MailFormat } from '../../values/mail-schedules';
import type { PeriodName } from '../../values/periods';
import type { Database } from '../postgres/database';
import { refusalOf } from './mail-statements';

/** A saved report that is mailed on a schedule. */
export interface ScheduleRow {
  readonly id: string;
  readonly organizationId: number;
  readonly organization: string;
  readonly report: string;
  readonly cron: string;
  readonly period: PeriodName;
  readonly format: MailFormat;
  /** The names of the users to whom it goes. */
  readonly recipients: readonly string[];
  readonly nextAt: Date;
  readonly pausedAt: Date | null;
  readonly pausedReason: string | null;
  readonly updatedAt: Date;
  /** The name of the user who saved it. */
  readonly updatedBy: string | null;
}

export type NewSchedule = Omit<ScheduleRow, 'organization' | 'pausedAt' | 'pausedReason' | 'updatedAt'>;

/** The schedules of an organization, in numbers. */
export interface ScheduleFigures {
  readonly organizationId: number;
  readonly active: number;
  readonly paused: number;
  /** The seconds since the oldest time fell due whose mails are still to be written down or to be sent; 0 when there is none. */
  readonly lagSeconds: number;
}

/** Reads and writes the schedules of reports. */
export class ScheduleStore {
  constructor(private readonly database: Database) {}

  /** The schedules of an organization, or of all, by report and age; those of one report where it is given. */
  list(organizationId: number | null, report: string | null = null): Promise<ScheduleRow[]> {
    return this.database.query<ScheduleRow & Record<string, unknown>>({
      text: `${LIST} WHERE ($1::int IS NULL OR schedule.organization_id = $1) AND ($2::text IS NULL OR report_name = $2)
        ORDER BY organization.name, report_name, schedule.created_at, schedule.id`,
      values: [organizationId, report],
    });
  }

  async find(id: string): Promise<ScheduleRow | null> {
    const rows = await this.database.query<ScheduleRow & Record<string, unknown>>({
      text: `${LIST} WHERE schedule.id = $1::uuid`,
      values: [id],
    });
    return rows[0] ?? null;
  }

  /** The names of the users who may get mails. */
  async listRecipients(organizationId: number): Promise<string[]> {
    const rows = await this.database.query<{ username: string }>({
      text: `SELECT username FROM "user" AS reader WHERE organization_id = $1 AND ${refusalOf('reader')} IS NULL ORDER BY username`,
      values: [organizationId],
    });
    return rows.map(({ username }) => username);
  }

  /** Adds a schedule, or replaces the one of this id that was last saved at a time. False when that was saved again since, or is gone. */
  async save(
    { id, organizationId, report, cron, period, format, recipients, nextAt, updatedBy }: NewSchedule,
    savedAt?: Date,
  ): Promise<boolean> {
    const values = [id, organizationId, report, cron, period, format, recipients, nextAt, updatedBy, new Date()];
    const statement = savedAt ? { text: REPLACE, values: [...values, savedAt] } : { text: ADD, values };
    return (await this.database.query(statement)).length > 0;
  }

  /** Pauses a schedule for a reason. */
  async pause(id: string, reason: string): Promise<void> {
    await this.database.query({
      text: 'UPDATE report_schedule SET paused_at = now(), paused_reason = $2 WHERE id = $1::uuid AND paused_at IS NULL',
      values: [id, reason],
    });
  }

  /** Pauses all schedules, and gives up all mails that wait. Returns the number of the schedules. */
  async pauseAll(reason: string): Promise<number> {
    const text = `WITH given_up AS (UPDATE report_mail SET state = 'FAILED', holder = NULL, failure = $1 WHERE state = 'PENDING')
      UPDATE report_schedule SET paused_at = now(), paused_reason = $1 WHERE paused_at IS NULL RETURNING id`;
    return (await this.database.query({ text, values: [reason] })).length;
  }

  /** Lets a paused schedule go on with the time after now. Mails of earlier times that wait are given up; those of a “send now” stay. */
  async resume(id: string, nextAt: Date): Promise<void> {
    await this.database.query({ text: RESUME, values: [id, nextAt] });
  }

  async delete(id: string): Promise<void> {
    await this.database.query({ text: 'DELETE FROM report_schedule WHERE id = $1::uuid', values: [id] });
  }

  /** The figures of every organization that has a schedule. */
  listFigures(): Promise<ScheduleFigures[]> {
    return this.database.query<ScheduleFigures & Record<string, unknown>>({ name: 'schedule-figures', text: LIST_FIGURES });
  }
}

const LIST = `
SELECT schedule.id, schedule.organization_id AS "organizationId", organization.name AS organization, report_name AS report, cron, period, format,
  ARRAY(SELECT username FROM schedule_recipient AS named JOIN "user" ON "user".organization_id = named.organization_id AND "user".id = user_id
    WHERE schedule_id = schedule.id ORDER BY username) AS recipients,
  next_at AS "nextAt", paused_at AS "pausedAt", paused_reason AS "pausedReason", updated_at AS "updatedAt", updated_by AS "updatedBy"
FROM report_schedule AS schedule JOIN organization ON organization.id = schedule.organization_id`;

const RESUME = `
WITH resumed AS (
  UPDATE report_schedule SET paused_at = NULL, paused_reason = NULL, next_at = $2 WHERE id = $1::uuid AND paused_at IS NOT NULL RETURNING id
)
UPDATE report_mail SET state = 'FAILED', holder = NULL, failure = 'the schedule was paused while the mail waited'
FROM resumed WHERE schedule_id = resumed.id AND state = 'PENDING' AND request = '' AND (holder IS NULL OR next_attempt_at <= now())`;

const toSaving = (saved: string): string => `
WITH saved AS (${saved} RETURNING id),
chosen AS (SELECT id FROM "user" WHERE organization_id = $2 AND username = ANY ($7::text[])),
removed AS (DELETE FROM schedule_recipient USING saved WHERE schedule_id = saved.id AND user_id NOT IN (SELECT id FROM chosen)),
added AS (
  INSERT INTO schedule_recipient (schedule_id, organization_id, user_id) SELECT saved.id, $2, chosen.id FROM saved, chosen ON CONFLICT DO NOTHING
)
SELECT id FROM saved`;

const ADD = toSaving(`INSERT INTO report_schedule (id, organization_id, report_name, cron, period, format, next_at, updated_by, updated_at)
  VALUES ($1::uuid, $2, $3, $4, $5, $6, $8, $9, $10)`);

/** A time that has come is mailed all the same, unless the times are others now. Each saving has a time of its own, to the millisecond. */
const REPLACE =
  toSaving(`UPDATE report_schedule SET cron = $4, period = $5, format = $6, next_at = CASE WHEN cron = $4 THEN next_at ELSE $8 END,
    updated_by = $9, updated_at = GREATEST($10::timestamptz, updated_at + interval '1 millisecond')
  WHERE id = $1::uuid AND report_name = $3 AND updated_at = $11`);

const LIST_FIGURES = `
SELECT organization_id AS "organizationId", count(*) FILTER (WHERE paused_at IS NULL)::int AS active,
  count(*) FILTER (WHERE paused_at IS NOT NULL)::int AS paused,
  GREATEST(extract(epoch FROM now() - min(LEAST(
    (SELECT min(due_at) FROM report_mail WHERE schedule_id = schedule.id AND state = 'PENDING' AND (paused_at IS NULL OR request <> '')),
    CASE WHEN paused_at IS NULL THEN next_at END))), 0)::float8 AS "lagSeconds"
FROM report_schedule AS schedule GROUP BY organization_id`;
