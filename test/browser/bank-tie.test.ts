import { readFile } from 'node:fs/promises';
import { source as axe } from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { bai2, camt } from '../support/bank-files';
import { importLines } from '../support/gateway';
import { openPlayground } from '../support/playground-browser';
import { BOOKS, chooseStatement as choose, credit, gift, openTie, STATEMENT } from '../support/tied-books';
import { readXlsx } from '../support/xlsx-reader';

const gateway = openPlayground();
const open = (options?: BrowserContextOptions, books?: typeof BOOKS) => openTie(gateway, options, books);

const rowsOf = async (page: Page, list: RegExp): Promise<string[]> => {
  await page.getByRole('tab', { name: list }).click();
  const table = page.locator('.bank-lists').getByRole('table');
  await table.locator('[data-row="0"]').waitFor();
  const rows = await table.locator('.table-body [role=row]').allInnerTexts();
  return rows.map((row) => row.replace(/\s+/g, ' ').trim());
};
const truth = (page: Page): Promise<string> => page.locator('.bank-truth').innerText();

test('an analyst drops a statement and reads what is matched, what is left on both sides, and why', async () => {
  const { page, faults } = await open();
  const data = await page.evaluateHandle(
    `(() => { const data = new DataTransfer(); data.items.add(new File([${JSON.stringify(camt(STATEMENT))}], 'may.xml')); return data; })()`,
  );
  await page.locator('.bank-form').dispatchEvent('drop', { dataTransfer: data });
  await page.locator('.bank-lists').waitFor();
  expect(await truth(page)).toBe(
    'Matched €156.50 (4 lines) + no deposit €70.00 (1 line) + unclear €80.00 (2 lines) − paid out €10.00 (1 line) = €296.50, what the statement moves: from €1,000.00 to €1,296.50.',
  );
  expect(await rowsOf(page, /^Matched \(3\)/)).toEqual([
    '1 May 5, 2026 97.50 card gifts May 4, 2026 D1 97.50 same amount, 1 day later',
    '2 May 6, 2026 50.00 batch May 5, 2026 D2 20.00 the only sum of deposits: 2 of them',
    '2 May 5, 2026 D3 30.00 the only sum of deposits: 2 of them',
    '3 May 12, 2026 4.00 part one May 12, 2026 D4 9.00 the only sum of lines: 2 of them',
    '3 May 13, 2026 5.00 part two the only sum of lines: 2 of them',
  ]);
  expect(await rowsOf(page, /^Only here \(3\)/)).toEqual([
    'May 18, 2026 D5 40.00 Unclear: several of this amount within 3 days.',
    'May 18, 2026 D6 40.00 Unclear: several of this amount within 3 days.',
    'May 25, 2026 D7 77.00 No such amount and no such sum within 3 days.',
  ]);
  expect((await rowsOf(page, /^Only at the bank \(4\)/)).at(-1)).toBe(
    'May 29, 2026 -10.00 fees of the account Money that left the account.',
  );
  // By the gross amount, the card gifts are no line any more.
  await page.locator('.bank-form').getByLabel('Amount').selectOption('gross');
  await page.getByText('Matched €59.00 (3 lines)').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst sees lines of the first days matched with deposits of the month before, which are in no sum of the report', async () => {
  const { page, faults } = await open({}, [...BOOKS, gift('8', '2026-04-30', '12.00'), gift('9', '2026-04-02', '5.00')]);
  const entries = [credit('2026-05-02', '12.00', 'of April'), ...STATEMENT.entries];
  await choose(page, 'may.xml', camt({ ...STATEMENT, closing: '1308.50', entries }));
  await page.locator('.bank-lists').waitFor();
  const sums = await page.locator('.bank-summary').innerText();
  expect(sums).toContain('Matched €168.50 (5 lines)');
  expect(sums).toContain('Deposits: matched €156.50 (4) + only here €157.00 (3) = €313.50 of the report, books of version 1.');
  expect(sums).toContain('Matched outside the period: €12.00 (1).');
  const [first] = await rowsOf(page, /^Matched \(4\)/);
  expect(first).toBe('1 May 2, 2026 12.00 of April Apr 30, 2026 D8 12.00 outside the period: same amount, 2 days later');
  expect((await rowsOf(page, /^Only here \(3\)/)).join()).not.toMatch(/D[89]/);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst matches by hand what is unclear, takes it apart again, and takes the lists home in a spreadsheet', async () => {
  const { page, faults } = await open();
  await choose(page, 'may.xml', camt(STATEMENT));
  await page.locator('.bank-lists').waitFor();
  await page.getByRole('tab', { name: /^Only at the bank/ }).click();
  await page.locator('.bank-lists').getByRole('button', { name: '2026-05-19: match by hand' }).click();
  const dialog = page.getByRole('dialog');
  const match = dialog.getByRole('button', { name: 'Match', exact: true });
  expect(await match.isEnabled()).toBe(false);
  await dialog.getByRole('checkbox', { name: /D7/ }).check();
  await dialog.getByText('The bank has -€37.00 against the deposits.').waitFor();
  expect(await match.isEnabled()).toBe(false);
  await dialog.getByRole('checkbox', { name: /D7/ }).uncheck();
  await dialog.getByRole('checkbox', { name: /D6/ }).check();
  await match.click();
  // Once one of the two is matched, the other one is sure.
  await page.getByText('Matched €236.50 (6 lines)').waitFor();
  expect(await rowsOf(page, /^Matched \(5\)/)).toContain('5 May 19, 2026 40.00 check b May 18, 2026 D6 40.00 by hand: 1 line, 1 deposit');
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download spreadsheet' }).click()]);
  expect(saved.suggestedFilename()).toBe('bank-tie-out-2026-05-01-2026-05-31-statement.xlsx');
  const sheets = readXlsx(await readFile(await saved.path()));
  expect(sheets.map(({ name, rows }) => [name, rows.length])).toEqual([
    ['Matched', 8],
    ['Only here', 2],
    ['Only at the bank', 3],
    ['Totals', 19],
  ]);
  expect(sheets[2]!.rows[1]).toMatchObject({ C: { number: 70, format: '#,##0.00' }, D: 'a wrong amount' });
  const total = sheets[3]!.rows.find(({ A }) => A === 'All lines');
  expect(total?.B).toMatchObject({ number: 296.5 });
  await page.locator('.bank-lists').getByRole('button', { name: 'match 5: take it apart' }).click();
  await page.getByText('Matched €156.50 (4 lines)').waitFor();
  await page.getByRole('button', { name: 'Match equal groups (1)' }).click();
  await page.getByText('Matched €236.50 (6 lines)').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst is told that a matched deposit has changed since, and ties again', async () => {
  const { page, faults, organization } = await open();
  await choose(page, 'may.xml', camt(STATEMENT));
  await page.locator('.bank-lists').waitFor();
  await importLines(gateway.services, organization, [gift('7', '2026-05-25', '78.00')]);
  await page.evaluate(`dispatchEvent(new Event('focus'))`);
  await page.getByText('The books are of version 2 now. No matched deposit has changed.').waitFor();
  await importLines(gateway.services, organization, [gift('1', '2026-05-04', '100.00', '3.00')]);
  await page.evaluate(`dispatchEvent(new Event('focus'))`);
  await page
    .getByText('Stale: 1 matched deposit has changed since version 1; the books are of version 3 now. D1: net 97.50 → 97.00.')
    .waitFor();
  expect((await rowsOf(page, /^Matched/))[0]).toContain('net 97.50 → 97.00');
  // Another run of the report shows the new books, and the tie keeps those that it was made of.
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.getByText('Stale: 1 matched deposit has changed since version 1').waitFor();
  await page.getByRole('button', { name: 'Tie again' }).click();
  await page.getByText('Matched €59.00 (3 lines)').waitFor();
  expect(await page.locator('.bank-summary').innerText()).toContain('books of version 3');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst is told the reason of a refusal, and the file goes nowhere', async () => {
  const { page, faults } = await open();
  const sent: string[] = [];
  page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
  await choose(page, 'may.xml', camt({ ...STATEMENT, closing: '1.00' }));
  await page.getByText('may.xml is refused. The balances do not fit the lines: 1000.00 before and movements of 296.50').waitFor();
  expect(await page.locator('.bank-lists').count()).toBe(0);
  const lines = { summary: '010,0,,,015,9750,,', records: ['16,165,9750,,,,secret text'], control: 19500 };
  await choose(
    page,
    'two.bai',
    bai2(
      [
        { ...lines, account: 'A1' },
        { ...lines, account: 'A2' },
      ],
      { currency: 'EUR' },
    ),
  );
  await page.getByText('two.bai is refused. The file is of accounts A1, A2: choose one of them.').waitFor();
  await page.getByLabel('Account').fill('A2');
  await page.keyboard.press('Enter');
  await page.getByText('Matched €97.50 (1 line)').waitFor();
  await page.locator('.bank-summary').getByText('Account A2').waitFor();
  await page.getByLabel('Account').fill('');
  await page.keyboard.press('Enter');
  await page.getByText('two.bai is refused.').waitFor();
  expect(sent.filter((request) => /secret|16,165/.test(request))).toEqual([]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst chooses the columns of a table once, and the browser remembers them by its header', async () => {
  const { page, faults } = await open();
  const table = (date: string): string => `When,Value,Words\n${date},97.50,card gifts\n${date},1.00,other\n`;
  await choose(page, 'may.csv', table('05/04/2026'));
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Text').selectOption('Words');
  await dialog.getByRole('button', { name: 'Read the statement' }).click();
  await dialog.getByText('The dates of “When” do not tell whether the day or the month comes first: choose it.').waitFor();
  await dialog.getByLabel('Order of dates').selectOption('Month before day');
  await dialog.getByRole('button', { name: 'Read the statement' }).click();
  await page.getByText('Matched 97.50 (1 line)').waitFor();
  expect(await rowsOf(page, /^Matched/)).toEqual(['1 May 4, 2026 97.50 card gifts May 4, 2026 D1 97.50 same amount, the same day']);
  await choose(page, 'june.csv', table('05/05/2026'));
  await page.getByText('june.csv', { exact: false }).first().waitFor();
  await page.getByText('same amount, 1 day later').first().waitFor();
  expect(await dialog.count()).toBe(0);
  const keys = await page.evaluate<string[]>(`Object.keys(localStorage).filter((key) => key.startsWith('deposit-gateway.statement.'))`);
  expect(keys).toEqual([expect.stringMatching(/\.[\da-f]{64}$/)]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test.each([
  [1280, 720, 'light'],
  [390, 844, 'dark'],
] as const)('an analyst who needs help to see can tie a statement at %d by %d', async (width, height, colorScheme) => {
  const { page, faults } = await open({ viewport: { width, height }, colorScheme });
  const problems = async (): Promise<string[]> => {
    await page.evaluate(axe);
    return page.evaluate<string[]>(`axe.run().then(({ violations }) => [
      ...violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target)),
      ...(document.documentElement.scrollWidth > innerWidth ? ['wider than the window'] : []),
    ])`);
  };
  expect(await problems()).toEqual([]);
  await choose(page, 'may.xml', camt(STATEMENT));
  await page.locator('.bank-lists').waitFor();
  expect(await problems()).toEqual([]);
  await page.screenshot({ path: `coverage/bank-tie-${width}.png` });
  await choose(page, 'may.csv', 'When,Value,Words\n05/04/2026,97.50,card gifts\n');
  await page.getByRole('dialog').getByRole('button', { name: 'Read the statement' }).waitFor();
  expect(await problems()).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  // A closed question leaves the statement that was read before.
  await page.getByRole('tab', { name: /^Only at the bank/ }).click();
  const row = page.locator('.bank-lists [data-row="2"]');
  if (width > 480) await row.getByRole('button').click();
  else {
    await row.click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /match by hand/ })
      .click();
  }
  await page.getByRole('heading', { name: 'Match by hand' }).waitFor();
  expect(await problems()).toEqual([]);
  expect(faults).toEqual([]);
  await page.context().close();
});
