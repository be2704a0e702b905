import { withoutBrackets } from './addresses';

/** A mail server that takes messages for others. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the start, or after STARTTLS, without which nothing is sent, or none for a network that nobody else reads. */
  readonly tls: 'start' | 'starttls' | 'none';
  /** Undefined for a server that asks for no login. */
  readonly login: { readonly user: string; readonly pass: string } | undefined;
}

const SMTPS_PORT = 465;
const SUBMISSION_PORT = 587;
const MAX_LENGTH = 254;

/** True for an address of e-mail as people have them. It has no part that a header or a command of SMTP could take for its own. */
export const isMailAddress = (text: string): boolean =>
  text.length <= MAX_LENGTH && /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/.test(text);

/** The mail server of a URL such as `smtps://user:password@mail.example.org`; undefined for another text. */
export function toMailServer(text: string): MailServer | undefined {
  if (!/^smtps?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  if (hostname === '' || (pathname !== '' && pathname !== '/') || hash !== '' || (username === '') !== (password === '')) return undefined;
  const isTls = protocol === 'smtps:';
  if (search !== '' && (isTls || search !== '?tls=none')) return undefined;
  try {
    return {
      host: withoutBrackets(hostname),
      port: port === '' ? (isTls ? SMTPS_PORT : SUBMISSION_PORT) : Number(port),
      tls: isTls ? 'start' : search === '' ? 'starttls' : 'none',
      login: username === '' ? undefined : { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    };
  } catch (error) {
    // A percent sign of a password that is not encoded.
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
