import type { GraphQLResolveInfo } from 'graphql';
import type { RequestAccess } from '../domain/access-service';
import type { ReportSnapshot } from '../domain/deposit-detail-service';
import type { RequestRecords } from '../domain/record-service';
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
  readonly records: RequestRecords;
  /** The fields of the answer that were refused and said so, by their place in it, whichever of a list's items it was. */
  readonly refused: Set<string>;
  readonly sessionCookie: SessionCookie;
  /** The address that the request came from, through trusted proxies only. */
  readonly address: string;
}

/** Stands in the description of every field that `refuse` keeps. */
export const NEEDS_REPORT = 'Needs the privilege of the report; where it is missing, the first of these values says so and all are null.';

/** Keeps a value that needs a privilege. A field says so once, however many values of it there are. Throws PRIVILEGE_NOT_FOUND, or is null. */
export function refuse({ refused }: RequestContext, { path }: GraphQLResolveInfo): null {
  let place = '';
  for (let step: GraphQLResolveInfo['path'] | undefined = path; step; step = step.prev) {
    if (typeof step.key === 'string') place = `${step.key}.${place}`;
  }
  if (refused.has(place)) return null;
  refused.add(place);
  throw new AppError('PRIVILEGE_NOT_FOUND');
}
