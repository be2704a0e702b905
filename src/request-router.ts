import { Router, type Request, type Response } from 'express';
import { AppError } from './errors';
import type { RequestContext } from './resolvers/request-context';

/** Answers a GET, or a HEAD, as the request that it is. */
type Handler = (context: RequestContext, request: Request, response: Response) => Promise<void>;

/** Paths that are read: each request is opened for its handler and closed after it, whatever becomes of it. */
export type CreateRouter = (routes: Readonly<Record<string, Handler>>) => Router;

export const createRequestRouter =
  (openRequest: (request: Request, response: Response) => RequestContext): CreateRouter =>
  (routes) => {
    const router = Router({ caseSensitive: true, strict: true });
    for (const [path, handle] of Object.entries(routes)) {
      router.get(path, async (request, response) => {
        const context = openRequest(request, response);
        try {
          await handle(context, request, response);
        } finally {
          await context.snapshot.close();
        }
      });
      router.all(path, (_request, response) => {
        response.set('Allow', 'GET, HEAD');
        throw new AppError('METHOD_NOT_ALLOWED');
      });
    }
    return router;
  };
