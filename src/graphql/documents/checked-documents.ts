import { createHash } from 'node:crypto';
import { InMemoryLRUCache, type KeyValueCache } from '@apollo/utils.keyvaluecache';
import { parse, type DocumentNode } from 'graphql';
import { assertFewRepeats, operationLimits } from '../../resolvers/request/operation-limits';

const MAX_CACHE_BYTES = 30 * 1024 * 1024;
/**
 * The most memory that a parsed document takes for each token, and for each character of its text. Measured: 505 bytes for a list of short
 * names, each of which is a token and two nodes of the tree, 310 for nested fields, 124 for comments.
 */
const BYTES_PER_TOKEN = 512;
const BYTES_PER_CHARACTER = 2;
/** Apollo's keys end with the SHA-256 of the text in hex. */
const HASH_LENGTH = 64;

/** Apollo's cache of documents that passed validation, and the check that runs before validation. */
export class CheckedDocuments implements KeyValueCache<DocumentNode> {
  private readonly recent = new InMemoryLRUCache<DocumentNode>({
    maxSize: MAX_CACHE_BYTES,
    sizeCalculation: toBytes,
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

/** The memory that a document takes. The count of its tokens bounds it; the length of its text says little, because names may be short. */
function toBytes({ loc }: DocumentNode): number {
  let tokens = 1;
  for (let token = loc?.startToken ?? null; token; token = token.next) tokens++;
  return tokens * BYTES_PER_TOKEN + (loc?.source.body.length ?? 0) * BYTES_PER_CHARACTER;
}

function parseIfPossible(text: string): DocumentNode | undefined {
  try {
    return parse(text, { maxTokens: operationLimits.maxTokens });
  } catch {
    return undefined;
  }
}
