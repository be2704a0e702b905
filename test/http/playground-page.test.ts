import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { withGateway } from '../support/gateway';
import { PACKAGE } from '../support/gateway-package';
import { ask, readAll } from '../support/http-client';
import { openGateway } from '../support/open-gateway';

const PROVISION = '2082808f-1a6e-49bc-ae1e-e3730039a5a8';
const gateway = openGateway({ settings: { PLAYGROUND_PROVISION: PROVISION } });

const get = (path: string) => fetch(gateway.url + path);
/** The files that the page names itself. It loads others later. */
const listFiles = async (): Promise<string[]> =>
  [...(await (await get('/playground')).text()).matchAll(/(?:src|href)="([^"]+)"/g)]
    .map((match) => match[1]!)
    .filter((file) => !file.startsWith('data:'));

describe('an analyst', () => {
  test('opens the Playground with the provision in its place', async () => {
    const page = await (await get('/playground')).text();
    expect(await (await get('/playground/')).text()).toBe(page);
    expect(page).toContain(`<meta name="gateway-config" content="{&quot;provision&quot;:&quot;${PROVISION}&quot;}" />`);
    expect(page).not.toContain('__GATEWAY_CONFIG__');
  });

  test('is led to the Playground from the root, where there is one', async () => {
    const response = await fetch(gateway.url, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, '/playground']);
    await withGateway({ PLAYGROUND: 'off' }, async (without) => {
      expect((await fetch(without.url, { redirect: 'manual' })).status).toBe(404);
    });
  });

  test('finds the viewer of the v2 document at an address of its own, whose files the Playground does not load', async () => {
    const viewer = await get('/docs');
    expect([viewer.status, viewer.headers.get('content-type'), viewer.headers.get('cache-control')]).toEqual([
      ...[200, 'text/html; charset=utf-8', 'no-store'],
    ]);
    const page = await viewer.text();
    expect(await (await get('/docs/')).text()).toBe(page);
    const own = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((match) => match[1]!);
    for (const file of own) expect([file, (await get(file)).status]).toEqual([file, 200]);
    const isOfViewer = (file: string): boolean => file.startsWith('/playground/assets/docs-');
    expect([own.filter(isOfViewer).length, (await listFiles()).filter(isOfViewer)]).toEqual([2, []]);
    for (const path of ['/docs/x', '/docs/index.html', '/Docs', '/playground/docs/index.html']) expect((await get(path)).status).toBe(404);
    expect((await fetch(`${gateway.url}/docs`, { method: 'POST' })).status).toBe(404);
  });

  test('gets every file of the page from the gateway, under names that may be kept for ever', async () => {
    const files = await listFiles();
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) {
      expect(file).toMatch(/^\/playground\/assets\/[\w-]+\.(js|css)$/);
      const response = await get(file);
      expect([response.status, response.headers.get('cache-control'), response.headers.get('content-type')?.toLowerCase()]).toEqual([
        200,
        'public, max-age=31536000, immutable',
        file.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
      ]);
      await response.arrayBuffer();
    }
  });

  test.each([
    ['br', 'gzip, deflate, br', brotliDecompressSync],
    ['gzip', 'gzip, br;q=0', gunzipSync],
  ] as const)('gets the page’s files in %s, 200 kB of them in all before the editors', async (coding, accepted, decode) => {
    let length = 0;
    for (const file of await listFiles()) {
      const plain = await ask(gateway.url + file, { headers: {} });
      const coded = await ask(gateway.url + file, { headers: { 'Accept-Encoding': accepted } });
      const [bytes, whole] = [(await readAll(coded)).body, (await readAll(plain)).body];
      expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'Accept-Encoding, Origin']);
      const {
        etag: _etag,
        'content-length': _length,
        date: _date,
        'last-modified': _modified,
        'x-request-id': _id,
        ...same
      } = plain.headers;
      coded.headers['content-type'] = coded.headers['content-type']!.toLowerCase();
      expect(coded.headers).toMatchObject({ ...same, 'content-encoding': coding, 'content-length': String(bytes.length) });
      expect(coded.headers.etag).not.toBe(plain.headers.etag);
      expect(decode(bytes).equals(whole)).toBe(true);
      length += bytes.length;
    }
    expect(length).toBeLessThan(200_000);
  });

  test('is answered in plain text for a file that is gone since the gateway started', async () => {
    const name = `gone-${process.pid}.js`;
    const files = ['', '.br', '.gz'].map((ending) => join(PACKAGE, 'dist/playground-web/assets', name + ending));
    for (const file of files) writeFileSync(file, 'gone');
    try {
      await withGateway({}, async ({ url }) => {
        for (const file of files) rmSync(file);
        const response = await ask(`${url}/playground/assets/${name}`, { headers: { 'Accept-Encoding': 'br' } });
        expect([response.statusCode, response.headers['content-encoding']]).toEqual([404, undefined]);
        expect(JSON.parse((await readAll(response)).body.toString())).toEqual({ errors: [{ error: 'Not found', status: 404 }] });
      });
    } finally {
      for (const file of files) rmSync(file, { force: true });
    }
  });

  test('gets no part of a file, and no file for another method', async () => {
    const [file] = await listFiles();
    for (const acceptEncoding of ['br', 'identity']) {
      const headers = { 'Accept-Encoding': acceptEncoding };
      const whole = await ask(gateway.url + file!, { headers });
      const part = await ask(gateway.url + file!, { headers: { ...headers, Range: 'bytes=99999999-' } });
      expect([part.statusCode, part.headers['content-length']]).toEqual([200, whole.headers['content-length']]);
      await Promise.all([readAll(whole), readAll(part)]);
      const posted = await ask(gateway.url + file!, { method: 'POST', headers });
      expect([posted.statusCode, posted.headers['content-encoding'], posted.headers['cache-control']]).toEqual([
        404,
        undefined,
        'no-store',
      ]);
      expect(JSON.parse((await readAll(posted)).body.toString())).toEqual({ errors: [{ error: 'Not found', status: 404 }] });
    }
  });

  test('runs a page that may load and run nothing from elsewhere', async () => {
    const policy = (await get('/playground')).headers.get('content-security-policy');
    expect(policy).toBe(
      "default-src 'none';script-src 'self';style-src 'self' 'unsafe-inline';img-src 'self' data:;font-src 'self' data:;connect-src 'self';" +
        "worker-src 'self';base-uri 'none';form-action 'none';frame-ancestors 'none'",
    );
  });

  test.each([
    '/playground/x.css',
    '/playground/assets/',
    '/playground/assets/x.js',
    '/playground/assets/../index.html',
    '/playground/assets/..%2findex.html',
    '/playground/assets/..%2f..%2fmain.js',
    '/playground/assets/x%00.js',
    '/playground/assets/%zz.js',
  ])('finds nothing at %s', async (path) => {
    const response = await get(path);
    expect([response.status, response.headers.get('cache-control')]).toEqual([404, 'no-store']);
    expect(await response.json()).toEqual({ errors: [{ error: 'Not found', status: 404 }] });
  });

  test('finds no Playground and no viewer where they are switched off, and the v2 document all the same', async () => {
    await withGateway({ PLAYGROUND: 'off' }, async (own) => {
      expect((await fetch(`${own.url}/playground`)).status).toBe(404);
      expect((await fetch(`${own.url}/docs`)).status).toBe(404);
      expect((await fetch(`${own.url}/api/v2/openapi.json`)).status).toBe(200);
    });
  });
});
