import { importDailyGifts, openScheduledMails } from '../support/scheduled-mails';
import type { FailingStep } from '../support/mail-server';
import type { ServeProcess } from '../support/command';
import { addDays } from '../../src/values/periods';
import { until } from '../support/until';

const DAYS = 30;
const STEPS_OF_DAY = 3;
const RESTART_EVERY = 30;
const MAX_ATTEMPTS = 16;
const STEPS: readonly FailingStep[] = ['connection', 'sender', 'recipient', 'message', 'dropped'];
const mails = openScheduledMails();

/** Numbers that are the same in each run (a linear congruential generator). */
function createDice(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
}

/** True when no gateway has anything to do before the clock goes on. */
const isQuiet = async (): Promise<boolean> => {
  const { rows } = await mails.gateway.database.client.query<{ isQuiet: boolean }>(
    `SELECT NOT EXISTS (SELECT FROM report_mail WHERE holder IS NOT NULL OR (state = 'PENDING' AND next_attempt_at <= now() + by))
       AND NOT EXISTS (SELECT FROM report_schedule WHERE next_at <= now() + by) AS "isQuiet" FROM clock.shift`,
  );
  return rows[0]!.isQuiet;
};

test('each period of a month arrives exactly once, by two gateways with restarts and a server that fails half the time', async () => {
  await mails.addUser('bea');
  await mails.saveReport();
  await importDailyGifts(mails, DAYS + 4);
  const schedule = await mails.schedule({ recipients: ['ada', 'bea'] });
  const dice = createDice(7);
  const failures: Partial<Record<FailingStep, number>> = {};
  let sessions = 0;
  mails.server.fail = () => {
    sessions++;
    if (dice() >= 0.5) return undefined;
    const step = STEPS[Math.floor(dice() * STEPS.length)]!;
    failures[step] = (failures[step] ?? 0) + 1;
    return { step, status: 451 };
  };
  const start = async (): Promise<ServeProcess[]> => Promise.all([mails.serve(), mails.serve({ WORKERS: '2' })]);
  let [first, second] = await start();
  /** One gateway stops as it should, and the other is killed with a mail under way, which the server has not taken. */
  const restart = async (): Promise<void> => {
    expect(await second!.end('SIGTERM')).toBe(0);
    Object.assign(mails.server, { isStalling: true, stalled: 0 });
    while (mails.server.stalled === 0) {
      await mails.advance('8 hours');
      await until(async () => mails.server.stalled > 0 || (await isQuiet()));
    }
    await first!.end('SIGKILL');
    mails.server.isStalling = false;
    mails.server.drop();
    [first, second] = await start();
    // The claims of the dead gateway end by themselves.
    await mails.advance('20 minutes');
    await until(isQuiet);
  };
  for (let step = 1; step <= DAYS * STEPS_OF_DAY; step++) {
    await mails.advance('8 hours');
    await until(isQuiet);
    if (step % RESTART_EVERY === 0) await restart();
  }
  await mails.gateway.services.schedules.pause(null, schedule.id);
  const log = await mails.logOf(schedule);
  // A server that fails half the time fails a mail 16 times in a thousandth of all runs.
  expect(log.filter(({ state, attempts }) => state === 'REFUSED' || (state === 'FAILED' && attempts < MAX_ATTEMPTS))).toEqual([]);
  const periods = [...new Set(log.map(({ startDate }) => startDate))].sort();
  expect(periods.length).toBeGreaterThanOrEqual(DAYS);
  expect(periods).toEqual(periods.map((_, index) => addDays(periods[0]!, index)));
  // Each period has one row and one mail for each recipient; what still waits, or was given up, has none.
  const key = (to: string, period: string): string => `${to} ${period}`;
  const expected = ['ada', 'bea'].flatMap((name) => periods.map((period) => key(name, period)));
  expect(log.map(({ recipient, startDate }) => key(recipient, startDate)).sort()).toEqual(expected.sort());
  const arrived = mails.server.mails.map(({ to, headers }) => key(to[0]!.split('@')[0]!, headers.subject!.slice(-'YYYY-MM-DD'.length)));
  const unsent = new Set(log.filter((each) => each.state !== 'SENT').map(({ recipient, startDate }) => key(recipient, startDate)));
  expect(arrived.sort()).toEqual(expected.filter((each) => !unsent.has(each)).sort());
  // The test would prove little if little had failed.
  expect(Object.keys(failures).sort()).toEqual([...STEPS].sort());
  expect(Object.values(failures).reduce((sum, each) => sum + each, 0)).toBeGreaterThan(sessions / 3);
  expect(await Promise.all([first!.end('SIGTERM'), second!.end('SIGTERM')])).toEqual([0, 0]);
});
