import { createHash } from 'node:crypto';
import { InMemoryLRUCache, type KeyValueCache } from '@apollo/utils.keyvaluecache';
import { parse, type DocumentNode } from 'graphql';
import { assertFewRepeats, operationLimits } from './operation-limits';

const MAX_CACHE_BYTES = 30 * 1024 * 1024;
/** The memory of a parsed document for each character of its text; measured, and rounded up. */
const TREE_BYTES_PER_CHARACTER = 40;
/** Apollo's keys end with the SHA-256 of the text in hex. */
const HASH_LENGTH = 64;

/** Apollo's cache of documents that passed validation, and the check that runs before validation. */
export class CheckedDocuments implements KeyValueCache<DocumentNode> {
  private readonly recent = new InMemoryLRUCache<DocumentNode>({
    maxSize: MAX_CACHE_BYTES,
    sizeCalculation: ({ loc }) => 1 + (loc?.source.body.length ?? 0) * TREE_BYTES_PER_CHARACTER,
  });

  get(key: string): Promise<DocumentNode | undefined> {
    return this.recent.get(key.slice(-HASH_LENGTH));
  }

  set(key: string, document: DocumentNode): Promise<void> {
    return this.recent.set(key.slice(-HASH_LENGTH), document);
  }

  async delete(key: string): Promise<boolean> {
    return await this.recent.delete(key.slice(-HASH_LENGTH));
  }

  /** Throws a GraphQLError for a text whose validation would take too long. Apollo refuses a text that does not parse. */
  async assertShort(text: unknown): Promise<void> {
    if (typeof text !== 'string' || (await this.get(createHash('sha256').update(text).digest('hex')))) return;
    const document = parseIfPossible(text);
    if (document) assertFewRepeats(document);
  }
}

function parseIfPossible(text: string): DocumentNode | undefined {
  try {
    return parse(text, { maxTokens: operationLimits.maxTokens });
  } catch {
    return undefined;
  }
}
