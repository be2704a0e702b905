import type { GraphQLResolveInfo } from 'graphql';
import type { ReportSnapshot } from '../data/postgres/report-snapshot';
import type { RequestAccess } from '../domain/access-service';
import type { RequestEntities } from '../domain/entity-service';
import { AppError } from '../errors';

/** The session cookie of the answer. */
export interface SessionCookie {
  set(token: string, expiresAt: Date): void;
  clear(): void;
}

/** What a resolver knows of the request it answers, the same from every door. */
export interface RequestContext {
  /** Also in the answer's header X-Request-Id and in the log. */
  readonly requestId: string;
  readonly access: RequestAccess;
  readonly snapshot: ReportSnapshot;
  readonly entities: RequestEntities;
  /** The places in the answer whose field has thrown PRIVILEGE_NOT_FOUND already; the items of a list share a place. */
  readonly refused: Set<string>;
  readonly sessionCookie: SessionCookie;
  /** The address that the request came from, through trusted proxies only. */
  readonly address: string;
}

/** Stands in the description of every field that `refuse` guards. */
export const NEEDS_REPORT = 'Needs the privilege of the report; where it is missing, the first of these values says so and all are null.';

/**
 * Answers a field that the caller lacks the privilege for: the first of its values throws PRIVILEGE_NOT_FOUND, the others are null, so that
 * a long list has one error for the field and not thousands.
 */
export function refuse({ refused }: RequestContext, { path }: GraphQLResolveInfo): null {
  let place = '';
  for (let step: GraphQLResolveInfo['path'] | undefined = path; step; step = step.prev) {
    if (typeof step.key === 'string') place = `${step.key}.${place}`;
  }
  if (refused.has(place)) return null;
  refused.add(place);
  throw new AppError('PRIVILEGE_NOT_FOUND');
}
