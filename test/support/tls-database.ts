import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';

const FOLDER = join(__dirname, 'tls');
/** The certificate of the authority that has signed the server's certificate, for `localhost`. */
export const AUTHORITY_FILE = join(FOLDER, 'authority.pem');
/** SSLRequest (PostgreSQL manual, Message Formats): its length, and the code in place of a protocol version. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** A door before a database that takes TLS connections alone, as a PostgreSQL with `hostssl` rules does. */
export interface TlsDatabase {
  readonly port: number;
  /** The number of connections that were encrypted. */
  encrypted(): number;
  close(): Promise<void>;
}

export async function startTlsDatabase(databaseUrl: string): Promise<TlsDatabase> {
  const target = new URL(databaseUrl);
  const directory = target.searchParams.get('host');
  const port = Number(target.port || '5432');
  const secureContext = createSecureContext({
    cert: readFileSync(join(FOLDER, 'server.pem')),
    key: readFileSync(join(FOLDER, 'server.key')),
  });
  const sockets = new Set<Socket>();
  let encrypted = 0;
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => undefined);
    client.once('data', (first: Buffer) => {
      if (!first.equals(SSL_REQUEST)) {
        client.destroy();
        return;
      }
      client.write('S');
      const secured = new TLSSocket(client, { isServer: true, secureContext });
      const database = directory === null ? connect(port, target.hostname) : connect(`${directory}/.s.PGSQL.${port}`);
      sockets.add(database);
      secured.once('secure', () => encrypted++);
      for (const [one, other] of [
        [secured, database],
        [database, secured],
      ] as const) {
        one.on('error', () => other.destroy()).on('close', () => other.destroy());
        one.pipe(other);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    encrypted: () => encrypted,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
