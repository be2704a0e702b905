import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import express from 'express';
import type { Page } from 'playwright-core';
import type { BookLine } from './deposit-book';
import { ROOT } from './documents';
import { PASSWORD } from './gateway';
import { openPlayground, type PlaygroundGateway } from './playground-browser';

const vite = join(dirname(require.resolve('vite/package.json')), 'bin/vite.js');

interface FrontendVisit {
  readonly page: Page;
  /** Uncaught errors, the console's errors and warnings, and requests to other servers than the app's and the gateway. */
  readonly faults: string[];
  /** The requests that the gateway has answered. */
  readonly asked: string[];
}

/** A gateway with the frontend app on an origin of its own, and a browser. */
export interface FrontendGateway extends Omit<PlaygroundGateway, 'visit'> {
  readonly origin: string;
  /** Opens a place of the app, in the tab if one is given. */
  readonly visit: (place: string, tab?: Page) => Promise<FrontendVisit>;
}

/** Opens a gateway, builds the frontend app for it, and serves the app. The object is empty until then. */
export function openFrontend({ lines }: { readonly lines: readonly BookLine[] }): FrontendGateway {
  let directory: string;
  let server: Server;
  let origin: string;

  // Hooks run in the order in which they stand here: the app's origin is known before the gateway starts.
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'frontend-'));
    server = express().use(express.static(directory)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  });
  const settings = (): Record<string, string> => ({ CORS_ORIGINS: `${origin},${origin.replace('127.0.0.1', 'localhost')}` });
  const gateway = openPlayground({ settings, lines });
  beforeAll(() => {
    const build = ['build', '--config', 'test/frontend/vite.config.mjs', '--outDir', directory, '--emptyOutDir', '--logLevel', 'warn'];
    const own = { NODE_ENV: 'production', VITE_GATEWAY: gateway.url, VITE_PROVISION: gateway.organization.webProvision };
    execFileSync(process.execPath, [vite, ...build], { cwd: ROOT, env: { ...process.env, ...own }, stdio: 'pipe' });
    Object.assign(gateway, { origin });
  }, 120_000);

  const visit = async (place: string, tab?: Page): Promise<FrontendVisit> => {
    const page = tab ?? (await gateway.newPage());
    page.setDefaultTimeout(30_000);
    const faults: string[] = [];
    const asked: string[] = [];
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) faults.push(message.text());
    });
    page.on('request', (request) => {
      if (request.url() === `${gateway.url}/graphql` && request.method() === 'POST') asked.push(request.postData()!);
      else if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) faults.push(request.url());
    });
    await page.goto(`${origin}/${place}`);
    return { page, faults, asked };
  };
  return Object.assign(gateway, { origin: '', visit });
}

export async function logIn(page: Page, username = 'ada', password = PASSWORD): Promise<void> {
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** Waits for a caption such as `20 of 45 deposits`. */
export const waitFor = (page: Page, text: string): Promise<void> => page.getByText(text, { exact: true }).waitFor();

interface Operation {
  readonly operationName: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}
export type Answer = { data?: Record<string, unknown> | null; errors?: object[] };

/** Puts something between the page and the gateway, for the operations of a name: `change` edits the real answer, or throws it away. */
export const intercept = (
  page: Page,
  name: string,
  {
    ask = (query) => query,
    change,
  }: { ask?: (query: string, variables: Operation['variables']) => string | null; change?: (answer: Answer) => Answer },
): Promise<unknown> =>
  page.route('**/graphql', async (route, request) => {
    const operation = request.method() === 'POST' ? (request.postDataJSON() as Operation) : undefined;
    const isOfName = operation?.operationName === name || operation?.query.startsWith(`query ${name}`);
    if (!operation || !isOfName) return route.fallback();
    const query = ask(operation.query, operation.variables);
    if (query === null) return route.abort();
    const postData = JSON.stringify({ ...operation, query });
    if (!change) return route.continue({ postData });
    const response = await route.fetch({ postData });
    await route.fulfill({ response, json: change((await response.json()) as Answer) });
  });
