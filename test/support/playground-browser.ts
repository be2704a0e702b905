import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Locator, type Page } from 'playwright-core';
import { PASSWORD, type TestOrganization } from './gateway';
import { openGateway, type OpenGateway, type Opening } from './open-gateway';
import { until } from './until';

const launchOptions = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
  ],
};

/** A browser that accepts cookies of other sites, which Chromium refuses by default. */
export async function launchTolerantBrowser(): Promise<BrowserContext> {
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
  mkdirSync(join(profile, 'Default'));
  writeFileSync(join(profile, 'Default/Preferences'), JSON.stringify({ profile: { cookie_controls_mode: 0 } }));
  const context = await chromium.launchPersistentContext(profile, { ...launchOptions, ignoreHTTPSErrors: true });
  // Chromium may still write to its profile after it has closed. What cannot be removed stays in the system's temporary directory.
  context.on('close', () => void rm(profile, { recursive: true, maxRetries: 10, retryDelay: 200 }).catch(() => undefined));
  return context;
}

/** The page, and everything that should not happen on it. */
export interface OpenPage {
  readonly page: Page;
  readonly faults: string[];
}

/** A visit of an analyst to the Playground, with the window and colors of the context options. */
interface Visit extends BrowserContextOptions {
  /** The organization whose Provision the analyst enters. The gateway's own by default. */
  readonly as?: TestOrganization;
  /** The part of the address behind `#`: the mode, or a shared link. GraphQL mode by default. */
  readonly hash?: string;
  /** The time that the page takes for now, such as `2027-01-01T12:00:00Z`. It goes on from there, and timers are the browser's own. */
  readonly now?: string;
}

/** A gateway with a browser beside it. Each page has a context of its own, as if each were another analyst's. */
export interface PlaygroundGateway extends OpenGateway {
  /** Opens a page without an address yet. */
  readonly newPage: (options?: BrowserContextOptions) => Promise<Page>;
  /** Opens the Playground and enters the Provision. */
  readonly visit: (visit?: Visit) => Promise<OpenPage>;
}

/** Opens a gateway as `openGateway` does, and a browser that closes before it. */
export function openPlayground(opening: Opening = {}): PlaygroundGateway {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch(launchOptions);
  });
  afterAll(() => browser.close());
  const gateway = openGateway(opening);
  const newPage = async (options: BrowserContextOptions = {}): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
    return context.newPage();
  };
  const visit = async ({ as = gateway.organization, hash = '#graphql', now, ...options }: Visit = {}): Promise<OpenPage> => {
    const page = await newPage(options);
    if (now !== undefined) await page.addInitScript(shiftClock(now));
    // The page times out before the test does, because its message names the element that was missing.
    page.setDefaultTimeout(60_000);
    const faults = watchFaults(page, gateway.url);
    await page.goto(`${gateway.url}/playground${hash}`);
    await page.getByLabel('Provision').fill(as.webProvision);
    return { page, faults };
  };
  return Object.assign(gateway, { newPage, visit });
}

/** Collects a page's uncaught errors, the errors of its console, those of its security policy too, and requests to other origins. */
export function watchFaults(page: Page, url: string): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('request', (sent) => {
    if (!sent.url().startsWith(url) && !/^(data|blob):/.test(sent.url())) faults.push(`another origin: ${sent.url()}`);
  });
  return faults;
}

/** The script that moves a page's Date. A clock of the test's own would also replace the timers, on which the editors rely. */
export const shiftClock = (now: string): string => `{
  const shift = Date.parse(${JSON.stringify(now)}) - Date.now();
  const RealDate = Date;
  const shiftedNow = () => RealDate.now() + shift;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, values, newTarget) => Reflect.construct(target, values.length > 0 ? values : [shiftedNow()], newTarget),
    apply: (target) => new target(shiftedNow()).toString(),
    get: (target, name, receiver) => (name === 'now' ? shiftedNow : Reflect.get(target, name, receiver)),
  });
}`;

export async function logIn(page: Page, password = PASSWORD): Promise<void> {
  await page.getByLabel('Username').fill('ada');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  if (password === PASSWORD) await accountButton(page).waitFor();
}

/** The button of the menu that tells who is logged in. */
export const accountButton = (page: Page): Locator => page.getByRole('button', { name: /^ada · / });

export async function logOut(page: Page): Promise<void> {
  await accountButton(page).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('button', { name: 'Log in' }).waitFor();
}

/** Pastes a text over an editor's content. Typing it would add the closing brackets that the editor inserts. */
export async function pasteInto(page: Page, editor: 'query' | 'variables', text: string): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  const place = page.locator(editor === 'query' ? '.graphiql-query-editor' : '.graphiql-editor-tool');
  const lines = place.locator('.view-lines').first();
  const letters = (of: string): string => of.replace(/\s/g, '');
  // On a busy machine the editor may not have the focus yet when the keys come. A click may meet its margin, which lies over narrow lines.
  await until(async () => {
    await place.getByRole('textbox').first().focus();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.press('ControlOrMeta+V');
    // A long text is shown in part, and its lines stand in any order in the page.
    const shown = (await lines.innerText()).split('\n').map(letters);
    return shown.some((line) => line !== '') && shown.every((line) => letters(text).includes(line));
  });
}

/** Runs the query. GraphiQL ignores the button until its editors are there, and so are the examples. */
export async function execute(page: Page): Promise<void> {
  await page.locator('#examples:enabled').waitFor();
  await page.getByRole('button', { name: /Execute query/ }).click();
}

/** Waits until an element of this name has the focus. A dialog gives the focus back only after it is gone. */
export const untilFocusIsOn = (page: Page, name: string): Promise<void> =>
  until(async () => (await page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent')) === name);

/** Waits until the field of a report's donor shows a name. */
export const untilDonorIs = (page: Page, name: RegExp): Promise<void> =>
  until(async () => name.test(await page.getByRole('combobox', { name: 'Donor' }).inputValue()), 15_000);

/** What stands on a sheet of paper: its sentences, the cells of its rows, and the number of its pictures. */
export interface PrintedSheet {
  readonly lines: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly pictures: number;
}

/** Prints the page as the browser's own menu does, and reads the sheets that take its place. */
export async function printPage(page: Page): Promise<readonly PrintedSheet[]> {
  await page.evaluate(`addEventListener('beforeprint', () => {
    const texts = (part, selector) => [...part.querySelectorAll(selector)].map(({ textContent }) => textContent);
    globalThis.sheets = [...document.querySelectorAll('.print-sheet')].map((sheet) => ({
      lines: texts(sheet, 'h1, p'),
      rows: [...sheet.querySelectorAll('tr')].map((row) => texts(row, 'th, td')),
      pictures: sheet.querySelectorAll('svg').length,
    }));
  }, { once: true })`);
  await page.pdf();
  return page.evaluate<readonly PrintedSheet[]>('globalThis.sheets');
}
