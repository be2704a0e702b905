import DataLoader from 'dataloader';
import { AppError } from '../../errors';
import type { OrganizationCalendar } from '../../values/periods';
import type { ProvisionKind, V2Notice } from './organization-store';
import type { Database } from '../postgres/database';
import type { Wait } from '../postgres/request-times';
import { findSqlFault, QUERY_CANCELED } from '../postgres/sql-fault';
import { selectStamp, type VersionStamp } from '../postgres/version-stamp';

/** The provision, organization and session that a request's credentials stand for. */
export interface AccessRow<Stamp = VersionStamp> {
  readonly provision: AccessProvision;
  readonly organization: OrganizationCalendar &
    V2Notice & {
      readonly id: number;
      readonly name: string;
      readonly hosts: readonly string[];
      readonly underMaintenance: boolean;
      /** The ISO 4217 code of the currency of its amounts; null when it was not said. */
      readonly currency: string | null;
      /** The version of its books. */
      readonly dataVersion: Stamp;
    };
  /** The live session of the token. Null when there is none; an error when the data source answers but its session store does not. */
  readonly session: SessionRow | null | AppError;
}

/** The provision of a request. */
export interface AccessProvision {
  readonly id: number;
  /** The first characters of the UUID that the request sent. */
  readonly firstCharacters: string;
  /** True when it was revoked, or when it or the UUID that was sent has expired. */
  readonly hasEnded: boolean;
  /** The time from which it, or the UUID that was sent, is refused; null when neither has an end. */
  readonly expiresAt: Date | null;
  /** The networks that its callers come from; empty means any. */
  readonly addresses: readonly string[];
  /** The saved reports that it opens alone; empty means that it is not bound to reports. */
  readonly reports: readonly string[];
  readonly kind: ProvisionKind;
  readonly label: string;
  readonly privileges: readonly string[];
}

export interface SessionRow {
  readonly provisionId: number;
  /** The time at which the session ends if no further request comes. */
  readonly idleExpiresAt: Date;
  readonly expiresAt: Date;
  readonly userId: number;
  readonly username: string;
  readonly privileges: readonly string[];
  readonly disabled: boolean;
}

/** A row whose version may still have to be read by a statement of its own. */
type FoundRow = AccessRow<VersionStamp | null>;

/** The hashes of a provision's UUID and of a session's token. */
export interface Credential {
  readonly uuidHash: Buffer;
  readonly tokenHash: Buffer | undefined;
}

interface JoinedRow {
  /** The place of the credential among those that were asked for, counted from 1. */
  place: number;
  provision_id: number;
  first_characters: string;
  has_ended: boolean;
  provision_expires_at: Date | null;
  addresses: string[];
  reports: string[];
  kind: ProvisionKind;
  label: string;
  provision_privileges: string[];
  organization_id: number;
  organization_name: string;
  hosts: string[];
  under_maintenance: boolean;
  fiscal_year_start: number;
  time_zone: string;
  currency: string | null;
  v2_deprecated_at: Date | null;
  v2_sunset_at: Date | null;
  v2_migration_link: string | null;
  /** Null where a statement of its own reads it. */
  data_version: VersionStamp | null;
  /** True when the server follows another one. */
  is_standby: boolean;
  session_provision_id: number | null;
  expires_at: Date;
  idle_expires_at: Date;
  user_id: number;
  username: string;
  user_privileges: string[];
  disabled: boolean;
  /** True when a time of last use was written more than a minute ago. */
  is_unmarked: boolean;
}

const HAS_ENDED = `(p.revoked_at IS NOT NULL OR COALESCE(p.expires_at <= now(), false) OR COALESCE(k.expires_at <= now(), false))`;
const PROVISION_COLUMNS = `asked.place::int, p.id AS provision_id, k.first_characters, ${HAS_ENDED} AS has_ended,
  least(p.expires_at, k.expires_at) AS provision_expires_at, p.addresses, p.reports, p.kind, p.label, p.privileges AS provision_privileges,
  o.id AS organization_id, o.name AS organization_name, o.hosts, o.under_maintenance, o.fiscal_year_start, o.time_zone, o.currency,
  o.v2_deprecated_at, o.v2_sunset_at, o.v2_migration_link,
  :version AS data_version, pg_is_in_recovery() AS is_standby`;
const ASKED_PROVISIONS = `JOIN provision_key k ON k.uuid_hash = asked.uuid_hash
JOIN provision p ON p.id = k.provision_id
JOIN organization o ON o.id = p.organization_id`;

const isUnmarked = (time: string): string => `(${time} IS NULL OR ${time} < now() - interval '1 minute')`;
const IS_ALIVE = 's.expires_at > now() AND s.last_seen_at > now() - make_interval(mins => $3)';

// A time of last use that is about to be written counts as written.
const LAST_SEEN = `CASE WHEN ${isUnmarked('s.last_seen_at')} THEN now() ELSE s.last_seen_at END`;

const FIND_ACCESS = `
SELECT ${PROVISION_COLUMNS},
  s.provision_id AS session_provision_id, s.expires_at,
  least(s.expires_at, ${LAST_SEEN} + make_interval(mins => $3)) AS idle_expires_at, u.id AS user_id, u.username, u.privileges AS user_privileges,
  u.disabled_at IS NOT NULL AS disabled,
  NOT ${HAS_ENDED} AND (${isUnmarked('p.last_used_at')} OR s.token_hash IS NOT NULL AND s.provision_id = p.id AND ${isUnmarked('s.last_seen_at')}) AS is_unmarked
FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS asked (uuid_hash, token_hash, place)
${ASKED_PROVISIONS}
LEFT JOIN session s ON s.token_hash = asked.token_hash AND ${IS_ALIVE}
LEFT JOIN "user" u ON u.organization_id = s.organization_id AND u.id = s.user_id`;

const FIND_VERSION = `SELECT ${selectStamp('$1::int')} AS version`;

const FIND_PROVISION = `
SELECT ${PROVISION_COLUMNS}, NULL AS session_provision_id, false AS is_unmarked
FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (uuid_hash, place)
${ASKED_PROVISIONS}`;

/** The session or the provision that a link stands for. A session has no UUID of its own, so the newest of its provision stands for it. */
const FIND_LINKED = {
  session: `SELECT k.uuid_hash, s.token_hash FROM session s JOIN provision_key k ON k.provision_id = s.provision_id
    WHERE s.link_hash = $1 ORDER BY k.created_at DESC LIMIT 1`,
  provision: 'SELECT uuid_hash, NULL AS token_hash FROM provision_key WHERE link_hash = $1',
} as const;

// A row that is locked is being marked by another gateway, or is being deleted. Nobody waits for it.
const MARK_USED = `
WITH unmarked_provision AS (
  SELECT id FROM provision WHERE id = ANY($1::int[]) AND ${isUnmarked('last_used_at')}
  FOR NO KEY UPDATE SKIP LOCKED
), marked_provision AS (
  UPDATE provision SET last_used_at = now() FROM unmarked_provision WHERE provision.id = unmarked_provision.id
), unmarked_session AS (
  SELECT s.token_hash FROM unnest($1::int[], $2::bytea[]) AS asked (provision_id, token_hash)
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
  private readonly loader: DataLoader<Credential, FoundRow | null, string>;
  private readonly waiting: (() => void)[] = [];
  private underWay = 0;
  /** The statement, as traces tell it. Requests that come together share it, and each waits for it. */
  readonly wait: Wait;
  private readonly statements: { readonly access: string; readonly provision: string };

  constructor(
    private readonly database: Database,
    private readonly sessionIdleMinutes: number,
  ) {
    const stamp = database.placement.stampBeside('p.organization_id');
    this.statements = { access: FIND_ACCESS.replace(':version', stamp), provision: FIND_PROVISION.replace(':version', stamp) };
    this.wait = { name: 'SELECT', sql: this.statements.access };
    this.loader = new DataLoader<Credential, FoundRow | null, string>((credentials) => this.readNext(credentials), {
      maxBatchSize: MAX_CREDENTIALS,
      cacheKeyFn: ({ uuidHash, tokenHash }) => `${uuidHash.toString('hex')} ${tokenHash?.toString('hex') ?? ''}`,
      // All requests that have arrived in this turn of the event loop are read together.
      batchScheduleFn: (begin) => setImmediate(() => (this.underWay < MAX_STATEMENTS ? begin() : this.lineUp(begin))),
    });
  }

  /** Finds a provision and, when a token's hash is given, the session of that token. Null when there is no such provision. */
  async find(credential: Credential): Promise<AccessRow | null> {
    const found = await this.loader.load(credential);
    if (!found) return null;
    const dataVersion = found.organization.dataVersion ?? (await this.readVersion(found.organization.id));
    return { ...found, organization: { ...found.organization, dataVersion } };
  }

  /** Reads the version of one organization by itself, so that a node that is away concerns its own organizations alone. */
  private async readVersion(organizationId: number): Promise<VersionStamp> {
    const values = [organizationId];
    const [row] = await this.database.query<{ version: VersionStamp }>({ name: 'find-version', text: FIND_VERSION, values });
    return row!.version;
  }

  /** The credentials that a link stands for, by the hash that it leads to. Null when there are none any more. */
  async findLinked(kind: 'session' | 'provision', hash: Buffer): Promise<Credential | null> {
    const statement = { name: `find-linked-${kind}`, text: FIND_LINKED[kind], values: [hash] };
    const [row] = await this.database.query<{ uuid_hash: Buffer; token_hash: Buffer | null }>(statement);
    return row ? { uuidHash: row.uuid_hash, tokenHash: row.token_hash ?? undefined } : null;
  }

  /** Lets a statement begin when another has ended, or when it has waited for long. */
  private lineUp(begin: () => void): void {
    const turn = (): void => {
      clearTimeout(late);
      begin();
    };
    const late = setTimeout(() => {
      this.waiting.splice(this.waiting.indexOf(turn), 1);
      begin();
    }, this.database.patienceMs);
    this.waiting.push(turn);
  }

  private async readNext(credentials: readonly Credential[]): Promise<(FoundRow | null)[]> {
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

  private async read(credentials: readonly Credential[]): Promise<(FoundRow | null)[]> {
    const uuidHashes = credentials.map(({ uuidHash }) => uuidHash);
    const values = [uuidHashes, credentials.map(({ tokenHash }) => tokenHash ?? null), this.sessionIdleMinutes];
    const inPlaces = (rows: readonly JoinedRow[]): (FoundRow | null)[] => {
      const found = new Map(rows.map((row) => [row.place, toFoundRow(row)]));
      return credentials.map((_credential, index) => found.get(index + 1) ?? null);
    };
    try {
      const rows = await this.database.query<JoinedRow>({ name: 'find-access', text: this.statements.access, values });
      this.assertPrimary(rows);
      await this.markUsed(rows, credentials);
      return inPlaces(rows);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'DATA_SOURCE_QUERY_FAILED') throw error;
      // A data source that is too slow is not asked a second time, because the caller would wait twice as long.
      if (isCancelled(error)) throw error;
      // A second statement without the sessions tells a broken data source from a broken session store.
      const rows = await this.database.query<JoinedRow>({ text: this.statements.provision, values: [uuidHashes] });
      this.assertPrimary(rows);
      const found = inPlaces(rows);
      const session = new AppError('ESTABLISHING_SESSION_FAILED', { cause: error.cause });
      return found.map((row, index) => row && { ...row, session: credentials[index]!.tokenHash ? session : null });
    }
  }

  /**
   * Throws when a standby has answered, as while one takes over. It may not know yet who was locked out, and what was imported. Its
   * connections are closed: the address may lead to the primary by now, while a balancer keeps the old connections.
   */
  private assertPrimary(rows: readonly JoinedRow[]): void {
    if (!rows.some(({ is_standby }) => is_standby)) return;
    this.database.renewConnections();
    throw new AppError('NO_DATA_SOURCE_CONNECTION', { cause: new Error('DATABASE_URL leads to a standby'), retryAfterSeconds: 1 });
  }

  /**
   * Writes the times of last use, once a minute at most, so that nearly every request only reads. Where that fails, the next tries again.
   */
  private async markUsed(rows: readonly JoinedRow[], credentials: readonly Credential[]): Promise<void> {
    const unmarked = rows.filter(({ is_unmarked }) => is_unmarked);
    if (unmarked.length === 0) return;
    const tokenHashes = unmarked.map(({ place }) => credentials[place - 1]!.tokenHash ?? null);
    const values = [unmarked.map(({ provision_id }) => provision_id), tokenHashes, this.sessionIdleMinutes];
    await this.database.query({ text: MARK_USED, values }).catch(() => undefined);
  }
}

/** True for a statement that PostgreSQL ended at its time limit. */
const isCancelled = ({ cause }: AppError): boolean => findSqlFault(cause)?.sqlState === QUERY_CANCELED;

function toFoundRow(row: JoinedRow): FoundRow {
  return {
    provision: {
      id: row.provision_id,
      firstCharacters: row.first_characters,
      hasEnded: row.has_ended,
      expiresAt: row.provision_expires_at,
      addresses: row.addresses,
      reports: row.reports,
      kind: row.kind,
      label: row.label,
      privileges: row.provision_privileges,
    },
    organization: {
      id: row.organization_id,
      name: row.organization_name,
      hosts: row.hosts,
      // `find` puts in the version that this statement does not tell.
      underMaintenance: row.under_maintenance,
      fiscalYearStart: row.fiscal_year_start,
      timeZone: row.time_zone,
      currency: row.currency,
      v2DeprecatedAt: row.v2_deprecated_at,
      v2SunsetAt: row.v2_sunset_at,
      v2MigrationLink: row.v2_migration_link,
      dataVersion: row.data_version,
    },
    session: row.session_provision_id === null ? null : toSession(row, row.session_provision_id),
  };
}

function toSession(row: JoinedRow, provisionId: number): SessionRow {
  return {
    provisionId,
    idleExpiresAt: row.idle_expires_at,
    expiresAt: row.expires_at,
    userId: row.user_id,
    username: row.username,
    privileges: row.user_privileges,
    disabled: row.disabled,
  };
}
