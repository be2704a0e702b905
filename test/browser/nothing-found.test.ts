import { logIn, openPlayground, printPage } from '../support/playground-browser';
import { createOrganization, graphql, importLines, v2Line } from '../support/gateway';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';

/** The number of the only donor. */
const DONOR = 10957;
const gateway = openPlayground({
  loggedIn: true,
  lines: [v2Line({ donor_id: DONOR, deposit_date: '2024-05-03', allocation_amount: '10.50' })],
});

async function open(hash: string, as = gateway.organization) {
  const { page, faults } = await gateway.visit({
    as,
    hash,
    now: '2024-06-15T12:00:00Z',
    locale: 'en-US',
    viewport: { width: 1600, height: 900 },
  });
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

test('an analyst who mistypes a donor’s number hears that nobody has it, and not that somebody gave nothing', async () => {
  const { page, faults } = await open('#reports/donor?period=all-time&donor=4711');
  const told = 'No donor has the number 4711. Choose another one.';
  await page.getByText(told).waitFor();
  const [sheet] = await printPage(page);
  expect(sheet!.lines).toContain(told);
  await page.evaluate(`location.hash = '#reports/gifts?period=all-time&donor=4711&state=1'`);
  await page.getByText('No donor has the number 4711 in the newest books. Choose another one.').waitFor();
  await page.evaluate(`location.hash = '#reports/donor?period=2019-01-01..2019-12-31&donor=${DONOR}'`);
  await page.getByText('Nothing came in that fits these choices.').waitFor();
  expect(await page.getByText(/No donor has/).count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a person who may not read donors hears the same of a number that somebody has and of one that nobody has', async () => {
  const as = await createOrganization(gateway.services);
  await importLines(gateway.services, as, [v2Line({ donor_id: DONOR })]);
  await gateway.services.users.changeGrants(as.name, as.username, { verb: 'revoke', privileges: [REPORT_PRIVILEGE] });
  const { page } = await open('#reports/deposits', as);
  const texts: string[] = [];
  for (const donor of [DONOR, 4711])
    for (const report of ['deposits', 'largest']) {
      await page.evaluate(`location.hash = '#reports/${report}?period=all-time&donor=${donor}'`);
      await page.getByText(`Donor: No. ${donor}`).waitFor();
      await page.getByText('You may not read this, because it shows donors. Ask your administrator for the right.').waitFor();
      texts.push((await page.locator('main').innerText()).replaceAll(String(donor), 'N'));
    }
  expect(texts.slice(2)).toEqual(texts.slice(0, 2));
  expect(texts.join()).not.toContain('No donor has');
  const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
  const answers = await Promise.all(
    [DONOR, 4711].map(async (donor) => {
      const query = `{ donor(donorId: ${donor}) { firstName } donors(filter: { donorIds: [${donor}] }) { totalCount } }`;
      const { body } = await graphql(gateway.url, query, { provision: as.webProvision, cookie });
      return [body.data, body.errors?.map(({ message, extensions }) => [message, extensions.code])];
    }),
  );
  const refused = ['Privilege to perform the action was not found', 'PRIVILEGE_NOT_FOUND'];
  const answer = [{ donor: null, donors: null }, [refused, refused]];
  expect(answers).toEqual([answer, answer]);
  await page.context().close();
});
