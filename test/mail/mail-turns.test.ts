import { createOrganization } from '../support/gateway';
import { readScrape, valueOf } from '../support/scrape-reader';
import { importDailyGifts, openScheduledMails, saveGiftsReport, saveSchedule } from '../support/scheduled-mails';
import { until } from '../support/until';

const mails = openScheduledMails();
const adminUrl = (output: string): string =>
  (JSON.parse(/^\{.*"msg":"listening for operators"\}$/m.exec(output)![0]) as { url: string }).url;

beforeAll(async () => {
  await importDailyGifts(mails, 10);
  await mails.saveReport();
});
beforeEach(() => {
  mails.server.mails.length = 0;
});

test('an organization with many mails holds up no other', async () => {
  const { services } = mails.gateway;
  for (let count = 0; count < 30; count++) await services.schedules.sendNow(null, (await mails.schedule()).id);
  const small = await createOrganization(services);
  await services.users.setEmail(small.name, 'ada', 'small@example.org');
  await saveGiftsReport(services, small);
  await services.schedules.sendNow(null, (await saveSchedule(services, small)).id);
  const gateway = await mails.serve();
  await until(() => mails.server.mails.some(({ to }) => to[0] === 'small@example.org'));
  // Four are made at once.
  expect(mails.server.mails.findIndex(({ to }) => to[0] === 'small@example.org')).toBeLessThan(8);
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('of the times within the maintenance of an organization, the newest is mailed after it', async () => {
  const { services } = mails.gateway;
  const schedule = await mails.schedule();
  await services.organizations.setMaintenance(mails.organization.name, true);
  const gateway = await mails.serve();
  for (let day = 0; day < 3; day++) {
    await mails.advance('1 day');
    // Another one comes due, so that the gateway has looked.
    await untilLooked();
  }
  await services.organizations.setMaintenance(mails.organization.name, false);
  await until(async () => (await mails.logOf(schedule))[0]?.state === 'SENT');
  expect(await mails.logOf(schedule)).toHaveLength(1);
  expect(await gateway.end('SIGTERM')).toBe(0);
});

/** Waits until a schedule of another organization that is due now was planned. */
async function untilLooked(): Promise<void> {
  const { services } = mails.gateway;
  const other = await createOrganization(services);
  await services.users.setEmail(other.name, 'ada', 'ada@example.org');
  await saveGiftsReport(services, other);
  const schedule = await saveSchedule(services, other);
  await mails.gateway.database.client.query("UPDATE report_schedule SET next_at = date_trunc('second', now()) WHERE id = $1", [
    schedule.id,
  ]);
  await until(async () => (await mails.logOf(schedule)).length > 0);
}

test('the metrics tell of mails that are refused when they come due, and of a schedule that no gateway sends', async () => {
  const { services } = mails.gateway;
  await mails.addUser('bea');
  await mails.schedule({ recipients: ['ada', 'bea'] });
  await services.users.disable(mails.organization.name, 'bea');
  await mails.advance('1 day');
  const labels = { organization: String(mails.organization.id) };
  const settings = { ADMIN_PORT: '0', ADMIN_HOST: '127.0.0.1' };
  const silent = await mails.serve({ ...settings, SMTP_URL: '', MAIL_FROM: '', PLAYGROUND_URL: '' });
  await until(async () => valueOf(await readScrape(adminUrl(silent.output())), 'gateway_mail_lag_seconds', labels)! > 0);
  expect(await silent.end('SIGTERM')).toBe(0);
  const gateway = await mails.serve(settings);
  const read = (name: string, of: Record<string, string>) => async () => valueOf(await readScrape(adminUrl(gateway.output())), name, of);
  await until(async () => (await read('gateway_mails_total', { outcome: 'sent' })()) === 1);
  expect(await read('gateway_mails_total', { outcome: 'refused' })()).toBe(1);
  await until(async () => (await read('gateway_mail_lag_seconds', labels)()) === 0);
  expect(await gateway.end('SIGTERM')).toBe(0);
});
