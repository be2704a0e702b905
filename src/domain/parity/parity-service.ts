import { randomBytes } from 'node:crypto';
import { numberOf } from '../../data/postgres/version-stamp';
import type { BookLineStore } from '../../data/reports/book-line-store';
import { OperatorError } from '../../errors';
import { lineNames } from '../../line/line-fields';
import type { AuditService } from '../audit/audit-service';
import type { BookService } from '../books/book-service';
import type { ReportDocuments, SavedReportService } from '../reports/saved-report-service';
import { createGatewayDoors, LIST_QUERY, type Door, type DoorPart, type DoorQuestion, type GatewayAddress } from './gateway-doors';
import { findDifferingFigure, LineFigures, type DoorFigures, type DoorLine, type FigureName } from './line-figures';

interface ParityParts {
  readonly books: BookService;
  readonly lines: BookLineStore;
  readonly savedReports: SavedReportService;
  readonly audit: AuditService;
}

/** A range of an organization's books, and the gateway whose doors are asked for it. */
export interface ParityQuestion extends Omit<DoorQuestion, 'pending'> {
  readonly organizationId: number;
  readonly gateway: GatewayAddress;
  readonly documents: ReportDocuments;
  /** Called with the name of each door before it is read. */
  readonly onDoor: (name: string) => void;
}

/** The first line in which a door differs from the books, by its place in the answer. */
interface LineDifference {
  readonly line: number;
  readonly allocationId: unknown;
  /** Null where one of the two has ended before this line. */
  readonly field: string | null;
  /** The two values of the field, or else true and false for the one that has the line and the one that has not. */
  readonly books: unknown;
  readonly door: unknown;
}

export interface DoorResult {
  readonly door: string;
  readonly figures: DoorFigures;
  /** The first figure that differs from the books; null when none does. */
  readonly differs: FigureName | null;
  /** Why the door has no whole answer; null where it has one. */
  readonly fault: string | null;
  /** Null where no line differs: the figure is one that the answer tells of itself, or a second reading was another or failed. */
  readonly first: LineDifference | null;
}

export interface ParityResult {
  readonly pending: DoorQuestion['pending'];
  readonly verdict: 'equal' | 'different' | 'undecided';
  /** The reason why nothing was decided. */
  readonly reason: string | null;
  readonly version: number | null;
  /** The books by SQL first; empty when nothing was decided. */
  readonly doors: readonly DoorResult[];
}

/** The times that doors are asked whose answers are of an older version than others. */
const MAX_ROUNDS = 5;
const MOVING = 'The doors answered from different data versions each time, because the books change or a door is behind';
const REPORT_TITLE = 'Made by the command parity';
const REPORT_START = 'parity-';
/** A report of this age was left by a command that was killed. */
const LEFT_AFTER_MS = 86_400_000;

/** Compares what every door of a running gateway tells with the books, as SQL reads them. */
export class ParityService {
  constructor(private readonly parts: ParityParts) {}

  /** Compares without and with pending deposits. Throws when the saved report that it needs for a while cannot be made or deleted. */
  async compare(question: ParityQuestion): Promise<ParityResult[]> {
    const { savedReports } = this.parts;
    const { organizationId, documents, startDate, endDate } = question;
    for (const { name, title, updatedAt } of await savedReports.list(organizationId)) {
      const isLeft = title === REPORT_TITLE && name.startsWith(REPORT_START) && updatedAt.getTime() < Date.now() - LEFT_AFTER_MS;
      if (isLeft) await savedReports.delete(organizationId, name);
    }
    const name = REPORT_START + randomBytes(8).toString('hex');
    const variables = { startDate, endDate, includePending: false };
    await savedReports.save(organizationId, { name, title: REPORT_TITLE, query: LIST_QUERY, variables, updatedBy: null }, documents);
    try {
      const results: ParityResult[] = [];
      for (const pending of ['WITHOUT', 'WITH'] as const) {
        results.push(await this.compareAudited(question, pending, name));
        // A gateway that refuses one report refuses the other.
        if (results[0]!.verdict === 'undecided') break;
      }
      return results;
    } finally {
      await savedReports.delete(organizationId, name);
    }
  }

  /** Compares with an entry in the audit: SQL reads the same donors' data as the doors. */
  private async compareAudited(question: ParityQuestion, pending: DoorQuestion['pending'], savedReport: string): Promise<ParityResult> {
    const { audit } = this.parts;
    const { organizationId, gateway, startDate, endDate, onDoor } = question;
    const sql = {
      name: 'books by SQL',
      fields: lineNames,
      read: (asked: DoorQuestion) => this.readBooks(organizationId, asked, gateway.signal),
    };
    const comparison = new Comparison(sql, createGatewayDoors(gateway, savedReport), { startDate, endDate, pending }, onDoor);
    const range = { startDate, endDate, pending, conditions: [] };
    const atEnd = () => ({ lines: Number(comparison.lastBooks?.figures.lines ?? 0), dataVersion: comparison.lastBooks?.version ?? null });
    return audit.accompany(audit.operator(organizationId), audit.command('parity'), () => comparison.run(), { range, atEnd });
  }

  private async *readBooks(organizationId: number, question: DoorQuestion, signal: AbortSignal): AsyncGenerator<DoorPart> {
    signal.throwIfAborted();
    const snapshot = this.parts.books.openState(organizationId);
    const giveUp = (): void => void snapshot.close();
    signal.addEventListener('abort', giveUp);
    try {
      await snapshot.open();
      const version = numberOf(snapshot.version!);
      yield { version, lines: [] };
      for await (const lines of this.parts.lines.batches(snapshot, { organizationId, ...question })) yield { version, lines };
    } finally {
      signal.removeEventListener('abort', giveUp);
      await snapshot.close();
    }
  }
}

/** The figures of one answer. */
interface Reading {
  /** Undefined for an answer of several versions. */
  readonly version: number | undefined;
  readonly figures: DoorFigures;
  readonly told: DoorFigures;
  /** Why the answer is not whole. */
  readonly fault?: string;
}

/** The books have changed since a door was read. */
class BooksMoved extends Error {}

class Comparison {
  private readonly readings = new Map<Door, Reading>();
  /** Differences of one version whose first lines could not be read at it. */
  private proven: ParityResult | undefined;

  constructor(
    private readonly sql: Door,
    private readonly others: readonly Door[],
    private readonly question: DoorQuestion,
    private readonly onDoor: (name: string) => void,
  ) {}

  /** The last reading by SQL; undefined before it. */
  lastBooks: Reading | undefined;

  async run(): Promise<ParityResult> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const result = await this.tryRound();
      if (result) return result;
    }
    if (this.proven) return this.proven;
    const versions = [...this.readings].map(
      ([{ name }, { version, fault }]) => `${name} ${version ?? (fault === undefined ? 'several' : 'none')}`,
    );
    const reason = `${MOVING}: ${versions.join(', ')}`;
    return { pending: this.question.pending, verdict: 'undecided', version: null, doors: [], reason };
  }

  /** Reads the doors that were not read yet, or at an older version than others. Undefined when they are not all of one version then. */
  private async tryRound(): Promise<ParityResult | undefined> {
    const doors = [this.sql, ...this.others];
    const newest = Math.max(...[...this.readings.values()].map(({ version }) => version ?? 0));
    for (const door of doors) if (this.readings.get(door)?.version !== newest) this.readings.set(door, await this.readFigures(door));
    const version = this.readings.get(this.sql)!.version;
    if (
      version === undefined ||
      [...this.readings.values()].some(({ fault, ...reading }) => fault === undefined && reading.version !== version)
    )
      return undefined;
    const results = doors.map((door) => this.judge(door));
    const reason = results.find(({ fault }) => fault !== null)?.fault ?? null;
    const isEqual = results.every(({ differs }) => differs === null);
    const verdict = isEqual ? (reason === null ? 'equal' : 'undecided') : 'different';
    const result: ParityResult = { pending: this.question.pending, verdict, reason, version, doors: results };
    try {
      const explained: DoorResult[] = [];
      for (const [position, door] of doors.entries()) explained.push(await this.explain(door, results[position]!, version));
      return { ...result, doors: explained };
    } catch (error) {
      if (!(error instanceof BooksMoved)) throw error;
      this.proven = result;
      this.readings.clear();
      return undefined;
    }
  }

  private async readFigures(door: Door): Promise<Reading> {
    this.onDoor(door.name);
    try {
      const reading = await this.readWhole(door);
      if (door === this.sql) this.lastBooks = reading;
      return reading;
    } catch (error) {
      // Without the books there is nothing to compare. Without one door, the others are.
      if (door === this.sql || !(error instanceof OperatorError)) throw error;
      return { version: undefined, figures: {}, told: {}, fault: error.message };
    }
  }

  private async readWhole(door: Door): Promise<Reading> {
    const lineFigures = new LineFigures(door.fields);
    const versions = new Set<number>();
    let told: DoorFigures = {};
    for await (const part of this.partsOf(door)) {
      versions.add(part.version);
      lineFigures.add(part.lines);
      told = part.told ?? told;
    }
    const figures = door.fields.length > 0 ? lineFigures.end() : {};
    return { version: versions.size === 1 ? [...versions][0] : undefined, figures, told };
  }

  private judge(door: Door): DoorResult {
    const { figures, told, fault = null } = this.readings.get(door)!;
    if (fault !== null) return { door: door.name, figures, differs: null, fault, first: null };
    const ofLines = findDifferingFigure(this.lastBooks!.figures, figures);
    if (ofLines !== undefined) return { door: door.name, figures: { ...told, ...figures }, differs: ofLines, fault, first: null };
    const differs = findDifferingFigure(this.lastBooks!.figures, told) ?? null;
    return { door: door.name, figures: { ...figures, ...told }, differs, fault, first: null };
  }

  /** Adds the first line that differs, where lines do. */
  private async explain(door: Door, result: DoorResult, version: number): Promise<DoorResult> {
    const { figures } = this.readings.get(door)!;
    if (findDifferingFigure(this.lastBooks!.figures, figures) === undefined) return result;
    const first = await this.findFirst(door, version).catch((error: unknown) => {
      // The difference stands without its first line.
      if (error instanceof OperatorError) return null;
      throw error;
    });
    return { ...result, first };
  }

  /** Reads the books and a door once more, in step. Null when their lines are equal now. Throws a BooksMoved at another version. */
  private async findFirst(door: Door, version: number): Promise<LineDifference | null> {
    const [ours, theirs] = [this.linesOf(this.sql, version), this.linesOf(door, version)];
    try {
      for (let line = 1; ; line++) {
        // The door may let wait, which the transaction of the books should not.
        const { value: given } = await theirs.next();
        const { value: expected } = await ours.next();
        if (!expected && !given) return null;
        const allocationId = (expected ?? given)!.allocation_id;
        if (!expected || !given) return { line, allocationId, field: null, books: expected !== undefined, door: given !== undefined };
        const field = door.fields.find((name) => expected[name] !== given[name]);
        if (field !== undefined) return { line, allocationId, field, books: expected[field], door: given[field] };
        const other = Object.entries(given).find(([name]) => !door.fields.some((each) => each === name));
        if (other) return { line, allocationId, field: other[0], books: undefined, door: other[1] };
      }
    } finally {
      await Promise.all([ours.return(undefined), theirs.return(undefined)]);
    }
  }

  private async *linesOf(door: Door, version: number): AsyncGenerator<DoorLine, undefined> {
    for await (const part of this.partsOf(door)) {
      if (part.version !== version) throw new BooksMoved();
      yield* part.lines;
    }
    return undefined;
  }

  private async *partsOf(door: Door): AsyncGenerator<DoorPart> {
    try {
      yield* door.read(this.question);
    } catch (error) {
      if (error instanceof OperatorError) throw new OperatorError(`${door.name}: ${error.message}`, { cause: error });
      // JSON of another form lacks what is read of it.
      if (door !== this.sql && error instanceof TypeError)
        throw new OperatorError(`${door.name}: the answer has another form`, { cause: error });
      throw error;
    }
  }
}
