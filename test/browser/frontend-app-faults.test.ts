import type { Page } from 'playwright-core';
import { intercept, logIn, openFrontend, waitFor, type Answer } from '../support/frontend-browser';
import { PASSWORD } from '../support/gateway';
import { giftsOf, givingYears, sumOf } from '../support/giving-years';

const lines = givingYears();
const gateway = openFrontend({ lines });
beforeAll(() =>
  gateway.services.users.create({ organization: gateway.organization.name, username: 'bea', password: PASSWORD, grants: [] }),
);

async function open(place: string, username = 'ada'): Promise<Page> {
  const { page } = await gateway.visit(place);
  await logIn(page, username);
  await page.getByRole('timer').waitFor();
  return page;
}

const FAULT = 'The data source cannot be reached';
/** The answer of a gateway whose data source fails at a field that cannot be null, so that the root field is null. */
const bubbled =
  (field: string, ...rest: (string | number)[]) =>
  (answer: Answer): Answer => ({ data: { ...answer.data, [field]: null }, errors: [{ message: FAULT, path: [field, ...rest] }] });
const alertOf = (page: Page, text: string | RegExp): Promise<void> => page.getByRole('alert').filter({ hasText: text }).first().waitFor();

test("a user never sees a year's money under another year's name", async () => {
  const page = await open('#/donors/2024');
  await page.getByText(/ in 2024/).waitFor();
  let answer = (): void => undefined;
  const isHeld = new Promise<void>((resolve) => (answer = resolve));
  await page.route('**/graphql', async (route) => {
    await isHeld;
    await route.abort();
  });
  const asked = page.waitForRequest('**/graphql');
  await page.getByRole('link', { name: 'Year before' }).click();
  await asked;
  expect(await page.getByText('gifts of').count()).toBe(0);
  await waitFor(page, '20 of 27 donors');
  answer();
  await page.getByRole('alert').first().waitFor();
  expect(await page.getByText('gifts of').count()).toBe(0);
  await page.context().close();
});

test('a user is told of an error of the whole request', async () => {
  const page = await open('#/deposits/99999');
  for (const screen of ['Deposits', 'Funds', 'Donors']) {
    await page.getByRole('link', { name: screen }).click();
    await alertOf(page, 'startDate');
  }
  await page.context().close();
});

test.each([
  ['#/deposits/2024', 'Deposits', bubbled('deposits', 'edges', 0, 'node', 'totals')],
  ['#/deposits/2024/2024-0', 'Deposit', bubbled('deposit', 'transactions', 'edges', 0, 'node', 'allocations')],
  ['#/funds/2024', 'Funds', bubbled('depositSummary', 'all')],
  ['#/donors/2024/x', 'Donor', bubbled('node', 'transactions', 'edges', 0, 'node', 'allocations')],
])('a user is told of an error below the field of the screen %s', async (place, name, change) => {
  const { page } = await gateway.visit(place);
  await intercept(page, name, { change });
  await logIn(page);
  await alertOf(page, FAULT);
  expect(await page.getByText('There is no such').count()).toBe(0);
  await page.context().close();
});

test('a user does not take a donor who could not be read for nobody', async () => {
  const { page } = await gateway.visit('#/deposits/2024/2024-0');
  await intercept(page, 'Deposit', {
    change: ({ data }) => {
      const { edges } = (data!.deposit as { transactions: { edges: { node: { donor: unknown } }[] } }).transactions;
      for (const { node } of edges) node.donor = null;
      return { data: data!, errors: [{ message: FAULT, path: ['deposit', 'transactions', 'edges', 0, 'node', 'donor'] }] };
    },
  });
  await logIn(page);
  await waitFor(page, '20 of 45 gifts');
  await alertOf(page, FAULT);
  expect(await page.getByText('Anonymous').count()).toBe(0);
  expect(await page.getByRole('cell', { name: 'unknown' }).count()).toBe(20);
  await page.unroute('**/graphql');
  // A page that follows brings no error of its own, and neither does a return to the screen.
  await page.getByRole('button', { name: 'More' }).click();
  await waitFor(page, '40 of 45 gifts');
  await alertOf(page, FAULT);
  expect(await page.getByRole('cell', { name: 'unknown' }).count()).toBeGreaterThanOrEqual(20);
  await page.getByRole('link', { name: 'Deposits' }).click();
  await waitFor(page, '20 of 45 deposits');
  await page.goBack();
  await waitFor(page, '20 of 45 gifts');
  await page.getByText('Ada Donorname-7').first().waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  await page.context().close();
});

const donorPlace = async (page: Page): Promise<void> => {
  await page.getByRole('searchbox').fill('donorname-7');
  await page.getByRole('link', { name: 'Ada Donorname-7', exact: true }).click();
};
test.each([
  ['#/deposits/2024', 'ada', 'Deposits', 'deposits', /^\d+ of 45 deposits$/],
  ['#/deposits/2024/2024-0', 'ada', 'Deposit', 'deposit', /^\d+ of 45 gifts$/],
  ['#/deposits/2024/2024-0', 'bea', 'Deposit', undefined, /^\d+ of 45 gifts$/],
  ['#/donors/2024', 'ada', 'Donors', 'donors', /^\d+ of 27 donors$/],
  ['#/donors/2024', 'ada', 'Donor', 'node', / gifts of .* in 2024$/],
])('a user of %s, %s, reads at the button that the next page of %s failed, and tries again', async (place, username, name, field, text) => {
  const page = await open(place, username);
  if (name === 'Donor') await donorPlace(page);
  const rows = page.locator('main tbody tr, main li');
  await page.getByText(text).waitFor();
  await page.getByRole('button', { name: 'More' }).waitFor();
  const before = await rows.allInnerTexts();
  await intercept(page, name, { ask: () => null });
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('alert').waitFor();
  expect(await rows.allInnerTexts()).toEqual(before);
  await page.unroute('**/graphql');

  if (field !== undefined) {
    await intercept(page, name, { change: bubbled(field, 'edges', 0, 'node') });
    await page.getByRole('button', { name: 'More' }).click();
    await alertOf(page, FAULT);
    expect(await rows.allInnerTexts()).toEqual(before);
    await page.unroute('**/graphql');
  }

  await page.getByRole('button', { name: 'More' }).click();
  await rows.nth(before.length).waitFor();
  expect((await rows.allInnerTexts()).slice(0, before.length)).toEqual(before);
  expect(await page.getByRole('alert').count()).toBe(0);
  await page.context().close();
});

test('a user is told that a list of groups or of shares has been cut', async () => {
  const page = await open('#/deposits/2024');
  await intercept(page, 'Funds', { ask: (query) => query.replace('first: 1000', 'first: 5') });
  await page.getByRole('link', { name: 'Funds' }).click();
  await page.getByText(/^5 of \d\d rows\. The sum has all of them\.$/).waitFor();

  const gift = giftsOf(lines).find(({ donor_id, deposit_date }) => donor_id === 7 && deposit_date.startsWith('2024-'))!;
  const shares = lines.filter(({ transaction_id }) => transaction_id === gift.transaction_id);
  await intercept(page, 'Donor', { ask: (query) => query.replace('first: 10)', 'first: 1)') });
  await page.getByRole('link', { name: 'Donors' }).click();
  await donorPlace(page);
  const cell = page.getByRole('row').filter({ hasText: gift.transaction_id }).getByRole('cell').last();
  const first = `${shares[0]!.designation} ${sumOf([shares[0]!], 'allocation_amount')}`;
  expect(await cell.innerText()).toBe(shares.length > 1 ? `${first}, and more` : first);
  expect(await page.getByRole('cell', { name: ', and more' }).count()).toBeGreaterThan(0);
  await page.context().close();
});

test('a user searches on after the donors could not be read', async () => {
  const page = await open('#/donors/2024');
  await waitFor(page, '20 of 27 donors');
  await intercept(page, 'Donors', { change: bubbled('donors') });
  await page.getByRole('searchbox').fill('donorname-2');
  await alertOf(page, FAULT);
  await page.unroute('**/graphql');
  await page.getByRole('searchbox').fill('donorname-21');
  await waitFor(page, '1 of 1 donors');
  await page.context().close();
});

describe('a user of the Relay page', () => {
  const openRelay = async (): Promise<Page> => {
    const page = await open('#/deposits/2024');
    await page.goto(`${gateway.origin}/relay.html#/deposits/2024`);
    await waitFor(page, '5 of 45 deposits');
    return page;
  };

  test.each([
    ['More deposits', 'depositsNextQuery', 'deposits', '5 of 45 deposits', '10 of 45 deposits'],
    ['More gifts', 'giftsNextQuery', 'node', '2 of 45 gifts', '22 of 45 gifts'],
  ])('reads at the button "%s" that the next page failed, and tries again', async (button, name, field, before, after) => {
    const page = await openRelay();
    const press = (): Promise<void> => page.getByRole('button', { name: button }).first().click();
    await intercept(page, name, { ask: () => null });
    await press();
    await page.getByRole('alert').waitFor();
    await waitFor(page, before);
    await page.unroute('**/graphql');
    await intercept(page, name, { change: bubbled(field) });
    await press();
    await alertOf(page, FAULT);
    await waitFor(page, before);
    await page.unroute('**/graphql');
    await press();
    await waitFor(page, after);
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.context().close();
  });

  test.each(['More deposits', 'More gifts'])('is led to the login when the session has ended at "%s"', async (button) => {
    const page = await openRelay();
    await gateway.database.client.query('DELETE FROM session');
    await page.getByRole('button', { name: button }).first().click();
    await page.getByRole('link', { name: 'Log in' }).waitFor();
    expect(await page.getByText('in the bank').count()).toBe(0);
    await page.context().close();
  });
});
