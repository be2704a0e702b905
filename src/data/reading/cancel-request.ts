import { Connection, type ClientBase, type ConnectionConfig } from 'pg';

/** The parts of pg's client and connection that its types leave out. */
type Reached = ClientBase & {
  readonly processID: number;
  readonly secretKey: number;
  readonly ssl: ConnectionConfig['ssl'];
  readonly connectionParameters: { readonly host: string; readonly port: number };
};
type CancellingConnection = Connection & {
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
};

const TIMEOUT_MS = 1000;

/**
 * Asks the server to cancel the statement that a client has under way, by a connection of its own (PostgreSQL manual, Canceling Requests in
 * Progress). A pooler passes the request on, though a process id that it gives means nothing to the server, while it still has the client's
 * connection. Throws when the request could not be delivered; nobody tells whether it came in time.
 */
export async function cancelStatement(client: ClientBase): Promise<void> {
  const { processID, secretKey, ssl, connectionParameters } = client as Reached;
  const { host, port } = connectionParameters;
  const connection = new Connection({ ssl }) as CancellingConnection;
  const cancel = (): void => connection.cancel(processID, secretKey);
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('A request to cancel a statement was not taken')), TIMEOUT_MS);
    const settle = (then: () => void): void => {
      clearTimeout(timer);
      then();
    };
    // The server closes the connection when it has passed the request on.
    connection.on('end', () => settle(resolve)).on('error', (error: Error) => settle(() => reject(error)));
    connection.on('connect', () => (ssl ? connection.requestSsl() : cancel())).on('sslconnect', cancel);
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  }).finally(() => connection.stream.destroy());
}
