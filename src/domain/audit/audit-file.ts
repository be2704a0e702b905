import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { numberOf, type VersionStamp } from '../../data/postgres/version-stamp';
import { NO_FACTS, type AuditFacts, type NewAuditRow } from '../../formats/audit-row';

/** The content of a file, as far as it is known by its end. */
export interface FileContent {
  /** Undefined when no row was read. */
  readonly version: VersionStamp | undefined;
  /** The number of lines and their digest; undefined when the lines were not added up, or not to their end. */
  readonly lines: number | undefined;
  /** Undefined when the lines were not read to their end, or when the caller may not have the digest. */
  readonly digest: string | undefined;
}

/** The content of a file of which nothing has left. */
const NOTHING: FileContent = { version: undefined, lines: undefined, digest: undefined };

/** The facts about a file that are known at its end. */
export type SentFile = Pick<AuditFacts, 'bytes' | 'fileSha256' | 'lines' | 'digest' | 'dataVersion'>;

/** The facts about a file that are known before it begins. */
export type FileFacts = Partial<Omit<NewAuditRow, 'entry' | 'part' | 'at'>>;

/** The parts of a file, in order. */
export interface FileParts {
  readonly head: string;
  readonly rows: AsyncIterable<Buffer>;
  readonly tail: string;
}

/** A file as it is sent: texts and rows, in order. */
export type FilePieces = readonly (string | AsyncGenerator<Buffer>)[];

/** The audit entry of a file that is being sent. */
export class OpenFileEntry {
  private hash = createHash('sha256');
  private bytes = 0;
  private content = (): FileContent => NOTHING;
  private hasEnded = false;

  constructor(
    private readonly started: NewAuditRow,
    /** Gets the row of the end, once. */
    private readonly onEnd: (row: NewAuditRow) => void,
  ) {}

  get id(): string {
    return this.started.entry;
  }

  /** True when the row of the start tells these facts. */
  isOf(facts: FileFacts): boolean {
    return isDeepStrictEqual({ ...this.started, ...facts }, this.started);
  }

  /**
   * Sends a file, then adds the row of its end with its outcome, its content, its bytes and its SHA-256. `send` must write all pieces in
   * order; `content` is asked after that. Resolves to the facts of that row. Throws the errors of `send` and of the rows. The entry of a
   * failed file that `runsAgain` stays open.
   */
  async accompany(
    file: FileParts,
    send: (pieces: FilePieces) => Promise<void>,
    content: () => FileContent,
    runsAgain: () => boolean = () => false,
  ): Promise<SentFile> {
    this.content = content;
    try {
      await send([file.head, this.count(file), file.tail]);
    } catch (error) {
      if (!runsAgain()) this.end('broken');
      throw error;
    }
    return this.end('whole');
  }

  /** Begins the file again from its first byte, because nothing of it has left. */
  restart(): void {
    this.hash = createHash('sha256');
    this.bytes = 0;
  }

  /** Ends the entry of a file that was to be made again and was not. */
  giveUp(): void {
    this.restart();
    this.content = () => NOTHING;
    this.end('broken');
  }

  /** Ends the entry of a file whose connection was cut, as `accompany` would when it comes to know. */
  breakOff(): void {
    this.end('broken');
  }

  private end(outcome: 'whole' | 'broken'): SentFile {
    const { version, lines = null, digest = null } = this.content();
    const { kind, door, operation, entry } = this.started;
    const sent = {
      bytes: this.bytes,
      fileSha256: this.fileSha256(),
      lines,
      digest,
      dataVersion: version === undefined ? null : numberOf(version),
    };
    if (!this.hasEnded)
      this.onEnd({ ...NO_FACTS, kind, door, operation, entry, part: 'ended', at: new Date(), reads: 1, outcome, ...sent });
    this.hasEnded = true;
    return sent;
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
