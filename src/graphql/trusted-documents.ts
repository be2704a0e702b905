import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { InMemoryLRUCache, type KeyValueCache } from '@apollo/utils.keyvaluecache';
import { z } from 'zod';
import { OperatorError } from '../errors';

/** The text of each document that apps may send, by its SHA-256 in hex. */
export type TrustedDocuments = ReadonlyMap<string, string>;

/** The algorithm may stand before the hash. */
const manifest = z.record(z.string().regex(/^(sha256:)?[0-9a-f]{64}$/), z.string());
const MAX_CACHE_BYTES = 8 * 1024 * 1024;
/** Apollo's own name for a persisted query. */
const KEY_PREFIX = 'apq:';

/** Reads a manifest as GraphQL Code Generator's client preset writes it. Throws an OperatorError. */
export function readTrustedDocuments(file: string): TrustedDocuments {
  try {
    const documents = new Map(
      Object.entries(manifest.parse(JSON.parse(readFileSync(file, 'utf8')))).map(([hash, text]) => [hash.replace('sha256:', ''), text]),
    );
    const wrong = [...documents].find(([hash, text]) => hashDocument(text) !== hash);
    if (wrong) throw new Error(`${wrong[0]} is not the SHA-256 of its document`);
    return documents;
  } catch (error) {
    throw new OperatorError(`TRUSTED_DOCUMENTS: ${file} is no manifest of documents: ${(error as Error).message}`, { cause: error });
  }
}

export const hashDocument = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What a document's hash alone stands for: the trusted ones always, others while they are in use (automatic persisted queries). */
export function createDocumentCache(trusted: TrustedDocuments | undefined): KeyValueCache {
  const recent = new InMemoryLRUCache({ maxSize: MAX_CACHE_BYTES });
  return {
    get: async (key) => trusted?.get(key.slice(KEY_PREFIX.length)) ?? (await recent.get(key)),
    set: (key, value, options) => recent.set(key, value, options),
    delete: (key) => recent.delete(key),
  };
}
