import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import SmtpConnection from 'nodemailer/lib/smtp-connection';
import type { MailServer } from '../values/mail-addresses';

/** A message to one recipient. */
export interface MailMessage {
  /** A mail that is sent again has the same one, so that whoever gets it twice can tell. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly file?: { readonly name: string; readonly content: Buffer } | undefined;
  /** Called before the first byte of the message goes to the server, which by then has taken sender and recipient. */
  readonly onLeaving?: () => void;
}

/** A failure in words. Permanent for a message that this server will never take, too large for one that it would take if it were smaller. */
export interface MailFailure {
  readonly failure: string;
  readonly kind: 'passing' | 'permanent' | 'too large';
}

const MS_PER_SECOND = 1000;
const CONNECTING_MS = 20_000;
/** The longest time until a server takes messages, after its login. */
const OPENING_SECONDS = 60;
/** The longest time for the message and the answer to it. A server may search a message for viruses as long as that (RFC 5321 section 4.5.3.2.6). */
const MESSAGE_SECONDS = 600;
/** The longest time for one message, in which a server that stalls is given up. */
export const SENDING_SECONDS = OPENING_SECONDS + MESSAGE_SECONDS;
const TOO_LARGE = 552;
const CERTIFICATE_FAULT = /certificate|self.signed|altnames|hostname/i;

type SmtpError = Error & { readonly code?: string; readonly responseCode?: number; readonly command?: string };

const FAILURES: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server refuses the user or the password',
  EDNS: 'the mail server has an unknown name',
  ETIMEDOUT: 'the mail server gives no answer',
  ECONNECTION: 'the mail server has closed the connection',
  ESOCKET: 'the mail server cannot be reached',
  ETLS: 'the mail server offers no TLS',
};

/** Sends messages by one mail server, each over a connection of its own. */
export class MailSender {
  constructor(
    private readonly server: MailServer,
    private readonly from: string,
    /** The time for which a stop waits for the answer to a whole message. */
    private readonly graceMs: number,
  ) {}

  /** Sends a message. Resolves to undefined when the server has taken it. Rejects when the signal has ended the attempt before that. */
  async send({ id, to, subject, text, file, onLeaving }: MailMessage, stopping: AbortSignal): Promise<MailFailure | undefined> {
    stopping.throwIfAborted();
    const attachments = file && [{ filename: file.name, content: file.content, contentType: 'text/csv; charset=utf-8' }];
    const headers = { 'Auto-Submitted': 'auto-generated' };
    const messageId = `<${id}@${this.from.slice(this.from.lastIndexOf('@') + 1)}>`;
    const mail = new MailComposer({ from: this.from, to, subject, text, messageId, headers, ...(attachments && { attachments }) });
    const content = await mail.compile().build();
    const { host, port, tls, login } = this.server;
    const connection = new SmtpConnection({
      ...{ host, port, secure: tls === 'start', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
      ...{ connectionTimeout: CONNECTING_MS, greetingTimeout: CONNECTING_MS, socketTimeout: MESSAGE_SECONDS * MS_PER_SECOND },
    });
    const message = Readable.from(leave(content, onLeaving));
    let stop = (): void => undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const end = (error?: Error | null): void => (error ? reject(error) : resolve());
        const endAfter = (ms: number): void => {
          clearTimeout(timer);
          timer = setTimeout(() => end(Object.assign(new Error('given up'), { code: 'ETIMEDOUT' })), ms);
        };
        // Nobody knows of a message that has left whole, before its answer, whether the server has taken it.
        stop = () => (message.readableEnded ? endAfter(this.graceMs) : end(new Error('stopped')));
        stopping.addEventListener('abort', stop);
        // It tells the failure of a connection here too, also after its end.
        connection.on('error', end);
        const send = (error?: Error | null): void => {
          if (error) return end(error);
          endAfter(MESSAGE_SECONDS * MS_PER_SECOND);
          connection.send({ from: this.from, to: [to], size: content.length }, message, end);
        };
        endAfter(OPENING_SECONDS * MS_PER_SECOND);
        connection.connect((error) => {
          if (error || !login) return send(error);
          connection.login({ credentials: login }, send);
        });
      });
      connection.quit();
      return undefined;
    } catch (error) {
      connection.close();
      stopping.throwIfAborted();
      return toFailure(error as SmtpError);
    } finally {
      clearTimeout(timer);
      stopping.removeEventListener('abort', stop);
    }
  }
}

function* leave(content: Buffer, onLeaving = (): void => undefined): Generator<Buffer> {
  onLeaving();
  yield content;
}

/** The texts of servers are left out: they may name the recipient. */
function toFailure({ code = '', responseCode = 0, command, message }: SmtpError): MailFailure {
  const isOfMessage = code === 'EENVELOPE' || code === 'EMESSAGE';
  const isOfSender = command === 'MAIL FROM';
  // A recipient whose mailbox is full has the same status.
  if ((responseCode === TOO_LARGE && command !== 'RCPT TO') || (code === 'EMESSAGE' && isOfSender))
    return { failure: 'the message is too large for the mail server', kind: 'too large' };
  // A server that refuses the sender may be told of it, and then takes all messages.
  const kind = responseCode >= 500 && !isOfSender ? 'permanent' : 'passing';
  if (isOfMessage) return { failure: `the mail server answers ${responseCode}${isOfSender ? ' to the sender' : ''}`, kind };
  const failure = CERTIFICATE_FAULT.test(message)
    ? 'the certificate of the mail server is not valid'
    : (FAILURES[code] ?? 'the mail server fails');
  return { failure, kind: 'passing' };
}
