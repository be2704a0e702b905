import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimedMail, DueSchedule, MailStore } from '../../data/mail/mail-store';
import { describeError, InputError, toAppError } from '../../errors';
import { SENDING_SECONDS, type MailFailure, type MailMessage, type MailSender } from '../../receivers/mail-sender';
import { toMailSubject, toMailText, type MailFacts } from '../../receivers/mail-text';
import { CronTimes } from '../../values/mail-schedules';
import { datesAt } from '../../values/periods';
import type { EndFacts, ReadingOutcome } from '../audit/audit-readings';
import type { AuditService } from '../audit/audit-service';
import { FileCount } from '../audit/file-count';
import { assertTakesPeriod, toReportDocument, type SavedReportService } from '../reports/saved-report-service';
import type { MailedReport, MailedReports } from './mailed-report';

/** The signals of mails to whoever watches the gateway. */
export interface MailSignals {
  /** Called when a schedule is paused, because nobody may get its mails any more. */
  readonly onPaused: (schedule: { readonly organization: number; readonly schedule: string }) => void;
  /** Called with each failure of a mail. */
  readonly onFailed: (mail: {
    readonly organization: number;
    readonly mail: string;
    readonly reason: string;
    readonly isOver: boolean;
  }) => void;
  /** Called with the first failure of the database after a success. */
  readonly onDatabaseFault: (error: unknown) => void;
}

/** The mails since the start. */
export interface MailFigures {
  readonly sent: number;
  readonly failed: number;
  readonly refused: number;
}

interface MailParts {
  readonly store: MailStore;
  readonly sender: MailSender;
  readonly savedReports: SavedReportService;
  readonly audit: AuditService;
  /** The longest file that is attached. */
  readonly maxBytes: number;
  /** The longest time that the making of a file may take. */
  readonly makingSeconds: number;
  /** The page on which saved reports are opened. */
  readonly page: string;
}

/** The parts that last as long as the process sends mails. */
interface Run {
  readonly reports: MailedReports;
  readonly stopping: AbortSignal;
  readonly signals: MailSignals;
}

/** A mail that was made. `leftOut` is the reason why it has no file where it should have one. */
interface MadeMail {
  readonly title: string;
  readonly report: MailedReport;
  readonly leftOut: string;
}

const LOOK_MS = 1000;
const MS_PER_SECOND = 1000;
const MINUTE = 60;
const HOUR = 3600;
/** Seconds between the attempts of a mail: two days in all. */
const WAITS: readonly number[] = [
  ...[1, 2, 5, 10, 20, 30].map((minutes) => minutes * MINUTE),
  ...[1, 1, 2, 2, 4, 4, 8, 12, 12].map((hours) => hours * HOUR),
];
const MAX_ATTEMPTS = WAITS.length + 1;
/** The most mails that are made at once. Each has a connection of its own and a file in memory. */
const MAX_UNDER_WAY = 4;
/** The time by which a mail is held longer than its work may take, so that no two gateways send it. */
const SPARE_SECONDS = 30;
const HELD_SECONDS = SENDING_SECONDS + SPARE_SECONDS;

/** Sends reports on their schedules. One process of a gateway does; several gateways share the mails by claims in the database. */
export class MailDeliveries {
  private readonly underWay = new Set<Promise<void>>();
  private counts = { sent: 0, failed: 0, refused: 0 };
  private isFaulty = false;

  constructor(private readonly parts: MailParts) {}

  get figures(): MailFigures {
    return this.counts;
  }

  /** Looks every second for schedules and mails that are due, until the signal. Mails that have not left by then are left to another gateway. */
  async run(reports: MailedReports, stopping: AbortSignal, signals: MailSignals): Promise<void> {
    const run = { reports, stopping, signals };
    while (!stopping.aborted) {
      await this.look(run).catch((error: unknown) => this.noteFault(error, run));
      await delay(LOOK_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
    await Promise.all(this.underWay);
  }

  private async look(run: Run): Promise<void> {
    const { store, makingSeconds } = this.parts;
    for (const due of await store.listDue()) await this.plan(due, run);
    this.isFaulty = false;
    const free = MAX_UNDER_WAY - this.underWay.size;
    if (free === 0 || run.stopping.aborted) return;
    for (const mail of await store.claim(free, randomUUID(), makingSeconds + SPARE_SECONDS)) {
      const attempt = this.attempt(mail, run).catch((error: unknown) => this.noteFault(error, run));
      const ended = attempt.then(() => void this.underWay.delete(ended));
      this.underWay.add(ended);
    }
  }

  /** Writes down the mails of the newest time that has come. Those before it were missed, and their periods with them. */
  private async plan(due: DueSchedule, { signals }: Run): Promise<void> {
    const times = new CronTimes(due.cron, due.timeZone);
    const dueAt = times.upTo(due.now) ?? due.nextAt;
    const mails = { ...datesAt(due, dueAt)(due.period), period: due.period, dueAt };
    const planned = await this.parts.store.plan(due, mails, times.after(due.now));
    if (!planned) return;
    this.counts.refused += planned.refused;
    if (planned.isPaused) signals.onPaused({ organization: planned.organizationId, schedule: due.id });
  }

  private noteFault(error: unknown, { signals }: Run): void {
    if (!this.isFaulty) signals.onDatabaseFault(error);
    this.isFaulty = true;
  }

  private async attempt(mail: ClaimedMail, run: Run): Promise<void> {
    // An attempt that ends with its process is noted by nobody else.
    if (mail.attempts > MAX_ATTEMPTS) return this.fail(mail, { failure: 'its attempts have not ended', kind: 'permanent' }, run);
    try {
      const failure = await this.make(mail, run);
      if (failure) await this.fail(mail, failure, run);
    } catch (error) {
      if (run.stopping.aborted) return this.parts.store.release(mail);
      const appError = toAppError(error);
      const { code } = appError;
      // A query that the schema does not know any more is not better in an hour; a database that was away is.
      const kind = code === 'INVALID_PARAMETERS' || code === 'NOT_FOUND' ? 'permanent' : 'passing';
      // A fault of the period has no value but its dates.
      const reason = error instanceof InputError && error.argument === 'period' ? describeError(appError) : code;
      await this.fail(mail, { failure: `the report cannot be read: ${reason}`, kind }, run);
    }
  }

  /** Makes a mail and sends it. A mail that the server finds too large leaves as a link. */
  private async make(mail: ClaimedMail, run: Run): Promise<MailFailure | undefined> {
    const { savedReports, maxBytes } = this.parts;
    const { reports, stopping } = run;
    const saved = await savedReports.get(mail.organizationId, mail.report);
    const document = toReportDocument({ ...saved, period: mail.period }, () => ({ startDate: mail.startDate, endDate: mail.endDate }));
    assertTakesPeriod(reports, saved);
    const report = await reports.read(document, mail, mail.format === 'FILE' ? maxBytes : 0, stopping);
    const made = { title: saved.title, report };
    const leftOut = maxBytes > 0 ? `it has more than the ${maxBytes} bytes that a mail may have` : 'this gateway attaches none';
    const failure = await this.send(mail, { ...made, leftOut }, run);
    if (failure?.kind !== 'too large' || !report.attached) return failure;
    return this.send(mail, { ...made, report: { ...report, attached: undefined }, leftOut: 'the mail server finds it too large' }, run);
  }

  private async send(mail: ClaimedMail, made: MadeMail, run: Run): Promise<MailFailure | undefined> {
    const { store, sender, audit } = this.parts;
    const { range, file, attached, end } = made.report;
    const heldUntil = Date.now() + HELD_SECONDS * MS_PER_SECOND;
    const address = await store.hold(mail, HELD_SECONDS);
    // The schedule was paused meanwhile, or another gateway has the mail.
    if (!address) {
      await store.release(mail);
      return undefined;
    }
    if (address.refusal !== null) {
      this.counts.refused++;
      await store.noteRefused(mail, address.refusal);
      return undefined;
    }
    const name = `${mail.report}-${mail.startDate}-${mail.endDate}.csv`;
    const facts = this.toFacts(mail, made, name);
    let hasLeft = false;
    const message: MailMessage = {
      ...{ id: mail.id, to: address.email!, subject: toMailSubject(facts), text: toMailText(facts) },
      file: attached && { name, content: attached.content },
      onLeaving: () => (hasLeft = true),
    };
    const atEnd = (): EndFacts =>
      hasLeft ? { ...end, ...attached?.facts } : { dataVersion: end.dataVersion, ...(attached && new FileCount().facts) };
    const caller = { organizationId: mail.organizationId, username: mail.username, provisionLabel: null, provisionStart: null };
    const operation = { door: 'mail', name: `reports/${mail.report}`, hash: null, address: null } as const;
    const entry = audit.read(caller, operation, { range, file: attached && file, atEnd });
    let failure: MailFailure | undefined;
    let outcome: ReadingOutcome = 'broken';
    try {
      await entry.written;
      failure = await sender.send(message, run.stopping);
      if (!failure) outcome = 'whole';
    } finally {
      entry.end(outcome);
    }
    if (failure) return failure;
    this.counts.sent++;
    const sentAs = attached ? 'FILE' : mail.format === 'FILE' ? 'LINK' : mail.format;
    await this.noteSent(() => store.noteSent(mail, sentAs, end.dataVersion), heldUntil, run);
    return undefined;
  }

  /** Notes a mail that the server has taken, which no failure may send again: the database is asked for as long as the mail is held. */
  private async noteSent(note: () => Promise<void>, heldUntil: number, run: Run): Promise<void> {
    for (;;) {
      try {
        await note();
        return;
      } catch (error) {
        this.noteFault(error, run);
        if (run.stopping.aborted || Date.now() >= heldUntil) return;
        await delay(LOOK_MS);
      }
    }
  }

  private toFacts(mail: ClaimedMail, { title, report, leftOut }: MadeMail, name: string): MailFacts {
    const { attached, end, totals } = report;
    const { organization, period, startDate, endDate } = mail;
    const state = `period=${startDate}..${endDate}&state=${end.dataVersion}`;
    const file = attached ? { name, bytes: attached.content.length, sha256: attached.facts.fileSha256 } : { leftOut };
    return {
      ...{ organization, title, period, startDate, endDate, dataVersion: end.dataVersion, totals },
      link: `${this.parts.page}#saved/${mail.report}?${state}`,
      ...(mail.format === 'FILE' && { file }),
    };
  }

  private async fail(mail: ClaimedMail, { failure, kind }: MailFailure, { signals }: Run): Promise<void> {
    this.counts.failed++;
    const wait = kind === 'passing' ? (WAITS[mail.attempts - 1] ?? null) : null;
    await this.parts.store.noteFailed(mail, failure, wait);
    signals.onFailed({ organization: mail.organizationId, mail: mail.id, reason: failure, isOver: wait === null });
  }
}
