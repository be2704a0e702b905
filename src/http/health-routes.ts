import { Router } from 'express';

interface HealthOptions {
  readonly isDraining: () => boolean;
  /** Resolves to why the gateway cannot serve, or to undefined when it can. */
  readonly findObstacle: () => Promise<string | undefined>;
}

/** `/live`: the process answers. `/ready`: it can serve, or 503 with the reason. */
export function createHealthRoutes({ isDraining, findObstacle }: HealthOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/live', (_request, response) => void response.json({ status: 'live' }));
  router.get('/ready', async (_request, response) => {
    const reason = isDraining() ? 'The gateway is stopping' : await findObstacle();
    if (reason === undefined) response.json({ status: 'ready' });
    else response.status(503).json({ status: 'not ready', reason });
  });
  return router;
}
