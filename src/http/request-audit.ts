import type { Request, Response } from 'express';
import { numberOf } from '../data/postgres/version-stamp';
import type { OpenReading, ReadingOutcome } from '../domain/audit/audit-readings';
import type { AuditOperation, AuditService, ReadingFacts, ReadRange } from '../domain/audit/audit-service';
import type { AppError } from '../errors';
import type { RequestContext } from '../resolvers/request/request-context';

/** The operation of a request, as its door names it. */
export type RequestOperation = Omit<AuditOperation, 'address'>;

/** The attempt to answer a request. */
interface AuditedAttempt {
  readonly context: RequestContext;
  readonly request: Request;
  readonly response: Response;
}

/** A reading as its door knows it. */
export interface DoorReading extends Omit<ReadingFacts, 'range'> {
  readonly operation: RequestOperation;
  readonly range: () => ReadRange;
  /** The number of lines beside those that the context has counted. It is asked when the answer has ended. */
  readonly lines?: () => number | undefined;
  /** True for a reading that has a row also when it is not personal, as the call of an agent's tool has. */
  readonly isAlwaysNoted?: boolean;
  /** True when the headers tell of the data, as those of a file with its totals do. A HEAD request has them too. */
  readonly areInHeaders?: boolean;
}

/** Gives the audit what the doors answer. */
export class RequestAudit {
  constructor(private readonly audit: AuditService) {}

  /**
   * Sends an answer. When it is a file, or its request was let in to personal data, the audit notes the reading and its outcome, and no byte
   * may leave before the row of the reading that `send` gets is written. A HEAD request takes headers alone, so it is no reading where those
   * tell nothing.
   */
  async accompany(
    { context, request, response }: AuditedAttempt,
    reading: DoorReading,
    send: (open?: Pick<OpenReading, 'id' | 'written'>) => Promise<void>,
  ): Promise<void> {
    const takesNothing = request.method === 'HEAD' && !reading.areInHeaders;
    const open = takesNothing ? undefined : await this.begin(context, response, reading);
    let outcome: ReadingOutcome = 'broken';
    try {
      await send(open);
      outcome = 'whole';
    } finally {
      const lines = open && reading.lines?.();
      if (lines !== undefined) context.lines.add(lines);
      open?.end(outcome, context.books.areBroken && !response.headersSent && !response.destroyed);
    }
  }

  private async begin(
    { access, address, books, lines, times }: RequestContext,
    response: Response,
    { operation, range, file, atEnd, isAlwaysNoted }: DoorReading,
  ): Promise<OpenReading | undefined> {
    if (!file && !access.readsPersonal && !isAlwaysNoted) return undefined;
    const open = this.audit.read(
      await access.caller.forAudit(),
      { ...operation, address },
      {
        ...{ range: range(), file },
        atEnd: () => {
          // A kept answer, of which nothing is read, has the version of the check of access. An attempt that fails before has none.
          const version = books.haveVersion || response.headersSent ? books.version : undefined;
          return { lines: lines.total, dataVersion: version === undefined ? null : numberOf(version), ...atEnd?.() };
        },
      },
    );
    const written = times.database.during(open.written, { name: 'write audit' });
    // An answer that fails by itself does not wait for the row.
    written.catch(() => undefined);
    return { ...open, written };
  }

  /** Notes that a caller lacked a privilege. Other errors are not noted. Throws when the row cannot be written. */
  async recordRefusal({ access, address }: RequestContext, operation: RequestOperation, { code }: AppError): Promise<void> {
    if (code !== 'PRIVILEGE_NOT_FOUND' && code !== 'AGENT_PRIVILEGE_MISSING') return;
    await this.audit.recordOften(await access.caller.forAudit(), { ...operation, address }, { kind: 'refusal', detail: code });
  }
}
