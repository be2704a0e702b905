import type { Database } from './postgres/database';

const KEPT = `interval '25 hours'`;

const LIST = `SELECT key, extract(epoch FROM now() - created_at)::float8 AS age FROM link_key
WHERE created_at > now() - ${KEPT} ORDER BY created_at DESC, id DESC`;
const INSERT = `WITH expired AS (DELETE FROM link_key WHERE created_at <= now() - ${KEPT}) INSERT INTO link_key (key) VALUES ($1)`;

export interface LinkKey {
  readonly key: Buffer;
  /** Seconds since it was made, by the clock of the database. */
  readonly age: number;
}

/** Keeps the keys that links are signed with. They are in the database, so that all processes that share it know them. */
export class LinkKeyStore {
  constructor(private readonly database: Database) {}

  /** The keys of the last 25 hours, the newest first. */
  list(): Promise<LinkKey[]> {
    return this.database.query<LinkKey & Record<string, unknown>>({ text: LIST });
  }

  /** Adds a key, and deletes those that no link can be signed with any more. */
  async insert(key: Buffer): Promise<void> {
    await this.database.query({ text: INSERT, values: [key] });
  }
}
