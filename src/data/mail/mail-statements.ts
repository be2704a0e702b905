import { REPORT_PRIVILEGE } from '../../values/privileges';

/** The reason, as SQL, why a user gets no mail; NULL for one who does. `user` names the row, which is NULL for a user who is gone. */
export const refusalOf = (user: string): string => `CASE
    WHEN ${user}.id IS NULL THEN 'the user is gone'
    WHEN ${user}.disabled_at IS NOT NULL THEN 'the user is disabled'
    WHEN '${REPORT_PRIVILEGE}' = ANY (${user}.privileges) IS NOT TRUE THEN 'the user lacks the privilege of the report'
    WHEN ${user}.email IS NULL THEN 'the user has no e-mail address'
  END`;

const OF_RECIPIENT = `"user" AS reader ON reader.organization_id = schedule.organization_id AND reader.id`;
const KEPT_DAYS = 800;

/** Takes the id of a schedule, a request, the two dates of the period, its name, the time at which the mails are due, and an ON CONFLICT. */
const toAddition = (refusal: string, onConflict: string): string => `
INSERT INTO report_mail (id, schedule_id, request, user_id, username, start_date, end_date, period, format, due_at, state, failure)
SELECT gen_random_uuid(), schedule.id, $2, reader.id, reader.username, $3::date, $4::date, $5, schedule.format, $6::timestamptz,
  CASE WHEN ${refusal} IS NULL THEN 'PENDING' ELSE 'REFUSED' END, ${refusal}
FROM schedule JOIN schedule_recipient ON schedule_id = schedule.id JOIN ${OF_RECIPIENT} = user_id ${onConflict} RETURNING state`;

/** Mails a period that was refused to a recipient who may have it by now. One that has failed may have arrived, and stays as it is. */
const TRY_AGAIN = `ON CONFLICT (schedule_id, user_id, start_date, end_date, request) DO UPDATE SET
  username = EXCLUDED.username, period = EXCLUDED.period, format = EXCLUDED.format, due_at = EXCLUDED.due_at,
  state = EXCLUDED.state, failure = NULL, attempts = 0, next_attempt_at = now()
  WHERE report_mail.state = 'REFUSED' AND EXCLUDED.state = 'PENDING'`;

/** The schedules that are due, with the calendars of their organizations, and the database's time. */
export const LIST_DUE = `
SELECT schedule.id, cron, period, next_at AS "nextAt", time_zone AS "timeZone", fiscal_year_start AS "fiscalYearStart", now() AS now
FROM report_schedule AS schedule JOIN organization ON organization.id = organization_id
WHERE next_at <= now() AND paused_at IS NULL AND NOT under_maintenance ORDER BY next_at LIMIT $1`;

/** A schedule of whose recipients nobody may get mails is paused, and its log says why each got none. */
export const PLAN = `
WITH schedule AS (
  UPDATE report_schedule AS schedule SET next_at = $8::timestamptz,
    paused_at = CASE WHEN is_read THEN NULL ELSE now() END, paused_reason = CASE WHEN NOT is_read THEN 'no recipient may get it' END
  FROM (SELECT EXISTS (
    SELECT FROM report_schedule AS schedule JOIN schedule_recipient ON schedule_id = schedule.id JOIN ${OF_RECIPIENT} = user_id
    WHERE schedule.id = $1::uuid AND ${refusalOf('reader')} IS NULL
  ) AS is_read) AS readers
  WHERE id = $1::uuid AND next_at = $7::timestamptz AND paused_at IS NULL
  RETURNING id, organization_id, format, paused_at
),
trimmed AS (DELETE FROM report_mail USING schedule WHERE schedule_id = schedule.id AND due_at < now() - interval '${KEPT_DAYS} days'),
added AS (${toAddition(refusalOf('reader'), TRY_AGAIN)})
SELECT organization_id AS "organizationId", paused_at IS NOT NULL AS "isPaused",
  (SELECT count(*) FROM added WHERE state = 'REFUSED')::int AS refused FROM schedule`;

/** Tells whether mails of earlier requests wait for all recipients of a schedule. */
export const IS_AWAITED = `SELECT NOT EXISTS (
  SELECT FROM schedule_recipient AS recipient WHERE schedule_id = $1::uuid AND NOT EXISTS (
    SELECT FROM report_mail AS mail WHERE mail.schedule_id = $1::uuid AND mail.user_id = recipient.user_id AND request <> '' AND state = 'PENDING'
  )) AS "isAwaited"`;

/** Adds the mails of a "send now" to recipients for whom none of an earlier one waits. Their rights are checked by the gateway that sends. */
export const REQUEST = `WITH schedule AS (SELECT * FROM report_schedule WHERE id = $1::uuid)${toAddition('NULL', 'ON CONFLICT DO NOTHING')}`;

/**
 * Takes the mails that may be tried, and writes down who tries them. Another process that looks at the same time takes none of them. The
 * organization with the fewest mails under way is the first, whatever another one has waiting.
 */
export const CLAIM = `
WITH waiting AS (
  SELECT mail.id, row_number() OVER (PARTITION BY organization_id ORDER BY next_attempt_at <= now(), next_attempt_at) AS turn
  FROM report_mail AS mail JOIN report_schedule AS schedule ON schedule.id = schedule_id
  JOIN organization ON organization.id = organization_id
  WHERE state = 'PENDING' AND (next_attempt_at <= now() OR holder IS NOT NULL) AND (paused_at IS NULL OR request <> '') AND NOT under_maintenance
),
free AS (
  SELECT mail.id FROM report_mail AS mail JOIN waiting ON waiting.id = mail.id
  WHERE state = 'PENDING' AND next_attempt_at <= now() ORDER BY turn, next_attempt_at LIMIT $1 FOR UPDATE OF mail SKIP LOCKED
),
claimed AS (
  UPDATE report_mail AS mail SET holder = $2::uuid, attempts = attempts + 1, next_attempt_at = now() + make_interval(secs => $3::float8)
  FROM free WHERE free.id = mail.id RETURNING mail.*
)
SELECT claimed.id, holder, attempts, claimed.username, start_date::text AS "startDate", end_date::text AS "endDate",
  organization.id AS "organizationId", organization.name AS organization, currency, time_zone AS "timeZone",
  fiscal_year_start AS "fiscalYearStart", report_name AS report, claimed.period, claimed.format
FROM claimed JOIN report_schedule AS schedule ON schedule.id = schedule_id JOIN organization ON organization.id = organization_id`;

/** Holds a mail for the time of its sending, and tells where it goes. A schedule that was paused meanwhile sends none of its periods. */
export const HOLD = `
UPDATE report_mail AS mail SET next_attempt_at = now() + make_interval(secs => $3::float8)
FROM report_mail AS same JOIN report_schedule AS schedule ON schedule.id = same.schedule_id LEFT JOIN ${OF_RECIPIENT} = same.user_id
LEFT JOIN schedule_recipient AS named ON named.schedule_id = schedule.id AND named.user_id = same.user_id
WHERE mail.id = $1::uuid AND same.id = mail.id AND mail.holder = $2::uuid AND (paused_at IS NULL OR mail.request <> '')
RETURNING email, COALESCE(${refusalOf('reader')}, CASE WHEN named.user_id IS NULL THEN 'the user is no recipient any more' END) AS refusal`;

const IS_OURS = 'id = $1::uuid AND holder = $2::uuid';

export const NOTE_SENT = `
UPDATE report_mail SET state = 'SENT', holder = NULL, sent_at = now(), failure = NULL, sent_as = $3, data_version = $4
WHERE ${IS_OURS}`;

export const NOTE_REFUSED = `UPDATE report_mail SET state = 'REFUSED', holder = NULL, failure = $3 WHERE ${IS_OURS}`;

export const NOTE_FAILED = `
UPDATE report_mail SET state = CASE WHEN $4::float8 IS NULL THEN 'FAILED' ELSE 'PENDING' END, holder = NULL, failure = $3,
  next_attempt_at = now() + make_interval(secs => COALESCE($4::float8, 0))
WHERE ${IS_OURS}`;

/** Lets another gateway try a mail that has not left. */
export const RELEASE = `UPDATE report_mail SET holder = NULL, attempts = attempts - 1, next_attempt_at = now() WHERE ${IS_OURS}`;

export const LIST_MAILS = `
SELECT id, username AS recipient, request <> '' AS "isRequested", start_date::text AS "startDate", end_date::text AS "endDate", due_at AS "dueAt",
  state, attempts, CASE WHEN state = 'PENDING' THEN next_attempt_at END AS "nextAttemptAt", sent_at AS "sentAt", sent_as AS "sentAs", failure,
  data_version::float8 AS "dataVersion"
FROM report_mail WHERE schedule_id = $1::uuid ORDER BY due_at DESC, username, id LIMIT $2`;
