import { Router } from 'express';
import { AppError } from '../errors';
import { enterDoor } from '../http/request-record';

/** The metrics of a gateway, in the text format of Prometheus. */
export interface MetricsSource {
  readonly contentType: string;
  scrape(): Promise<string>;
}

/** The door at /metrics: what the gateway does, in the text format of Prometheus. */
export function createMetricsRoutes(metrics: MetricsSource): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.all('/metrics', enterDoor('admin', '/metrics'));
  router.get('/metrics', async (_request, response) => {
    const text = await metrics.scrape();
    response.type(metrics.contentType).send(text);
  });
  router.all('/metrics', (_request, response) => {
    response.set('Allow', 'GET, HEAD');
    throw new AppError('METHOD_NOT_ALLOWED');
  });
  return router;
}
