import type { Request } from 'express';
import { numberOf } from '../data/postgres/version-stamp';
import type { OpenReading, ReadingOutcome } from '../domain/audit/audit-gathering';
import type { AuditOperation, AuditService, ReadRange } from '../domain/audit/audit-service';
import type { AppError } from '../errors';
import type { RequestContext } from '../resolvers/request/request-context';

/** The operation of a request, as its door names it. */
export type RequestOperation = Omit<AuditOperation, 'address'>;

/** A reading that a request has begun. */
interface RequestReading {
  /** Resolves when the row of the reading is written. */
  readonly written: Promise<void>;
  /** Tells whether the whole answer has left, or is made again. The number of lines counts beside those that the context has counted. */
  end(outcome: ReadingOutcome, lines?: number): void;
}

/** The request of a reading. */
interface ReadingRequest {
  readonly context: RequestContext;
  readonly request: Request;
  /** True after a failure when the answer is made again. */
  readonly runsAgain: () => boolean;
}

/** The facts that only the door knows about a reading. */
interface ReadingFacts {
  readonly range: () => ReadRange;
  /** The number of lines beside those that the context has counted. It is asked when the answer has ended. */
  readonly lines?: () => number | undefined;
  /** True when the headers tell of the data, as those of a file with its totals do. A HEAD request has them too. */
  readonly areInHeaders?: boolean;
}

/** Gives the audit what the doors answer. */
export class RequestAudit {
  constructor(private readonly audit: AuditService) {}

  /**
   * Sends an answer. When its request was let in to personal data, the audit notes the reading and its outcome, and no byte may leave
   * before the promise that `send` gets has resolved. A HEAD request takes headers alone, so it is no reading where those tell nothing.
   */
  async accompany(
    { context, request, runsAgain }: ReadingRequest,
    operation: RequestOperation,
    { range, lines, areInHeaders = false }: ReadingFacts,
    send: (written?: Promise<void>) => Promise<void>,
  ): Promise<void> {
    const takesNothing = request.method === 'HEAD' && !areInHeaders;
    const reading = takesNothing ? undefined : await this.begin(context, operation, range);
    let isWhole = false;
    try {
      await send(reading?.written);
      isWhole = true;
    } finally {
      reading?.end(isWhole ? 'whole' : runsAgain() ? 'again' : 'broken', lines?.());
    }
  }

  private async begin(context: RequestContext, operation: RequestOperation, range: () => ReadRange): Promise<RequestReading | undefined> {
    if (!context.access.readsPersonal) return undefined;
    const { access, address } = context;
    const reading: OpenReading = this.audit.read(await access.caller.forAudit(), { ...operation, address }, range());
    const written = context.times.database.during(reading.written, { name: 'write audit' });
    // An answer that fails by itself does not wait for the row.
    written.catch(() => undefined);
    return {
      written,
      end: (outcome, lines) => {
        if (lines !== undefined) context.lines.add(lines);
        const version = context.books.version;
        reading.end({ outcome, lines: context.lines.total, dataVersion: version === undefined ? null : numberOf(version) });
      },
    };
  }

  /** Notes that a caller lacked a privilege. Other errors are not noted. Throws when the row cannot be written. */
  async recordRefusal({ access, address }: RequestContext, operation: RequestOperation, { code }: AppError): Promise<void> {
    if (code !== 'PRIVILEGE_NOT_FOUND') return;
    await this.audit.recordOften(await access.caller.forAudit(), { ...operation, address }, { kind: 'refusal', detail: code });
  }
}
