import type { ErrorRequestHandler, Request, Response } from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config';
import type { AppError } from '../errors';
import type { RequestContext } from '../resolvers/request-context';
import type { Services } from '../services';
import { createErrorHandler, type ErrorFormat } from './error-handler';
import { readCredentials, sessionCookie } from './request-credentials';
import { logFailure, ReaderLeft, requestId } from './request-log';
import type { ReaderPace } from './row-sender';

/** The parts that all doors share, so that each opens requests, answers errors and paces readers in the same way. */
export interface DoorKit {
  /** Opens the context of a request without reading anything. The caller must close its snapshot. */
  readonly openRequest: (request: Request, response: Response) => RequestContext;
  readonly createErrorHandler: (format?: ErrorFormat) => ErrorRequestHandler;
  /** Logs a failure whose cause the caller does not see. */
  readonly logFailure: (error: AppError, requestId: string) => void;
  readonly readerPace: ReaderPace;
}

const MS_PER_SECOND = 1000;
const BYTES_PER_KILOBYTE = 1000;

export function createDoorKit(config: Config, log: Logger, { access, depositDetails, entities }: Services): DoorKit {
  return {
    openRequest: (request, response) => {
      const left = new AbortController();
      response.once('close', () => {
        if (!response.writableFinished) left.abort(new ReaderLeft());
      });
      const requestAccess = access.open(readCredentials(request));
      return {
        requestId: requestId(response),
        access: requestAccess,
        snapshot: depositDetails.openSnapshot(left.signal, () => requestAccess.caller()),
        entities: entities.open(),
        refused: new Set(),
        sessionCookie: sessionCookie(request, response, config.SESSION_SAME_SITE),
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
