import { presets } from '../../src/playground/web/values/periods';
import { createSchema } from '../../src/graphql/schema';
import { SchemaReportDocuments } from '../../src/resolvers/reports/report-documents';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { logIn, openPlayground } from '../support/playground-browser';
import { MAIL_SETTINGS, saveGiftsReport } from '../support/scheduled-mails';

const gateway = openPlayground({ loggedIn: true, settings: MAIL_SETTINGS });

test('an analyst sends a saved report on a schedule, reads its log, pauses and deletes it', async () => {
  const { services } = gateway;
  const organization = await createOrganization(services);
  await services.users.setEmail(organization.name, 'ada', 'ada@example.org');
  await importLines(services, organization, [v2Line()]);
  await saveGiftsReport(services, organization, 'Gifts of a month');
  const query = 'query { depositDetails(startDate: "2024-01-01", endDate: "2024-01-31") { amount } }';
  const january = { name: 'january', query, variables: {}, updatedBy: null };
  const documents = new SchemaReportDocuments(createSchema());
  await services.savedReports.save(organization.id, january, documents);
  const both = `query ($startDate: LocalDate!, $endDate: LocalDate!, $compareWith: PeriodInput) {
    depositSummary(startDate: $startDate, endDate: $endDate, groupBy: [DONOR], compareWith: $compareWith) {
      groups(first: 1) { nodes { key { donorId } all { lines } } } } }`;
  const dates = { startDate: '2024-01-01', endDate: '2024-01-31' };
  for (const [name, variables] of [
    ['alone', dates],
    ['compared', { ...dates, compareWith: { startDate: '2023-01-01', endDate: '2023-01-31' } }],
  ] as const)
    await services.savedReports.save(organization.id, { name, query: both, variables, updatedBy: null }, documents);
  const { page, faults } = await gateway.visit({ as: organization, hash: '#saved/', locale: 'en-US' });
  await logIn(page);
  // A report of dates of its own does not move.
  await page.getByRole('button', { name: 'Open january' }).waitFor();
  await page.getByRole('button', { name: 'Send on a schedule: alone' }).waitFor();
  await page.getByRole('button', { name: 'Send on a schedule: gifts' }).click();
  expect(await page.getByRole('button', { name: 'Send on a schedule: january', includeHidden: true }).count()).toBe(0);
  // A period would move without the one that the report compares with.
  expect(await page.getByRole('button', { name: 'Send on a schedule: compared', includeHidden: true }).count()).toBe(0);
  const dialog = page.getByRole('dialog', { name: 'Send “Gifts of a month” on a schedule' });
  await dialog.getByText('It is not sent yet.').waitFor();
  await dialog.getByRole('button', { name: 'New schedule' }).click();
  await dialog.getByLabel('When').and(page.locator(':focus')).waitFor();
  await dialog.getByLabel('When').selectOption('Other times (cron)');
  await dialog.getByLabel('Minute, hour, day, month, weekday').fill('61 8 * * *');
  expect(await dialog.getByRole('button', { name: 'Save schedule' }).isDisabled()).toBe(true);
  await dialog.getByLabel('ada').check();
  await dialog.getByRole('button', { name: 'Save schedule' }).click();
  await dialog.getByRole('alert').getByText('Invalid value for minute: 61').waitFor();
  await dialog.getByLabel('When').selectOption('Monday to Friday');
  await dialog.getByLabel('At', { exact: true }).fill('07:30');
  // A mail is of a period that ends: all time is none.
  expect(await dialog.getByLabel('Period').locator('option').allTextContents()).toEqual(
    Object.entries(presets).flatMap(([name, { title }]) => (name === 'all-time' ? [] : [title])),
  );
  await dialog.getByLabel('Period').selectOption('Yesterday');
  await dialog.getByRole('button', { name: 'Save schedule' }).click();
  await dialog.getByText('Monday to Friday at 07:30: Yesterday. Totals, and the file attached.').waitFor();
  await dialog.getByText('To ada.').waitFor();
  const [schedule] = await services.schedules.list(organization.id);
  expect(schedule).toMatchObject({ report: 'gifts', cron: '30 7 * * 1-5', period: 'yesterday', format: 'FILE', recipients: ['ada'] });

  await dialog.getByRole('button', { name: 'Send now' }).click();
  await dialog.getByText('It is on its way to all recipients.').waitFor();
  await dialog.getByRole('button', { name: 'Log' }).click();
  const row = dialog.getByRole('table', { name: 'Log' }).getByRole('row').nth(1);
  await row.getByText(/^waits until /).waitFor();
  await dialog.getByRole('button', { name: 'Pause' }).click();
  await dialog.getByText(/^Paused on .*: ada has paused it\.$/).waitFor();
  await dialog.getByRole('button', { name: 'Resume' }).click();
  await dialog.getByText(/^Next on /).waitFor();
  await dialog.getByRole('button', { name: 'Change' }).click();
  await dialog.getByLabel('Contents').selectOption('Totals alone');
  await dialog.getByRole('button', { name: 'Save schedule' }).click();
  await dialog.getByText('Monday to Friday at 07:30: Yesterday. Totals alone.').waitFor();
  await dialog.getByLabel('Schedules').and(page.locator(':focus')).waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog', { name: 'Delete the schedule?' }).getByRole('button', { name: 'Delete' }).click();
  await dialog.getByText('It is not sent yet.').waitFor();
  await dialog.getByLabel('Schedules').and(page.locator(':focus')).waitFor();
  expect(await services.schedules.list(organization.id)).toEqual([]);
  expect(faults.filter((fault) => !fault.includes('422'))).toEqual([]);
});
