import { logIn, openFrontend, waitFor } from '../support/frontend-browser';
import { PASSWORD } from '../support/gateway';
import { givingYears } from '../support/giving-years';

const gateway = openFrontend({ lines: givingYears() });
beforeAll(() =>
  gateway.services.users.create({ organization: gateway.organization.name, username: 'bea', password: PASSWORD, grants: [] }),
);

test("a user who logs in through another tab gets nothing of the former user's donors", async () => {
  const { page } = await gateway.visit('#/donors/2024');
  await logIn(page);
  await waitFor(page, '20 of 27 donors');
  const { page: other } = await gateway.visit('', await page.context().newPage());
  await other.getByRole('button', { name: 'Log out' }).click();
  await logIn(other, 'bea');
  await other.getByRole('timer').filter({ hasText: 'bea' }).waitFor();
  await page.getByRole('link', { name: 'Funds' }).click();
  await page.getByRole('timer').filter({ hasText: 'bea' }).waitFor();
  await page.getByText('All funds').waitFor();
  await page.getByRole('link', { name: 'Donors' }).click();
  await waitFor(page, 'Your account may not see this.');
  expect(await page.getByText('Donorname').count()).toBe(0);
  await page.context().close();
});

test('a user without a network sees no donors after the countdown, and the login as soon as the network is back', async () => {
  const { page } = await gateway.visit('#/deposits/2024/2024-0');
  await page.clock.install();
  await logIn(page);
  await page.getByText('Ada Donorname-7').first().waitFor();
  await page.context().setOffline(true);
  await page.clock.fastForward('30:01');
  await page.getByRole('alert').filter({ hasText: 'The session may have ended' }).waitFor();
  expect(await page.getByText('Donorname').count()).toBe(0);
  await gateway.database.client.query('DELETE FROM session');
  await page.context().setOffline(false);
  await page.clock.fastForward('00:02');
  await page.getByLabel('Username').waitFor();
  await page.context().close();
});

test('a user whose browser keeps no cookie of another site is told so after the login', async () => {
  const { page } = await gateway.visit('');
  await page.goto(gateway.origin.replace('127.0.0.1', 'localhost'));
  await logIn(page);
  await page.getByRole('alert').filter({ hasText: 'your browser kept no session' }).waitFor();
  await page.context().close();
});
