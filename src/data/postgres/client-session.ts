import type { Client } from 'pg';

/** Ends a connection at once. The statement that is under way fails, and so does its transaction. */
export function destroyConnection(client: Client): void {
  (client as Client & { readonly connection: { readonly stream: { destroy(): void } } }).connection.stream.destroy();
}
