import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** An address that leads to one database server after another, as that of a balancer does. */
export interface ServerSwitch {
  readonly url: string;
  /** Leads new connections to another server with the same roles. With `cut`, the earlier connections end. */
  moveTo(databaseUrl: string, cut: boolean): void;
  /** Keeps all answers of the server back, or lets them through again. */
  hold(isHeld: boolean): void;
  close(): Promise<void>;
}

export async function startServerSwitch(databaseUrl: string): Promise<ServerSwitch> {
  let target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const answering = new Map<Socket, Socket>();
  let isHeld = false;
  const server = createServer((client) => {
    const directory = target.searchParams.get('host');
    const port = Number(target.port || '5432');
    const database = directory === null ? connect(port, target.hostname) : connect(`${directory}/.s.PGSQL.${port}`);
    client.pipe(database);
    if (!isHeld) database.pipe(client);
    answering.set(database, client);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        answering.delete(database);
        for (const other of [client, database]) other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.searchParams.delete('host');
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`;
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    moveTo: (next, cut) => {
      target = new URL(next);
      if (cut) cutAll();
    },
    hold: (held) => {
      isHeld = held;
      for (const [database, client] of answering) {
        if (held) database.unpipe(client);
        else database.pipe(client);
      }
    },
    close: async () => {
      server.close();
      cutAll();
      await once(server, 'close');
    },
  };
}
