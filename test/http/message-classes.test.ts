import express from 'express';
import { HttpServer } from '../../src/http/http-server';

test('a request reaches Express as its own kind of request, so that nobody changes the prototype of one that is on its way', async () => {
  const app = express();
  app.get('/', (request, response) => void response.json({ isJson: request.is('json'), host: request.host }));
  const httpServer = new HttpServer(app, { keepAliveMs: 1000 });
  const prototypes: unknown[] = [];
  httpServer.server.prependListener('request', (request, response) => {
    prototypes.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response));
  });
  const port = await httpServer.listen(0, '127.0.0.1');
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect(await answer.json()).toEqual({ isJson: null, host: `127.0.0.1:${port}` });
    expect(prototypes).toHaveLength(2);
    expect(prototypes[0]).toBe(app.request);
    expect(prototypes[1]).toBe(app.response);
  } finally {
    await httpServer.drain({ drainMs: 0, graceMs: 1000 });
  }
});
