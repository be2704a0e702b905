import DataLoader from 'dataloader';
import { AppError } from '../errors';
import type { ProvisionKind } from './organization-store';
import type { Database } from './postgres/database';
import { selectStamp, type VersionStamp } from './postgres/version-stamp';

/** The provision, organization and session that a request's credentials stand for. */
export interface AccessRow {
  readonly provision: AccessProvision;
  readonly organization: {
    readonly id: number;
    readonly name: string;
    readonly hosts: readonly string[];
    readonly underMaintenance: boolean;
    /** The month with which its fiscal year begins, 1 to 12. */
    readonly fiscalYearStart: number;
    /** The version of its books. */
    readonly dataVersion: VersionStamp;
  };
  /** The live session of the token. Null when there is none; an error when the data source answers but its session store does not. */
  readonly session: SessionRow | null | AppError;
}

/** The provision of a request. */
export interface AccessProvision {
  readonly id: string;
  readonly kind: ProvisionKind;
  readonly label: string;
  readonly privileges: readonly string[];
}

export interface SessionRow {
  readonly provisionId: string;
  /** The time at which the session ends if no further request comes. */
  readonly idleExpiresAt: Date;
  readonly expiresAt: Date;
  readonly userId: number;
  readonly username: string;
  readonly privileges: readonly string[];
  readonly disabled: boolean;
  /** False for a session that a gateway of the release before has opened, which knows no links. */
  readonly mayLink: boolean;
}

/** A provision and the token's hash of a session. */
export interface Credential {
  readonly provisionId: string;
  readonly tokenHash: Buffer | undefined;
}

interface JoinedRow {
  /** The place of the credential among those that were asked for, counted from 1. */
  place: number;
  provision_id: string;
  kind: ProvisionKind;
  label: string;
  provision_privileges: string[];
  organization_id: number;
  organization_name: string;
  hosts: string[];
  under_maintenance: boolean;
  fiscal_year_start: number;
  data_version: VersionStamp;
  session_provision_id: string | null;
  expires_at: Date;
  idle_expires_at: Date;
  user_id: number;
  username: string;
  user_privileges: string[];
  disabled: boolean;
  may_link: boolean;
  /** True when a time of last use was written more than a minute ago. */
  is_unmarked: boolean;
}

const PROVISION_COLUMNS = `asked.place::int, p.id AS provision_id, p.kind, p.label, p.privileges AS provision_privileges,
  o.id AS organization_id, o.name AS organization_name, o.hosts, o.under_maintenance, o.fiscal_year_start,
  ${selectStamp('p.organization_id')} AS data_version`;

const isUnmarked = (time: string): string => `(${time} IS NULL OR ${time} < now() - interval '1 minute')`;
const IS_ALIVE = 's.expires_at > now() AND s.last_seen_at > now() - make_interval(mins => $3)';

// A time of last use that is about to be written counts as written.
const LAST_SEEN = `CASE WHEN ${isUnmarked('s.last_seen_at')} THEN now() ELSE s.last_seen_at END`;

const FIND_ACCESS = `
SELECT ${PROVISION_COLUMNS},
  s.provision_id AS session_provision_id, s.expires_at,
  least(s.expires_at, ${LAST_SEEN} + make_interval(mins => $3)) AS idle_expires_at, u.id AS user_id, u.username, u.privileges AS user_privileges,
  u.disabled_at IS NOT NULL AS disabled, s.link_hash IS NOT NULL AS may_link,
  ${isUnmarked('p.last_used_at')} OR (s.token_hash IS NOT NULL AND s.provision_id = p.id AND ${isUnmarked('s.last_seen_at')}) AS is_unmarked
FROM unnest($1::uuid[], $2::bytea[]) WITH ORDINALITY AS asked (provision_id, token_hash, place)
JOIN provision p ON p.id = asked.provision_id AND p.revoked_at IS NULL
JOIN organization o ON o.id = p.organization_id
LEFT JOIN session s ON s.token_hash = asked.token_hash AND ${IS_ALIVE}
LEFT JOIN "user" u ON u.organization_id = s.organization_id AND u.id = s.user_id`;

const FIND_PROVISION = `
SELECT ${PROVISION_COLUMNS}, NULL AS session_provision_id, false AS is_unmarked
FROM unnest($1::uuid[]) WITH ORDINALITY AS asked (provision_id, place)
JOIN provision p ON p.id = asked.provision_id AND p.revoked_at IS NULL
JOIN organization o ON o.id = p.organization_id`;

const ADD_LINK_HASH = 'UPDATE session SET link_hash = $2 WHERE token_hash = $1 AND link_hash IS NULL';

/** The session or the provision that a link stands for. */
const FIND_LINKED = {
  session: 'SELECT provision_id, token_hash FROM session WHERE link_hash = $1',
  provision: 'SELECT id AS provision_id, NULL AS token_hash FROM provision WHERE sha256(uuid_send(id)) = $1',
} as const;

// A row that is locked is being marked by another gateway, or is being deleted. Nobody waits for it.
const MARK_USED = `
WITH unmarked_provision AS (
  SELECT id FROM provision p WHERE id = ANY($1::uuid[]) AND revoked_at IS NULL AND ${isUnmarked('last_used_at')}
  FOR NO KEY UPDATE SKIP LOCKED
), marked_provision AS (
  UPDATE provision SET last_used_at = now() FROM unmarked_provision WHERE provision.id = unmarked_provision.id
), unmarked_session AS (
  SELECT s.token_hash FROM unnest($1::uuid[], $2::bytea[]) AS asked (provision_id, token_hash)
  JOIN session s ON s.token_hash = asked.token_hash AND s.provision_id = asked.provision_id
  WHERE ${IS_ALIVE} AND ${isUnmarked('s.last_seen_at')}
  FOR NO KEY UPDATE OF s SKIP LOCKED
)
UPDATE session SET last_seen_at = now() FROM unmarked_session WHERE session.token_hash = unmarked_session.token_hash`;

/** The most statements that are under way at once, and the most credentials that one of them reads. */
const MAX_STATEMENTS = 2;
const MAX_CREDENTIALS = 100;

/**
 * Checks credentials. Requests that come at about the same time share a statement, so that a caller with few requests does not wait behind
 * each one of a caller with many. Nothing is kept: a statement begins after all requests that share it.
 */
export class AccessStore {
  private readonly loader: DataLoader<Credential, AccessRow | null, string>;
  private readonly waiting: (() => void)[] = [];
  private underWay = 0;

  constructor(
    private readonly database: Database,
    private readonly sessionIdleMinutes: number,
  ) {
    this.loader = new DataLoader((credentials) => this.readNext(credentials), {
      maxBatchSize: MAX_CREDENTIALS,
      cacheKeyFn: ({ provisionId, tokenHash }) => `${provisionId} ${tokenHash?.toString('hex') ?? ''}`,
      // All requests that have arrived in this turn of the event loop are read together.
      batchScheduleFn: (begin) => setImmediate(() => (this.underWay < MAX_STATEMENTS ? begin() : this.waiting.push(begin))),
    });
  }

  /**
   * Finds a provision that is not revoked and, when a token's hash is given, the session of that token. Null when there is no such
   * provision.
   */
  find(provisionId: string, tokenHash: Buffer | undefined): Promise<AccessRow | null> {
    return this.loader.load({ provisionId, tokenHash });
  }

  /** The credentials that a link stands for, by the hash that it leads to. Null when there are none any more. */
  async findLinked(kind: 'session' | 'provision', hash: Buffer): Promise<Credential | null> {
    const statement = { name: `find-linked-${kind}`, text: FIND_LINKED[kind], values: [hash] };
    const [row] = await this.database.query<{ provision_id: string; token_hash: Buffer | null }>(statement);
    return row ? { provisionId: row.provision_id, tokenHash: row.token_hash ?? undefined } : null;
  }

  /** Lets links stand for a session that they could not stand for before. */
  async addLinkHash(tokenHash: Buffer, linkHash: Buffer): Promise<void> {
    await this.database.query({ text: ADD_LINK_HASH, values: [tokenHash, linkHash] });
  }

  private async readNext(credentials: readonly Credential[]): Promise<(AccessRow | null)[]> {
    // A request that comes from now on needs a statement that begins later.
    for (const credential of credentials) this.loader.clear(credential);
    this.underWay++;
    try {
      return await this.read(credentials);
    } catch (error) {
      // Those who wait find out for themselves at once, within the time limits of one statement.
      for (const begin of this.waiting.splice(0)) begin();
      throw error;
    } finally {
      this.underWay--;
      this.waiting.shift()?.();
    }
  }

  private async read(credentials: readonly Credential[]): Promise<(AccessRow | null)[]> {
    const provisionIds = credentials.map(({ provisionId }) => provisionId);
    const values = [provisionIds, credentials.map(({ tokenHash }) => tokenHash ?? null), this.sessionIdleMinutes];
    const inPlaces = (rows: readonly JoinedRow[]): (AccessRow | null)[] => {
      const found = new Map(rows.map((row) => [row.place, toAccessRow(row)]));
      return credentials.map((_credential, index) => found.get(index + 1) ?? null);
    };
    try {
      const rows = await this.database.query<JoinedRow>({ name: 'find-access', text: FIND_ACCESS, values });
      // The times are written once a minute at most, so that nearly every request only reads. Where that fails, the next request tries again.
      if (rows.some(({ is_unmarked }) => is_unmarked)) await this.database.query({ text: MARK_USED, values }).catch(() => undefined);
      return inPlaces(rows);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'DATA_SOURCE_QUERY_FAILED') throw error;
      // A second statement without the sessions tells a broken data source from a broken session store.
      const found = inPlaces(await this.database.query<JoinedRow>({ text: FIND_PROVISION, values: [provisionIds] }));
      const session = new AppError('ESTABLISHING_SESSION_FAILED', { cause: error.cause });
      return found.map((row, index) => row && { ...row, session: credentials[index]!.tokenHash ? session : null });
    }
  }
}

function toAccessRow(row: JoinedRow): AccessRow {
  return {
    provision: { id: row.provision_id, kind: row.kind, label: row.label, privileges: row.provision_privileges },
    organization: {
      ...{ id: row.organization_id, name: row.organization_name, hosts: row.hosts },
      ...{ underMaintenance: row.under_maintenance, fiscalYearStart: row.fiscal_year_start, dataVersion: row.data_version },
    },
    session: row.session_provision_id === null ? null : toSession(row, row.session_provision_id),
  };
}

function toSession(row: JoinedRow, provisionId: string): SessionRow {
  return {
    provisionId,
    idleExpiresAt: row.idle_expires_at,
    expiresAt: row.expires_at,
    userId: row.user_id,
    username: row.username,
    privileges: row.user_privileges,
    disabled: row.disabled,
    mayLink: row.may_link,
  };
}
