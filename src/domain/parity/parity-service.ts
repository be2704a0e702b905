import { randomBytes } from 'node:crypto';
import { numberOf } from '../../data/postgres/version-stamp';
import type { BookLineStore } from '../../data/reports/book-line-store';
import { AppError, describeError, OperatorError } from '../../errors';
import { lineNames, v2Names, type LineName } from '../../line/line-fields';
import type { AuditService } from '../audit/audit-service';
import type { BookService } from '../books/book-service';
import type { ReportDocuments, SavedReportService } from '../reports/saved-report-service';
import {
  BooksMoved,
  createGatewayDoors,
  LIST_QUERY,
  type Door,
  type DoorQuestion,
  type DoorReading,
  type GatewayAddress,
} from './gateway-doors';
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
export interface LineDifference {
  readonly line: number;
  readonly allocationId: unknown;
  /** Null where one of the two has ended before this line. */
  readonly field: LineName | null;
  /** The two values of the field, or else true and false for the one that has the line and the one that has not. */
  readonly books: unknown;
  readonly door: unknown;
}

export interface DoorDifference {
  /** True for a figure that the answer tells of itself, such as a trailer. */
  readonly isTold: boolean;
  readonly figure: FigureName;
  /** Null for a figure without lines, and where a second reading found the lines equal: the door does not answer the same twice. */
  readonly first: LineDifference | null;
}

export interface DoorResult {
  readonly door: string;
  readonly version: number;
  readonly figures: DoorFigures;
  readonly difference: DoorDifference | null;
}

export interface ParityResult {
  readonly pending: DoorQuestion['pending'];
  readonly verdict: 'equal' | 'different' | 'undecided';
  /** The reason why nothing was decided. */
  readonly reason: string | null;
  /** The books by SQL first; empty when nothing was decided. */
  readonly doors: readonly DoorResult[];
}

/** The times that doors are asked whose answers are of an older version than others. */
const MAX_ROUNDS = 5;
const MOVING = 'The books are changing: the doors answered from different data versions each time';

const REPORT_TITLE = 'Made by the command parity';
const REPORT_START = 'parity-';
/** A report of this age was left by a command that was killed. */
const LEFT_AFTER_MS = 86_400_000;

/** The figures of one answer, and those that it tells of itself. */
interface Reading {
  /** Undefined for an answer of several versions. */
  readonly version: number | undefined;
  readonly figures: DoorFigures;
  readonly told: DoorFigures;
}

/** Compares what every door of a running gateway tells with the books, as SQL reads them. */
export class ParityService {
  constructor(private readonly parts: ParityParts) {}

  /** Compares without and with pending deposits. Throws when the saved report that it needs for a while cannot be made or deleted. */
  async compare(question: ParityQuestion): Promise<ParityResult[]> {
    const { savedReports } = this.parts;
    const { organizationId, documents, startDate, endDate } = question;
    const name = REPORT_START + randomBytes(8).toString('hex');
    const variables = { startDate, endDate, includePending: false };
    const given = { name, title: REPORT_TITLE, query: LIST_QUERY, variables, updatedBy: null };
    for (const left of await savedReports.list(organizationId)) {
      const isOld = left.updatedAt.getTime() < Date.now() - LEFT_AFTER_MS;
      if (isOld && left.title === REPORT_TITLE && left.name.startsWith(REPORT_START)) await savedReports.delete(organizationId, left.name);
    }
    await savedReports.save(organizationId, given, documents);
    try {
      const results: ParityResult[] = [];
      for (const pending of ['WITHOUT', 'WITH'] as const) results.push(await this.compareAudited(question, pending, name));
      return results;
    } finally {
      await savedReports.delete(organizationId, name);
    }
  }

  /** Compares with an entry in the audit: SQL reads the same donors' data as the doors. */
  private async compareAudited(question: ParityQuestion, pending: DoorQuestion['pending'], savedReport: string): Promise<ParityResult> {
    const { audit } = this.parts;
    const { organizationId, gateway, startDate, endDate, onDoor } = question;
    const doors = [this.booksBySql(organizationId, gateway.signal), ...createGatewayDoors(gateway, savedReport)];
    const comparison = new Comparison(doors, { startDate, endDate, pending }, onDoor);
    const range = { startDate, endDate, pending, conditions: [] };
    return audit.accompany(audit.operator(organizationId), audit.command('parity'), () => comparison.run(), { range });
  }

  private booksBySql(organizationId: number, signal: AbortSignal): Door {
    const { books, lines } = this.parts;
    return {
      name: 'books by SQL',
      hasExtras: true,
      open: async (question) => {
        const snapshot = books.openState(organizationId);
        const close = (): Promise<void> => snapshot.close();
        signal.addEventListener('abort', () => void close(), { once: true });
        await snapshot.open();
        return { version: numberOf(snapshot.version!), lines: lines.batches(snapshot, { organizationId, ...question }), close };
      },
    };
  }
}

/** A failure whose message begins with the name of its door. */
class DoorFailure extends OperatorError {}

/** One comparison of all doors. The first door is the one that the others are compared with. */
class Comparison {
  private readonly readings = new Map<Door, Reading>();

  constructor(
    private readonly doors: readonly Door[],
    private readonly question: DoorQuestion,
    private readonly onDoor: (name: string) => void,
  ) {}

  async run(): Promise<ParityResult> {
    const { pending } = this.question;
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        await this.readOlder();
        if (new Set(this.versions).size > 1) continue;
        const doors = await this.explain();
        if (doors) {
          const isEqual = doors.every(({ difference }) => !difference);
          return { pending, verdict: isEqual ? 'equal' : 'different', reason: null, doors };
        }
        this.readings.clear();
      }
      return { pending, verdict: 'undecided', reason: MOVING, doors: [] };
    } catch (error) {
      if (error instanceof AppError) return { pending, verdict: 'undecided', reason: describeError(error), doors: [] };
      if (error instanceof OperatorError) return { pending, verdict: 'undecided', reason: error.message, doors: [] };
      throw error;
    }
  }

  private get versions(): (number | undefined)[] {
    return [...this.readings.values()].map(({ version }) => version);
  }

  /** Reads each door that was not read yet, or that was read at an older version than another one. */
  private async readOlder(): Promise<void> {
    const newest = Math.max(...this.versions.map((version) => version ?? 0));
    for (const door of this.doors) {
      if (this.readings.has(door) && this.readings.get(door)!.version === newest) continue;
      this.readings.set(door, await this.withReading(door, (reading) => readFigures(door, reading)).catch(toMovedReading));
    }
  }

  /** The doors with their differences; undefined when the books have changed before these were found. */
  private async explain(): Promise<DoorResult[] | undefined> {
    const results: DoorResult[] = [];
    const [sql] = this.doors;
    const { figures: books, version } = this.readings.get(sql!)!;
    for (const door of this.doors) {
      const { figures, told } = this.readings.get(door)!;
      const figure = findDifferingFigure(books, figures);
      const toldFigure = findDifferingFigure(books, told);
      let difference: DoorDifference | null = null;
      if (figure !== undefined) {
        const first = await this.findFirst(sql!, door, version).catch(toMoved);
        if (first === 'moved') return undefined;
        difference = { isTold: false, figure, first };
      } else if (toldFigure !== undefined) difference = { isTold: true, figure: toldFigure, first: null };
      results.push({ door: door.name, version: version!, figures: { ...told, ...figures }, difference });
    }
    return results;
  }

  /** Reads two doors once more, in step. Null when they are equal now. Throws a BooksMoved at another version. */
  private findFirst(sql: Door, door: Door, version: number | undefined): Promise<LineDifference | null> {
    return this.withReading(sql, (books) =>
      this.withReading(door, (reading) => {
        if (books.version !== version || reading.version !== version) throw new BooksMoved();
        return findFirstLine(books, reading, door.hasExtras ? lineNames : v2Names);
      }),
    );
  }

  private async withReading<Result>(door: Door, use: (reading: DoorReading) => Promise<Result>): Promise<Result> {
    this.onDoor(door.name);
    try {
      const reading = await door.open(this.question);
      try {
        return await use(reading);
      } finally {
        await reading.close();
      }
    } catch (error) {
      if (!(error instanceof OperatorError) || error instanceof DoorFailure) throw error;
      throw new DoorFailure(`${door.name}: ${error.message}`, { cause: error });
    }
  }
}

async function readFigures({ hasExtras }: Door, { version, lines, told }: DoorReading): Promise<Reading> {
  if (!lines) return { version, figures: {}, told: told?.() ?? {} };
  const figures = new LineFigures(hasExtras);
  for await (const some of lines) figures.add(some);
  return { version, figures: figures.end(), told: told?.() ?? {} };
}

function toMovedReading(error: unknown): Reading {
  if (error instanceof BooksMoved) return { version: undefined, figures: {}, told: {} };
  throw error;
}

function toMoved(error: unknown): 'moved' {
  if (error instanceof BooksMoved) return 'moved';
  throw error;
}

async function findFirstLine(books: DoorReading, door: DoorReading, names: readonly LineName[]): Promise<LineDifference | null> {
  const [ours, theirs] = [eachLine(books), eachLine(door)];
  for (let line = 1; ; line++) {
    const [{ value: expected }, { value: given }] = [await ours.next(), await theirs.next()];
    if (!expected && !given) return null;
    const allocationId = (expected ?? given)!.allocation_id;
    if (!expected || !given) return { line, allocationId, field: null, books: expected !== undefined, door: given !== undefined };
    const field = names.find((name) => expected[name] !== given[name]);
    if (field !== undefined) return { line, allocationId, field, books: expected[field], door: given[field] };
  }
}

async function* eachLine({ lines }: DoorReading): AsyncGenerator<DoorLine, undefined> {
  for await (const some of lines ?? []) yield* some;
  return undefined;
}
