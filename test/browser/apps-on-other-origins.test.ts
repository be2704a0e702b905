import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as forward, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { PASSWORD, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { launchTolerantBrowser } from '../support/playground-browser';

let browser: BrowserContext;
/** Apps on three origins. `listed` is of the gateway's own site, `abroad` and `unlisted` are of another; CORS_ORIGINS names the first two. */
let apps: { listed: Server; abroad: Server; unlisted: Server };
/** A proxy that takes https and forwards it to the gateway with X-Forwarded-Proto. */
let proxy: Server;

const listen = async (server: Server, host: string): Promise<Server> => {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return server;
};
const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const createApp = (host: string): Promise<Server> => {
  const html = '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>An app</title></html>';
  return listen(
    createServer((_request, response) => void response.setHeader('Content-Type', 'text/html').end(html)),
    host,
  );
};

function createProxy(): Server {
  const directory = mkdtempSync(join(tmpdir(), 'tls-'));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const kind = ['-x509', '-nodes', '-days', '1', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  execFileSync('openssl', ['req', ...kind, '-subj', '/CN=127.0.0.1', '-keyout', key, '-out', cert], { stdio: 'pipe' });
  const options = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(directory, { recursive: true });
  return createTlsServer(options, (request, response) => {
    const { method, headers, url } = request;
    const asked = forward(gateway.url + url!, { method, headers: { ...headers, 'X-Forwarded-Proto': 'https' } }, (answer) => {
      response.writeHead(answer.statusCode!, answer.rawHeaders);
      answer.pipe(response);
    });
    request.pipe(asked);
  });
}

// Hooks run in the order in which they stand here: browser, apps and proxy close before the gateway.
beforeAll(async () => {
  apps = { listed: await createApp('127.0.0.1'), abroad: await createApp('localhost'), unlisted: await createApp('localhost') };
});
afterAll(async () => {
  await browser.close();
  for (const server of [...Object.values(apps), proxy]) {
    server.closeAllConnections();
    server.close();
  }
});
const gateway = openGateway({
  settings: () => ({
    CORS_ORIGINS: `http://127.0.0.1:${portOf(apps.listed)},http://localhost:${portOf(apps.abroad)}`,
    CORS_HEADERS: 'b3,x-datadog-*',
    SESSION_SAME_SITE: 'none',
    TRUST_PROXY: '127.0.0.1',
  }),
  lines: [v2Line(), v2Line({ allocation_id: 'P101' })],
});
const { organization } = gateway;
beforeAll(async () => {
  proxy = await listen(createProxy(), '127.0.0.1');
  browser = await launchTolerantBrowser();
});

interface Attempt {
  readonly gatewayUrl: string;
  readonly provision: string;
  readonly password: string;
}

/** An app's first minute, run in its page. It returns the answers that the app could read, and for each other one the reason of the browser. */
const workday = async ({ gatewayUrl, provision, password }: Attempt) => {
  const work = async (path: string, init: RequestInit, read: (response: Response) => Promise<unknown>): Promise<unknown> => {
    try {
      const headers = { Provision: provision, ...(init.body !== undefined && { 'Content-Type': 'application/json' }) };
      return await read(await fetch(gatewayUrl + path, { credentials: 'include', ...init, headers }));
    } catch (error) {
      return (error as Error).message;
    }
  };
  const json = (response: Response): Promise<unknown> => response.json();
  const post = (query: string, variables?: object): RequestInit => ({ method: 'POST', body: JSON.stringify({ query, variables }) });
  const login = 'mutation ($password: String!) { login(input: { username: "ada", password: $password }) { viewer { username } } }';
  const period = 'start_date=2024-01-01&end_date=2024-01-31';
  return {
    login: await work('/graphql', post(login, { password }), json),
    query: await work('/graphql', post('{ viewer { username } }'), async (response) => [
      await response.json(),
      response.headers.get('X-GraphQL-Cost'),
      response.headers.get('X-Request-Id')?.length,
    ]),
    file: await work(`/export/deposit-details.csv?${period}&columns=allocation_id,amount&totals=headers`, {}, ({ headers }) =>
      Promise.resolve([headers.get('X-Export-Rows'), headers.get('X-Export-Amount-By-Line'), headers.get('Content-Disposition')]),
    ),
    v2: await work('/api/v2/authenticated_test_session', {}, json),
    missing: await work('/api/v2/nothing', {}, json),
  };
};

const attempt = (): Attempt => ({
  gatewayUrl: `https://127.0.0.1:${portOf(proxy)}`,
  provision: organization.webProvision,
  password: PASSWORD,
});

const WORKED = () => ({
  login: { data: { login: { viewer: { username: 'ada' } } } },
  query: [{ data: { viewer: { username: 'ada' } } }, '2', 36],
  file: ['2', '21.00', 'attachment; filename="deposit-details-2024-01-01-2024-01-31.csv"'],
  v2: { data: { message: 'Session request authenticated', provision: organization.webProvision } },
  missing: { errors: [{ error: 'Not found', status: 404 }] },
});

test('an app on a listed origin logs in, asks, takes a file with its totals, calls v2, and reads errors', async () => {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${portOf(apps.listed)}/`);
  expect(await page.evaluate(workday, { ...attempt(), gatewayUrl: gateway.url })).toEqual(WORKED());
  await page.close();
});

test('an app sends the headers of its tracer where the setting names them, and a browser keeps others back', async () => {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${portOf(apps.listed)}/`);
  const send = (name: string) =>
    page.evaluate(
      async ([url, header]) => {
        const headers = { 'Content-Type': 'application/json', [header!]: '1' };
        const sent = fetch(`${url}/graphql`, { method: 'POST', headers, body: '{"query":"{__typename}"}' });
        return sent.then(
          ({ status }) => status,
          (error: unknown) => (error as Error).message,
        );
      },
      [gateway.url, name],
    );
  // No provision came along, which the answer says in its errors.
  for (const name of ['B3', 'x-datadog-trace-id', 'X-Datadog-Origin']) expect([name, await send(name)]).toEqual([name, 200]);
  for (const name of ['x-other', 'X-Forwarded-For']) expect([name, await send(name)]).toEqual([name, 'Failed to fetch']);
  await page.close();
});

test('an app of another site works alike over https, where the cookie is None', async () => {
  const page = await browser.newPage();
  await page.goto(`http://localhost:${portOf(apps.abroad)}/`);
  expect(await page.evaluate(workday, attempt())).toEqual(WORKED());
  await page.close();
});

test('a page on an origin that is not listed reads and does nothing, though the user is logged in and the cookie goes along', async () => {
  const page = await browser.newPage();
  await page.goto(`http://localhost:${portOf(apps.abroad)}/`);
  expect(await page.evaluate(workday, attempt())).toEqual(WORKED());
  await page.goto(`http://localhost:${portOf(apps.unlisted)}/`);
  const refused = 'Failed to fetch';
  expect(await page.evaluate(workday, attempt())).toEqual({ login: refused, query: refused, file: refused, v2: refused, missing: refused });

  // A form needs no preflight: the browser sends it with the cookie and shows the answer.
  await page.setContent(`<form method="post" action="${attempt().gatewayUrl}/graphql" enctype="text/plain">
    <input name="{&quot;query&quot;:&quot;mutation{logout{ended}}&quot;,&quot;x&quot;:&quot;" value="&quot;}"><button>Win a prize</button></form>`);
  const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/graphql'));
  await page.getByRole('button').click();
  const form = await sent;
  const cookie = (await form.allHeaders()).cookie;
  expect(cookie).toMatch(/^__Host-deposit-gateway-session=/);
  expect((await form.response())!.status()).toBeGreaterThanOrEqual(400);
  const headers = { Provision: organization.webProvision, Cookie: cookie!, 'X-Forwarded-Proto': 'https' };
  expect((await fetch(`${gateway.url}/api/v2/authenticated_test_session`, { headers })).status).toBe(200);
  await page.close();
});
