import { Router, type RequestHandler as Handler, type Request, type Response } from 'express';
import { AppError } from '../errors';
import type { AuditDoor } from '../formats/audit-row';
import type { RequestContext } from '../resolvers/request/request-context';
import type { DoorKit } from './door-kit';
import type { RequestOperation } from './request-audit';
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

/**
 * Opens a request for its handler and closes it after it, also when the handler throws. The handler is called once more when a replica has
 * failed before its answer began. The audit notes a refusal by the operation.
 */
export async function handleRequest(
  { request, response }: Omit<Attempt, 'context'>,
  { openRequest, audit }: DoorKit,
  handle: RequestHandler,
  operation: () => RequestOperation,
): Promise<void> {
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
    if (error instanceof AppError) await audit.recordRefusal(context, operation(), error);
    throw error;
  } finally {
    endSpan?.(recordOf(response).label);
    await context.books.close();
  }
}

/** Routes GET and HEAD requests by path. */
export function createRequestRouter(
  door: Extract<AuditDoor, RequestDoor>,
  kit: DoorKit,
  routes: Readonly<Record<string, RequestHandler>>,
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, handle] of Object.entries(routes)) {
    router.all(path, (request, response, next) => enterDoor(door, request.baseUrl + path)(request, response, next));
    router.get(path, (request, response) =>
      handleRequest({ request, response }, kit, handle, () => ({ door, name: nameOf(response, path), hash: null })),
    );
    router.all(path, refuseMethod);
  }
  return router;
}
