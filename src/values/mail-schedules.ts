import { Cron } from 'croner';
import { periodNames, type PeriodName } from './periods';

/** The forms of a mailed report: its totals in the text alone, its file attached, or a link that asks for a login. */
export type MailFormat = 'TOTALS' | 'FILE' | 'LINK';

/** The periods that a schedule may have. All time does not move, so that it would be mailed once. */
export const movingPeriods: readonly PeriodName[] = periodNames.filter((name) => name !== 'all-time');

const FIVE_FIELDS = /^\S+( \S+){4}$/;

/** The times of a cron expression by the clock of a time zone. An hour that does not exist, or that is there twice, has one time. */
export class CronTimes {
  private readonly cron: Cron;

  /** Throws an Error that names the fault of an expression without five fields, or that names no time. */
  constructor(expression: string, timezone: string) {
    // The library knows dates, nicknames and seconds too.
    if (!FIVE_FIELDS.test(expression)) throw new Error('it must have five fields: minute, hour, day of the month, month, day of the week');
    this.cron = new Cron(expression, { mode: '5-part', timezone });
    if (!this.cron.nextRun()) throw new Error('it names no time');
  }

  /** The first time after another one. */
  after(time: Date): Date {
    return this.cron.nextRun(time) ?? new Date(MAX_TIME);
  }

  /** The last time that is not after another one; undefined when there is none. */
  upTo(time: Date): Date | undefined {
    return this.cron.previousRuns(1, new Date(time.getTime() + 1))[0];
  }
}

/** The time at which the clock of another zone has the same date and hour. PostgreSQL reads names such as CET as other clocks than cron does. */
export function atSameHour(time: Date, from: string, to: string): Date {
  // Swedish writes dates and times as ISO 8601 does, with a space between.
  const local = new Intl.DateTimeFormat('sv-SE', { timeZone: from, dateStyle: 'short', timeStyle: 'medium' }).format(time);
  return new Cron(local.replace(' ', 'T'), { timezone: to }).nextRun(new Date(0))!;
}

/** Beyond the last year that a cron expression is looked for in. */
const MAX_TIME = Date.UTC(9999, 0);
