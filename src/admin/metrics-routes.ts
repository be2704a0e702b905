import { Router } from 'express';
import { AppError } from '../errors';
import { enterDoor } from '../http/request-record';
import type { GatewayMetrics } from './gateway-metrics';

/** The door at /metrics: what the gateway does, in the text format of Prometheus. */
export function createMetricsRoutes(metrics: GatewayMetrics): Router {
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
