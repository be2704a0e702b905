import type { GraphQLResolveInfo } from 'graphql';
import type { RequestTimes } from '../../data/postgres/request-times';
import type { RequestBooks } from '../../data/books/request-books';
import type { RequestAccess } from '../../domain/access/access-service';
import type { ChangingUser } from '../../domain/audit/rights-audit';
import type { RequestEntities } from '../../domain/reports/entity-service';
import type { SealedPlaces } from '../../domain/paging/sealed-places';
import { AppError, toAppError } from '../../errors';

/** The number of the report's lines in an answer; null while it has none. */
export class LineCount {
  private lines: number | null = null;

  get total(): number | null {
    return this.lines;
  }

  add(lines: number): void {
    this.lines = (this.lines ?? 0) + lines;
  }
}

/** The session cookie of the answer. */
export interface SessionCookie {
  set(token: string, expiresAt: Date): void;
  clear(): void;
}

/** The request that a resolver answers. It has the same shape on every door. */
export interface RequestContext {
  /** The id in the answer's header X-Request-Id and in the log. */
  readonly requestId: string;
  /** Named periods have the dates of this time, also when the answer is made again. */
  readonly receivedAt: Date;
  readonly access: RequestAccess;
  readonly books: RequestBooks;
  readonly entities: RequestEntities;
  /** Seals the places in cursors that are personal. */
  readonly sealed: SealedPlaces;
  /** The places in the answer whose field was refused, or has failed, already. All items of a list share one place. */
  readonly refused: Set<string>;
  readonly sessionCookie: SessionCookie;
  /** Counts the report's lines that the answer has, for the audit. */
  readonly lines: LineCount;
  /** Counts the time that the request waits. */
  readonly times: RequestTimes;
  /** The client's IP address. X-Forwarded-For counts only from trusted proxies. */
  readonly address: string;
}

/** The user who changes something, as the audit names one. */
export const toUser = async ({ access, address }: Pick<RequestContext, 'access' | 'address'>): Promise<ChangingUser> => ({
  caller: await access.caller.forAudit(),
  address,
});

/** The one who changes something, also by the name that rows of closes, accounts and budgets have: that of the user, or of the provision. */
export async function toChanger(
  context: Pick<RequestContext, 'access' | 'address'>,
): Promise<{ readonly name: string | null; readonly user: ChangingUser }> {
  const user = await toUser(context);
  const { username, provisionLabel, provisionStart } = user.caller;
  return { name: username ?? (provisionLabel || provisionStart), user };
}

/** Part of the description of every field that `refuse` guards. */
export const NEEDS_REPORT =
  'Needs the privilege of the report. Without it the value is null, and the answer has one PRIVILEGE_NOT_FOUND error for all values of the field.';

/**
 * Answers a field whose privilege the caller lacks, or that failed. The first value throws the error and the others are null, so that a
 * long list has one error for the field instead of thousands.
 */
export function refuse({ refused }: RequestContext, { path }: GraphQLResolveInfo, error = new AppError('PRIVILEGE_NOT_FOUND')): null {
  let place = '';
  for (let step: GraphQLResolveInfo['path'] | undefined = path; step; step = step.prev) {
    if (typeof step.key === 'string') place = `${step.key}.${place}`;
  }
  if (refused.has(place)) return null;
  refused.add(place);
  throw error;
}

/** Answers a field with the value that is read, or as `refuse` when reading it fails. */
export function orRefuse<Value>(
  context: RequestContext,
  info: GraphQLResolveInfo,
  read: () => Value | Promise<Value>,
): Value | null | Promise<Value | null> {
  const fail = (error: unknown): null => refuse(context, info, toAppError(error));
  try {
    const value = read();
    return value instanceof Promise ? value.catch(fail) : value;
  } catch (error) {
    return fail(error);
  }
}
