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
  const find = shareForOneSecond(findObstacle);
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/live', enterDoor('health', '/live'), (_request, response) => void response.json({ status: 'live' }));
  router.get('/ready', enterDoor('health', '/ready'), async (_request, response) => {
    const reason = isDraining() ? 'The gateway is stopping' : await find();
    if (reason === undefined) response.json({ status: 'ready' });
    else response.status(503).json({ status: 'not ready', reason });
  });
  return router;
}

const MS_PER_SECOND = 1000;

/** Shares each check among all who ask within a second of its beginning, or until it has ended. Strangers may ask as often as they like. */
function shareForOneSecond<Found>(check: () => Promise<Found>): () => Promise<Found> {
  let latest: { readonly found: Promise<Found>; readonly startedAt: number; isRunning: boolean } | undefined;
  return () => {
    const now = performance.now();
    if (latest && (latest.isRunning || now - latest.startedAt < MS_PER_SECOND)) return latest.found;
    const begun = { found: check(), startedAt: now, isRunning: true };
    const end = (): void => void (begun.isRunning = false);
    begun.found.then(end, end);
    latest = begun;
    return begun.found;
  };
}
