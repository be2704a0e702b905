import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { Transform } from 'node:stream';
import { isDistributed } from './database';

/**
 * A proxy between the gateway and its database. It counts the statements that it passes on, but for those of the audit, which are written
 * once a minute and beside the request's own, those that count the use of v2 every few seconds, and those that read the version of distributed books, which are on another node than access.
 */
export interface DatabaseProxy {
  readonly url: string;
  /**
   * The number of statements executed so far: each is one Query or Execute message (PostgreSQL manual, Message Formats). Settings that travel
   * with a statement do not count.
   */
  statements(): number;
  /** The number of times that the gateway has waited for an answer: each is one Query or Sync message. Logging in does not count. */
  roundTrips(): number;
  /** The names of the parameters with which connections were opened so far, each once. */
  startupParameters(): string[];
  /** The names under which statements were kept so far. */
  keptNames(): string[];
  /** The number of requests to cancel a statement so far. */
  cancellations(): number;
  /** The number of pieces of answers that the database has sent so far. */
  answers(): number;
  /** Cuts off all further answers on any connection that sends this text from now on. */
  freezeAt(text: string): void;
  /** Does something before the next bytes with this text, or the values of a prepared statement with it, reach the database, once. */
  before(text: string, act: () => Promise<void>): void;
  close(): Promise<void>;
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const socketDirectory = target.searchParams.get('host');
  const sockets = new Set<Socket>();
  let statements = 0;
  let roundTrips = 0;
  let answers = 0;
  let cancellations = 0;
  const startupParameters = new Set<string>();
  const keptNames = new Set<string>();
  let frozenText: string | undefined;
  let awaited: { readonly text: string; readonly act: () => Promise<void> } | undefined;
  const server = createServer((client) => {
    const port = Number(target.port || '5432');
    const database = socketDirectory === null ? connect(port, target.hostname) : connect(`${socketDirectory}/.s.PGSQL.${port}`);
    const prepared = new Map<string, string>();
    /** The texts of the prepared statements that the newest piece runs. */
    let running: string[] = [];
    let isBeside = false;
    let isSetting = false;
    const readMessages = createMessageReader((type, body) => {
      if (type === STARTUP) {
        if (body.readUInt32BE() === CANCEL_CODE) cancellations++;
        else
          for (const [position, word] of body.toString('latin1', 4).split('\0').entries())
            if (position % 2 === 0 && word !== '') startupParameters.add(word);
      }
      // Parse begins with the statement's name and text, Bind with the portal's name and the statement's.
      const [first, second] = type === 'P' || type === 'B' ? body.toString('latin1').split('\0', 2) : [];
      if (type === 'P') prepared.set(first!, second!);
      if (type === 'P' && first !== '') keptNames.add(first!);
      if (type === 'B') {
        const text = prepared.get(second!) ?? '';
        running.push(text);
        isBeside = text.includes('audit_chain') || text.includes('v2_usage') || (isDistributed && isVersion(text));
        isSetting = text.startsWith(SETTINGS);
      }
      if (type === 'Q' || (type === 'E' && !isBeside && !isSetting)) statements++;
      if (type === 'Q' || (type === 'S' && !isBeside)) roundTrips++;
    });
    client.on('data', (piece: Buffer) => {
      running = [];
      readMessages(piece);
      if (frozenText !== undefined && piece.includes(frozenText)) database.unpipe(client);
    });
    database.on('data', () => answers++);
    const gate = new Transform({
      transform: (piece: Buffer, _encoding, pass) => {
        const text = awaited?.text ?? '';
        const found = piece.includes(text) || running.some((each) => each.includes(text)) ? awaited : undefined;
        if (!found) return pass(null, piece);
        awaited = undefined;
        found.act().then(
          () => pass(null, piece),
          (error: unknown) => pass(error as Error),
        );
      },
    });
    gate.on('error', (error) => client.destroy(error));
    client.pipe(gate).pipe(database).pipe(client);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => [client, database].forEach((other) => other.destroy()));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = new URL(target);
  url.searchParams.delete('host');
  url.host = `127.0.0.1:${typeof address === 'object' ? address!.port : ''}`;
  return {
    url: url.href,
    statements: () => statements,
    roundTrips: () => roundTrips,
    startupParameters: () => [...startupParameters].sort(),
    keptNames: () => [...keptNames],
    cancellations: () => cancellations,
    answers: () => answers,
    freezeAt: (text) => {
      frozenText = text;
    },
    before: (text, act) => {
      awaited = { text, act };
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** True for a statement that reads the version of the books and nothing else. */
const isVersion = (text: string): boolean => text.startsWith('SELECT COALESCE((SELECT number') && !text.includes('set_config');
/** The beginning of a statement that makes settings and nothing else. */
const SETTINGS = 'SELECT set_config(';
/** The type that the reader gives to a connection's first message, which has none of its own. */
const STARTUP = 'startup';
/** The code that a request to cancel has in place of the protocol's version. */
const CANCEL_CODE = 80877102;

/** Splits a client's bytes into protocol messages. The startup message has no type; every other message begins with its type. */
function createMessageReader(onMessage: (type: string, body: Buffer) => void): (piece: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  let started = false;
  return (piece) => {
    pending = Buffer.concat([pending, piece]);
    for (;;) {
      const header = started ? 1 : 0;
      if (pending.length < header + 4) return;
      const length = header + pending.readUInt32BE(header);
      if (pending.length < length) return;
      onMessage(started ? String.fromCharCode(pending[0]!) : STARTUP, pending.subarray(header + 4, length));
      started = true;
      pending = pending.subarray(length);
    }
  };
}
