import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { InMemoryLRUCache, type KeyValueCache } from '@apollo/utils.keyvaluecache';
import { parse, print, type DocumentNode } from 'graphql';
import { z } from 'zod';
import { OperatorError } from '../errors';

/** SHA-256 in hex of a document, the algorithm before it or not, and the document's text. */
const manifest = z.record(z.string().regex(/^(sha256:)?[0-9a-f]{64}$/), z.string());
const MAX_CACHE_BYTES = 8 * 1024 * 1024;
/** Apollo's own name for a persisted query. */
const KEY_PREFIX = 'apq:';

/** The documents that apps may send. */
export class TrustedDocuments {
  /** However a document is laid out, and whatever its comments say, it prints the same. */
  private readonly printed: ReadonlySet<string>;

  constructor(private readonly texts: ReadonlyMap<string, string>) {
    this.printed = new Set([...texts.values()].map((text) => print(parse(text))));
  }

  includes(document: DocumentNode): boolean {
    return this.printed.has(print(document));
  }

  textOf(hash: string): string | undefined {
    return this.texts.get(hash);
  }
}

/** Reads a manifest as GraphQL Code Generator's client preset writes it. Throws an OperatorError. */
export function readTrustedDocuments(file: string): TrustedDocuments {
  try {
    const entries = Object.entries(manifest.parse(JSON.parse(readFileSync(file, 'utf8'))));
    const texts = new Map(entries.map(([hash, text]) => [hash.replace('sha256:', ''), text]));
    for (const [hash, text] of texts) {
      if (createHash('sha256').update(text).digest('hex') !== hash) throw new Error(`${hash} is not the SHA-256 of its document`);
    }
    return new TrustedDocuments(texts);
  } catch (error) {
    throw new OperatorError(`TRUSTED_DOCUMENTS: ${file} is no manifest of documents: ${(error as Error).message}`, { cause: error });
  }
}

/** What a document's hash alone stands for: the trusted ones always, others while they are in use (automatic persisted queries). */
export function createDocumentCache(trusted: TrustedDocuments | undefined): KeyValueCache {
  const recent = new InMemoryLRUCache({ maxSize: MAX_CACHE_BYTES });
  return {
    get: async (key) => trusted?.textOf(key.slice(KEY_PREFIX.length)) ?? (await recent.get(key)),
    set: (key, value, options) => recent.set(key, value, options),
    delete: (key) => recent.delete(key),
  };
}
