import type { Page } from 'playwright-core';
import { bai2, camt } from '../support/bank-files';
import { importLines } from '../support/gateway';
import { openPlayground } from '../support/playground-browser';
import { chooseStatement, gift, openTie, STATEMENT } from '../support/tied-books';

const gateway = openPlayground();

/** Holds the readings of deposits until they are released. `asked` resolves with the first of them. */
async function holdDeposits(page: Page): Promise<{ readonly asked: Promise<void>; readonly release: () => void }> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let begin = (): void => undefined;
  const asked = new Promise<void>((resolve) => (begin = resolve));
  await page.route('**/graphql', async (route, request) => {
    if (request.postData()?.includes('2026-02-28')) {
      begin();
      await released;
    }
    await route.continue();
  });
  return { asked, release };
}

test('an analyst who chooses another amount while the deposits are read has it', async () => {
  const { page, faults } = await openTie(gateway);
  const { asked, release } = await holdDeposits(page);
  await chooseStatement(page, 'may.xml', camt(STATEMENT));
  await asked;
  await page.locator('.bank-form').getByLabel('Amount').selectOption('gross');
  release();
  // By the gross amount, the card gifts are no line.
  await page.getByText('Matched €59.00 (3 lines)').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst who drops a small file after a large one has the small one', async () => {
  const { page, faults } = await openTie(gateway);
  const large = camt({ ...STATEMENT, closing: '1366.50', entries: [...STATEMENT.entries, STATEMENT.entries[6]!] });
  await page.locator('.bank-form').waitFor();
  // Whatever the page tells at any time, until a file that was read after both.
  await page.evaluate(`(() => {
    window.told = [];
    const look = () => told.push(document.querySelector('.bank-truth')?.innerText ?? '');
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    const drop = (name, ...parts) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(parts, name));
      document.querySelector('.bank-form').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
    };
    drop('large.xml', ${JSON.stringify(large)}, ' '.repeat(50_000_000));
    drop('small.xml', ${JSON.stringify(camt(STATEMENT))});
  })()`);
  const truth = page.locator('.bank-truth');
  await truth.getByText('= €296.50').waitFor();
  expect(await page.locator('.bank-form').innerText()).toContain('small.xml');
  await chooseStatement(page, 'next.xml', camt({ ...STATEMENT, closing: '1306.50', entries: STATEMENT.entries.slice(0, -1) }));
  await truth.getByText('= €306.50').waitFor();
  expect((await page.evaluate<string[]>('told')).join()).not.toContain('€366.50');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst whose deposits cannot be read is told why, keeps what was tied, and tries again', async () => {
  const { page } = await openTie(gateway);
  await chooseStatement(page, 'may.xml', camt(STATEMENT));
  await page.getByText('Matched €156.50 (4 lines)').waitFor();
  await page.route('**/graphql', (route, request) => (request.postData()?.includes('2026-02-27') ? route.abort() : route.continue()));
  await page.evaluate(`location.hash = '#reports/bank-tie-out?period=2026-04-30..2026-05-30'`);
  await page.getByText('Reading the deposits of the report…').waitFor({ state: 'hidden' });
  const alert = page.locator('.bank-panel').getByRole('alert');
  await alert.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await page.locator('.bank-lists').count()).toBe(0);
  await page.unroute('**/graphql');
  await alert.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Matched €156.50 (4 lines)').waitFor();
  await alert.waitFor({ state: 'hidden' });
  await page.context().close();
});

test('an analyst who chooses an account while the invented statement cannot be made has it for the file of before', async () => {
  const { page, organization } = await openTie(gateway);
  await gateway.services.organizations.rename(organization.name, 'Demo');
  await page.reload();
  await page.getByRole('button', { name: 'Tie to a bank statement…' }).click();
  const lines = { summary: '010,0,,,015,9750,,', records: ['16,165,9750,,,,card gifts'], control: 19500 };
  const accounts = ['A1', 'A2'].map((account) => ({ ...lines, account }));
  await chooseStatement(page, 'two.bai', bai2(accounts, { currency: 'EUR' }));
  await page.getByText('two.bai is refused. The file is of accounts A1, A2: choose one of them.').waitFor();
  let fail = (): void => undefined;
  const failing = new Promise<void>((resolve) => (fail = resolve));
  let begin = (): void => undefined;
  const asked = new Promise<void>((resolve) => (begin = resolve));
  let isFirst = true;
  await page.route('**/graphql', async (route, request) => {
    if (!isFirst || !request.postData()?.includes('2026-02-28')) return route.continue();
    isFirst = false;
    begin();
    await failing;
    return route.abort();
  });
  await page.getByRole('button', { name: 'Try an invented statement' }).click();
  await asked;
  await page.getByLabel('Account').fill('A2');
  await page.keyboard.press('Enter');
  fail();
  await page.getByText('Matched €97.50 (1 line)').waitFor();
  await page.locator('.bank-summary').getByText('Account A2').waitFor();
  // The reason why there is no invented statement is told all the same.
  await page.locator('.bank-panel').getByRole('alert').getByText('The gateway cannot be reached.').waitFor();
  await page.context().close();
});

test('an analyst reads that the report is older than the deposits of the tie', async () => {
  const { page, organization } = await openTie(gateway);
  await importLines(gateway.services, organization, [gift('8', '2026-05-26', '70.00')]);
  await chooseStatement(page, 'may.xml', camt(STATEMENT));
  await page.getByText('Matched €226.50 (5 lines)').waitFor();
  const sums = page.locator('.bank-summary');
  expect(await sums.innerText()).toContain('books of version 2. The report above is of version 1: run it again.');
  await page.getByRole('button', { name: 'Run again' }).click();
  await sums.getByText('The report above').waitFor({ state: 'detached' });
  await page.context().close();
});
