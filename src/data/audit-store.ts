import type { PendingChoice } from '../formats/line-conditions';
import type { LocalDate } from '../values/dates';
import type { Database } from './postgres/database';

/** An audit entry as it is written before an export begins. The user's name is its only personal data. */
export interface NewAuditEntry {
  readonly id: string;
  readonly organizationId: number;
  /** Null when an operator exported on the command line. */
  readonly provisionId: string | null;
  /** Null when no user was logged in. */
  readonly username: string | null;
  readonly report: ReportName;
  readonly format: string;
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly pending: PendingChoice;
  /** The names of the filter's conditions, without their values. */
  readonly conditions: readonly string[];
}

export type ReportName = 'deposit-details' | 'deposit-summary';

/** The end of an export. */
export interface AuditOutcome {
  readonly outcome: 'whole' | 'broken';
  /** Bytes of the file that were sent, counted before any content coding. */
  readonly bytes: number;
  readonly fileSha256: string;
  /** Null when the lines were not added up, or not to their end. */
  readonly lines: number | null;
  readonly digest: string | null;
  /** The version of the books that the file is of; null when no row was read. */
  readonly dataVersion: number | null;
}

export interface AuditEntry extends Omit<NewAuditEntry, 'organizationId' | 'provisionId'> {
  /** The first eight characters of the provision, because the whole of it may be a secret. */
  readonly provision: string | null;
  readonly startedAt: Date;
  /** Null while the export is under way, or when the gateway died during it. */
  readonly finishedAt: Date | null;
  readonly outcome: AuditOutcome['outcome'] | null;
  readonly bytes: number | null;
  readonly fileSha256: string | null;
  readonly lines: number | null;
  readonly digest: string | null;
  readonly dataVersion: number | null;
}

/** Keeps an audit entry for each export, from its start to its end. */
export class AuditStore {
  constructor(private readonly database: Database) {}

  async insert({ startDate, endDate, conditions, ...entry }: NewAuditEntry): Promise<void> {
    await this.database.prisma.auditEntry.create({
      data: { ...entry, conditions: [...conditions], startDate: new Date(startDate), endDate: new Date(endDate) },
    });
  }

  async finish(id: string, end: AuditOutcome): Promise<void> {
    await this.database.prisma.auditEntry.update({ where: { id }, data: { ...end, finishedAt: new Date() } });
  }

  async find(organizationId: number, id: string): Promise<AuditEntry | null> {
    const entry = await this.database.prisma.auditEntry.findFirst({ where: { organizationId, id } });
    return entry && toEntry(entry);
  }

  /** The organization's entries, the newest first. */
  async list(organizationId: number, limit: number): Promise<AuditEntry[]> {
    const { auditEntry } = this.database.prisma;
    const rows = await auditEntry.findMany({ where: { organizationId }, orderBy: [{ startedAt: 'desc' }, { id: 'desc' }], take: limit });
    return rows.map(toEntry);
  }
}

type Row = NonNullable<Awaited<ReturnType<Database['prisma']['auditEntry']['findFirst']>>>;

const DATE_LENGTH = 10;
const PROVISION_LENGTH = 8;

function toEntry({ organizationId: _organizationId, provisionId, startDate, endDate, bytes, lines, dataVersion, ...row }: Row): AuditEntry {
  return {
    ...row,
    provision: provisionId?.slice(0, PROVISION_LENGTH) ?? null,
    report: row.report as ReportName,
    pending: row.pending as PendingChoice,
    outcome: row.outcome as AuditOutcome['outcome'] | null,
    startDate: startDate.toISOString().slice(0, DATE_LENGTH),
    endDate: endDate.toISOString().slice(0, DATE_LENGTH),
    bytes: bytes === null ? null : Number(bytes),
    lines: lines === null ? null : Number(lines),
    dataVersion: dataVersion === null ? null : Number(dataVersion),
  };
}
