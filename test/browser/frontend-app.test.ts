import { source as axe } from 'axe-core';
import type { Page } from 'playwright-core';
import type { BookLine } from '../support/deposit-book';
import { logIn, openFrontend, waitFor } from '../support/frontend-browser';
import { PASSWORD } from '../support/gateway';
import { giftsOf, givingYears, shown, sumOf } from '../support/giving-years';
import { until } from '../support/until';

const lines = givingYears();
const posted = lines.filter(({ deposit_status }) => deposit_status === 'posted');
const ofYear = (year: number): BookLine[] => posted.filter(({ deposit_date }) => deposit_date.startsWith(`${year}-`));
const ofDeposit = (id: string): BookLine[] => lines.filter(({ deposit_id }) => deposit_id === id);
/** The deposits of a year by date, those of a day by ID. */
const depositsOf = (year: number): string[] =>
  [...new Set(ofYear(year).map(({ deposit_date, deposit_id }) => `${deposit_date} ${deposit_id}`))].sort().map((key) => key.split(' ')[1]!);

const gateway = openFrontend({ lines });
const { visit } = gateway;
beforeAll(() =>
  gateway.services.users.create({ organization: gateway.organization.name, username: 'bea', password: PASSWORD, grants: [] }),
);

/** The cells of the table's rows, of its body or its foot. */
async function cellsOf(page: Page, part: 'tbody' | 'tfoot' = 'tbody'): Promise<string[][]> {
  const rows = await page.locator(`${part} tr`).allInnerTexts();
  return rows.map((row) => row.split('\t').map((cell) => cell.trim()));
}

/** Keeps a picture of the page, and resolves to the faults that axe finds on it. */
async function problemsOf(page: Page, name: string): Promise<string[]> {
  await page.screenshot({ path: `coverage/frontend-${name}.png` });
  await page.evaluate(axe);
  return page.evaluate<string[]>(
    'axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + " " + target)))',
  );
}

/** The row that the list of deposits should have. */
const rowOf = (id: string): string[] => {
  const gifts = giftsOf(ofDeposit(id));
  return [
    gifts[0]!.deposit_date,
    id,
    String(gifts.length),
    ...(['amount', 'fee_amount', 'net_amount'] as const).map((column) => sumOf(gifts, column)),
  ];
};

test('a user logs in after a mistake, and pages through deposits with the sums of the books', async () => {
  const { page, faults, asked } = await visit('#/deposits/2024');
  await page.getByLabel('Username').waitFor();
  expect(await problemsOf(page, 'login')).toEqual([]);
  await logIn(page, 'ada', 'wrong');
  await page.getByRole('alert').filter({ hasText: 'Username or password is not correct' }).waitFor();
  await logIn(page);

  await waitFor(page, '20 of 45 deposits');
  expect(await page.getByRole('timer').innerText()).toMatch(/^ada, (29|30):\d\d left$/);
  const expected = depositsOf(2024).map(rowOf);
  expect(await cellsOf(page)).toEqual(expected.slice(0, 20));
  for (const length of [40, 45]) {
    await page.getByRole('button', { name: 'More' }).click();
    await waitFor(page, `${length} of 45 deposits`);
    expect(await cellsOf(page)).toEqual(expected.slice(0, length));
  }
  expect(await page.getByRole('button', { name: 'More' }).count()).toBe(0);
  const gifts = giftsOf(ofYear(2024));
  const sums = (['amount', 'fee_amount', 'net_amount'] as const).map((column) => sumOf(gifts, column));
  expect(await cellsOf(page, 'tfoot')).toEqual([['All deposits', String(gifts.length), ...sums]]);
  expect(await problemsOf(page, 'deposits')).toEqual([]);
  const names = asked.map((body) => (JSON.parse(body) as { operationName: string }).operationName);
  expect(names).toEqual(['Viewer', 'Login', 'Login', 'Viewer', 'Deposits', 'Deposits', 'Deposits']);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a user compares the months of each fund with those of the year before', async () => {
  const { page, faults } = await visit('#/funds/2024');
  await logIn(page);
  await page.getByText('All funds').waitFor();

  const keyOf = ({ deposit_date, designation_id, designation }: BookLine): string =>
    [deposit_date.slice(5, 7), designation_id, designation].join('/');
  const centsOf = (part: readonly BookLine[]): number =>
    part.reduce((sum, line) => sum + Math.round(Number(line.allocation_amount) * 100), 0);
  const compare = (now: readonly BookLine[], before: readonly BookLine[]): string[] => {
    const [current, compared] = [centsOf(now), centsOf(before)];
    const percentage = compared <= 0 ? '' : ` (${Number((((current - compared) * 100) / compared).toFixed(2))} %)`;
    return [shown(current), shown(compared), shown(current - compared) + percentage];
  };
  const [now, before] = [ofYear(2024), ofYear(2023)];
  const keys = [...new Set([...now, ...before].map(keyOf))].sort();
  const matching = (part: readonly BookLine[], key: string): BookLine[] => part.filter((line) => keyOf(line) === key);
  const expected = keys.map((key) => [
    `2024-${key.split('/')[0]!}`,
    key.split('/')[2]!,
    ...compare(matching(now, key), matching(before, key)),
  ]);
  expect(await cellsOf(page)).toEqual(expected);
  expect(await cellsOf(page, 'tfoot')).toEqual([['All funds', ...compare(now, before)]]);
  expect(await problemsOf(page, 'funds')).toEqual([]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a user follows a gift to its donor, and sees the gifts and their shares', async () => {
  const { page, faults } = await visit('#/deposits/2024/2024-0');
  await logIn(page);
  await waitFor(page, '20 of 45 gifts');
  for (const length of [40, 45]) {
    await page.getByRole('button', { name: 'More' }).click();
    await waitFor(page, `${length} of 45 gifts`);
  }
  const nameOf = ({ donor_id, donor_first_name, donor_last_name }: BookLine): string =>
    donor_id === 0 ? 'Anonymous' : `${donor_first_name} ${donor_last_name}`;
  const inDeposit = giftsOf(ofDeposit('2024-0'));
  expect(await cellsOf(page)).toEqual(
    inDeposit.map((gift) => [
      gift.transaction_id,
      nameOf(gift),
      (gift as unknown as { main_memo: string }).main_memo,
      sumOf([gift], 'amount'),
    ]),
  );

  await page.getByRole('link', { name: 'Ada Donorname-7', exact: true }).first().click();
  await page.getByRole('heading', { name: 'Ada Donorname-7' }).waitFor();
  const given = ofYear(2024).filter(({ donor_id }) => donor_id === 7);
  const gifts = giftsOf(given);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'More' }).click();
  await until(async () => (await page.getByRole('button', { name: 'More' }).count()) === 0);
  await waitFor(page, `${gifts.length} gifts of ${sumOf(gifts, 'amount')} in 2024`);
  const sharesOf = ({ transaction_id }: BookLine): string =>
    given
      .filter((line) => line.transaction_id === transaction_id)
      .map((line) => `${line.designation} ${sumOf([line], 'allocation_amount')}`)
      .join(', ');
  const expected = gifts.map((gift) => [gift.transaction_date, gift.transaction_id, sumOf([gift], 'amount'), sharesOf(gift)]);
  expect(await cellsOf(page)).toEqual(expected.sort(([a, b], [c, d]) => (`${a} ${b}` < `${c} ${d}` ? -1 : 1)));
  expect(await problemsOf(page, 'donor')).toEqual([]);
  expect(faults).toEqual([]);
  await page.context().close();
});

const headsOf = async (page: Page): Promise<string[]> =>
  (await page.locator('thead th').allInnerTexts()).map((text) => text.split(/\s+/).join(' '));

const REFUSED = 'Your account may not see this.';

test('a user without the privilege of the report is told so in the place of what is refused, and sees the rest', async () => {
  const { page, faults } = await visit('#/donors/2024');
  await logIn(page, 'bea');
  await waitFor(page, `${giftsOf(ofYear(2024)).length} gifts of ${sumOf(giftsOf(ofYear(2024)), 'amount')} in 2024`);
  expect(await page.getByText(REFUSED).count()).toBe(1);
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(await problemsOf(page, 'refused')).toEqual([]);

  await page.getByRole('link', { name: 'Deposits' }).click();
  await page.getByRole('link', { name: '2024-0', exact: true }).click();
  const gifts = giftsOf(ofDeposit('2024-0')).map((gift) => [gift.transaction_id, '', '', sumOf([gift], 'amount')]);
  for (const length of [20, 40, 45]) {
    if (length > 20) await page.getByRole('button', { name: 'More' }).click();
    await waitFor(page, `${length} of 45 gifts`);
    expect(await cellsOf(page)).toEqual(gifts.slice(0, length));
    expect(await headsOf(page)).toEqual(['Gift', `Donor ${REFUSED}`, `Memo ${REFUSED}`, 'Amount']);
  }
  // The cache has the nulls by now.
  await page.goBack();
  await waitFor(page, '20 of 45 deposits');
  await page.goForward();
  await page.getByText('of 45 gifts').waitFor();
  expect(await page.getByText(REFUSED).count()).toBe(2);
  expect(await page.getByText('Anonymous').count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

describe('a user whose session has ended', () => {
  test('logs in again where the work stopped, with nothing of it shown before', async () => {
    const { page, faults } = await visit('#/deposits/2024/2024-0');
    await logIn(page);
    await page.getByText('Ada Donorname-7').first().waitFor();
    await gateway.database.client.query('DELETE FROM session');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByLabel('Username').waitFor();
    expect(await page.getByText('Donorname').count()).toBe(0);
    expect(new URL(page.url()).hash).toBe('#/deposits/2024/2024-0');
    await logIn(page);
    await waitFor(page, '20 of 45 gifts');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('sees the login when the countdown is over, without a click', async () => {
    const { page, faults } = await visit('#/deposits/2024/2024-0');
    // The page's own clock, which the test can put forward.
    await page.clock.install();
    await logIn(page);
    await page.getByText('Ada Donorname-7').first().waitFor();
    await page.clock.fastForward('29:00');
    await page
      .getByRole('timer')
      .filter({ hasText: /^ada, [01]:\d\d left$/ })
      .waitFor();
    await gateway.database.client.query('DELETE FROM session');
    await page.clock.fastForward('01:01');
    await page.getByLabel('Username').waitFor();
    expect(await page.getByText('Donorname').count()).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

/** Every text in the memory of the page's scripts, after a garbage collection. */
async function memoryOf(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const chunks: string[] = [];
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk));
  await session.send('HeapProfiler.takeHeapSnapshot');
  await session.detach();
  return chunks.join('');
}

test('a user who logs out leaves no donor behind, on the page, in its memory or behind the Back button', async () => {
  const { page, faults } = await visit('#/donors/2024');
  await logIn(page);
  await waitFor(page, '20 of 27 donors');
  await page.getByRole('searchbox').fill('donorname-2');
  await waitFor(page, '9 of 9 donors');
  await page.getByRole('link', { name: 'Ada Donorname-21', exact: true }).click();
  await page.getByRole('heading', { name: 'Ada Donorname-21' }).waitFor();
  expect((await memoryOf(page)).includes('Donorname-21')).toBe(true);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Username').waitFor();
  expect((await memoryOf(page)).includes('Donorname-')).toBe(false);
  await page.goBack();
  await page.getByLabel('Username').waitFor();
  expect(await page.getByText('Donorname').count()).toBe(0);
  expect(await page.context().cookies()).toEqual([]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a user of the Relay page reads more deposits, and more gifts of one of them', async () => {
  const { page, faults } = await visit('relay.html#/deposits/2024');
  await page.getByRole('link', { name: 'Log in' }).click();
  await logIn(page);
  await page.getByRole('timer').waitFor();
  await page.goto(`${gateway.origin}/relay.html#/deposits/2024`);
  await waitFor(page, '5 of 45 deposits');
  await page.getByRole('button', { name: 'More deposits' }).click();
  await waitFor(page, '10 of 45 deposits');
  const section = page.getByRole('region', { name: 'Deposit 2024-0', exact: true });
  for (const length of [22, 42, 45]) {
    await section.getByRole('button', { name: 'More gifts' }).click();
    await section.getByText(`${length} of 45 gifts`).waitFor();
  }
  const sections = (await page.getByRole('region').allInnerTexts()).map((text) => text.split(/\n+/));
  const expected = depositsOf(2024)
    .slice(0, 10)
    .map((id) => {
      const gifts = giftsOf(ofDeposit(id));
      const listed = gifts.slice(0, id === '2024-0' ? 45 : 2).map((gift) => `${gift.transaction_id}: ${sumOf([gift], 'amount')}`);
      const money = `${gifts[0]!.deposit_date}, ${sumOf(gifts, 'net_amount')} in the bank`;
      return [
        `Deposit ${id}`,
        money,
        `${listed.length} of ${gifts.length} gifts`,
        ...listed,
        ...(listed.length < gifts.length ? ['More gifts'] : []),
      ];
    });
  expect(sections).toEqual(expected);
  expect(await problemsOf(page, 'relay')).toEqual([]);
  expect(faults).toEqual([]);
  await page.context().close();
});
