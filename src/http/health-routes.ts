import { Router } from 'express';
import { enterDoor } from './request-record';

interface HealthOptions {
  readonly isDraining: () => boolean;
  /** Resolves to the reason why the gateway cannot serve, or to undefined when it can. */
  readonly findObstacle: () => Promise<string | undefined>;
}

/**
 * The routes `/live`, which answers while the process runs, and `/ready`, which answers 503 and a reason while the gateway cannot serve.
 */
export function createHealthRoutes({ isDraining, findObstacle }: HealthOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/live', enterDoor('health', '/live'), (_request, response) => void response.json({ status: 'live' }));
  router.get('/ready', enterDoor('health', '/ready'), async (_request, response) => {
    const reason = isDraining() ? 'The gateway is stopping' : await findObstacle();
    if (reason === undefined) response.json({ status: 'ready' });
    else response.status(503).json({ status: 'not ready', reason });
  });
  return router;
}
