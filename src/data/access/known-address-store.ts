import type { Database } from '../postgres/database';

/** The most addresses that are kept for a user; the latest ones stay. */
const MAX_ADDRESSES = 20;
const REMEMBERED = `interval '30 days'`;

const IS_KNOWN = `
SELECT FROM known_address k
JOIN "user" u ON u.organization_id = k.organization_id AND u.id = k.user_id
WHERE u.organization_id = $1 AND u.username = $2 AND k.address_hash = $3 AND k.last_login_at > now() - ${REMEMBERED}`;

// SKIP LOCKED leaves rows to another login that is removing them, because two logins must not wait for each other.
const REMEMBER = `
WITH surplus AS (
  DELETE FROM known_address WHERE organization_id = $1 AND user_id = $2 AND address_hash IN (
    SELECT address_hash FROM known_address WHERE organization_id = $1 AND user_id = $2 AND address_hash <> $3
    ORDER BY last_login_at DESC OFFSET ${MAX_ADDRESSES - 1} FOR UPDATE SKIP LOCKED)
), expired AS (
  DELETE FROM known_address WHERE (organization_id, user_id, address_hash) IN (
    SELECT organization_id, user_id, address_hash FROM known_address
    WHERE last_login_at < now() - ${REMEMBERED} AND (organization_id, user_id, address_hash) <> ($1, $2, $3)
    LIMIT 100 FOR UPDATE SKIP LOCKED)
)
INSERT INTO known_address (organization_id, user_id, address_hash, last_login_at) VALUES ($1, $2, $3, now())
ON CONFLICT (organization_id, user_id, address_hash) DO UPDATE SET last_login_at = now()`;

/** Keeps the addresses from which users have logged in during the last 30 days, as hashes. */
export class KnownAddressStore {
  constructor(private readonly database: Database) {}

  async isKnown(organizationId: number, username: string, addressHash: Buffer): Promise<boolean> {
    const values = [organizationId, username, addressHash];
    return (await this.database.query({ name: 'is-known-address', text: IS_KNOWN, values })).length > 0;
  }

  async remember(organizationId: number, userId: number, addressHash: Buffer): Promise<void> {
    const values = [organizationId, userId, addressHash];
    await this.database.query({ name: 'remember-address', text: REMEMBER, values });
  }
}
