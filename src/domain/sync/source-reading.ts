import type { ErasedAgain } from '../../data/imports/erased-lines';
import { parseImportLine, type ImportLine, type LineFault } from '../../formats/import-line';
import { hashLine, LineSum, toV2Json } from '../../formats/line-sum';
import { donorTexts } from '../../line/line-fields';
import { SourceError } from '../../source/source-error';
import type { ReportQuery, V2Source } from '../../source/v2-source';
import type { PeriodDates } from '../../values/periods';

const LF = 0x0a;
/** The number of faults that a message names. */
const MAX_NAMED = 5;

/** The donors who were erased before a round, and what the answers of the round have of them. */
export class ErasedDonors {
  private readonly answers = new Map<PeriodDates, Answer>();

  private states = 0;

  constructor(readonly numbers: ReadonlySet<number>) {}

  /** Notes the answer of a period that counts, which is the newest one with all lines. */
  note(period: PeriodDates, answer: Answer): void {
    this.answers.set(period, answer);
  }

  /** Notes the earlier states of lines that an import of the round has erased. */
  noteStates(states: number): void {
    this.states += states;
  }

  get again(): ErasedAgain {
    const found = [...this.answers.values()].map(({ erased }) => erased);
    const donors = new Set(found.flatMap((each) => [...each.donors]));
    return { lines: found.reduce((sum, { lines }) => sum + lines, 0), donors: donors.size, states: this.states };
  }
}

/** A line without the texts of its donor, as the books have those of a donor who was erased. */
const withoutTexts = (line: ImportLine): ImportLine => ({ ...line, ...Object.fromEntries(donorTexts.map((name) => [name, ''])) });
const hasTexts = (line: ImportLine): boolean => donorTexts.some((name) => line[name] !== '');

/** The lines of one answer, as the books would have them. */
export class Answer {
  readonly sum = new LineSum();
  /** The lines of the deposits that are known. */
  readonly known = new LineSum();
  readonly otherDeposits = new Set<string>();
  /** The lines that have texts of donors who were erased, and the numbers of these donors. */
  readonly erased = { lines: 0, donors: new Set<number>() };

  /** Begins an answer of which some deposits are known from another one. */
  constructor(
    private readonly erasedDonors: ErasedDonors,
    private readonly knownDeposits: ReadonlySet<string> = new Set(),
  ) {}

  /** Adds a line. Returns true when its deposit is known. */
  add(line: ImportLine): boolean {
    const isErased = this.erasedDonors.numbers.has(line.donor_id) && hasTexts(line);
    if (isErased) {
      this.erased.lines++;
      this.erased.donors.add(line.donor_id);
    }
    const hash = hashLine(toV2Json(isErased ? withoutTexts(line) : line));
    const isKnown = this.knownDeposits.has(line.deposit_id);
    this.sum.add(hash);
    if (isKnown) this.known.add(hash);
    else this.otherDeposits.add(line.deposit_id);
    return isKnown;
  }
}

/** Reads one answer, and again from its start when it breaks off. Throws a SourceError. */
export function readAnswer(source: V2Source, query: ReportQuery, erasedDonors: ErasedDonors): Promise<Answer> {
  return source.read(query, async (lines) => {
    const answer = new Answer(erasedDonors);
    for await (const some of lines) for (const raw of some) answer.add(toSourceLine(raw, query));
    return answer;
  });
}

/** Checks a line of a period. Throws a SourceError for one that is no line of v2 or not of the period. */
export function toSourceLine(raw: Parameters<typeof parseImportLine>[0], period: PeriodDates): ImportLine {
  const line = parseImportLine(raw);
  if (Array.isArray(line)) throw toSourceFault(period, line);
  if (line.deposit_date >= period.startDate && line.deposit_date <= period.endDate) return line;
  throw toSourceFault(period, [{ line: raw.line, field: 'deposit_date', reason: 'is outside of the range' }]);
}

function toSourceFault({ startDate, endDate }: PeriodDates, faults: readonly LineFault[]): SourceError {
  const named = faults.slice(0, MAX_NAMED).map(({ line, field, reason }) => `line ${line}: ${field === '' ? '' : `${field} `}${reason}`);
  return new SourceError(`The answer from ${startDate} to ${endDate} has a line that is none of v2: ${named.join('; ')}`, {
    isPassing: false,
  });
}

/** The lines of a text without their ends. Each is valid until the next one is asked for. */
export async function* splitLines(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const block of blocks) {
    let begin = 0;
    for (let end = block.indexOf(LF); end >= 0; end = block.indexOf(LF, begin)) {
      const line = block.subarray(begin, end);
      yield rest.length > 0 ? Buffer.concat([rest, line]) : line;
      rest = Buffer.alloc(0);
      begin = end + 1;
    }
    // The block's memory is used again for the next one.
    rest = Buffer.concat([rest, block.subarray(begin)]);
  }
}
