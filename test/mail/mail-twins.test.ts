import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inDirectory } from '../support/backed-up-gateway';
import { succeed } from '../support/command';
import { importDailyGifts, openScheduledMails } from '../support/scheduled-mails';
import { until } from '../support/until';

const mails = openScheduledMails();

beforeAll(async () => {
  await importDailyGifts(mails, 4);
  await mails.saveReport();
});
beforeEach(() => {
  mails.server.mails.length = 0;
  mails.server.answerAfter = () => Promise.resolve();
});

test('a server that answers late has the mail once, and a stop waits for its answer', async () => {
  const gateway = await mails.serve();
  // Servers that search messages for viruses take as long.
  mails.server.answerAfter = () => sleep(21_000);
  const schedule = await mails.schedule();
  await mails.gateway.services.schedules.sendNow(null, schedule.id);
  await until(() => mails.server.mails.length > 0);
  expect(await gateway.end('SIGTERM')).toBe(0);
  expect(await mails.logOf(schedule)).toMatchObject([{ state: 'SENT', attempts: 1 }]);
  expect(mails.server.mails).toHaveLength(1);
});

test('a stop waits no longer than its grace for an answer, and the mail goes out by another gateway', async () => {
  const gateway = await mails.serve({ SHUTDOWN_GRACE_SECONDS: '1' });
  mails.server.answerAfter = () => new Promise(() => undefined);
  const schedule = await mails.schedule();
  await mails.gateway.services.schedules.sendNow(null, schedule.id);
  await until(() => mails.server.mails.length > 0);
  expect(await gateway.end('SIGTERM')).toBe(0);
  expect(await mails.logOf(schedule)).toMatchObject([{ state: 'PENDING', attempts: 0 }]);
  mails.server.answerAfter = () => Promise.resolve();
  const next = await mails.serve();
  await until(async () => (await mails.logOf(schedule))[0]!.state === 'SENT');
  // The two have one id.
  expect(new Set(mails.server.mails.map(({ id }) => id)).size).toBe(1);
  expect(await next.end('SIGTERM')).toBe(0);
});

test('a mail that was taken while the database fails is noted when it is back, and is not sent again', async () => {
  const { client } = mails.gateway.database;
  const gateway = await mails.serve();
  mails.server.answerAfter = async () => {
    await client.query('ALTER TABLE report_mail RENAME TO report_mail_away');
  };
  const schedule = await mails.schedule();
  await mails.gateway.services.schedules.sendNow(null, schedule.id);
  await until(() => gateway.output().includes('mails wait for the database'));
  await client.query('ALTER TABLE report_mail_away RENAME TO report_mail');
  await until(async () => (await mails.logOf(schedule))[0]!.state === 'SENT');
  expect(await mails.logOf(schedule)).toMatchObject([{ attempts: 1, failure: null }]);
  expect(mails.server.mails).toHaveLength(1);
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('a mail whose attempts end with their gateways is given up', async () => {
  const schedule = await mails.schedule();
  await mails.gateway.services.schedules.sendNow(null, schedule.id);
  await mails.gateway.database.client.query('UPDATE report_mail SET attempts = 16');
  const gateway = await mails.serve();
  await until(async () => (await mails.logOf(schedule))[0]!.state !== 'PENDING');
  expect(await mails.logOf(schedule)).toMatchObject([{ state: 'FAILED', failure: 'its attempts have not ended' }]);
  expect([mails.server.mails, await gateway.end('SIGTERM')]).toEqual([[], 0]);
});

test('a restored backup pauses all schedules, and mails nothing that waited', async () => {
  const root = mkdtempSync(join(tmpdir(), 'gateway-mails-'));
  try {
    const [own, file] = [{ DATABASE_URL: mails.gateway.database.url }, join(root, 'backup')];
    const [active, paused] = [await mails.schedule(), await mails.schedule()];
    for (const { id } of [active, paused]) await mails.gateway.services.schedules.sendNow(null, id);
    await mails.gateway.services.schedules.pause(null, paused.id);
    await succeed(own, ['backup', file]);
    const copy = inDirectory(join(root, 'copy'));
    expect(await succeed(copy, ['restore', file])).toContain('1 schedule is paused, because mails may have left after the backup');
    const schedules = JSON.parse(await succeed(copy, ['--json', 'schedule', 'list'])) as { id: string; pausedReason: string }[];
    expect(new Map(schedules.map(({ id, pausedReason }) => [id, pausedReason]))).toEqual(
      new Map([
        [active.id, 'a backup was restored'],
        [paused.id, 'an operator has paused it'],
      ]),
    );
    for (const { id } of schedules) {
      const log = JSON.parse(await succeed(copy, ['--json', 'schedule', 'log', id])) as object[];
      expect(log).toMatchObject([{ state: 'FAILED', failure: 'a backup was restored', nextAttemptAt: null }]);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
