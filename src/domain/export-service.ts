import { createHash, randomUUID } from 'node:crypto';
import type { ExportEnd, ExportRecord, ExportReport, ExportStore } from '../data/export-store';
import type { LineSelection } from './deposit-detail-service';

export type { ExportRecord } from '../data/export-store';

/** Who exports: a user, a provision, or an operator on the command line. */
export interface Exporter {
  readonly provisionId: string | null;
  readonly username: string | null;
}

/** What is exported. */
export interface ExportSubject {
  readonly report: ExportReport;
  readonly format: string;
  readonly selection: LineSelection;
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
export class ExportService {
  constructor(private readonly store: ExportStore) {}

  /** Nothing leaves before this is written. */
  async begin(exporter: Exporter, { report, format, selection, conditions }: ExportSubject): Promise<ExportAccount> {
    const id = randomUUID();
    const { organizationId, startDate, endDate, pending } = selection;
    const { provisionId, username } = exporter;
    await this.store.insert({ id, organizationId, provisionId, username, report, format, startDate, endDate, pending, conditions });
    return new ExportAccount(id, this.store);
  }

  /** Null where the organization has no such export. */
  find(organizationId: number, id: string): Promise<ExportRecord | null> {
    return this.store.find(organizationId, id);
  }

  /** The newest first. */
  list(organizationId: number, limit: number): Promise<ExportRecord[]> {
    return this.store.list(organizationId, limit);
  }
}

/** One export while it is under way. */
export class ExportAccount {
  private readonly hash = createHash('sha256');
  private bytes = 0;

  constructor(
    readonly id: string,
    private readonly store: ExportStore,
  ) {}

  /** To be told of every part of the file, in order. */
  add(part: string | Buffer): void {
    this.hash.update(part);
    this.bytes += Buffer.byteLength(part);
  }

  /** Writes down what was added and how it ended. */
  async finish(outcome: ExportEnd['outcome'], totals: ExportTotals | undefined): Promise<void> {
    const { lines = null, digest = null } = totals ?? {};
    await this.store.finish(this.id, { outcome, bytes: this.bytes, fileSha256: this.fileSha256(), lines, digest });
  }

  /** Of what was added so far, in hex. */
  fileSha256(): string {
    return this.hash.copy().digest('hex');
  }
}
