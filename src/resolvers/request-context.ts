import type { RequestAccess } from '../domain/access-service';
import type { ReportSnapshot } from '../domain/deposit-detail-service';
import type { RequestRecords } from '../domain/record-service';

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
  readonly sessionCookie: SessionCookie;
  /** The address that the request came from, through trusted proxies only. */
  readonly address: string;
}
