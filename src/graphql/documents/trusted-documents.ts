import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { InMemoryLRUCache, type KeyValueCache } from '@apollo/utils.keyvaluecache';
import { Kind, parse, print, visit, type DocumentNode, type SelectionNode } from 'graphql';
import { z } from 'zod';
import { OperatorError } from '../../errors';
import { JsonFault, readJson } from '../../formats/json-text';
import { oncePerDocument } from './once-per-document';

/** The manifest that graphql-codegen's client preset and relay-compiler write: texts of documents by their hashes. */
const mapManifest = z.record(z.string(), z.string('stands for something else than a document'), 'it is no object');
/** The manifest that Apollo's generate-persisted-query-manifest writes. Its ids need not be hashes. */
const apolloManifest = z.object({
  format: z.literal('apollo-persisted-query-manifest', 'is not apollo-persisted-query-manifest'),
  version: z.literal(1, 'is not 1'),
  operations: z.array(z.object({ id: z.string('is no text'), body: z.string('is no text') }, 'is no operation'), 'is no list'),
});
/** Hash algorithms by the length of their hashes in hex. */
const HASHES: Readonly<Record<number, string>> = { 32: 'md5', 40: 'sha1', 64: 'sha256' };
const MAX_CACHE_BYTES = 8 * 1024 * 1024;
/** Apollo puts this prefix before the hash of a persisted query in its cache keys. */
const KEY_PREFIX = 'apq:';

/** The documents that apps may send. */
export class TrustedDocuments {
  private readonly known: ReadonlySet<string>;

  /** Throws an Error for a text that does not parse as a document. */
  constructor(private readonly texts: ReadonlyMap<string, string>) {
    this.known = new Set(
      [...texts].map(([id, text]) => {
        try {
          return toEssence(parse(text));
        } catch (error) {
          throw new Error(`the document of ${id} does not parse: ${(error as Error).message}`, { cause: error });
        }
      }),
    );
  }

  /** True for a document whose essence is in the manifest. */
  readonly includes = oncePerDocument((document) => this.known.has(toEssence(document)));

  /** The texts of all documents, each once. */
  get all(): readonly string[] {
    return [...new Set(this.texts.values())];
  }

  textOf(id: string): string | undefined {
    return this.texts.get(id);
  }
}

/**
 * The essence of a document; two documents with equal essences ask for the same values. It leaves out layout, comments, the order of the
 * definitions, and the `__typename` that a client's cache adds to every selection, since that reveals only the schema.
 */
function toEssence(document: DocumentNode): string {
  const bare = visit(document, {
    SelectionSet: {
      leave: (set) => {
        const asked = set.selections.filter((selection) => !isAddedTypename(selection));
        return { ...set, selections: asked.length > 0 ? asked : set.selections.slice(0, 1) };
      },
    },
  });
  return bare.definitions.map(print).sort().join('\n');
}

const isAddedTypename = (selection: SelectionNode): boolean =>
  selection.kind === Kind.FIELD && selection.name.value === '__typename' && !selection.alias && !selection.directives?.length;

/** Reads a manifest of graphql-codegen, Relay or Apollo. Throws an OperatorError whose message is one line. */
export function readTrustedDocuments(file: string): TrustedDocuments {
  try {
    const content = readJson(readFileSync(file));
    const isApollo = typeof content === 'object' && content !== null && 'operations' in content;
    return new TrustedDocuments(isApollo ? readApolloManifest(content) : readMapManifest(content));
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const reason = issue
      ? [issue.path.join('.'), issue.message].filter(Boolean).join(' ')
      : error instanceof JsonFault
        ? `it ${error.message}`
        : (error as Error).message;
    throw new OperatorError(`TRUSTED_DOCUMENTS: ${file} is no manifest of documents: ${reason.replaceAll(/\s+/g, ' ')}`, { cause: error });
  }
}

function readMapManifest(content: unknown): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [key, text] of Object.entries(mapManifest.parse(content))) {
    const id = toId(key);
    const algorithm = HASHES[id.length];
    if (!algorithm || createHash(algorithm).update(text).digest('hex') !== id) {
      throw new Error(`${key} is not the MD5, SHA-1 or SHA-256 of its document`);
    }
    texts.set(id, text);
  }
  return texts;
}

function readApolloManifest(content: unknown): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { id, body } of apolloManifest.parse(content).operations) {
    if ((texts.get(toId(id)) ?? body) !== body) throw new Error(`${id} stands for two documents`);
    texts.set(toId(id), body);
  }
  return texts;
}

/** Takes off the prefix `sha256:` that an id may have (GraphQL over HTTP, appendix A). */
const toId = (key: string): string => key.replace(/^sha256:/, '');

/** The extension in which Apollo reads a persisted query's hash, for a request by `documentId` (GraphQL over HTTP, appendix A). */
const byDocumentId = (id: string): object => ({ persistedQuery: { version: 1, sha256Hash: id } });

/** The body of a POST with its `documentId` in the form that Apollo reads. */
export function toApolloBody(body: unknown): unknown {
  const { query, documentId } = (body ?? {}) as Readonly<Record<string, unknown>>;
  return typeof documentId === 'string' && query == null ? { ...(body as object), extensions: byDocumentId(documentId) } : body;
}

/** The parameters of a GET for which an empty text says that they are not given (GraphQL over HTTP, section GET). */
const OPTIONAL_PARAMETERS = ['operationName', 'variables', 'extensions'];

/** The query string of a GET with its `documentId` in the form that Apollo reads, and without the parameters that are empty. */
export function toApolloSearch(search: string): string {
  const parameters = new URLSearchParams(search);
  for (const name of OPTIONAL_PARAMETERS) parameters.delete(name, '');
  const documentId = parameters.get('documentId');
  if (documentId !== null && !parameters.has('query')) parameters.set('extensions', JSON.stringify(byDocumentId(documentId)));
  return `?${parameters.toString()}`;
}

/** The cache of documents by id: trusted documents stay in it, others while they are in use (automatic persisted queries). */
export function createDocumentCache(trusted: TrustedDocuments | undefined): KeyValueCache {
  const recent = new InMemoryLRUCache({ maxSize: MAX_CACHE_BYTES });
  return {
    get: async (key) => {
      const id = toId(key.slice(KEY_PREFIX.length));
      return trusted?.textOf(id) ?? (await recent.get(KEY_PREFIX + id));
    },
    set: (key, value, options) => recent.set(key, value, options),
    delete: (key) => recent.delete(key),
  };
}
