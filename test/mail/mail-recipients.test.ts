import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { importDailyGifts, openScheduledMails } from '../support/scheduled-mails';
import { until } from '../support/until';

const mails = openScheduledMails();
let number = 0;
/** Adds a user of a test's own. */
const addReader = async (): Promise<string> => {
  const name = `reader${++number}`;
  await mails.addUser(name);
  return name;
};

beforeAll(async () => {
  await importDailyGifts(mails, 4);
  await mails.saveReport();
  await mails.serve();
});
beforeEach(() => {
  mails.server.mails.length = 0;
});

test.each([
  ['lost the privilege', 'the user lacks the privilege of the report', (name: string) => ({ grants: name })],
  ['was disabled', 'the user is disabled', (name: string) => ({ disable: name })],
  ['has no address any more', 'the user has no e-mail address', (name: string) => ({ email: name })],
] as const)('a user who %s gets no mail, and the log says why', async (_how, failure, toChange) => {
  const name = await addReader();
  const schedule = await mails.schedule({ recipients: ['ada', name] });
  const { users } = mails.gateway.services;
  const { name: organization } = mails.organization;
  const change: { grants?: string; disable?: string; email?: string } = toChange(name);
  if (change.grants) await users.changeGrants(organization, name, { verb: 'revoke', privileges: [REPORT_PRIVILEGE] });
  if (change.disable) await users.disable(organization, name);
  if (change.email) await users.setEmail(organization, name, null);
  const log = await mails.sendNow(schedule);
  expect(log.map(({ recipient, state, failure: why }) => [recipient, state, why])).toEqual([
    ['ada', 'SENT', null],
    [name, 'REFUSED', failure],
  ]);
  expect(mails.server.mails.map(({ to }) => to)).toEqual([['ada@example.org']]);
});

test('a right that ends while a mail waits to be tried again ends the mail', async () => {
  const name = await addReader();
  const schedule = await mails.schedule({ recipients: [name] });
  mails.server.fail = () => ({ step: 'message', status: 451 });
  await mails.gateway.services.schedules.sendNow(null, schedule.id);
  await until(async () => (await mails.logOf(schedule))[0]?.failure === 'the mail server answers 451');
  await mails.gateway.services.users.changeGrants(mails.organization.name, name, { verb: 'revoke', privileges: [REPORT_PRIVILEGE] });
  mails.server.fail = () => undefined;
  await mails.advance('2 minutes');
  await until(async () => (await mails.logOf(schedule))[0]?.state === 'REFUSED');
  expect(mails.server.mails).toEqual([]);
});

test('a user who was taken off the list gets nothing that waits, and a mail keeps its period and its form', async () => {
  const name = await addReader();
  const schedule = await mails.schedule({ recipients: ['ada', name] });
  mails.server.fail = () => ({ step: 'message', status: 451 });
  await mails.gateway.services.schedules.sendNow(null, schedule.id);
  await until(async () => (await mails.logOf(schedule)).every(({ failure }) => failure !== null));
  await mails.schedule({ id: schedule.id, replaces: schedule.updatedAt, period: 'last-year', format: 'LINK', recipients: ['ada'] });
  mails.server.fail = () => undefined;
  await mails.advance('2 minutes');
  await until(async () => (await mails.logOf(schedule)).every(({ state }) => state !== 'PENDING'));
  const log = await mails.logOf(schedule);
  expect(log.map(({ recipient, state, sentAs, failure }) => [recipient, state, sentAs, failure])).toEqual([
    ['ada', 'SENT', 'FILE', null],
    [name, 'REFUSED', null, 'the user is no recipient any more'],
  ]);
  expect(mails.server.mails).toHaveLength(1);
  expect(mails.server.mails[0]!.text).toContain(`${log[0]!.startDate} to ${log[0]!.endDate} (yesterday)`);
});

test('a schedule that is paused while its mail is made sends nothing', async () => {
  const { services, database } = mails.gateway;
  const schedule = await mails.schedule();
  const other = await mails.schedule();
  await services.schedules.pause(null, other.id);
  await mails.advance('1 day');
  // Nothing is made while nobody can read the report.
  await database.client.query('BEGIN; LOCK TABLE saved_report IN ACCESS EXCLUSIVE MODE');
  try {
    await until(async () => (await mails.logOf(schedule))[0]?.attempts === 1);
    await services.schedules.pause(null, schedule.id);
  } finally {
    await database.client.query('COMMIT');
  }
  await mails.sendNow(other);
  expect(await mails.logOf(schedule)).toMatchObject([{ state: 'PENDING', failure: null, attempts: 0 }]);
  expect(mails.server.mails).toHaveLength(1);
  // The mail that was made meanwhile is given up with all that wait.
  await services.schedules.resume(null, schedule.id);
  expect((await mails.logOf(schedule)).at(-1)).toMatchObject({ state: 'FAILED', failure: 'the schedule was paused while the mail waited' });
});

test('a schedule that goes on mails nothing that waited when it was paused, and the times after it', async () => {
  const { schedules } = mails.gateway.services;
  const [schedule, other] = [await mails.schedule(), await mails.schedule({ report: 'gifts', format: 'LINK' })];
  await schedules.pause(null, other.id);
  mails.server.fail = () => ({ step: 'message', status: 451 });
  await mails.advance('1 day');
  await until(async () => (await mails.logOf(schedule))[0]?.failure === 'the mail server answers 451');
  await schedules.pause(null, schedule.id);
  mails.server.fail = () => undefined;
  await mails.advance('3 days');
  await schedules.resume(null, schedule.id);
  // By the clock of the database the next time is there.
  await until(async () => (await mails.logOf(schedule))[0]?.state === 'SENT');
  await mails.sendNow(other);
  expect(await mails.logOf(schedule)).toMatchObject([
    { state: 'SENT', attempts: 1 },
    { state: 'FAILED', failure: 'the schedule was paused while the mail waited' },
  ]);
  expect(mails.server.mails).toHaveLength(2);
});

test('a recipient to whom a period was refused gets it when it comes due once more, and nobody gets it twice', async () => {
  const name = await addReader();
  const { schedules, users } = mails.gateway.services;
  const schedule = await mails.schedule({ cron: '* * * * *', period: 'last-year', recipients: ['ada', name] });
  const last = await mails.schedule({ format: 'LINK' });
  await schedules.pause(null, last.id);
  await users.setEmail(mails.organization.name, name, null);
  const statesAre = (...states: string[]) =>
    until(async () => (await mails.logOf(schedule)).map(({ state }) => state).join() === states.join());
  const nextOf = async (): Promise<number> => (await schedules.get(null, schedule.id)).nextAt.getTime();
  await mails.advance('1 minute');
  await statesAre('SENT', 'REFUSED');
  await users.setEmail(mails.organization.name, name, `${name}@example.org`);
  await mails.advance('1 minute');
  await statesAre('SENT', 'SENT');
  const before = await nextOf();
  await mails.advance('1 minute');
  await until(async () => (await nextOf()) > before);
  // A mail that was planned once more would leave before this one.
  await mails.sendNow(last);
  await statesAre('SENT', 'SENT');
  expect(mails.server.mails.map(({ to }) => to.join())).toEqual(['ada@example.org', `${name}@example.org`, 'ada@example.org']);
  expect((await mails.logOf(schedule)).map(({ attempts }) => attempts)).toEqual([1, 1]);
});

test('a period that was refused by the mail server is not tried again by its schedule', async () => {
  const { schedules } = mails.gateway.services;
  const schedule = await mails.schedule({ cron: '* * * * *', period: 'last-year' });
  mails.server.fail = () => ({ step: 'message', status: 550 });
  await mails.advance('1 minute');
  await until(async () => (await mails.logOf(schedule))[0]?.state === 'FAILED');
  mails.server.fail = () => undefined;
  const { nextAt } = await schedules.get(null, schedule.id);
  await mails.advance('1 minute');
  await until(async () => (await schedules.get(null, schedule.id)).nextAt > nextAt);
  expect(await mails.logOf(schedule)).toMatchObject([{ state: 'FAILED', attempts: 1 }]);
});

test('a schedule that nobody may read any more is paused, and says so', async () => {
  const name = await addReader();
  const schedule = await mails.schedule({ recipients: [name] });
  await mails.gateway.services.users.disable(mails.organization.name, name);
  await mails.advance('1 day');
  const find = () => mails.gateway.services.schedules.get(null, schedule.id);
  await until(async () => (await find()).pausedAt !== null);
  expect(await find()).toMatchObject({ pausedReason: 'no recipient may get it', recipients: [name] });
  const [only, ...others] = await mails.logOf(schedule);
  expect([only!.state, only!.failure, others]).toEqual(['REFUSED', 'the user is disabled', []]);
  // A user who is deleted leaves the schedule, and the log keeps the name.
  await mails.gateway.services.users.delete(mails.organization.name, name);
  expect([(await find()).recipients, (await mails.logOf(schedule))[0]!.recipient]).toEqual([[], name]);
});

test('a schedule takes users of the organization who have the privilege and an address alone', async () => {
  await mails.addUser('clerk', 'clerk@example.org', []);
  await mails.gateway.services.users.create({
    ...{ organization: mails.organization.name, username: 'mute', password: 'correct horse battery staple', grants: [REPORT_PRIVILEGE] },
  });
  for (const name of ['clerk', 'mute', 'nobody', 'eve@example.org']) {
    await expect(mails.schedule({ recipients: ['ada', name] })).rejects.toMatchObject({
      ...{ code: 'INVALID_PARAMETERS', fault: `recipients: ${name} is no user with the privilege of the report and an address` },
    });
  }
  await expect(mails.schedule({ recipients: [] })).rejects.toMatchObject({ fault: 'recipients has 0 values; it must have from 1 to 50' });
});
