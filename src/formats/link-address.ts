import type { FileFormat } from '../values/file-formats';
import { formatFileQuery, reportOf, type FileQuery } from './file-address';

/** Node's HTTP server accepts at most 16 kB for the address and the headers together. */
const MAX_ADDRESS_LENGTH = 12_000;

/** The address of the file of a query. One that is too long for a server has `isTooLong`. */
export function toFileAddress(query: FileQuery, format: FileFormat): { readonly address: string; readonly isTooLong: boolean } {
  const address = `/export/${reportOf(query)}.${format}?${formatFileQuery(query)}`;
  return { address, isTooLong: address.length > MAX_ADDRESS_LENGTH };
}

/** The caller whom a link stands for: a session, by the proof of its token, or a provision, by the proof of its UUID. */
export interface LinkCaller {
  readonly kind: 'session' | 'provision';
  readonly value: Buffer;
}

/** The parts of a link. */
export interface Link {
  /** The path and the parameters of the file, without those of the link. */
  readonly address: string;
  /** The seconds of the Unix time at which the link expires. */
  readonly expires: number;
  readonly caller: LinkCaller;
  /** The text that is signed: all that stands before the signature. */
  readonly signedText: string;
  readonly signature: Buffer;
}

/** The end of a link. Only files have links. Nothing may follow the signature, or a parameter could be added behind it. */
const LINK = /^(\/(?:export|reports)\/.*)[?&]expires=([0-9]{1,10})&caller=([sp])\.([\w-]{43})&signature=([\w-]{43})$/;

/** The text to sign of a link to an address. */
export function toSignedText(address: string, expires: number, { kind, value }: LinkCaller): string {
  const mark = address.includes('?') ? '&' : '?';
  return `${address}${mark}expires=${expires}&caller=${kind === 'session' ? 's' : 'p'}.${value.toString('base64url')}`;
}

export const toLink = (signedText: string, signature: Buffer): string => `${signedText}&signature=${signature.toString('base64url')}`;

/** The parts of a request target that is a link; undefined for any other. */
export function parseLink(target: string): Link | undefined {
  const [, address, expires, kind, value, signature] = LINK.exec(target) ?? [];
  if (address === undefined) return undefined;
  return {
    address,
    expires: Number(expires),
    caller: { kind: kind === 's' ? 'session' : 'provision', value: Buffer.from(value!, 'base64url') },
    signedText: target.slice(0, target.lastIndexOf('&')),
    signature: Buffer.from(signature!, 'base64url'),
  };
}
