import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimedMail, DueSchedule, MailStore } from '../../data/mail/mail-store';
import { toAppError } from '../../errors';
import { SENDING_SECONDS, type MailFailure, type MailMessage, type MailSender } from '../../receivers/mail-sender';
import { toMailSubject, toMailText, type MailFacts } from '../../receivers/mail-text';
import { CronTimes } from '../../values/mail-schedules';
import { datesAt } from '../../values/periods';
import type { ReadingOutcome } from '../audit/audit-readings';
import type { AuditService, ReadingFacts } from '../audit/audit-service';
import { assertTakesPeriod, toReportDocument, type ReportDocument, type SavedReportService } from '../reports/saved-report-service';
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

const LOOK_MS = 1000;
const MINUTE = 60;
const HOUR = 3600;
/** Seconds between the attempts of a mail: two days in all. */
const WAITS: readonly number[] = [
  ...[1, 2, 5, 10, 20, 30].map((minutes) => minutes * MINUTE),
  ...[1, 1, 2, 2, 4, 4, 8, 12, 12].map((hours) => hours * HOUR),
];
/** The most mails that are made at once. Each has a connection of its own and a file in memory. */
const MAX_UNDER_WAY = 4;
/** The time by which a mail is held longer than its work may take, so that no two gateways send it. */
const SPARE_SECONDS = 30;

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
    while (!stopping.aborted) {
      await this.look(reports, stopping, signals).catch((error: unknown) => this.noteFault(error, signals));
      await delay(LOOK_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
    await Promise.all(this.underWay);
  }

  private async look(reports: MailedReports, stopping: AbortSignal, signals: MailSignals): Promise<void> {
    const { store, makingSeconds } = this.parts;
    for (const due of await store.listDue()) await this.plan(due, signals);
    this.isFaulty = false;
    const free = MAX_UNDER_WAY - this.underWay.size;
    if (free === 0 || stopping.aborted) return;
    for (const mail of await store.claim(free, randomUUID(), makingSeconds + SPARE_SECONDS)) {
      const attempt = this.attempt(mail, reports, stopping, signals).catch((error: unknown) => this.noteFault(error, signals));
      const ended = attempt.then(() => void this.underWay.delete(ended));
      this.underWay.add(ended);
    }
  }

  /** Writes down the mails of the newest time that has come. Those before it were missed, and their periods with them. */
  private async plan(due: DueSchedule, { onPaused }: MailSignals): Promise<void> {
    const times = new CronTimes(due.cron, due.timeZone);
    const dueAt = times.upTo(due.now) ?? due.nextAt;
    const plan = { ...datesAt(due, dueAt)(due.period), dueAt, nextAt: times.after(due.now) };
    const planned = await this.parts.store.plan(due, plan);
    if (planned?.isPaused) onPaused({ organization: planned.organizationId, schedule: due.id });
  }

  private noteFault(error: unknown, { onDatabaseFault }: MailSignals): void {
    if (!this.isFaulty) onDatabaseFault(error);
    this.isFaulty = true;
  }

  private async attempt(mail: ClaimedMail, reports: MailedReports, stopping: AbortSignal, signals: MailSignals): Promise<void> {
    try {
      const failure = await this.make(mail, reports, stopping);
      if (failure) await this.fail(mail, failure, signals);
    } catch (error) {
      if (stopping.aborted) return this.parts.store.release(mail);
      const { code } = toAppError(error);
      // A query that the schema does not know any more is not better in an hour; a database that was away is.
      const kind = code === 'INVALID_PARAMETERS' || code === 'NOT_FOUND' ? 'permanent' : 'passing';
      await this.fail(mail, { failure: `the report cannot be read: ${code}`, kind }, signals);
    }
  }

  /** Makes a mail and sends it. A mail that the server finds too large leaves as a link. */
  private async make(mail: ClaimedMail, reports: MailedReports, stopping: AbortSignal): Promise<MailFailure | undefined> {
    const { savedReports, maxBytes } = this.parts;
    const saved = await savedReports.get(mail.organizationId, mail.report);
    const document = toReportDocument({ ...saved, period: mail.period }, () => ({ startDate: mail.startDate, endDate: mail.endDate }));
    assertTakesPeriod(reports.variableNames(document.query));
    const send = (limit: number): Promise<MailFailure | undefined> => this.send(mail, saved.title, document, { reports, limit, stopping });
    const limit = mail.format === 'FILE' ? maxBytes : 0;
    const failure = await send(limit);
    return failure?.kind === 'too large' && limit > 0 ? send(0) : failure;
  }

  private async send(
    mail: ClaimedMail,
    title: string,
    document: ReportDocument,
    { reports, limit, stopping }: { readonly reports: MailedReports; readonly limit: number; readonly stopping: AbortSignal },
  ): Promise<MailFailure | undefined> {
    const { store, sender, audit } = this.parts;
    const report = await reports.read(document, mail, limit, stopping);
    const address = await store.hold(mail, SENDING_SECONDS + SPARE_SECONDS);
    if (!address) return undefined;
    if (address.refusal !== null) {
      this.counts.refused++;
      await store.noteRefused(mail, address.refusal);
      return undefined;
    }
    const facts = this.toFacts(mail, title, report, limit);
    const { content } = report;
    const name = `${mail.report}-${mail.startDate}-${mail.endDate}.csv`;
    const message: MailMessage = {
      ...{ id: mail.id, to: address.email!, subject: toMailSubject(facts), text: toMailText(facts) },
      file: content && { name, content },
    };
    const caller = { organizationId: mail.organizationId, username: mail.username, provisionLabel: null, provisionStart: null };
    const operation = { door: 'mail', name: `reports/${mail.report}`, hash: null, address: null } as const;
    const reading: ReadingFacts = { range: report.range, file: content && report.file, atEnd: () => report.end };
    const entry = audit.read(caller, operation, reading);
    let failure: MailFailure | undefined;
    let outcome: ReadingOutcome = 'broken';
    try {
      await entry.written;
      failure = await sender.send(message, stopping);
      if (!failure) outcome = 'whole';
    } finally {
      entry.end(outcome);
    }
    if (failure) return failure;
    this.counts.sent++;
    await store.noteSent(mail, content ? 'FILE' : mail.format === 'FILE' ? 'LINK' : mail.format, report.end.dataVersion);
    return undefined;
  }

  private toFacts(mail: ClaimedMail, title: string, { content, end, totals }: MailedReport, limit: number): MailFacts {
    const leftOut =
      limit > 0
        ? `it has more than the ${limit} bytes that a mail may have`
        : this.parts.maxBytes > 0
          ? 'the mail server finds it too large'
          : 'this gateway attaches none';
    const file = content
      ? { name: `${mail.report}-${mail.startDate}-${mail.endDate}.csv`, bytes: content.length, sha256: end.fileSha256! }
      : { leftOut };
    return {
      ...{ organization: mail.organization, title, period: mail.period, startDate: mail.startDate, endDate: mail.endDate },
      ...{ dataVersion: end.dataVersion, totals, link: `${this.parts.page}#saved/${mail.report}` },
      ...(mail.format === 'FILE' && { file }),
    };
  }

  private async fail(mail: ClaimedMail, { failure, kind }: MailFailure, { onFailed }: MailSignals): Promise<void> {
    this.counts.failed++;
    const wait = kind === 'passing' ? (WAITS[mail.attempts - 1] ?? null) : null;
    await this.parts.store.noteFailed(mail, failure, wait);
    onFailed({ organization: mail.organizationId, mail: mail.id, reason: failure, isOver: wait === null });
  }
}
