import { Router } from 'express';
import type { Registry } from 'prom-client';
import { AppError } from '../errors';

/** The door at /metrics: what the gateway does, in the text format of Prometheus. */
export function createMetricsRoutes(registry: Registry): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/metrics', async (_request, response) => {
    const text = await registry.metrics();
    response.type(registry.contentType).send(text);
  });
  router.all('/metrics', (_request, response) => {
    response.set('Allow', 'GET, HEAD');
    throw new AppError('METHOD_NOT_ALLOWED');
  });
  return router;
}
