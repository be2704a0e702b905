import { v2Line } from '../support/gateway';
import { openPlayground, watchFaults } from '../support/playground-browser';

const gateway = openPlayground({ lines: [v2Line()] });

test('an integrator reads the document, enters a provision and tries the report, with nothing from elsewhere', async () => {
  const page = await gateway.newPage();
  page.setDefaultTimeout(15_000);
  const faults = watchFaults(page, gateway.url);
  // A link of an attacker that names another document.
  await page.goto(`${gateway.url}/docs?url=https://evil.example/openapi.json`);
  await page.getByRole('heading', { name: 'Deposit Gateway v2' }).waitFor();

  await page.getByRole('button', { name: 'Authorize', exact: true }).click();
  await page.getByLabel('Value:').first().fill(gateway.organization.apiProvision);
  await page.getByRole('button', { name: 'Apply credentials' }).first().click();
  await page.getByRole('button', { name: 'Close', exact: true }).first().click();

  await page.getByText('Read the lines of a period').click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByPlaceholder('start_date').fill('2024-01-01');
  await page.getByPlaceholder('end_date').fill('2024-12-31');
  await page.getByRole('button', { name: 'Execute' }).click();
  await page.locator('.live-responses-table').getByText('General Fund').waitFor();
  expect(faults).toEqual([]);

  // A reload forgets the provision.
  await page.reload();
  await page.getByRole('heading', { name: 'Deposit Gateway v2' }).waitFor();
  expect(await page.evaluate(`JSON.stringify({ ...localStorage, ...sessionStorage })`)).not.toContain(gateway.organization.apiProvision);
  await page.context().close();
});
