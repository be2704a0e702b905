import { randomUUID } from 'node:crypto';
import type { AuditWriter } from '../../data/audit/audit-writer';
import { NO_FACTS, type AuditFacts, type NewAuditRow } from '../../formats/audit-row';

type EndFact = 'lines' | 'bytes' | 'fileSha256' | 'digest' | 'moneyDigest' | 'dataVersion';

/** The facts about a reading that are known before it begins. */
export type StartFacts = Omit<AuditFacts, EndFact | 'reads' | 'outcome'>;

/** The facts about a reading that are known at its end. */
export type EndFacts = Partial<Pick<AuditFacts, EndFact>>;

/** `broken` for an answer that has not left as a whole. */
export type ReadingOutcome = 'whole' | 'broken';

/** A reading that is under way. */
export interface OpenReading {
  /** The id of its entry. */
  readonly id: string;
  /** Resolves when the row of the start is written. No byte of the answer may leave before. */
  readonly written: Promise<void>;
  /**
   * Tells how the reading ended. The first call counts: a stop ends readings as broken. `isMadeAgain` for an attempt to answer that another
   * one follows, whose reading then has an entry of its own.
   */
  end(outcome: ReadingOutcome, isMadeAgain?: boolean): void;
}

/** Equal readings within this time share an entry. */
const WINDOW_MS = 60_000;
/** The most entries of an organization that equal readings may join. The oldest one is closed early when there are more. */
const MAX_OPEN = 1000;

/**
 * Writes the two rows of each entry: that of its start before it is answered, and that of its end. A file has an entry of its own. Other
 * equal readings of a minute share one, whose end tells their number. A gateway that is killed loses that number, and never the fact that
 * the caller has read.
 */
export class AuditReadings {
  /** The entries whose end is not written. */
  private readonly entries = new Set<Entry>();
  /** Those of them that equal readings may join, by organization and facts. The oldest one comes first. */
  private readonly open = new Map<number, Map<string, Entry>>();

  constructor(private readonly writer: AuditWriter) {}

  /**
   * Begins a reading, or an event that counts as one. `atEnd` tells its facts as far as they are known when it is asked. A row that cannot
   * be written rejects all readings that share it, and the next one tries again. `written` does not wait for a row that is not awaited.
   */
  begin(organizationId: number, facts: StartFacts, atEnd: () => EndFacts, isAwaited = true): OpenReading {
    const key = JSON.stringify(facts);
    const entry = this.open.get(organizationId)?.get(key) ?? this.start(organizationId, key, facts, isAwaited);
    const reading: OpenReading = {
      id: entry.row.entry,
      written: entry.written,
      end: (outcome, isMadeAgain = false) => {
        if (!entry.underWay.delete(reading)) return;
        entry.end = addReading(entry.end, outcome, atEnd());
        if (entry.isOpen && isMadeAgain) this.leave(entry);
        else this.writeEnd(entry);
      },
    };
    entry.underWay.add(reading);
    return reading;
  }

  /** Ends all readings, those that are under way as broken, and gives the writer the rows. */
  async close(): Promise<void> {
    const entries = [...this.entries];
    for (const entry of entries) {
      for (const reading of entry.underWay) reading.end('broken');
      this.leave(entry);
    }
    await Promise.allSettled(entries.map(({ written }) => written));
  }

  private start(organizationId: number, key: string, facts: StartFacts, isAwaited: boolean): Entry {
    const row: NewAuditRow = { ...NO_FACTS, ...facts, entry: randomUUID(), part: 'started', at: new Date() };
    const written = isAwaited ? this.writer.write(organizationId, row) : this.writer.accept(organizationId, row);
    const entry: Entry = {
      ...{ organizationId, key, row, written, underWay: new Set() },
      isOpen: facts.kind !== 'file',
      end: { reads: 0, outcome: 'whole' },
    };
    this.entries.add(entry);
    written.catch(() => this.leave(entry));
    if (!entry.isOpen) return entry;
    const open = this.open.get(organizationId) ?? new Map<string, Entry>();
    this.open.set(organizationId, open.set(key, entry));
    entry.timer = setTimeout(() => this.leave(entry), WINDOW_MS).unref();
    if (open.size > MAX_OPEN) this.leave(open.values().next().value!);
    return entry;
  }

  /** Lets no further reading join an entry. */
  private leave(entry: Entry): void {
    if (!entry.isOpen) return;
    entry.isOpen = false;
    this.open.get(entry.organizationId)?.delete(entry.key);
    clearTimeout(entry.timer);
    this.writeEnd(entry);
  }

  /** Writes the end of an entry whose last reading has ended. An entry whose start cannot be written has none. */
  private writeEnd(entry: Entry): void {
    if (entry.isOpen || entry.underWay.size > 0) return;
    const { kind, door, operation, entry: id } = entry.row;
    const row: NewAuditRow = { ...NO_FACTS, kind, door, operation, entry: id, part: 'ended', at: new Date(), ...entry.end };
    const write = (): void => this.writer.writeLater(entry.organizationId, row);
    void entry.written.then(write, () => undefined).finally(() => this.entries.delete(entry));
  }
}

/** Readings of the same facts, of which the audit tells together. */
interface Entry {
  readonly organizationId: number;
  readonly key: string;
  readonly row: NewAuditRow;
  readonly written: Promise<void>;
  readonly underWay: Set<OpenReading>;
  /** True while equal readings may join. */
  isOpen: boolean;
  timer?: NodeJS.Timeout;
  /** The facts of the readings that have ended. */
  end: EndFacts & { readonly reads: number; readonly outcome: ReadingOutcome };
}

const addReading = ({ reads, ...before }: Entry['end'], outcome: ReadingOutcome, facts: EndFacts): Entry['end'] => ({
  ...facts,
  reads: reads + 1,
  lines: toSum(before.lines, facts.lines),
  dataVersion: facts.dataVersion ?? before.dataVersion ?? null,
  outcome: before.outcome === 'broken' ? 'broken' : outcome,
});

const toSum = (one: number | null = null, other: number | null = null): number | null =>
  one === null || other === null ? (one ?? other) : one + other;
