import type { Connection } from 'pg';

/** A statement with its parameters as text. */
export interface Statement {
  readonly text: string;
  readonly values?: readonly string[];
}

/** Sends an unnamed statement by the extended protocol. Its answer comes with the next Sync or Flush. */
export function sendStatement(connection: Connection, { text, values = [] }: Statement): void {
  connection.parse({ name: '', text, types: [] }, true);
  connection.bind({ portal: '', statement: '', values: [...values] }, true);
  connection.execute({ portal: '', rows: '0' }, true);
}
