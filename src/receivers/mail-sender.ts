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
}

/** A failure in words. Permanent for a message that this server will never take, too large for one that it would take if it were smaller. */
export interface MailFailure {
  readonly failure: string;
  readonly kind: 'passing' | 'permanent' | 'too large';
}

/** The longest time for one message, in which a server that stalls is given up. */
export const SENDING_SECONDS = 60;
const ANSWER_MS = 20_000;
const MS_PER_SECOND = 1000;
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
  ) {}

  /** Sends a message. Resolves to undefined when the server has taken it. Rejects when the signal has ended the attempt before that. */
  async send({ id, to, subject, text, file }: MailMessage, signal: AbortSignal): Promise<MailFailure | undefined> {
    signal.throwIfAborted();
    const attachments = file && [{ filename: file.name, content: file.content, contentType: 'text/csv; charset=utf-8' }];
    const headers = { 'Auto-Submitted': 'auto-generated' };
    const messageId = `<${id}@${this.from.slice(this.from.lastIndexOf('@') + 1)}>`;
    const mail = new MailComposer({ from: this.from, to, subject, text, messageId, headers, ...(attachments && { attachments }) });
    const content = await mail.compile().build();
    const { host, port, tls, login } = this.server;
    const connection = new SmtpConnection({
      ...{ host, port, secure: tls === 'start', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
      ...{ connectionTimeout: ANSWER_MS, greetingTimeout: ANSWER_MS, socketTimeout: ANSWER_MS, dnsTimeout: ANSWER_MS },
    });
    try {
      await new Promise<void>((resolve, reject) => {
        const end = (error?: Error | null): void => (error ? reject(error) : resolve());
        const limit = AbortSignal.any([signal, AbortSignal.timeout(SENDING_SECONDS * MS_PER_SECOND)]);
        limit.addEventListener('abort', () => end(Object.assign(new Error('given up'), { code: 'ETIMEDOUT' })));
        // It tells the failure of a connection here too, also after its end.
        connection.on('error', end);
        const send = (error?: Error | null): void => {
          if (error) return end(error);
          connection.send({ from: this.from, to: [to], size: content.length }, content, end);
        };
        connection.connect((error) => {
          if (error || !login) return send(error);
          connection.login({ credentials: login }, send);
        });
      });
      connection.quit();
      return undefined;
    } catch (error) {
      connection.close();
      signal.throwIfAborted();
      return toFailure(error as SmtpError);
    }
  }
}

/** The texts of servers are left out: they may name the recipient. */
function toFailure({ code = '', responseCode = 0, command, message }: SmtpError): MailFailure {
  const isOfMessage = code === 'EENVELOPE' || code === 'EMESSAGE';
  if (responseCode === TOO_LARGE || (code === 'EMESSAGE' && command === 'MAIL FROM'))
    return { failure: 'the message is too large for the mail server', kind: 'too large' };
  if (isOfMessage) return { failure: `the mail server answers ${responseCode}`, kind: responseCode >= 500 ? 'permanent' : 'passing' };
  const failure = CERTIFICATE_FAULT.test(message)
    ? 'the certificate of the mail server is not valid'
    : (FAILURES[code] ?? 'the mail server fails');
  return { failure, kind: 'passing' };
}
