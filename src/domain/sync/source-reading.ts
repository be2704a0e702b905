import { parseImportLine, type ImportLine, type LineFault } from '../../formats/import-line';
import { hashLine, LineSum, toV2Json } from '../../formats/line-sum';
import { SourceError } from '../../source/source-error';
import type { ReportQuery, V2Source } from '../../source/v2-source';
import type { PeriodDates } from '../../values/periods';

/** The number of faults that a message names. */
const MAX_NAMED = 5;

/** The lines of one answer. */
export class Answer {
  readonly sum = new LineSum();
  /** The lines of the deposits that are known. */
  readonly known = new LineSum();
  readonly otherDeposits = new Set<string>();

  /** Begins an answer of which some deposits are known from another one. */
  constructor(private readonly knownDeposits: ReadonlySet<string> = new Set()) {}

  /** Adds a line. Returns true when its deposit is known. */
  add(line: ImportLine): boolean {
    const hash = hashLine(toV2Json(line));
    const isKnown = this.knownDeposits.has(line.deposit_id);
    this.sum.add(hash);
    if (isKnown) this.known.add(hash);
    else this.otherDeposits.add(line.deposit_id);
    return isKnown;
  }
}

/** Reads one answer, and again from its start when it breaks off. Throws a SourceError. */
export function readAnswer(source: V2Source, query: ReportQuery, knownDeposits?: ReadonlySet<string>): Promise<Answer> {
  return source.read(query, async (lines) => {
    const answer = new Answer(knownDeposits);
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
