import { AppError } from '../errors';
import type { ProvisionKind } from './organization-store';
import type { Database } from './postgres/database';
import { selectStamp, type VersionStamp } from './postgres/version-stamp';

/** The provision, organization and session that a request's credentials stand for. One statement reads them. */
export interface AccessRow {
  readonly provision: { readonly id: string; readonly kind: ProvisionKind; readonly privileges: readonly string[] };
  readonly organization: {
    readonly id: number;
    readonly name: string;
    readonly hosts: readonly string[];
    readonly underMaintenance: boolean;
    /** The version of its books. */
    readonly dataVersion: VersionStamp;
  };
  /** The live session of the token. Null when there is none; an error when the data source answers but its session store does not. */
  readonly session: SessionRow | null | AppError;
}

export interface SessionRow {
  readonly provisionId: string;
  readonly expiresAt: Date;
  readonly userId: number;
  readonly username: string;
  readonly privileges: readonly string[];
  readonly disabled: boolean;
}

interface JoinedRow {
  provision_id: string;
  kind: ProvisionKind;
  provision_privileges: string[];
  organization_id: number;
  organization_name: string;
  hosts: string[];
  under_maintenance: boolean;
  data_version: VersionStamp;
  session_provision_id: string | null;
  expires_at: Date;
  user_id: number;
  username: string;
  user_privileges: string[];
  disabled: boolean;
}

const PROVISION_COLUMNS = `p.id AS provision_id, p.kind, p.privileges AS provision_privileges,
  o.id AS organization_id, o.name AS organization_name, o.hosts, o.under_maintenance,
  ${selectStamp('p.organization_id')} AS data_version`;

// The times of last use are written once a minute at most, so that nearly every request only reads.
const FIND_ACCESS = `
WITH used_provision AS (
  UPDATE provision SET last_used_at = now()
  WHERE id = $1 AND revoked_at IS NULL AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
), used_session AS (
  UPDATE session SET last_seen_at = now()
  WHERE token_hash = $2 AND provision_id = $1 AND expires_at > now()
    AND last_seen_at > now() - make_interval(mins => $3) AND last_seen_at < now() - interval '1 minute'
)
SELECT ${PROVISION_COLUMNS},
  s.provision_id AS session_provision_id, s.expires_at, u.id AS user_id, u.username, u.privileges AS user_privileges,
  u.disabled_at IS NOT NULL AS disabled
FROM provision p
JOIN organization o ON o.id = p.organization_id
LEFT JOIN session s ON s.token_hash = $2 AND s.expires_at > now() AND s.last_seen_at > now() - make_interval(mins => $3)
LEFT JOIN "user" u ON u.organization_id = s.organization_id AND u.id = s.user_id
WHERE p.id = $1 AND p.revoked_at IS NULL`;

const FIND_PROVISION = `
SELECT ${PROVISION_COLUMNS}, NULL AS session_provision_id
FROM provision p JOIN organization o ON o.id = p.organization_id
WHERE p.id = $1 AND p.revoked_at IS NULL`;

export class AccessStore {
  constructor(
    private readonly database: Database,
    private readonly sessionIdleMinutes: number,
  ) {}

  /**
   * Finds a provision that is not revoked and, when a token's hash is given, the session of that token, in one round trip. Null when there
   * is no such provision.
   */
  async find(provisionId: string, tokenHash: Buffer | undefined): Promise<AccessRow | null> {
    try {
      const values = [provisionId, tokenHash ?? null, this.sessionIdleMinutes];
      return toAccessRow(await this.database.query<JoinedRow>({ name: 'find-access', text: FIND_ACCESS, values }));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'DATA_SOURCE_QUERY_FAILED') throw error;
      // A second statement without the sessions tells a broken data source from a broken session store.
      const found = toAccessRow(await this.database.query<JoinedRow>({ text: FIND_PROVISION, values: [provisionId] }));
      return found && { ...found, session: tokenHash ? new AppError('ESTABLISHING_SESSION_FAILED', { cause: error.cause }) : null };
    }
  }
}

function toAccessRow([row]: JoinedRow[]): AccessRow | null {
  if (!row) return null;
  return {
    provision: { id: row.provision_id, kind: row.kind, privileges: row.provision_privileges },
    organization: {
      ...{ id: row.organization_id, name: row.organization_name, hosts: row.hosts },
      ...{ underMaintenance: row.under_maintenance, dataVersion: row.data_version },
    },
    session: row.session_provision_id === null ? null : toSession(row, row.session_provision_id),
  };
}

function toSession(row: JoinedRow, provisionId: string): SessionRow {
  return {
    provisionId,
    expiresAt: row.expires_at,
    userId: row.user_id,
    username: row.username,
    privileges: row.user_privileges,
    disabled: row.disabled,
  };
}
