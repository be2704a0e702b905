import { createHash, randomUUID } from 'node:crypto';
import type { AuditOutcome, AuditEntry, ReportName, AuditStore } from '../data/audit-store';
import type { LineSet } from '../data/line-set';
import { numberOf, type VersionStamp } from '../data/postgres/version-stamp';

/** The exporter: a user, a provision, or an operator on the command line, who has neither. */
export interface Exporter {
  readonly provisionId: string | null;
  readonly username: string | null;
}

/** The report, the format and the lines of an export. */
export interface ExportSubject {
  readonly report: ReportName;
  readonly format: string;
  readonly lineSet: LineSet;
  /** The names of the filter's conditions, without their values. */
  readonly conditions: readonly string[];
}

/** The content of an export, as far as it is known by its end. */
export interface ExportContent {
  /** Undefined when no row was read. */
  readonly version: VersionStamp | undefined;
  /** The number of lines and their digest; undefined when the lines were not added up, or not to their end. */
  readonly lines: number | undefined;
  /** Undefined when the lines were not read to their end, or when the caller may not have the digest. */
  readonly digest: string | undefined;
}

/** Keeps an audit entry for each export. */
export class AuditService {
  constructor(private readonly store: AuditStore) {}

  /** Opens the audit entry of an export. It must be written before the first byte of the file is sent. */
  async open(exporter: Exporter, { report, format, lineSet, conditions }: ExportSubject): Promise<OpenAuditEntry> {
    const id = randomUUID();
    const { organizationId, startDate, endDate, pending } = lineSet;
    const { provisionId, username } = exporter;
    await this.store.insert({ id, organizationId, provisionId, username, report, format, startDate, endDate, pending, conditions });
    return new OpenAuditEntry(id, this.store);
  }

  /** The audit entry of an export; null when the organization has no such export. */
  find(organizationId: number, id: string): Promise<AuditEntry | null> {
    return this.store.find(organizationId, id);
  }

  /** The organization's audit entries, the newest first. */
  list(organizationId: number, limit: number): Promise<AuditEntry[]> {
    return this.store.list(organizationId, limit);
  }
}

/** The parts of a file, in order. */
export interface FileParts {
  readonly head: string;
  readonly rows: AsyncIterable<Buffer>;
  readonly tail: string;
}

/** A file as it is sent: texts and rows, in order. */
export type FilePieces = readonly (string | AsyncGenerator<Buffer>)[];

/** The audit entry of a file that is being sent. */
export class OpenAuditEntry {
  private readonly hash = createHash('sha256');
  private bytes = 0;

  constructor(
    readonly id: string,
    private readonly store: AuditStore,
  ) {}

  /**
   * Sends a file, then closes the entry with its outcome, its content, its bytes and its SHA-256. `send` must write all pieces in order;
   * `content` is asked after that. Throws the errors of `send` and of the rows.
   */
  async accompany(file: FileParts, send: (pieces: FilePieces) => Promise<void>, content: () => ExportContent): Promise<void> {
    let outcome: AuditOutcome['outcome'] = 'broken';
    try {
      await send([file.head, this.count(file), file.tail]);
      outcome = 'whole';
    } finally {
      const { version, lines = null, digest = null } = content();
      const dataVersion = version === undefined ? null : numberOf(version);
      await this.store.finish(this.id, { outcome, bytes: this.bytes, fileSha256: this.fileSha256(), lines, digest, dataVersion });
    }
  }

  /** The SHA-256, in hex, of the bytes that were sent so far. */
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
