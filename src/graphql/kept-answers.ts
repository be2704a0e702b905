import type { Request } from 'express';
import type { VersionMemory } from '../data/version-memory';
import type { MemberAccess, RequestAccess } from '../domain/access-service';
import type { ReadRange } from '../domain/audit-service';
import { COST_HEADER } from './operation-budget';
import type { OperationCost } from './operation-cost';
import type { OperationFacts } from './operation-facts';
import type { ReadyAnswer } from './ready-answer';
import type { GraphqlContext } from './row-field';

/** An answer without errors, and what the log, the budget and the audit need of its operation. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string;
  readonly facts: OperationFacts;
  readonly cost: OperationCost;
  /** The number of the report's lines; null for an answer that has none. */
  readonly lines: number | null;
  /** The range of an operation that reads personal data; undefined for any other. */
  readonly range: ReadRange | undefined;
}

/**
 * The answers to operations that read nothing but the books, by data version. Equal requests of members with equal rights have equal
 * answers, so an operation that is asked for again is neither parsed nor executed. Its caller is checked, pays and is audited as before.
 */
export class KeptAnswers {
  constructor(private readonly memory: VersionMemory) {}

  /** The answer that `authorizeMember` would let the caller read; undefined when there is none. */
  async find(request: Request, access: RequestAccess): Promise<KeptAnswer | undefined> {
    const member = await access.foreseeMember();
    return member && (this.memory.find(member.version, toKey(request, member.access)) as KeptAnswer | undefined);
  }

  /** Keeps an answer that is of one version of the books, and the same for all members with the same rights. */
  async keep(request: Request, { access, books, outcome, lines }: GraphqlContext, answer: ReadyAnswer): Promise<void> {
    const { status, headers, pieces, facts, range } = answer;
    const { cost, codes } = outcome;
    const texts = pieces.filter((piece) => typeof piece === 'string');
    if (!facts?.readsBooksAlone || !cost || codes?.length !== 0 || texts.length < pieces.length) return;
    const { version } = books;
    const member = await access.foreseeMember();
    if (!member || version === undefined || books.haveSeveralVersions) return;
    const kept: KeptAnswer = {
      ...{ status, text: texts.join(''), facts, cost, lines: lines.total },
      // What is left of a budget is told anew each time.
      headers: [...headers].filter(([name]) => !name.startsWith('ratelimit')),
      range: access.readsPersonal ? range() : undefined,
    };
    this.memory.keep(toKey(request, member.access), { version, value: kept });
  }
}

export const repeatAnswer = ({ status, headers, text, facts, range }: KeptAnswer): ReadyAnswer => ({
  ...{ status, headers, pieces: [text], facts },
  range: () => range!,
});

/** All that an answer depends on besides the books: the caller's rights, and the parts of the request that Apollo Server reads. */
function toKey({ method, originalUrl, headers, body }: Request, { organization, mayReadDonors, isServer }: MemberAccess): string {
  const { accept, 'content-type': contentType, [COST_HEADER]: cost } = headers;
  return JSON.stringify([organization.id, mayReadDonors, isServer, method, originalUrl, accept, contentType, cost !== undefined, body]);
}
