import { readFile } from 'node:fs/promises';
import { OperatorError } from '../errors';
import type { SourceCredentials } from '../source/v2-client';
import { UsageError } from './command-options';
import { readSecret, rethrowUnreadable } from './secret-file';
import { firstLineOf } from './terminal';

/** The places of a v2 service's credentials. */
export interface CredentialSources {
  readonly url: URL;
  /** The name of the service in messages. */
  readonly service: string;
  readonly provisionFile: string | undefined;
  readonly cookieFile: string | undefined;
  /** The values of settings, which count where there is no file; empty where there is none. */
  readonly provision?: string;
  readonly cookie?: string;
  /** The options and settings that may have the provision, for the message that it is missing. */
  readonly names: string;
}

const MS_PER_SECOND = 1000;

/** Reads the address of a service. Commander does not read it, because its message would repeat the credentials in it. */
export function readAddress(option: string, provisionOption: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`${option}: expected an address such as https://service.example.org`);
  if (url.username !== '' || url.password !== '') throw new UsageError(`${option} must not have credentials: ${provisionOption} has them`);
  if (url.search !== '' || url.hash !== '') throw new UsageError(`${option}: expected an address without a query`);
  return url;
}

/** Reads the certificate of an authority; undefined for no file. */
export function readAuthority(file: string | undefined): Promise<string> | undefined {
  return file === undefined ? undefined : readFile(file, 'utf8').catch(rethrowUnreadable(file));
}

/** Reads the credentials of a service from files that no other account may read. Throws an OperatorError that repeats none of them. */
export async function readCredentials(sources: CredentialSources): Promise<SourceCredentials> {
  const { url, service, provisionFile, cookieFile, names } = sources;
  const provision = provisionFile === undefined ? sources.provision : firstLineOf(await readSecret(provisionFile), provisionFile).trim();
  if (!provision) throw new UsageError(`${names} must have the provision of ${service}`);
  const cookie = cookieFile === undefined ? sources.cookie : toCookie((await readSecret(cookieFile)).toString('latin1'), url, cookieFile);
  assertHeader(provision, `The provision of ${service}`);
  assertHeader(cookie ?? '', `The cookie of ${service}`);
  return { provision, cookie: cookie === '' ? undefined : cookie };
}

function assertHeader(value: string, name: string): void {
  if (!/^[\x20-\x7e]*$/.test(value)) throw new OperatorError(`${name} has characters that no header may have`);
}

/**
 * The header of a file of cookies: its first line, or the cookies of the address from a file as curl's --cookie-jar writes it. Throws an
 * OperatorError when it has none.
 */
function toCookie(text: string, { hostname, protocol }: URL, file: string): string {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/^#HttpOnly_/, ''));
  const rows = lines
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.split('\t'))
    .filter((row) => row.length === 7);
  const isOfHost = (domain: string): boolean => domain === hostname || (domain.startsWith('.') && `.${hostname}`.endsWith(domain));
  const isGood = ([domain, , , secure, expires]: string[]): boolean =>
    isOfHost(domain!) && (secure !== 'TRUE' || protocol === 'https:') && (expires === '0' || Number(expires) * MS_PER_SECOND > Date.now());
  const cookie =
    rows.length > 0
      ? rows
          .filter(isGood)
          .map((row) => `${row[5]}=${row[6]}`)
          .join('; ')
      : lines.find((line) => line.trim() !== '' && !line.startsWith('#'))?.trim();
  if (!cookie) throw new OperatorError(`${file} has no cookie for ${protocol}//${hostname}`);
  return cookie;
}
