import { createHmac } from 'node:crypto';
import { OperatorError } from '../errors';

/** A message to a receiver. It holds no personal data, so that whoever reads it learns nothing but that there is a newer version. */
export interface WebhookMessage {
  readonly id: string;
  /** The time of the event: that of the data version, or that at which a heartbeat fell due. */
  readonly at: Date;
  readonly organization: string;
  readonly version: number;
  /** The version that the receiver has acknowledged before. A heartbeat is of that version. */
  readonly previous: number;
  /** The cause of the version, as data_version has it; null before the first version. */
  readonly cause: string | null;
}

const PREFIX = 'whsec_';
/** The bounds of a secret (Standard Webhooks 1.0, "Signature scheme"). */
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;
/** 24 random bytes have fewer different ones once in a million million times; a placeholder has one or a few. */
const MIN_DIFFERENT_BYTES = 12;
const MS_PER_SECOND = 1000;

/** The JSON of a message. It is the same text at every attempt. */
export const toWebhookBody = ({ at, organization, version, previous, cause }: WebhookMessage): string =>
  JSON.stringify({
    type: version === previous ? 'books.heartbeat' : 'books.advanced',
    timestamp: at.toISOString(),
    data: { organization, version, previous, cause: cause?.toUpperCase() ?? null },
  });

/** The headers of an attempt at a time (Standard Webhooks 1.0). Each attempt is signed anew, so that receivers may refuse old ones. */
export function signWebhook(id: string, body: string, secret: Buffer, now: Date): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now.getTime() / MS_PER_SECOND));
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** The key in the text of a secret, `whsec_` and base64. Throws an OperatorError, which does not repeat it, for another text or a weak key. */
export function parseWebhookSecret(text: string): Buffer {
  const encoded = text.trim();
  const key = Buffer.from(encoded.slice(PREFIX.length), 'base64');
  const isWhole = encoded.startsWith(PREFIX) && withoutPadding(key.toString('base64')) === withoutPadding(encoded.slice(PREFIX.length));
  if (!isWhole) throw new OperatorError(`The secret must be ${PREFIX} and base64, such as ${PREFIX}$(openssl rand -base64 32)`);
  if (key.length < MIN_SECRET_BYTES || key.length > MAX_SECRET_BYTES || new Set(key).size < MIN_DIFFERENT_BYTES) {
    throw new OperatorError(`The secret must have ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} random bytes in base64`);
  }
  return key;
}

const withoutPadding = (text: string): string => text.replace(/=+$/, '');
