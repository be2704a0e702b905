import { Router, type RequestHandler as Handler, type Request, type Response } from 'express';
import { AppError } from '../errors';
import type { AuditDoor } from '../formats/audit-row';
import type { RequestContext } from '../resolvers/request/request-context';
import type { DoorKit } from './door-kit';
import { enterDoor, recordOf, type RequestDoor } from './request-record';

/** One try to answer a GET or HEAD request. */
export interface Attempt {
  readonly context: RequestContext;
  readonly request: Request;
  readonly response: Response;
}

export type RequestHandler = (attempt: Attempt) => Promise<void>;

/** The operation of a request that is refused: the pattern of its path, unless its handler has found a name that no caller has made up. */
function nameOf(response: Response, path: string): string {
  const { label, operation } = recordOf(response);
  return operation === label ? path.slice(1) : operation;
}

/** Refuses any method but GET and HEAD, which the handlers of the path before this one have answered. */
export const refuseMethod: Handler = (_request, response) => {
  response.set('Allow', 'GET, HEAD');
  throw new AppError('METHOD_NOT_ALLOWED');
};

/** Routes GET and HEAD requests by path. Each request is opened for its handler and closed after it, also when the handler throws. */
export function createRequestRouter(
  door: Extract<AuditDoor, RequestDoor>,
  { openRequest, audit }: DoorKit,
  routes: Readonly<Record<string, RequestHandler>>,
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, handle] of Object.entries(routes)) {
    router.all(path, (request, response, next) => enterDoor(door, request.baseUrl + path)(request, response, next));
    router.get(path, async (request, response) => {
      // Headers are sent before the rows, so all of an answer is read from one snapshot.
      let context = openRequest(request, response, true);
      const endSpan = context.times.spans?.resolve();
      try {
        await handle({ context, request, response }).catch(async (error: unknown) => {
          // An answer that has begun was broken off. Any other is read again, and then from the primary.
          if (!context.books.areBroken || response.headersSent || response.destroyed) throw error;
          await context.books.close();
          context = openRequest(request, response, true, true);
          await handle({ context, request, response });
        });
      } catch (error) {
        if (error instanceof AppError) await audit.recordRefusal(context, { door, name: nameOf(response, path), hash: null }, error);
        throw error;
      } finally {
        endSpan?.(recordOf(response).label);
        await context.books.close();
      }
    });
    router.all(path, refuseMethod);
  }
  return router;
}
