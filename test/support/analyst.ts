import { mkdtempSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Browser, type ElementHandle, type Page } from 'puppeteer-core';
import { PASSWORD, type TestOrganization } from './gateway';
import { shiftClock } from './playground-browser';
import { until } from './until';

/** The browsers of analysts: Debian's packages, or the paths in CHROMIUM and FIREFOX. Both are driven by WebDriver BiDi. */
export const analystBrowsers = {
  Chromium: { browser: 'chrome', executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' },
  Firefox: { browser: 'firefox', executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr' },
} as const;
export type BrowserName = keyof typeof analystBrowsers;

/** The ways of an analyst's hands. Each counts what a person would count as a click, or does without any. */
export type Hands = 'mouse' | 'keyboard';

const MAX_TABS = 150;

/** The part of an element that is used here. */
interface Markable {
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
}

export async function launchFor(name: BrowserName): Promise<Browser> {
  const chromeFlags = ['--no-sandbox', '--disable-gpu', '--lang=en-US', '--no-first-run'];
  return puppeteer.launch({
    ...analystBrowsers[name],
    protocol: 'webDriverBiDi',
    args: name === 'Chromium' ? chromeFlags : [],
    env: { ...process.env, LANG: 'en_US.UTF-8', HOME: mkdtempSync(join(tmpdir(), 'analyst-')) },
    // Firefox's panel of downloads would take the keyboard from the next page.
    extraPrefsFirefox: { 'intl.accept_languages': 'en-US', 'browser.download.alwaysOpenPanel': false },
  });
}

/** An analyst before the page, with a mouse or with a keyboard alone. */
export class Analyst {
  /** The clicks so far. */
  clicks = 0;
  /** Errors of the page. */
  readonly faults: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly hands: Hands,
    private readonly downloads: string,
  ) {
    page.on('pageerror', (error) => this.faults.push(error instanceof Error ? error.message : String(error)));
  }

  /** Opens the page on a day, and logs in. */
  static async logIn(
    browser: Browser,
    options: { url: string; organization: TestOrganization; now: string; hands: Hands; downloads: string },
  ): Promise<Analyst> {
    const { url, organization, now, hands, downloads } = options;
    const context = await browser.createBrowserContext({ downloadBehavior: { policy: 'allow', downloadPath: downloads } });
    const page = await context.newPage();
    await page.setViewport({ width: 1280, height: 800 });
    page.setDefaultTimeout(20_000);
    await page.evaluateOnNewDocument(shiftClock(now));
    // Records what the page copies, because a browser without a window has no clipboard to paste from.
    await page.evaluateOnNewDocument(`navigator.clipboard.writeText = async (text) => { globalThis.copied = text; };`);
    await page.goto(`${url}/playground`);
    const analyst = new Analyst(page, hands, downloads);
    await page.locator('input[name=provision]').fill(organization.webProvision);
    await page.locator('input[name=username]').fill(organization.username);
    await page.locator('input[name=password]').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await analyst.find('heading', 'The books today');
    return analyst;
  }

  async find(role: string, name: string): Promise<ElementHandle> {
    const found = await this.page.waitForSelector(`::-p-aria([name="${name}"][role="${role}"])`);
    if (!found) throw new Error(`There is no ${role} ${name}`);
    return found;
  }

  /** Waits for a chart, by the sentence that tells it to screen readers. Browsers differ in the name of its role. */
  async findPicture(sentence: string): Promise<void> {
    await this.page.waitForSelector(`svg[aria-label=${JSON.stringify(sentence)}]`);
  }

  /** Presses a button, an option or a tab. */
  async press(role: string, name: string): Promise<void> {
    await this.activate(await this.find(role, name));
  }

  /** Closes a dialog, and waits until the page has the focus again. */
  async closeDialog(): Promise<void> {
    await this.press('button', 'Close');
    await this.page.waitForFunction(`!document.querySelector('[role=dialog]') && document.activeElement.matches('main button')`);
  }

  /** Opens a report of the list beside it. On a keyboard, the list is one stop, and arrows move in it. */
  async openReport(title: string): Promise<void> {
    const button = await this.page.waitForSelector(`::-p-xpath(//nav[@aria-label='Reports']//button[normalize-space()="${title}"])`);
    if (this.hands === 'mouse') return this.activate(button!);
    const stop = await this.page.waitForSelector(`nav[aria-label=Reports] button[tabindex='0']`);
    await this.activate(stop!, 'none');
    await this.until(`document.activeElement.textContent.trim() === ${JSON.stringify(title)}`, 'ArrowDown');
    await this.page.keyboard.press('Enter');
  }

  /** Turns to a tab. On a keyboard, arrows move between tabs. */
  async turnTo(tab: string): Promise<void> {
    if (this.hands === 'mouse') return this.press('tab', tab);
    await this.tabTo(`document.activeElement.role === 'tab'`);
    await this.until(`document.activeElement.textContent === ${JSON.stringify(tab)}`, 'ArrowRight');
  }

  /** Chooses a value of a field that has a few. */
  async choose(label: string, option: string): Promise<void> {
    const button = await this.page.waitForSelector(
      `::-p-xpath(//*[contains(@class,'choice')][.//span[normalize-space()='${label}']]//button)`,
    );
    await this.activate(button!);
    const found = await this.find('option', option);
    if (this.hands === 'mouse') return this.activate(found);
    await this.until(`document.activeElement.textContent.trim() === ${JSON.stringify(option)}`, 'ArrowDown');
    await this.page.keyboard.press('Enter');
  }

  /** Chooses one of a group of radio buttons. */
  async pick(radio: string): Promise<void> {
    if (this.hands === 'mouse') {
      this.clicks++;
      const label = await this.page.waitForSelector(`::-p-xpath(//*[contains(@class,'RadioButton')][contains(.,'${radio}')])`);
      return label!.click();
    }
    await this.tabTo(`document.activeElement.type === 'radio'`);
    await this.until(`document.activeElement.closest('label').textContent.startsWith(${JSON.stringify(radio)})`, 'ArrowDown');
  }

  /** Finds a thing by a part of its name, and takes it. */
  async search(label: string, text: string, option: string): Promise<void> {
    await this.activate(await this.find('combobox', label), 'none');
    await this.page.keyboard.type(text);
    const named = `::-p-xpath(//*[@role='option'][not(@aria-disabled)][.//*[normalize-space()="${option}"]])`;
    const found = await this.page.waitForSelector(named);
    if (this.hands === 'mouse') return this.activate(found!);
    const shown = `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.innerText ?? ''`;
    await this.until(`(${shown}).startsWith(${JSON.stringify(option)})`, 'ArrowDown');
    await this.page.keyboard.press('Enter');
  }

  /** Types the two dates of a period, as month, day and year. */
  async typeDates(start: string, end: string): Promise<void> {
    await this.cards();
    const first = await this.page.waitForSelector('.date-segment[data-type=month]');
    await this.activate(first!, 'none');
    for (const part of [start, end].flatMap((date) => [date.slice(5, 7), date.slice(8), date.slice(0, 4)])) {
      const field = await this.page.evaluateHandle('document.activeElement');
      await this.page.keyboard.type(part);
      // The focus moves on to the next part of a date by itself. Nobody goes on before the typed part is there.
      await this.page.waitForFunction(`(field) => Number(field.textContent) === ${String(Number(part))}`, {}, field);
    }
    await this.page.keyboard.press('Enter');
  }

  /** Types a text over the one of the field that has the focus. */
  async retype(text: string): Promise<void> {
    await this.page.waitForFunction(`document.activeElement.tagName === 'INPUT'`);
    await this.page.keyboard.down('Control');
    await this.page.keyboard.press('a');
    await this.page.keyboard.up('Control');
    await this.page.keyboard.type(text);
  }

  /** The text of the list's item that holds some text. */
  async textOf(part: string): Promise<string> {
    const item = await this.page.waitForSelector(`::-p-xpath(//li[contains(., '${part}')][.//code])`);
    return item!.evaluate((node) => (node as unknown as { readonly textContent: string }).textContent);
  }

  /** Waits until a card begins with a text. The message of a failure shows what stands there. */
  async untilCard(title: string, text: string): Promise<void> {
    let cards: Readonly<Record<string, string>> = {};
    await until(async () => {
      cards = await this.cards();
      return cards[title]?.startsWith(text) ?? false;
    }).catch((error: unknown) => {
      throw new Error(`The card ${title} does not begin with ${text}: ${JSON.stringify(cards)}`, { cause: error });
    });
  }

  /** Closes the page with its cookies. */
  async leave(): Promise<void> {
    await this.page.browserContext().close();
  }

  /** The amounts and numbers of the cards, by their titles: `Received` is `1,234.50`. */
  async cards(): Promise<Readonly<Record<string, string>>> {
    await this.page.waitForSelector('.card');
    const cards = `Object.fromEntries([...document.querySelectorAll('.card')].map((card) => [
      card.querySelector('dt').textContent, [...card.querySelectorAll('dd > *')].map((part) => part.textContent).join(' | ')]))`;
    return (await this.page.evaluate(cards)) as Record<string, string>;
  }

  /** The texts of the shown rows, without those that stand further down than the window. */
  async rows(): Promise<string[][]> {
    await this.page.waitForSelector('.table-totals');
    return (await this.page.evaluate(`[...document.querySelectorAll('[role=table] [role=row]')].map((row) =>
      [...row.querySelectorAll('[role=cell]')].map((cell) => cell.textContent)).filter((cells) => cells.length > 0)`)) as string[][];
  }

  /** Waits for a file of this name and reads it. */
  async file(name: RegExp): Promise<Buffer> {
    let found: string | undefined;
    await until(async () => {
      found = (await readdir(this.downloads)).find((each) => name.test(each));
      return found !== undefined && readFileSync(join(this.downloads, found)).length > 0;
    });
    return readFileSync(join(this.downloads, found!));
  }

  copied(): Promise<unknown> {
    return this.page.evaluate('globalThis.copied');
  }

  private async activate(element: ElementHandle, key: 'Enter' | 'none' = 'Enter'): Promise<void> {
    if (this.hands === 'mouse') {
      this.clicks++;
      await element.click();
      return;
    }
    await element.evaluate((node) => (node as unknown as Markable).setAttribute('data-wanted', ''));
    // What stands before the focus is reached backwards: the way around would lead through the browser's own buttons.
    const isBefore = await this.page.evaluate(
      `Boolean(document.activeElement.compareDocumentPosition(document.querySelector('[data-wanted]')) & Node.DOCUMENT_POSITION_PRECEDING)`,
    );
    if (isBefore) await this.page.keyboard.down('Shift');
    await this.tabTo(`document.activeElement.hasAttribute('data-wanted')`);
    if (isBefore) await this.page.keyboard.up('Shift');
    await element.evaluate((node) => (node as unknown as Markable).removeAttribute('data-wanted'));
    if (key !== 'none') await this.page.keyboard.press(key);
  }

  private tabTo(condition: string): Promise<void> {
    return this.until(condition, 'Tab');
  }

  private async until(condition: string, key: 'Tab' | 'ArrowDown' | 'ArrowRight'): Promise<void> {
    for (let presses = 0; !(await this.page.evaluate(condition)); presses++) {
      if (presses === MAX_TABS) throw new Error(`${key} does not lead to where ${condition}`);
      await this.page.keyboard.press(key);
    }
  }
}
