import { Client, Query, type ClientBase, type Connection, type QueryConfig } from 'pg';
import { setLocally, type LocalSettings } from './local-settings';
import { sendStatement } from './statement-messages';

/** The part of pg's Query that is changed here. Its types leave most of it out. */
interface SentQuery {
  submit(connection: Connection): Error | null;
  handleDataRow(row: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
}
const PgQuery = Query as unknown as new (...parameters: readonly unknown[]) => SentQuery;

/** A statement that is sent together with the settings of its transaction: one round trip for both. The answer is the statement's own. */
class SettledQuery extends PgQuery {
  private isSettled = false;

  constructor(
    private readonly settings: string,
    ...parameters: readonly unknown[]
  ) {
    super(...parameters);
  }

  /** Both are one transaction, because only the statement's own messages end with Sync (PostgreSQL manual, Pipelining). */
  override submit(connection: Connection): Error | null {
    connection.stream.cork();
    sendStatement(connection, { text: this.settings });
    try {
      return super.submit(connection);
    } finally {
      connection.stream.uncork();
    }
  }

  override handleDataRow(row: unknown): void {
    if (this.isSettled) super.handleDataRow(row);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.isSettled) super.handleCommandComplete(message, connection);
    this.isSettled = true;
  }
}

/** The statements that begin and end a transaction of several. They read nothing, so they need no settings. */
const IS_BRACKET = /^\s*(?:BEGIN|COMMIT|ROLLBACK)\b/i;

type Answer = (error: Error | null, result?: unknown) => void;

/**
 * The class of clients for a pooler that may give each transaction another connection of the server. Nothing of a statement may stay on a
 * connection then: it brings its settings along, which end with its transaction, and its name is dropped, so that it is not kept prepared.
 */
export function createPooledClient(settings: LocalSettings): new () => ClientBase {
  const text = `SELECT ${setLocally(settings)}`;
  return class PooledClient extends Client {
    constructor(...parameters: ConstructorParameters<typeof Client>) {
      super(...parameters);
      const send = this.query.bind(this) as (...parameters: readonly unknown[]) => unknown;
      const sendSettled = (statement: string | QueryConfig, ...rest: readonly unknown[]): unknown => {
        const config = typeof statement === 'string' ? { text: statement } : statement;
        if ('submit' in config || IS_BRACKET.test(config.text)) return send(statement, ...rest);
        const values = rest.find(Array.isArray) ?? config.values;
        const callback = rest.find((each) => typeof each === 'function') as Answer | undefined;
        const run = (answer: Answer): unknown =>
          send(new SettledQuery(text, { ...config, values, name: undefined, queryMode: 'extended' }, undefined, answer));
        if (callback) return run(callback);
        return new Promise((resolve, reject) => run((error, result) => (error ? reject(error) : resolve(result))));
      };
      Object.assign(this, { query: sendSettled });
    }
  };
}
