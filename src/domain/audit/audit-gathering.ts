import { randomUUID } from 'node:crypto';
import type { AuditWriter } from '../../data/audit/audit-writer';
import { NO_FACTS, type AuditFacts, type NewAuditRow } from '../../formats/audit-row';

/** The facts about a reading that are known before it begins. */
export type ReadingFacts = Omit<AuditFacts, 'reads' | 'lines' | 'bytes' | 'fileSha256' | 'digest' | 'dataVersion' | 'outcome'>;

/**
 * The outcome of a reading. `again` is one of which nothing has left, and whose answer is made again from the start: it does not count, and
 * the reading that follows does.
 */
export type ReadingOutcome = 'whole' | 'broken' | 'again';

/** The end of a reading. */
export interface ReadingEnd extends Pick<AuditFacts, 'lines' | 'dataVersion'> {
  readonly outcome: ReadingOutcome | null;
}

/** A reading that is under way. */
export interface OpenReading {
  /** Resolves when the row of the reading's start is written. No byte of the answer may leave before. */
  readonly written: Promise<void>;
  /** Tells how the reading ended. It must be called once. */
  end(end: ReadingEnd): void;
}

/** Equal readings within this time share an entry. */
const WINDOW_MS = 60_000;
const SWEEP_MS = 1000;
/** The most entries that are open for an organization. The oldest one is closed early when there are more. */
const MAX_OPEN = 1000;

/**
 * Gathers equal readings of a caller: the first one writes its row before it is answered, and those of the next minute are counted. The row
 * of the end tells their number. A gateway that is killed loses that number, and never the fact that the caller has read.
 */
export class AuditGathering {
  private readonly groups = new Map<number, Map<string, Group>>();
  private readonly sweeping: NodeJS.Timeout;

  constructor(private readonly writer: AuditWriter) {
    this.sweeping = setInterval(() => this.sweep(performance.now() - WINDOW_MS), SWEEP_MS).unref();
  }

  /**
   * Begins a reading, or an event that counts as one. A row that cannot be written rejects all readings that share it, and the next one tries
   * again. `written` does not wait for a row that is not awaited.
   */
  begin(organizationId: number, facts: ReadingFacts, isAwaited = true): OpenReading {
    const open = this.groups.get(organizationId) ?? new Map<string, Group>();
    this.groups.set(organizationId, open);
    const key = JSON.stringify(facts);
    let group = open.get(key);
    if (group && group.startedAtMs <= performance.now() - WINDOW_MS) {
      this.leave(organizationId, key, group);
      group = undefined;
    }
    if (!group) {
      this.makeRoom(organizationId, open);
      group = this.start(organizationId, key, { ...NO_FACTS, ...facts, entry: randomUUID(), part: 'started', at: new Date() }, isAwaited);
      open.set(key, group);
    }
    group.underWay++;
    const { written } = group;
    const joined = group;
    return { written, end: (end) => this.end(organizationId, joined, end) };
  }

  /** Closes all entries, those of readings that are still under way too. */
  close(): void {
    clearInterval(this.sweeping);
    for (const [organizationId, open] of this.groups) {
      for (const [key, group] of open) {
        this.leave(organizationId, key, group);
        this.writeEnd(organizationId, group);
      }
    }
  }

  private start(organizationId: number, key: string, row: NewAuditRow, isAwaited: boolean): Group {
    const written = isAwaited ? this.writer.write(organizationId, row) : this.writer.accept(organizationId, row);
    const group: Group = {
      row,
      startedAtMs: performance.now(),
      written,
      underWay: 0,
      reads: 0,
      lines: null,
      dataVersion: null,
      isBroken: false,
      state: 'open',
    };
    written.catch(() => {
      // No reading of this group is answered, so that it has no end either.
      group.state = 'closed';
      this.groups.get(organizationId)?.delete(key);
    });
    return group;
  }

  private end(organizationId: number, group: Group, { lines, dataVersion, outcome }: ReadingEnd): void {
    group.underWay--;
    if (outcome !== 'again') {
      group.reads++;
      if (lines !== null) group.lines = (group.lines ?? 0) + lines;
      group.dataVersion = dataVersion ?? group.dataVersion;
      group.isBroken ||= outcome === 'broken';
    }
    if (group.state === 'left' && group.underWay === 0) this.writeEnd(organizationId, group);
  }

  private sweep(before: number): void {
    for (const [organizationId, open] of this.groups) {
      // A map keeps the order in which its entries came.
      for (const [key, group] of open) {
        if (group.startedAtMs > before) break;
        this.leave(organizationId, key, group);
      }
      if (open.size === 0) this.groups.delete(organizationId);
    }
  }

  private makeRoom(organizationId: number, open: Map<string, Group>): void {
    if (open.size < MAX_OPEN) return;
    const [key, group] = open.entries().next().value!;
    this.leave(organizationId, key, group);
  }

  /** Lets no further reading join a group. Its end is written when the last one has ended. */
  private leave(organizationId: number, key: string, group: Group): void {
    const open = this.groups.get(organizationId);
    if (open?.get(key) === group) open.delete(key);
    if (group.state !== 'open') return;
    group.state = 'left';
    if (group.underWay === 0) this.writeEnd(organizationId, group);
  }

  private writeEnd(organizationId: number, group: Group): void {
    if (group.state === 'closed') return;
    group.state = 'closed';
    const { row, reads, lines, dataVersion, isBroken, underWay } = group;
    const { kind, door, operation, entry } = row;
    // A reading that was to be made again may have failed before it began again, or have begun in the next group.
    const outcome = isBroken || underWay > 0 || reads === 0 ? 'broken' : 'whole';
    const end: NewAuditRow = {
      ...NO_FACTS,
      kind,
      door,
      operation,
      entry,
      part: 'ended',
      at: new Date(),
      reads,
      lines,
      dataVersion,
      outcome,
    };
    this.writer.writeLater(organizationId, end);
  }
}

interface Group {
  readonly row: NewAuditRow;
  /** By a clock that nobody sets, so that a correction of the time of day makes no entry longer. */
  readonly startedAtMs: number;
  readonly written: Promise<void>;
  underWay: number;
  reads: number;
  lines: number | null;
  dataVersion: number | null;
  isBroken: boolean;
  /** `left` groups take no further reading, and `closed` ones have their end written. */
  state: 'open' | 'left' | 'closed';
}
