import type { ErrorRequestHandler, Request, Response } from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config';
import type { AccessProvision } from '../data/access/access-store';
import { numberOf, type VersionStamp } from '../data/postgres/version-stamp';
import { RequestEntities } from '../domain/reports/entity-service';
import { SealedPlaces } from '../domain/paging/sealed-places';
import { LEAST_VERSION, assertNewEnough } from '../domain/books/least-version';
import type { AppError } from '../errors';
import { LineCount, type RequestContext } from '../resolvers/request/request-context';
import type { Services } from '../services';
import { setDeprecation } from './deprecation-headers';
import { createErrorHandler, type ErrorFormat } from './error-handler';
import { readCredentials, sessionCookie, type CredentialForm } from './request-credentials';
import { linkCallerOf } from './link-requests';
import { RequestAudit } from './request-audit';
import { logFailure, ReaderLeft } from './request-log';
import { recordOf, type RequestDoor } from './request-record';
import type { ReaderPace } from './row-sender';

/** The parts that all doors share, so that each opens requests, answers errors and paces readers in the same way. */
export interface DoorKit {
  /**
   * Opens the context of a request without reading anything. The caller must close its books. With `isHeld`, the request reads everything
   * from one snapshot; with `isPrimary`, it reads no replica.
   */
  readonly openRequest: (request: Request, response: Response, isHeld?: boolean, isPrimary?: boolean) => RequestContext;
  readonly createErrorHandler: (format?: ErrorFormat) => ErrorRequestHandler;
  /** Logs a failure whose cause the caller does not see. */
  readonly logFailure: (error: AppError, requestId: string) => void;
  readonly readerPace: ReaderPace;
  readonly audit: RequestAudit;
}

/**
 * Says which version of the organization's books an answer is of: the newest one, or the past `state` that was asked for. Throws
 * INVALID_PARAMETERS when the newest one is older than the request asks for: a reading may have met an older one than the check of access.
 */
export function setDataVersion(response: Response, context: RequestContext, state?: VersionStamp): void {
  const version = context.books.version;
  if (version !== undefined) assertNewEnough(version, context.access.readLeastVersion());
  nameDataVersion(response, context, state);
}

/** Says the version without a check, because a change that was made must be answered. Changes of reports are checked with their access. */
export function nameDataVersion(response: Response, context: RequestContext, state?: VersionStamp): void {
  const version = state ?? context.books.version;
  if (version !== undefined) response.set('X-Data-Version', String(numberOf(version)));
}

/**
 * Tells a member how long the answer's head took, and how much of that was waiting for a lane and for the database. Others are told
 * nothing: the times would tell a stranger which provisions and users there are.
 */
export function setServerTiming(response: Response): void {
  const { access, times, ms } = recordOf(response);
  if (!access?.caller.identity?.isMember) return;
  const parts = Object.entries({ queue: times.queue.ms, db: times.database.ms, total: ms });
  response.set('Server-Timing', parts.map(([name, value]) => `${name};dur=${value.toFixed(1)}`).join(', '));
}

/** Says when the application's provision, or the UUID that it has sent, will be refused (RFC 3339, whole seconds, never later). */
function setProvisionExpiry(response: Response, { expiresAt }: AccessProvision): void {
  if (expiresAt && !response.headersSent) response.set('Provision-Expires', expiresAt.toISOString().replace(/\.\d+Z$/, 'Z'));
}

/** The doors at which a session counts for nothing. */
const FORMS: { readonly [Door in RequestDoor]?: CredentialForm } = { agent: 'provision', odata: 'basic' };

const MS_PER_SECOND = 1000;
const BYTES_PER_KILOBYTE = 1000;

export function createDoorKit(config: Config, log: Logger, { access, accessWatch, audit, books, keys }: Services): DoorKit {
  return {
    audit: new RequestAudit(audit),
    openRequest: (request, response, isHeld = false, isPrimary = false) => {
      const left = new AbortController();
      const record = recordOf(response);
      const { id, receivedAt, times } = record;
      const credentials = readCredentials(request, linkCallerOf(response), FORMS[record.door] ?? 'all');
      const requestAccess = access.open(credentials, times, request.get(LEAST_VERSION), (row) => {
        setProvisionExpiry(response, row.provision);
        if (record.door === 'v2') setDeprecation(response, row.organization, config);
      });
      const lines = new LineCount();
      record.access = requestAccess;
      record.lines = lines;
      const endWatch = accessWatch.add(requestAccess, (loss) => left.abort(loss));
      const onClose = (): void => {
        endWatch();
        if (!response.writableFinished) left.abort(new ReaderLeft());
      };
      // The reader of an answer that is made again may have left already.
      if (response.destroyed) onClose();
      else response.once('close', onClose);
      const opened = books.open({
        signal: left.signal,
        caller: () => requestAccess.caller.forQueue(),
        checkedState: () => requestAccess.bookState,
        times,
        isHeld,
        isPrimary,
      });
      const sealed = new SealedPlaces(keys);
      return {
        requestId: id,
        receivedAt,
        access: requestAccess,
        books: opened,
        entities: new RequestEntities(opened, sealed),
        sealed,
        refused: new Set(),
        sessionCookie: sessionCookie(request, response, config.SESSION_SAME_SITE),
        lines,
        times,
        address: request.ip ?? '',
      };
    },
    createErrorHandler: (format) => createErrorHandler(log, format),
    logFailure: (error, id) => logFailure(log, error, id),
    readerPace: {
      windowMs: config.READER_STALL_SECONDS * MS_PER_SECOND,
      bytesPerSecond: config.READER_KILOBYTES_PER_SECOND * BYTES_PER_KILOBYTE,
    },
  };
}
