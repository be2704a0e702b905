import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import type { VersionMemory } from '../../data/books/version-memory';
import type { MemberAccess, RequestAccess } from '../../domain/access/access-service';
import type { ReadRange } from '../../domain/audit/audit-service';
import type { KeyRing } from '../../domain/paging/key-ring';
import { markOf } from '../../domain/paging/sealed-places';
import { COST_HEADER } from './operation-budget';
import type { OperationCost } from '../documents/operation-cost';
import type { OperationFacts } from '../documents/operation-facts';
import type { ReadyAnswer } from './ready-answer';
import type { GraphqlContext } from './row-field';

/** An answer without errors, and what the log, the budget and the audit need of its operation. */
interface KeptAnswer {
  readonly headers: ReadyAnswer['headers'];
  readonly text: string;
  readonly facts: OperationFacts;
  readonly cost: OperationCost;
  /** The number of the report's lines; null for an answer that has none. */
  readonly lines: number | null;
  /** The mark of the key of its sealed cursors; undefined where it has none. */
  readonly keyMark: string | undefined;
  /** The range of an operation that reads personal data. */
  readonly range?: ReadRange;
}

const OK = 200;
/** The most requests that are remembered to have come once. Each takes some hundred bytes. */
const MAX_ASKED_ONCE = 10_000;

/** The SHA-256 of a request's body as it was sent. Texts that JSON reads as equal values, such as `1e999` and `null`, differ. */
const bodyHashes = new WeakMap<object, string>();
export const noteBody = (request: object, body: Buffer): void =>
  void bodyHashes.set(request, createHash('sha256').update(body).digest('base64'));

/**
 * The answers to operations that read nothing but the books, by data version. Equal requests of members with equal rights have equal
 * answers, so an operation that is asked for again is neither parsed nor executed. Its caller is checked, pays and is audited as before.
 * An answer is kept when it is asked for the second time, so that pages that somebody scrolls through do not drive out all others.
 */
export class KeptAnswers {
  private readonly askedOnce = new LRUCache<string, true>({ max: MAX_ASKED_ONCE });

  constructor(
    private readonly memory: VersionMemory,
    private readonly keys: KeyRing,
  ) {}

  /** The answer that `authorizeMember` would let the caller read; undefined when there is none. */
  async find(request: Request, access: RequestAccess): Promise<KeptAnswer | undefined> {
    const member = await access.foreseeMember();
    const kept = member && (this.memory.find(member.version, toKey(request, member.access)) as KeptAnswer | undefined);
    // The cursors of an earlier key end before those that an execution gives, or have ended.
    return kept?.keyMark === undefined || kept.keyMark === markOf(await this.keys.newest()) ? kept : undefined;
  }

  /** Counts an answer that is sent as it was kept. */
  countRepeated(): void {
    this.memory.count('kept');
  }

  /** Keeps an answer that is of one version of the books, and the same for all members with the same rights. */
  async keep(request: Request, { access, books, outcome, lines, sealed }: GraphqlContext, answer: ReadyAnswer): Promise<void> {
    const { status, headers, pieces, facts, range } = answer;
    const { cost, codes } = outcome;
    const texts = pieces.filter((piece) => typeof piece === 'string');
    if (!facts?.readsBooksAlone || !cost || status !== OK || codes?.length !== 0 || texts.length < pieces.length) return;
    const member = await access.foreseeMember();
    if (!member || !books.areOfOneVersion || registersDocument(request)) return;
    this.memory.count('read');
    const key = toKey(request, member.access);
    if (!this.askedOnce.has(key)) {
      this.askedOnce.set(key, true);
      return;
    }
    const kept: KeptAnswer = {
      // Each answer tells anew what is left of a budget.
      ...{
        headers: headers.filter(([name]) => !name.startsWith('ratelimit')),
        text: texts.join(''),
        cost,
        lines: lines.total,
        keyMark: sealed.keyMark,
      },
      // Names in them are parts of the document, and would hold all of its text in memory.
      ...(JSON.parse(JSON.stringify({ facts, range: access.readsPersonal ? range() : undefined })) as Pick<KeptAnswer, 'facts' | 'range'>),
    };
    this.memory.keep(key, { version: books.version!, value: kept });
  }
}

export const repeatAnswer = ({ headers, text, facts, range }: KeptAnswer): ReadyAnswer => ({
  ...{ status: OK, headers, pieces: [text], facts },
  range: () => range!,
});

/** True for a request that has the text of a document beside its hash, by which the next one may ask (automatic persisted queries). */
function registersDocument({ method, query: parameters, body }: Request): boolean {
  const { query, extensions } = ((method === 'GET' ? parameters : body) ?? {}) as Readonly<Record<string, unknown>>;
  return query != null && extensions != null;
}

/**
 * All that an answer depends on besides the books: the caller's rights, and the parts of the request that its execution reads. The other
 * headers that Apollo Server reads tell forged requests, which have no valid provision.
 */
function toKey(request: Request, { organization, mayReadDonors, isServer }: MemberAccess): string {
  const { method, originalUrl, headers } = request;
  const { accept, 'content-type': contentType, [COST_HEADER]: cost } = headers;
  const rights = [organization.id, mayReadDonors, isServer];
  const asked = [method, originalUrl, accept, contentType, cost !== undefined, bodyHashes.get(request)];
  return createHash('sha256')
    .update(JSON.stringify([rights, asked]))
    .digest('base64');
}
