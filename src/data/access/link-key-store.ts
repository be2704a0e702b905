import type { Database } from '../postgres/database';

/** A cursor is good for a week at least: its key is in use for a day. Links have a shorter life of their own. */
const KEPT = `interval '8 days'`;

const LIST = `SELECT key, extract(epoch FROM now() - created_at)::float8 AS age FROM link_key
WHERE created_at > now() - ${KEPT} ORDER BY created_at DESC, id DESC`;
const INSERT = `WITH expired AS (DELETE FROM link_key WHERE created_at <= now() - ${KEPT}) INSERT INTO link_key (key) VALUES ($1)`;

interface LinkKey {
  readonly key: Buffer;
  /** Seconds since it was made, by the clock of the database. */
  readonly age: number;
}

/** Keeps the keys of links and cursors. They are in the database, so that all processes that share it know them. */
export class LinkKeyStore {
  constructor(private readonly database: Database) {}

  /** The keys of the last eight days, the newest first. */
  list(): Promise<LinkKey[]> {
    return this.database.query<LinkKey & Record<string, unknown>>({ text: LIST });
  }

  /** Adds a key, and deletes those that nothing can be of any more. */
  async insert(key: Buffer): Promise<void> {
    await this.database.query({ text: INSERT, values: [key] });
  }
}
