import type { Database } from '../postgres/database';

/** The requests of a user agent with a provision to a v2 path on a day. */
export interface V2Use {
  readonly provisionId: number;
  /** Days of the Unix time (UTC). */
  readonly day: number;
  readonly path: string;
  readonly userAgent: string;
  readonly requests: number;
  /** Requests that were answered with an error, or whose answer broke off. */
  readonly errors: number;
  /** The report's lines that the answers had. */
  readonly lines: number;
  /** Milliseconds of the Unix time. */
  readonly lastUsedAt: number;
}

/** The requests of some days, as operators see them. */
export interface UsageRow extends Pick<V2Use, 'path' | 'userAgent' | 'requests' | 'errors' | 'lines'> {
  readonly organization: string;
  /** The number of the provision. */
  readonly number: number;
  /** The first characters of its newest UUID. */
  readonly provision: string;
  readonly label: string;
  readonly lastUsedAt: Date;
}

/** The newest v2 request of an organization. */
export interface LastUse {
  readonly organizationId: number;
  readonly lastUsedAt: Date;
}

/** Stands for the user agents that a day of a provision has no place for. */
export const OTHER_AGENTS = 'other';
/** The most user agents of a provision on a day: whoever has a provision could fill the table with invented ones otherwise. */
const MAX_AGENTS = 20;
/** The most rows that one statement deletes, so that it ends within the time limit of short queries. */
const DELETED_ROWS = 10_000;

/** Reads and writes the counts of v2 requests. */
export class UsageStore {
  constructor(private readonly database: Database) {}

  /** Adds counts to those of their days. Counts of a provision that is gone go with it. */
  async add(uses: readonly V2Use[]): Promise<void> {
    const column = <Name extends keyof V2Use>(name: Name): V2Use[Name][] => uses.map((use) => use[name]);
    const values = [
      ...[column('provisionId'), column('day'), column('path'), column('userAgent')],
      ...[column('requests'), column('errors'), column('lines'), column('lastUsedAt')],
    ];
    await this.database.query({ name: 'add-v2-usage', text: ADD, values });
  }

  /** The counts of the last days, today (UTC) included, of an organization or of all: by organization, the newest use first. */
  list(organizationId: number | null, days: number): Promise<UsageRow[]> {
    return this.database.query<UsageRow & Record<string, unknown>>({ text: LIST, values: [organizationId, days] });
  }

  /** The newest request of every organization that has used v2. */
  listLastUses(): Promise<LastUse[]> {
    return this.database.query<LastUse & Record<string, unknown>>({ name: 'last-v2-use', text: LAST_USES });
  }

  /** Deletes counts of days that are over for longer than this. Returns false when there may be more of them. */
  async deleteOld(days: number): Promise<boolean> {
    const rows = await this.database.query<{ deleted: number }>({ text: DELETE_OLD, values: [days] });
    return rows[0]!.deleted < DELETED_ROWS;
  }
}

const TODAY = `(now() AT TIME ZONE 'UTC')::date`;

/**
 * The known user agents of a day keep their places, and new ones get those that are left. Gateways that add at the same moment do not see
 * each other's new ones, so that a day may have some more. The order of the rows keeps such gateways from waiting for each other in a circle.
 */
const ADD = `
WITH given AS (
  SELECT p.organization_id, g.provision_id, date '1970-01-01' + g.day AS day, g.path, g.user_agent, g.requests, g.errors, g.lines,
    to_timestamp(g.last_used_at / 1000) AS last_used_at
  FROM unnest($1::int[], $2::int[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::float8[])
    AS g (provision_id, day, path, user_agent, requests, errors, lines, last_used_at)
  JOIN provision p ON p.id = g.provision_id
), seen AS (
  SELECT provision_id, day, user_agent, false AS is_known FROM given
  UNION ALL
  SELECT u.provision_id, u.day, u.user_agent, true FROM (SELECT DISTINCT provision_id, day FROM given) g JOIN v2_usage u USING (provision_id, day)
), placed AS (
  SELECT provision_id, day, user_agent, bool_or(is_known) AS is_known,
    row_number() OVER (PARTITION BY provision_id, day ORDER BY bool_or(is_known) DESC, user_agent) AS place
  FROM seen WHERE user_agent <> '${OTHER_AGENTS}' GROUP BY provision_id, day, user_agent
)
INSERT INTO v2_usage AS counted (organization_id, provision_id, day, path, user_agent, requests, errors, lines, last_used_at)
SELECT g.organization_id, g.provision_id, g.day, g.path,
  CASE WHEN p.is_known OR p.place <= ${MAX_AGENTS} THEN g.user_agent ELSE '${OTHER_AGENTS}' END,
  sum(g.requests), sum(g.errors), sum(g.lines), max(g.last_used_at)
FROM given g LEFT JOIN placed p USING (provision_id, day, user_agent)
GROUP BY 1, 2, 3, 4, 5 ORDER BY 2, 3, 4, 5
ON CONFLICT (provision_id, day, path, user_agent) DO UPDATE SET
  requests = counted.requests + EXCLUDED.requests, errors = counted.errors + EXCLUDED.errors, lines = counted.lines + EXCLUDED.lines,
  last_used_at = greatest(counted.last_used_at, EXCLUDED.last_used_at)`;

const LIST = `
SELECT o.name AS organization, p.id AS number,
  (SELECT k.first_characters FROM provision_key k WHERE k.provision_id = p.id ORDER BY k.created_at DESC LIMIT 1) AS provision,
  p.label, u.path, u.user_agent AS "userAgent", sum(u.requests)::float8 AS requests, sum(u.errors)::float8 AS errors,
  sum(u.lines)::float8 AS lines, max(u.last_used_at) AS "lastUsedAt"
FROM v2_usage u JOIN provision p ON p.id = u.provision_id JOIN organization o ON o.id = u.organization_id
WHERE ($1::int IS NULL OR u.organization_id = $1::int) AND u.day > ${TODAY} - $2::int
GROUP BY o.name, p.id, u.path, u.user_agent
ORDER BY o.name, max(u.last_used_at) DESC, p.id, u.path, u.user_agent`;

// Each organization costs two looks into an index, however many rows it has.
const LAST_USES = `
SELECT o.id AS "organizationId", newest.last_used_at AS "lastUsedAt" FROM organization o CROSS JOIN LATERAL (
  SELECT max(u.last_used_at) AS last_used_at FROM v2_usage u
  WHERE u.organization_id = o.id AND u.day = (SELECT max(day) FROM v2_usage WHERE organization_id = o.id)
) newest WHERE newest.last_used_at IS NOT NULL`;

// The inner limit keeps the rows of each organization apart, so that the index by organization and day finds them.
const DELETE_OLD = `
WITH deleted AS (
  DELETE FROM v2_usage WHERE ctid = ANY (ARRAY(
    SELECT old.ctid FROM organization o
    CROSS JOIN LATERAL (
      SELECT u.ctid FROM v2_usage u WHERE u.organization_id = o.id AND u.day < ${TODAY} - $1::int LIMIT ${DELETED_ROWS}
    ) old LIMIT ${DELETED_ROWS}
  )) RETURNING 1
)
SELECT count(*)::int AS deleted FROM deleted`;
