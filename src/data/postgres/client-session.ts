import type { ClientBase } from 'pg';

/** Ends a connection at once. The statement that is under way fails, and so does its transaction. */
export function destroyConnection(client: ClientBase): void {
  (client as ClientBase & { readonly connection: { readonly stream: { destroy(): void } } }).connection.stream.destroy();
}
