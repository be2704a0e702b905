import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A message that the server has taken. */
export interface TakenMail {
  readonly id: string;
  readonly from: string;
  readonly to: readonly string[];
  /** The headers by their names in lower case, unfolded. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly file: { readonly name: string; readonly content: string } | undefined;
}

/** The steps of a session at which a server may fail. `dropped` closes the connection in the middle of the message. */
export type FailingStep = 'connection' | 'sender' | 'recipient' | 'message' | 'dropped';

const TLS = join(__dirname, 'tls');

/** A mail server on this machine, of the package smtp-server. */
export class MailServer {
  readonly mails: TakenMail[] = [];
  /** The sessions that wait for an answer that does not come. */
  stalled = 0;
  private readonly sockets = new Set<Socket>();
  /** Says at which step the next session fails, and by which status; undefined for one that succeeds. */
  fail: () => { readonly step: FailingStep; readonly status: number } | undefined = () => undefined;
  /** True for a server that answers no recipient. */
  isStalling = false;
  /** Resolves when the server answers a message that it has taken. */
  answerAfter: () => Promise<void> = () => Promise.resolve();

  private constructor(private readonly server: SMTPServer) {}

  static async start(options: SMTPServerOptions = {}): Promise<MailServer> {
    const plans = new Map<string, ReturnType<MailServer['fail']>>();
    const failAt = (step: FailingStep, id: string): Error | null => {
      const plan = plans.get(id);
      return plan?.step === step ? Object.assign(new Error('not now'), { responseCode: plan.status }) : null;
    };
    const server = new SMTPServer({
      ...{ disabledCommands: ['AUTH', 'STARTTLS'], logger: false, closeTimeout: 100 },
      cert: readFileSync(join(TLS, 'server.pem')),
      key: readFileSync(join(TLS, 'server.key')),
      ...options,
      onConnect: ({ id }, done) => {
        plans.set(id, mailServer.fail());
        done(failAt('connection', id));
      },
      onMailFrom: (_address, { id }, done) => done(failAt('sender', id)),
      onRcptTo: (_address, { id }, done) => {
        if (mailServer.isStalling) mailServer.stalled++;
        else done(failAt('recipient', id));
      },
      onData: (stream, { id, envelope }, done) => {
        // A connection that ends within a message takes the message with it.
        stream.on('error', () => undefined);
        if (plans.get(id)?.step === 'dropped') return mailServer.drop();
        void buffer(stream).then(
          (content) => {
            const error = failAt('message', id);
            if (error) return done(error);
            mailServer.mails.push(toMail(content.toString(), envelope));
            void mailServer.answerAfter().then(() => done());
          },
          () => undefined,
        );
      },
    });
    server.on('error', () => undefined);
    const mailServer = new MailServer(server);
    server.server.on('connection', (socket: Socket) => {
      mailServer.sockets.add(socket);
      socket.on('close', () => mailServer.sockets.delete(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server.server, 'listening');
    return mailServer;
  }

  get port(): number {
    return (this.server.server.address() as AddressInfo).port;
  }

  /** The settings of a gateway that sends by this server. */
  get settings(): Readonly<Record<string, string>> {
    return {
      SMTP_URL: `smtp://127.0.0.1:${this.port}?tls=none`,
      MAIL_FROM: 'reports@example.org',
      PLAYGROUND_URL: 'https://gifts.example.org/playground',
    };
  }

  /** Closes all connections, whatever is under way. */
  drop(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.drop();
    await new Promise<void>((resolve) => this.server.close(resolve));
  }
}

function toMail(content: string, { mailFrom, rcptTo }: { mailFrom: unknown; rcptTo: readonly { address: string }[] }): TakenMail {
  const { headers, body } = readPart(content);
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type']!)?.[1];
  const [text, file] =
    boundary === undefined
      ? [{ headers, body }]
      : body
          .split(`--${boundary}`)
          .slice(1, 3)
          .map((part) => readPart(part.slice(2)));
  return {
    id: headers['message-id']!,
    from: (mailFrom as { address: string }).address,
    to: rcptTo.map(({ address }) => address),
    headers,
    text: decode(text!).trimEnd(),
    file: file && { name: /filename="?([^";]+)/.exec(file.headers['content-disposition']!)![1]!, content: decode(file) },
  };
}

interface Part {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function readPart(content: string): Part {
  const end = content.indexOf('\r\n\r\n');
  const lines = content
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { headers, body: content.slice(end + 4) };
}

function decode({ headers, body }: Part): string {
  const coding = headers['content-transfer-encoding'];
  if (coding === 'base64') return Buffer.from(body, 'base64').toString();
  if (coding !== 'quoted-printable') return body.replaceAll('\r\n', '\n');
  const bytes = body
    .replaceAll('=\r\n', '')
    .replaceAll('\r\n', '\n')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
