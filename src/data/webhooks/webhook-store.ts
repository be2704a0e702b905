import type { Database } from '../postgres/database';

/** A webhook as operators see it, without its secret. Versions are exact up to 2^53. */
export interface WebhookRow {
  readonly id: string;
  readonly organizationId: number;
  readonly organization: string;
  readonly url: string;
  readonly createdAt: Date;
  readonly acknowledgedVersion: number;
  readonly newestVersion: number;
  readonly heartbeatAt: Date | null;
  readonly failures: number;
  readonly failingSince: Date | null;
  readonly nextAttemptAt: Date;
  readonly disabledAt: Date | null;
  readonly disabledReason: string | null;
}

/** An attempt in the log of a webhook. */
export interface DeliveryRow {
  readonly at: Date;
  readonly messageId: string;
  readonly attempt: number;
  readonly version: number;
  readonly previous: number;
  readonly status: number | null;
  readonly failure: string | null;
  readonly milliseconds: number;
}

/** The webhooks of an organization, in numbers. */
export interface WebhookFigures {
  readonly organizationId: number;
  readonly current: number;
  readonly behind: number;
  readonly disabled: number;
  /** The seconds for which one of them, which is not disabled, has missed versions; 0 when there is none. */
  readonly lagSeconds: number;
}

/** Reads and writes webhooks for operators. */
export class WebhookStore {
  constructor(private readonly database: Database) {}

  /** Adds a webhook, which has acknowledged the newest version. */
  async insert({ id, organizationId, url }: Pick<WebhookRow, 'id' | 'organizationId' | 'url'>, secret: Buffer): Promise<void> {
    await this.database.query({ text: INSERT, values: [id, organizationId, url, secret] });
  }

  /** The webhooks of an organization, or of all, the oldest first. */
  list(organizationId: number | null): Promise<WebhookRow[]> {
    return this.database.query<WebhookRow & Record<string, unknown>>({
      text: `${LIST} WHERE $1::int IS NULL OR organization_id = $1 ORDER BY organization.name, hook.created_at, hook.id`,
      values: [organizationId],
    });
  }

  async find(id: string): Promise<WebhookRow | null> {
    const rows = await this.database.query<WebhookRow & Record<string, unknown>>({
      text: `${LIST} WHERE hook.id = $1::uuid`,
      values: [id],
    });
    return rows[0] ?? null;
  }

  /** The newest attempts of a webhook, the newest first. */
  listDeliveries(id: string, limit: number): Promise<DeliveryRow[]> {
    return this.database.query<DeliveryRow & Record<string, unknown>>({ text: LIST_DELIVERIES, values: [id, limit] });
  }

  /**
   * Lets a webhook be tried at once. An attempt that is under way counts no more. With `from`, the receiver is told the newest version as if
   * it had acknowledged that one last, under a new id.
   */
  async resume(id: string, from?: number): Promise<void> {
    await this.database.query({ text: RESUME, values: [id, from ?? null] });
  }

  /** Notes for all webhooks a version that no books have as acknowledged. Returns their number. */
  async forgetAcknowledged(): Promise<number> {
    return (await this.database.query({ text: FORGET_ACKNOWLEDGED, values: [Number.MAX_SAFE_INTEGER] })).length;
  }

  async delete(id: string): Promise<void> {
    await this.database.query({ text: 'DELETE FROM webhook WHERE id = $1::uuid', values: [id] });
  }

  /** The figures of every organization that has a webhook. */
  listFigures(): Promise<WebhookFigures[]> {
    return this.database.query<WebhookFigures & Record<string, unknown>>({ name: 'webhook-figures', text: LIST_FIGURES });
  }
}

const INSERT = `
INSERT INTO webhook (id, organization_id, url, secret, acknowledged_version)
SELECT $1::uuid, $2::int, $3, $4, number FROM newest_data_version($2::int)`;

const LIST = `
SELECT hook.id, organization_id AS "organizationId", organization.name AS organization, url, hook.created_at AS "createdAt",
  acknowledged_version::float8 AS "acknowledgedVersion", newest.number::float8 AS "newestVersion", heartbeat_at AS "heartbeatAt",
  failures, failing_since AS "failingSince", next_attempt_at AS "nextAttemptAt", disabled_at AS "disabledAt", disabled_reason AS "disabledReason"
FROM webhook hook JOIN organization ON organization.id = organization_id
CROSS JOIN LATERAL newest_data_version(organization_id) AS newest`;

const LIST_DELIVERIES = `
SELECT at, message_id AS "messageId", attempt, version::float8 AS version, previous::float8 AS previous, status, failure, milliseconds
FROM webhook_delivery WHERE webhook_id = $1::uuid ORDER BY at DESC, attempt DESC LIMIT $2`;

const RESUME = `
UPDATE webhook SET holder = NULL, next_attempt_at = now(), failures = 0, failing_since = NULL, disabled_at = NULL, disabled_reason = NULL,
  acknowledged_version = COALESCE($2::bigint, acknowledged_version),
  message_id = CASE WHEN $2::bigint IS NULL THEN message_id END, message_at = CASE WHEN $2::bigint IS NULL THEN message_at END,
  message_version = CASE WHEN $2::bigint IS NULL THEN message_version END
WHERE id = $1::uuid`;

const FORGET_ACKNOWLEDGED = `
UPDATE webhook SET acknowledged_version = $1::bigint, holder = NULL, message_id = NULL, message_version = NULL, message_at = NULL, attempts = 0
RETURNING id`;

// A hook that is behind has failed since a time, or nobody has told it of the newest version yet.
const LIST_FIGURES = `
SELECT organization_id AS "organizationId", count(*) FILTER (WHERE disabled_at IS NULL AND number = acknowledged_version)::int AS current,
  count(*) FILTER (WHERE disabled_at IS NULL AND number <> acknowledged_version)::int AS behind,
  count(*) FILTER (WHERE disabled_at IS NOT NULL)::int AS disabled,
  COALESCE(extract(epoch FROM now() - min(LEAST(failing_since, recorded_at)) FILTER (WHERE disabled_at IS NULL AND number <> acknowledged_version)), 0)::float8
    AS "lagSeconds"
FROM webhook, newest_data_version(organization_id) GROUP BY organization_id`;
