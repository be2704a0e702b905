import type { ClaimedMail } from '../../data/mail/mail-store';
import type { FileCount } from '../audit/file-count';
import type { EndFacts } from '../audit/audit-readings';
import type { FileFacts, ReadRange } from '../audit/audit-service';
import type { ReportDocument, ReportDocuments } from '../reports/saved-report-service';

/** A report as it was read for a mail, in one state. */
export interface MailedReport {
  readonly range: ReadRange;
  /** The file as the audit names it. */
  readonly file: FileFacts;
  readonly end: EndFacts & { readonly dataVersion: number };
  /** The totals with their names, in order. */
  readonly totals: readonly (readonly [name: string, value: string | number])[];
  /** The whole CSV file; undefined where it is longer than the limit. */
  readonly attached: AttachedFile | undefined;
}

interface AttachedFile {
  readonly content: Buffer;
  readonly facts: FileCount['facts'];
}

/** The organization and the recipient whom a mailed report is for. */
export type MailReader = Pick<ClaimedMail, 'organizationId' | 'organization' | 'currency' | 'timeZone' | 'fiscalYearStart' | 'username'>;

/** Reads mailed reports with the GraphQL schema, which this room does not have. */
export interface MailedReports extends ReportDocuments {
  /** Reads a report and its file up to a number of bytes; none with 0. Rejects when the signal ends it. */
  read(document: ReportDocument, reader: MailReader, maxBytes: number, signal: AbortSignal): Promise<MailedReport>;
}
