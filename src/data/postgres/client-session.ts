import type { Client } from 'pg';

/** Sets what a connection depends on. A statement does so also where DATABASE_URL has `options` of its own, which replace those of a client. */
export async function setSession(client: Client, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) await client.query('SELECT set_config($1, $2, false)', [name, value]);
}

/** Ends a connection at once. The statement that is under way fails, and so does its transaction. */
export function destroyConnection(client: Client): void {
  (client as Client & { readonly connection: { readonly stream: { destroy(): void } } }).connection.stream.destroy();
}
