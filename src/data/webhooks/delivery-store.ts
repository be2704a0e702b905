import type { Database } from '../postgres/database';

/** A hook that has something to be told, at the moment of a look. */
export interface DueWebhook {
  readonly id: string;
  readonly organizationId: number;
  readonly acknowledged: string;
  readonly version: string;
  readonly recordedAt: Date | null;
  readonly cause: string | null;
}

/** A message that this process delivers now. Versions are exact up to 2^53. */
export interface ClaimedMessage {
  readonly webhookId: string;
  readonly organizationId: number;
  readonly organization: string;
  readonly url: string;
  readonly secret: Buffer;
  readonly id: string;
  readonly at: Date;
  readonly version: number;
  readonly previous: number;
  readonly cause: string | null;
  /** The number of this attempt of the message, from 1 on. */
  readonly attempt: number;
  /** The failures of the hook since its last acknowledgement. */
  readonly failures: number;
  readonly holder: string;
}

/** The end of an attempt. */
export interface AttemptEnd {
  readonly status: number | null;
  readonly failure: string | null;
  readonly ms: number;
}

/** The hook after a failure: the time until its next attempt, and the reason why there is none. */
export interface Setback {
  readonly waitMs: number;
  readonly disabledReason: string | null;
}

/** Seconds after which an attempt counts as given up, because its process is gone. An attempt itself takes ten at most. */
const HELD_SECONDS = 30;
/** The log of a hook. */
const KEPT_DELIVERIES = 1000;
const KEPT_DAYS = 30;

/** The deliveries of webhooks. All times are those of the database, so that gateways with other clocks agree. */
export class DeliveryStore {
  constructor(private readonly database: Database) {}

  /** The hooks that may be told something now: those that have not failed first, then by the time at which they fell due. */
  listDue(): Promise<DueWebhook[]> {
    return this.database.query<DueWebhook & Record<string, unknown>>({ name: 'due-webhooks', text: LIST_DUE });
  }

  /**
   * Takes the hooks that are still as they were seen, and writes down what each is told, before it is told. Another process that looks at the
   * same time takes none of them. A message of the same version keeps its id.
   */
  async claim(seen: readonly DueWebhook[], holder: string): Promise<ClaimedMessage[]> {
    const column = <Name extends keyof DueWebhook>(name: Name): DueWebhook[Name][] => seen.map((each) => each[name]);
    const values = [column('id'), column('acknowledged'), column('version'), column('recordedAt'), column('cause'), holder];
    return this.database.query<ClaimedMessage & Record<string, unknown>>({ name: 'claim-webhooks', text: CLAIM, values });
  }

  /** Notes that a receiver has acknowledged a message. False when the attempt was not this process's any more. */
  acknowledge(message: ClaimedMessage, end: AttemptEnd): Promise<boolean> {
    return this.end('acknowledge-webhook', ACKNOWLEDGE, message, end, []);
  }

  /** Notes that an attempt has failed. False when it was not this process's any more. */
  fail(message: ClaimedMessage, end: AttemptEnd, { waitMs, disabledReason }: Setback): Promise<boolean> {
    return this.end('fail-webhook', FAIL, message, end, [waitMs, disabledReason]);
  }

  private async end(
    name: string,
    text: string,
    { webhookId, holder, id, attempt, version, previous }: ClaimedMessage,
    { status, failure, ms }: AttemptEnd,
    rest: readonly unknown[],
  ): Promise<boolean> {
    const values = [webhookId, holder, id, attempt, version, previous, status, failure, ms, ...rest];
    return (await this.database.query({ name, text, values })).length > 0;
  }
}

const HEARTBEAT_IS_DUE = `(hook.heartbeat_at IS NULL OR hook.heartbeat_at <= now() - interval '1 day')`;

// The newest version is looked up once for each organization.
const LIST_DUE = `
WITH due AS MATERIALIZED (SELECT * FROM webhook WHERE next_attempt_at <= now() AND disabled_at IS NULL),
newest AS MATERIALIZED (
  SELECT of_hooks.id, version.* FROM (SELECT DISTINCT organization_id AS id FROM due) AS of_hooks, newest_data_version(of_hooks.id) AS version
)
SELECT hook.id, hook.organization_id AS "organizationId", hook.acknowledged_version::text AS acknowledged, newest.number::text AS version,
  newest.recorded_at AS "recordedAt", newest.cause
FROM due AS hook JOIN newest ON newest.id = hook.organization_id
WHERE newest.number <> hook.acknowledged_version OR ${HEARTBEAT_IS_DUE}
ORDER BY hook.failures > 0, hook.next_attempt_at`;

const CLAIM = `
WITH free AS (
  SELECT hook.id, seen.version, seen.recorded_at, seen.cause, hook.message_version IS NOT DISTINCT FROM seen.version AS is_same
  FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::text[])
    AS seen (id, acknowledged, version, recorded_at, cause)
  JOIN webhook hook ON hook.id = seen.id
  WHERE hook.disabled_at IS NULL AND hook.next_attempt_at <= now() AND hook.acknowledged_version = seen.acknowledged
    AND (seen.version <> seen.acknowledged OR ${HEARTBEAT_IS_DUE})
  FOR UPDATE OF hook SKIP LOCKED
),
claimed AS (
  UPDATE webhook AS hook SET holder = $6::uuid, next_attempt_at = now() + make_interval(secs => ${HELD_SECONDS}),
    message_id = CASE WHEN is_same THEN message_id ELSE gen_random_uuid() END,
    message_at = CASE WHEN is_same THEN message_at WHEN version = acknowledged_version THEN now() ELSE COALESCE(recorded_at, now()) END,
    message_version = version, attempts = CASE WHEN is_same THEN attempts + 1 ELSE 1 END
  FROM free WHERE free.id = hook.id
  RETURNING hook.*, free.cause
)
SELECT claimed.id AS "webhookId", organization_id AS "organizationId", name AS organization, url, secret, message_id AS id, message_at AS at,
  message_version::float8 AS version, acknowledged_version::float8 AS previous, cause, attempts AS attempt, failures, holder
FROM claimed JOIN organization ON organization.id = organization_id`;

/** Adds the attempt to the log of the hook, and deletes what the log has no place for. */
const LOG = `
logged AS (
  INSERT INTO webhook_delivery (webhook_id, message_id, attempt, version, previous, status, failure, milliseconds)
  SELECT id, $3::uuid, $4::int, $5::bigint, $6::bigint, $7::int, $8::text, $9::int FROM ended
),
trimmed AS (
  DELETE FROM webhook_delivery WHERE webhook_id = $1::uuid AND at < GREATEST(now() - interval '${KEPT_DAYS} days', (
    SELECT at FROM webhook_delivery WHERE webhook_id = $1::uuid ORDER BY at DESC OFFSET ${KEPT_DELIVERIES - 1} LIMIT 1))
)
SELECT id FROM ended`;
const IS_OURS = 'id = $1::uuid AND holder = $2::uuid';

const ACKNOWLEDGE = `
WITH ended AS (
  UPDATE webhook SET holder = NULL, acknowledged_version = message_version,
    heartbeat_at = CASE WHEN message_version = acknowledged_version THEN now() ELSE heartbeat_at END,
    message_id = NULL, message_version = NULL, message_at = NULL, attempts = 0,
    failures = 0, failing_since = NULL, next_attempt_at = now()
  WHERE ${IS_OURS} RETURNING id
),
${LOG}`;

const FAIL = `
WITH ended AS (
  UPDATE webhook SET holder = NULL, failures = failures + 1, failing_since = COALESCE(failing_since, now()),
    next_attempt_at = now() + make_interval(secs => $10::float8 / 1000),
    disabled_at = CASE WHEN $11::text IS NULL THEN NULL ELSE now() END, disabled_reason = $11::text
  WHERE ${IS_OURS} RETURNING id
),
${LOG}`;
