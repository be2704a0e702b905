import { createHash, randomUUID } from 'node:crypto';
import type { AuditOutcome, AuditEntry, ReportName, AuditStore } from '../data/audit-store';
import type { LineSet } from '../data/line-set';

/** Who exports: a user, a provision, or an operator on the command line. */
export interface Exporter {
  readonly provisionId: string | null;
  readonly username: string | null;
}

/** What is exported. */
export interface ExportSubject {
  readonly report: ReportName;
  readonly format: string;
  readonly lineSet: LineSet;
  /** The names of the conditions that narrow it, without their values. */
  readonly conditions: readonly string[];
}

/** What was known of an export before it began. */
export interface ExportTotals {
  readonly lines: number;
  /** Null for whom it may not be told to. */
  readonly digest: string | null;
}

/** Keeps account of who takes what away. */
export class AuditService {
  constructor(private readonly store: AuditStore) {}

  /** Nothing leaves before this is written. */
  async open(exporter: Exporter, { report, format, lineSet, conditions }: ExportSubject): Promise<OpenAuditEntry> {
    const id = randomUUID();
    const { organizationId, startDate, endDate, pending } = lineSet;
    const { provisionId, username } = exporter;
    await this.store.insert({ id, organizationId, provisionId, username, report, format, startDate, endDate, pending, conditions });
    return new OpenAuditEntry(id, this.store);
  }

  /** Null where the organization has no such export. */
  find(organizationId: number, id: string): Promise<AuditEntry | null> {
    return this.store.find(organizationId, id);
  }

  /** The newest first. */
  list(organizationId: number, limit: number): Promise<AuditEntry[]> {
    return this.store.list(organizationId, limit);
  }
}

/** A file's parts in order. */
export interface FileParts {
  readonly head: string;
  readonly rows: AsyncIterable<Buffer>;
  readonly tail: string;
}

/** The audit entry of a file that is on its way out. */
export class OpenAuditEntry {
  private readonly hash = createHash('sha256');
  private bytes = 0;

  constructor(
    readonly id: string,
    private readonly store: AuditStore,
  ) {}

  /**
   * Sends a file and closes its entry with what was sent and whether that was all. `send` writes the head, the rows that it is given and
   * the tail. Throws what `send` and the rows throw.
   */
  async accompany(file: FileParts, send: (rows: AsyncGenerator<Buffer>) => Promise<void>, totals?: ExportTotals): Promise<void> {
    let outcome: AuditOutcome['outcome'] = 'broken';
    try {
      await send(this.count(file));
      outcome = 'whole';
    } finally {
      const { lines = null, digest = null } = totals ?? {};
      await this.store.finish(this.id, { outcome, bytes: this.bytes, fileSha256: this.fileSha256(), lines, digest });
    }
  }

  /** SHA-256, in hex, of what was sent so far. */
  fileSha256(): string {
    return this.hash.copy().digest('hex');
  }

  private async *count({ head, rows, tail }: FileParts): AsyncGenerator<Buffer> {
    this.add(head);
    for await (const block of rows) {
      this.add(block);
      yield block;
    }
    this.add(tail);
  }

  private add(part: string | Buffer): void {
    this.hash.update(part);
    this.bytes += Buffer.byteLength(part);
  }
}
