import { numberOf } from '../data/postgres/version-stamp';
import type { OpenReading, ReadingOutcome } from '../domain/audit-gathering';
import type { AuditOperation, AuditService, ReadRange } from '../domain/audit-service';
import type { AppError } from '../errors';
import { dataVersionOf, type RequestContext } from '../resolvers/request-context';

/** The operation of a request, as its door names it. */
export type RequestOperation = Omit<AuditOperation, 'address'>;

/** A reading that a request has begun. */
export interface RequestReading {
  /** Resolves when the row of the reading is written. No byte of the answer may leave before. */
  readonly written: Promise<void>;
  /** Tells whether the whole answer has left, or is made again. The number of lines counts beside those that the context has counted. */
  end(outcome: ReadingOutcome, lines?: number): void;
}

/** Gives the audit what the doors answer. */
export class RequestAudit {
  constructor(private readonly audit: AuditService) {}

  /** Begins the reading of a request that was let in to personal data; undefined for other requests. */
  async begin(context: RequestContext, operation: RequestOperation, range?: () => ReadRange): Promise<RequestReading | undefined> {
    if (!context.access.readsPersonal) return undefined;
    const { access, address } = context;
    const reading: OpenReading = this.audit.read(await access.auditCaller(), { ...operation, address }, range?.());
    const written = context.times.database.during(reading.written, { name: 'write audit' });
    // An answer that fails by itself does not wait for the row.
    written.catch(() => undefined);
    return {
      written,
      end: (outcome, lines) => {
        if (lines !== undefined) context.lines.add(lines);
        const version = dataVersionOf(context);
        reading.end({ outcome, lines: context.lines.total, dataVersion: version === undefined ? null : numberOf(version) });
      },
    };
  }

  /** Notes that a caller lacked a privilege. Other errors are not noted. Throws when the row cannot be written. */
  async recordRefusal({ access, address }: RequestContext, operation: RequestOperation, { code }: AppError): Promise<void> {
    if (code !== 'PRIVILEGE_NOT_FOUND') return;
    await this.audit.recordOften(await access.auditCaller(), { ...operation, address }, { kind: 'refusal', detail: code });
  }
}
