import type { ErrorRequestHandler, Request, Response, Router } from 'express';
import { AppError, toAppError, toErrorBody } from '../errors';
import { breakOff } from '../http-server';
import type { AuthenticationResolver } from '../resolvers/authentication-resolver';
import type { DepositDetailResolver } from '../resolvers/deposit-detail-resolver';
import type { RequestContext } from '../resolvers/request-context';
import { sendRows, toContentCoding, type ReaderPace } from '../row-answer';
import { v2Formats } from '../v2-line';

type Handler = (context: RequestContext, request: Request, response: Response) => Promise<void>;

interface V2Options {
  readonly resolvers: { readonly authentication: AuthenticationResolver; readonly depositDetails: DepositDetailResolver };
  readonly createRouter: (routes: Readonly<Record<string, Handler>>) => Router;
  readonly onInternalError: (error: AppError, response: Response) => void;
  readonly readerPace: ReaderPace;
}

/** The v2 door (contract section 4): each path parses, calls a resolver's method, formats. Errors have the contract's shape (section 2.3). */
export function createV2Routes({ resolvers, createRouter, onInternalError, readerPace }: V2Options): Router {
  const routes: Readonly<Record<string, Handler>> = {
    '/authenticated_test_system': async (context, _request, response) => {
      response.json({ data: await resolvers.authentication.authenticatedTestSystem(context) });
    },
    '/authenticated_test_session': async (context, _request, response) => {
      response.json({ data: await resolvers.authentication.authenticatedTestSession(context) });
    },
    '/deposit_detail_designation_detail_with_contact_info': async (context, request, response) => {
      const rows = await resolvers.depositDetails.depositDetails(parseReportQuery(request.query), context);
      const { head, template, tail } = v2Formats.json;
      const begin = (): void => void response.type('json');
      const { signal } = context.snapshot;
      await sendRows(response, [head, rows.bytes(template), tail], { begin, readerPace, signal, coding: toContentCoding(request) });
    },
  };

  const router = createRouter(routes);
  router.use(() => {
    throw new AppError('NOT_FOUND');
  });
  router.use(createV2ErrorHandler(onInternalError));
  return router;
}

/** Answers any error in the contract's shape. */
export function createV2ErrorHandler(onInternalError: V2Options['onInternalError']): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const appError = toAppError(error);
    if (appError.cause !== undefined) onInternalError(appError, response);
    // A report that broke off, or a reader who has left: nothing may be added.
    if (response.headersSent || response.destroyed) {
      breakOff(response);
      return;
    }
    if (appError.retryAfterSeconds !== undefined) response.set('Retry-After', String(appError.retryAfterSeconds));
    response.status(appError.status).json(toErrorBody(appError));
  };
}

/** The query as it was sent; include_pending is a boolean where it is `true`, `false` or not there. What is wrong is left to the resolver. */
function parseReportQuery({ start_date, end_date, include_pending }: Request['query']) {
  const flags = new Map<unknown, boolean>([
    ['true', true],
    ['false', false],
    [undefined, false],
  ]);
  return { startDate: start_date, endDate: end_date, includePending: flags.get(include_pending) };
}
