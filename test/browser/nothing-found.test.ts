import { logIn, openPlayground, printPage } from '../support/playground-browser';
import { v2Line } from '../support/gateway';

const gateway = openPlayground({ lines: [v2Line({ deposit_date: '2024-05-03', allocation_amount: '10.50' })] });

async function open(hash: string) {
  const { page, faults } = await gateway.visit({ hash, now: '2024-06-15T12:00:00Z', locale: 'en-US' });
  await logIn(page);
  return { page, faults, cards: page.locator('.card') };
}

test('an analyst whose report has no lines is told so, and sees no figures of zero', async () => {
  const { page, faults, cards } = await open('#reports/designations?period=2019-01-01..2019-01-31');
  await page.getByText('Nothing came in that fits these choices. Try another period or fewer conditions.').waitFor();
  expect(await cards.count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Clear the conditions' }).count()).toBe(0);
  const [sheet] = await printPage(page);
  expect(sheet!.lines.join('\n')).not.toContain('0.00');
  await page.evaluate(`location.hash = '#reports/designations?period=2024-05-01..2024-05-31'`);
  await cards.first().waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst who has narrowed a report to nothing clears the conditions, and keeps the period', async () => {
  const { page, faults, cards } = await open('#reports/gifts?period=2024-05-01..2024-05-31&amountMin=900.00');
  await page.getByRole('button', { name: 'Clear the conditions' }).click();
  await page.locator('[data-row="0"]').getByText('10.50').first().waitFor();
  expect(await cards.first().innerText()).toContain('10.50');
  expect(await page.evaluate('location.hash')).toBe('#reports/gifts?period=2024-05-01..2024-05-31');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst still sees figures of zero beside those of a period in which something came in', async () => {
  const { page, faults, cards } = await open('#reports/deposits?period=2019-01-01..2019-01-31&compare=2024-05-01..2024-05-31');
  await cards.first().getByText('The other period: 10.50').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});
