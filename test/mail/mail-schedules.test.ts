import { CronTimes } from '../../src/values/mail-schedules';
import { succeed } from '../support/command';
import { DISTANT_HOUR, DOCUMENTS, importDailyGifts, openScheduledMails } from '../support/scheduled-mails';
import { until } from '../support/until';

const mails = openScheduledMails();

beforeAll(async () => {
  await importDailyGifts(mails, 40);
  await mails.saveReport();
});
beforeEach(() => {
  mails.server.mails.length = 0;
});

/** Saves a report of dates of its own. */
async function saveFixed(name: string): Promise<void> {
  const { savedReports } = mails.gateway.services;
  const query = 'query { depositDetails(startDate: "2024-01-01", endDate: "2024-01-31") { amount } }';
  const replaces = (await savedReports.find(mails.organization.id, name))?.updatedAt;
  await savedReports.save(mails.organization.id, { name, query, variables: {}, updatedBy: null, replaces }, DOCUMENTS);
}

const subjects = (): string[] => mails.server.mails.map(({ headers }) => headers.subject!);
const list = (cron: string, zone: string, from: string, count: number): string[] => {
  const times = new CronTimes(cron, zone);
  const found: Date[] = [new Date(from)];
  while (found.length <= count) found.push(times.after(found.at(-1)!));
  return found.slice(1).map((time) => time.toISOString());
};

test('an hour that clocks leave out, or have twice, comes once', () => {
  expect(list('30 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', 3)).toEqual([
    ...['2026-03-08T07:00:00.000Z', '2026-03-09T06:30:00.000Z', '2026-03-10T06:30:00.000Z'],
  ]);
  expect(list('30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', 3)).toEqual([
    ...['2026-11-01T05:30:00.000Z', '2026-11-02T06:30:00.000Z', '2026-11-03T06:30:00.000Z'],
  ]);
});

test.each([
  ['* * * * * *', 'cron: it must have five fields: minute, hour, day of the month, month, day of the week'],
  ['@daily', 'cron: it must have five fields: minute, hour, day of the month, month, day of the week'],
  ['2026-01-01T00:00:00', 'cron: it must have five fields: minute, hour, day of the month, month, day of the week'],
  ['61 8 * * *', 'cron: Invalid value for minute: 61'],
  ['0 8 30 2 *', 'cron: it names no time'],
])('the times %s are refused with their fault', async (cron, fault) => {
  await expect(mails.schedule({ cron })).rejects.toMatchObject({ code: 'INVALID_PARAMETERS', fault });
});

test('a period that does not move, and a report that takes none, are refused', async () => {
  await expect(mails.schedule({ period: 'all-time' })).rejects.toMatchObject({ fault: 'period: ALL_TIME does not move' });
  await expect(mails.schedule({ report: 'none' })).rejects.toMatchObject({ fault: 'there is no saved report none' });
  await saveFixed('fixed');
  await expect(mails.schedule({ report: 'fixed' })).rejects.toMatchObject({
    ...{ fault: 'period: the query has no variable $startDate to take its dates', argument: 'period' },
  });
});

test('a report that compares with dates of its own is not mailed by a period that moves without them', async () => {
  const { savedReports } = mails.gateway.services;
  const query = `query Lapsed($startDate: LocalDate!, $endDate: LocalDate!, $compareWith: PeriodInput) {
    depositSummary(startDate: $startDate, endDate: $endDate, groupBy: [DONOR], compareWith: $compareWith) {
      groups(first: 10) { nodes { key { donorId } all { transactions } } } } }`;
  const dates = { startDate: '2026-01-01', endDate: '2026-12-31' };
  const compareWith = { startDate: '2025-01-01', endDate: '2025-12-31' };
  const save = async (variables: object): Promise<unknown> => {
    const replaces = (await savedReports.find(mails.organization.id, 'lapsed'))?.updatedAt;
    const report = { name: 'lapsed', query, variables: { ...dates, ...variables }, updatedBy: null, replaces };
    return savedReports.save(mails.organization.id, report, DOCUMENTS);
  };
  const fault = 'the report compares with 2025-01-01 to 2025-12-31, which would not move along';
  await save({ compareWith });
  await expect(mails.schedule({ report: 'lapsed' })).rejects.toMatchObject({ fault: `period: ${fault}`, argument: 'period' });
  await save({});
  const { id } = await mails.schedule({ report: 'lapsed' });
  await expect(save({ compareWith })).rejects.toMatchObject({ fault: `schedule ${id}: ${fault}`, argument: 'query' });
  // A gateway of before may have saved it.
  await mails.gateway.database.client.query(`UPDATE saved_report SET variables = variables || $1 WHERE name = 'lapsed'`, [{ compareWith }]);
  await mails.serve();
  const [mail] = await mails.sendNow({ id });
  expect([mail!.state, mail!.failure]).toEqual(['FAILED', `the report cannot be read: Invalid parameter(s): period: ${fault}`]);
  const moving = { name: 'moving', query, variables: { compareWith }, period: 'last-year', updatedBy: null } as const;
  await expect(savedReports.save(mails.organization.id, moving, DOCUMENTS)).rejects.toMatchObject({ fault: `period: ${fault}` });
});

test('a report keeps the dates that its schedule needs, and its deletion tells of the schedules that go with it', async () => {
  const schedule = await mails.schedule();
  await expect(saveFixed('gifts')).rejects.toMatchObject({
    ...{ fault: `schedule ${schedule.id}: the query has no variable $startDate to take its dates`, argument: 'query' },
  });
  const of = ['--organization', mails.organization.name];
  expect(await succeed({ DATABASE_URL: mails.gateway.database.url }, ['report', 'delete', 'gifts', ...of])).toBe(
    `Deleted report "gifts"\nSchedule ${schedule.id} is deleted with it\n`,
  );
  const rights = { organizationId: mails.organization.id, isDescending: true, kinds: ['rights'] } as const;
  expect((await mails.gateway.services.audit.list(rights, 2)).map(({ operation, detail }) => [operation, detail])).toEqual([
    ['report delete', null],
    ['schedule delete', `schedule ${schedule.id}`],
  ]);
  await mails.saveReport();
});

test.each([
  ['UTC', 'America/Los_Angeles', '2026-12-01T08:00:00.000Z', '2026-12-01T16:00:00.000Z'],
  ['UTC', 'Europe/Berlin', '2026-12-01T08:00:00.000Z', '2026-12-01T07:00:00.000Z'],
  ['Asia/Tokyo', 'America/New_York', '2026-08-01T15:00:00.000Z', '2026-08-02T04:00:00.000Z'],
  ['UTC', 'CET', '2026-07-02T08:00:00.000Z', '2026-07-02T06:00:00.000Z'],
  // The hour that New York leaves out in spring.
  ['UTC', 'America/New_York', '2027-03-14T02:30:00.000Z', '2027-03-14T07:30:00.000Z'],
])('a time zone that is set moves the next time from %s to %s', async (from, to, nextAt, moved) => {
  const { organizations, schedules } = mails.gateway.services;
  await organizations.setTimeZone(mails.organization.name, from);
  const { id } = await mails.schedule();
  await schedules.pause(null, id);
  await mails.gateway.database.client.query('UPDATE report_schedule SET next_at = $2 WHERE id = $1', [id, nextAt]);
  await organizations.setTimeZone(mails.organization.name, to);
  const found = await schedules.get(null, id);
  await organizations.setTimeZone(mails.organization.name, 'UTC');
  expect(found.nextAt.toISOString()).toBe(moved);
});

test('a schedule of a zone that was set later mails no period that had come before the schedule', async () => {
  const { organizations, schedules } = mails.gateway.services;
  const schedule = await mails.schedule({ format: 'TOTALS' });
  await organizations.setTimeZone(mails.organization.name, 'Pacific/Honolulu');
  const { nextAt } = await schedules.get(null, schedule.id);
  const gateway = await mails.serve();
  await mails.advance('22 hours');
  await until(async () => (await mails.logOf(schedule)).some(({ state }) => state === 'SENT'));
  const log = await mails.logOf(schedule);
  expect(await gateway.end('SIGTERM')).toBe(0);
  await mails.advance('-22 hours');
  await organizations.setTimeZone(mails.organization.name, 'UTC');
  expect(log.map(({ dueAt }) => dueAt)).toEqual([nextAt]);
});

test('of the times that were missed while no gateway ran, the newest is mailed with its period', async () => {
  const schedule = await mails.schedule({ format: 'TOTALS' });
  await mails.advance('5 days');
  const gateway = await mails.serve();
  await until(async () => (await mails.logOf(schedule))[0]?.state === 'SENT');
  const [mail, ...others] = await mails.logOf(schedule);
  const { rows } = await mails.gateway.database.client.query<{ due: string; period: string }>(
    `SELECT max(time)::text AS due, (max(time) - interval '1 day')::date::text AS period
     FROM clock.shift, generate_series(now()::date + interval '${DISTANT_HOUR} hours', now() + by, interval '1 day') AS time`,
  );
  expect(others).toEqual([]);
  expect(mail!.startDate).toBe(rows[0]!.period);
  expect(subjects()).toEqual([`Gifts: ${mail!.startDate} to ${mail!.endDate}`]);
  expect(mail!.dueAt.toISOString().slice(0, 16)).toBe(`${rows[0]!.due.slice(0, 10)}T${String(DISTANT_HOUR).padStart(2, '0')}:00`);
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('a schedule that comes due more often than its period moves mails the period once, and a paused one nothing', async () => {
  const often = await mails.schedule({ cron: '* * * * *', period: 'last-year', format: 'TOTALS' });
  const paused = await mails.schedule({ cron: '* * * * *', period: 'last-year', format: 'TOTALS' });
  await mails.gateway.services.schedules.pause(null, paused.id);
  const gateway = await mails.serve();
  const nextOf = async ({ id }: { id: string }): Promise<number> => (await mails.gateway.services.schedules.get(null, id)).nextAt.getTime();
  for (let minute = 0; minute < 3; minute++) {
    const before = await nextOf(often);
    await mails.advance('1 minute');
    await until(async () => (await nextOf(often)) > before);
  }
  await until(async () => (await mails.logOf(often)).every(({ state }) => state === 'SENT'));
  expect((await mails.logOf(often)).map(({ attempts }) => attempts)).toEqual([1]);
  expect([await mails.logOf(paused), subjects().length]).toEqual([[], 1]);
  expect(await gateway.end('SIGTERM')).toBe(0);
});
