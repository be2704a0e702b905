import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { runCommand, startServe } from '../support/command';
import { createTestDatabase } from '../support/database';
import { withGateway } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

describe('an operator at the admin port', () => {
  const gateway = openGateway({ settings: { ADMIN_PORT: '0', ADMIN_NAMES: 'gateway, Metrics.example.org, 2001:DB8::1' } });
  const metricsFor = (host: string) => ask(`${gateway.adminUrl}/metrics`, { headers: { Host: host } });

  test('reads metrics, which no cache keeps and no page of another origin may read', async () => {
    const response = await ask(`${gateway.adminUrl}/metrics`, { headers: { Host: 'localhost', Origin: 'https://evil.example.org' } });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(response.headers['cache-control']).toBe('no-store');
    expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    expect((await readAll(response)).body.toString()).toContain('process_cpu_seconds_total ');
  });

  test.each([
    'localhost',
    'LOCALHOST:9464',
    '127.0.0.1:4001',
    '[::1]:4001',
    'gateway:4001',
    'metrics.example.org',
    '[0:0:0:0:0:0:0:1]',
    '[2001:db8:0::1]:4001',
  ])('is answered at the name %s', async (host) => {
    expect((await metricsFor(host)).statusCode).toBe(200);
  });

  test.each(['evil.example.org', 'localhost.evil.example.org', '127.0.0.2', '127.0.0.1@evil.example.org', '[::2]', '[::1', '::1]'])(
    'is not answered at the name "%s", which a page may have made to stand for this machine',
    async (host) => {
      const response = await metricsFor(host);
      expect([response.statusCode, (await readAll(response)).body.toString()]).toEqual([
        404,
        '{"errors":[{"error":"Not found","status":404}]}',
      ]);
    },
  );

  test('finds nothing else there, and no metrics on the port of callers', async () => {
    for (const url of [`${gateway.adminUrl}/graphql`, `${gateway.adminUrl}/live`, `${gateway.url}/metrics`]) {
      const response = await fetch(url);
      expect([response.status, await response.text()]).toEqual([404, '{"errors":[{"error":"Not found","status":404}]}']);
    }
    const posted = await fetch(`${gateway.adminUrl}/metrics`, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

test('an operator reads metrics while the last answers leave', async () => {
  await withGateway({ ADMIN_PORT: '0', DRAIN_MILLISECONDS: '2000' }, async (gateway) => {
    const stopped = gateway.stop();
    expect((await fetch(`${gateway.url}/ready`)).status).toBe(503);
    expect((await fetch(`${gateway.adminUrl}/metrics`)).status).toBe(200);
    await stopped;
    await expect(fetch(`${gateway.adminUrl}/metrics`)).rejects.toThrow('fetch failed');
  });
});

describe('an operator who starts the gateway', () => {
  test('gets the admin port on loopback alone, at the address that the log tells', async () => {
    const database = await createTestDatabase();
    const gateway = await startServe({ DATABASE_URL: database.url, ADMIN_PORT: '0', HOST: '0.0.0.0' });
    const line = () => /^\{.*"msg":"listening for operators"\}$/m.exec(gateway.output())?.[0];
    await until(() => line() !== undefined);
    const { url } = JSON.parse(line()!) as { url: string };
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
    expect(await gateway.end('SIGTERM')).toBe(0);
    await database.drop();
  });

  test('is told that the admin port is taken', async () => {
    const database = await createTestDatabase();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { status, stderr } = await runCommand({ DATABASE_URL: database.url, PORT: '0', ADMIN_PORT: `${port}` }, ['serve']);
    expect([status, stderr]).toEqual([
      1,
      `Cannot listen on 127.0.0.1:${port}: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`,
    ]);
    other.close();
    await database.drop();
  });
});
