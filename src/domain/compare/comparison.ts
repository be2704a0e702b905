import { setTimeout as delay } from 'node:timers/promises';
import { SourceError } from '../../source/source-error';
import { findErrorText, knownTexts, parameterTexts } from '../../source/v2-source';
import { ask, type Answer, type LineReader, type Service } from './answer';
import { findDifferences } from './json-difference';
import { findKey, LinePairs, NoReport, TooManyLines, type Part } from './line-pairs';
import { isReport, nameQuestion, type Question } from './question';
import { Mask, MAX_EXAMPLES, Tally, type Difference, type DifferenceClass, type Example, type QuestionResult, type Side } from './verdict';

export interface ComparisonOptions {
  readonly old: Service;
  readonly new: Service;
  readonly accepted: readonly DifferenceClass[];
  readonly showsValues: boolean;
  /** The most requests a second, of both services together. */
  readonly rate: number;
  readonly signal: AbortSignal;
}

/** The times that a question is asked while the old service changes. */
const MAX_READINGS = 3;
/** No further question is asked after so many in turn without an answer. */
const MAX_UNREACHABLE = 3;
/** The number of parts grows so many times when the lines of one are too many to be matched. */
const MORE_PARTS = 4;
/** Lines with few different ids cannot be matched in parts. */
const MAX_PARTS = 16;
const MS_PER_SECOND = 1000;
const WHOLE: Part = { number: 0, of: 1 };
const NO_LINES: Part = { number: 0, of: 0 };

/** The differences of one question, and both sides. */
interface Finding {
  readonly tally: Tally;
  readonly old: Side;
  readonly new: Side;
}

/** Why the old answer and the new one are no reports; undefined for one that is. */
type Faults = [string | undefined, string | undefined];

/** A service has changed while it was asked. */
class Moving extends Error {
  constructor(what: string, side: 'old' | 'new' = 'old') {
    super(`The ${side} service answers with another ${what} each time`);
  }
}

/** Both services refuse a report. */
class Refused extends Error {
  constructor(
    how: string,
    readonly sides: Pick<Finding, 'old' | 'new'>,
  ) {
    super(`Both services refuse the report: ${how}`);
  }
}

/** Asks two services the same questions, and tells how their answers differ. */
export class Comparison {
  private readonly mask: Mask;
  private readonly examplesByClass = new Map<DifferenceClass, Example[]>();
  private nextRequestAt = 0;

  constructor(private readonly options: ComparisonOptions) {
    this.mask = new Mask(options.showsValues);
  }

  /** The first differences of each class, as the verdict may show them. */
  get examples(): ReadonlyMap<DifferenceClass, readonly Example[]> {
    return this.examplesByClass;
  }

  /**
   * Asks the questions one after another. Results come as they are known. When several questions in turn have no answer, or the signal ends
   * the work, the others are not asked.
   */
  async *run(questions: readonly Question[]): AsyncGenerator<readonly [Question, QuestionResult]> {
    let unreachable = 0;
    for (const question of questions) {
      const isAsked = unreachable < MAX_UNREACHABLE && !this.options.signal.aborted;
      const result: QuestionResult = isAsked ? await this.decide(question) : { question: nameQuestion(question), outcome: 'not-asked' };
      // A service may give no answer to the wrong credentials of some questions, and answers to all others.
      const isPlain = question.provision === 'given' && question.hasSession;
      if (isAsked && isPlain) unreachable = result.outcome === 'unreachable' && !result.old ? unreachable + 1 : 0;
      yield [question, result];
    }
  }

  private async decide(question: Question): Promise<QuestionResult> {
    const name = nameQuestion(question);
    try {
      const { tally, ...sides } = await this.untilStill(question);
      for (const [kind, found] of tally.examples) {
        const kept = this.examplesByClass.get(kind) ?? [];
        const shown = found.slice(0, MAX_EXAMPLES - kept.length).map((difference) => this.mask.example(name, difference));
        this.examplesByClass.set(kind, [...kept, ...shown]);
      }
      const outcome = tally.outcome(this.options.accepted);
      const parts = outcome === 'equal' ? {} : { classes: tally.classes, days: tally.days };
      return { question: name, outcome, ...sides, ...parts };
    } catch (error) {
      if (error instanceof Moving) return { question: name, outcome: 'moving', reason: error.message };
      if (error instanceof Refused) return { question: name, outcome: 'unreachable', reason: error.message, ...error.sides };
      if (error instanceof SourceError) return { question: name, outcome: 'unreachable', reason: error.message };
      if (this.options.signal.aborted) return { question: name, outcome: 'not-asked' };
      throw error;
    }
  }

  /** Asks again while the old service changes, or while one of the services has no answer that may come later. */
  private async untilStill(question: Question): Promise<Finding> {
    let readings = 1;
    for (let attempt = 1; ;) {
      try {
        return await this.compareAll(question);
      } catch (error) {
        if (error instanceof Moving && readings++ < MAX_READINGS) continue;
        if (!(error instanceof FailedService)) throw error;
        await error.service.client.waitAfter(error.reason, attempt++);
      }
    }
  }

  /** Compares both answers, in several readings when many lines differ. */
  private async compareAll(question: Question): Promise<Finding> {
    for (let of = 1; of <= MAX_PARTS; of *= MORE_PARTS) {
      try {
        if (of === 1) return await this.compare(question, WHOLE, new Tally());
        const tally = new Tally();
        let finding!: Finding;
        for (let number = 0; number < of; number++) {
          const before = finding as Finding | undefined;
          finding = await this.compare(question, { number, of }, tally);
          if (before && before.old.digest !== finding.old.digest) throw new Moving('report');
          if (before && (before.new.digest !== finding.new.digest || before.new.status !== finding.new.status))
            throw new Moving('report', 'new');
        }
        return finding;
      } catch (error) {
        if (!(error instanceof TooManyLines)) throw error;
      }
    }
    const tally = new Tally();
    tally.add({ class: 'body', path: '', old: 'lines', new: 'more other lines than can be matched' });
    return this.compare(question, NO_LINES, tally);
  }

  /**
   * Asks the old service and then the new one, and the old one again when the answers differ. Throws Moving when the old service gives another
   * answer than before.
   */
  private async compare(question: Question, part: Part, tally: Tally): Promise<Finding> {
    const { old: oldService, new: newService, accepted } = this.options;
    const found = (difference: Difference): void => tally.add(difference);
    // Two waits here leave no answer open for the time of the second one.
    await this.pace(2);
    const old = await this.ask(oldService, question);
    try {
      const now = await this.ask(newService, question);
      try {
        assertReport(question, old, now);
        // The text beside the lines counts once, and not for each part of them.
        if (part.number === 0) compareHeads(old, now, found);
        const pairs = new LinePairs(part, found);
        const faults = await this.readBoth([old.lines, now.lines], pairs);
        const [fault, faultNow] = faults;
        // Nothing is known of the rest of two answers that are no reports.
        if (fault !== undefined && faultNow !== undefined)
          throw new FailedService(oldService, new SourceError(fault, { isPassing: false }));
        const areReports = old.lines && now.lines && fault === undefined && faultNow === undefined;
        if (part.number === 0) {
          if (fault !== faultNow) found({ class: 'body', path: '', old: fault ?? 'a report', new: faultNow ?? 'a report' });
          if (areReports) compareFrames(old.lines, now.lines, found);
        }
        const left = areReports ? pairs.leftKeys : new Set<string>();
        const isDifferent =
          tally.outcome(accepted) === 'different' || left.size > 0 || (areReports && old.lines.digest !== now.lines.digest);
        if (isDifferent) {
          const counts = await this.askOldAgain(question, old, fault, left);
          if (areReports) pairs.tellLeft((key) => counts.get(key) ?? 0);
        }
        // Bytes may differ in a way that has no class of its own.
        const isLast = part.number === part.of - 1;
        if (isLast && areReports && old.lines.digest !== now.lines.digest && tally.outcome([]) === 'equal') {
          found({ class: 'body', path: '', old: 'a report', new: 'the same lines in other bytes' });
        }
        return { tally, old: toSide(old, fault), new: toSide(now, faultNow) };
      } finally {
        now.drop();
      }
    } finally {
      old.drop();
    }
  }

  /** Reads the lines of both answers to their ends, in step. Returns why one of them is no report. */
  private async readBoth(readers: readonly [LineReader | undefined, LineReader | undefined], pairs: LinePairs): Promise<Faults> {
    const [old, now] = readers;
    const faults: Faults = [undefined, undefined];
    const fill = async (side: 0 | 1): Promise<boolean> => {
      const reader = readers[side];
      if (!reader || faults[side] !== undefined) return false;
      const filled = await faultOf(side === 0 ? this.options.old : this.options.new, reader.fill());
      if (typeof filled === 'string') faults[side] = filled;
      return filled === true;
    };
    for (let place = 0; ; place++) {
      // A promise for each line would take longer than most of the work on it.
      const line = old?.isFilled || (await fill(0)) ? old!.take() : undefined;
      const other = now?.isFilled || (await fill(1)) ? now!.take() : undefined;
      if (!line && !other) return faults;
      if (!old || !now) continue;
      if (line && other && line.text === other.text && pairs.isEven) {
        pairs.addEqual(place);
        continue;
      }
      if (line) pairs.add(0, line, place);
      if (other) pairs.add(1, other, place);
    }
  }

  /**
   * Asks the old service once more, and counts its lines with some ids. Throws Moving when the answer is another one than before, so that a
   * difference may come from a change.
   */
  private async askOldAgain(
    question: Question,
    old: Answer,
    fault: string | undefined,
    keys: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, number>> {
    const service = this.options.old;
    // The answer before holds the one connection until it is read or left.
    old.drop();
    await this.pace(1);
    const again = await this.ask(service, question);
    const counts = new Map<string, number>();
    try {
      let faultNow: string | undefined;
      for (const { lines } = again; lines;) {
        const filled = lines.isFilled || (await faultOf(service, lines.fill()));
        if (typeof filled === 'string') faultNow = filled;
        if (filled !== true) break;
        const line = lines.take();
        if (keys.size === 0) continue;
        const key = findKey(line);
        if (keys.has(key)) counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      const areReports = old.lines && again.lines && fault === undefined && faultNow === undefined;
      if (old.status !== again.status) throw new Moving('status');
      if (JSON.stringify(old.headers) !== JSON.stringify(again.headers)) throw new Moving('headers');
      if (fault !== faultNow || old.body !== again.body) throw new Moving('body');
      if (areReports && old.lines.digest !== again.lines.digest) throw new Moving('report');
      return counts;
    } finally {
      again.drop();
    }
  }

  /** Waits until so many requests may be made. */
  private async pace(requests: number): Promise<void> {
    const { rate, signal } = this.options;
    const now = performance.now();
    const waitMs = this.nextRequestAt - now;
    this.nextRequestAt = Math.max(now, this.nextRequestAt) + (requests * MS_PER_SECOND) / rate;
    if (waitMs > 0) await delay(waitMs, undefined, { signal });
  }

  private ask(service: Service, question: Question): Promise<Answer> {
    return ask(service, question).catch((error: unknown) => failWith(service, error));
  }
}

/** One of the services has no answer. */
class FailedService extends Error {
  constructor(
    readonly service: Service,
    readonly reason: SourceError,
  ) {
    super(reason.message, { cause: reason });
  }
}

function failWith(service: Service, error: unknown): never {
  throw error instanceof SourceError ? new FailedService(service, error) : error;
}

/** The text of the fault of an answer that is whole and no report; otherwise what the reading says. */
function faultOf(service: Service, reading: Promise<boolean>): Promise<boolean | string> {
  return reading.catch((error: unknown) => (error instanceof NoReport ? error.message : failWith(service, error)));
}

const toSide = ({ status, lines, version }: Answer, fault: string | undefined): Side => ({
  status,
  ...(lines && fault === undefined && lines.sums),
  ...(version !== undefined && { version }),
});

/**
 * Throws a Refused when both services refuse a report in the same way with the given credentials, for a reason that is not in its parameters.
 * Two such refusals prove nothing of the reports.
 */
function assertReport(question: Question, old: Answer, now: Answer): void {
  if (!isReport(question) || question.provision !== 'given' || !question.hasSession) return;
  const isSame = old.status === now.status && old.body === now.body;
  if (old.status === 200 || !isSame || parameterTexts.includes(findErrorText(old.body) ?? '')) return;
  throw new Refused(describe(old), { old: toSide(old, undefined), new: toSide(now, undefined) });
}

/** Compares statuses, headers, and the bodies of answers without lines. */
function compareHeads(old: Answer, now: Answer, found: (difference: Difference) => void): void {
  for (const [name, value] of Object.entries(old.headers)) {
    const other = now.headers[name];
    if (value !== other) found({ class: 'header', path: name, old: value ?? 'none', new: other ?? 'none' });
  }
  if (old.status !== now.status) {
    found({ class: 'status', path: '', old: describe(old), new: describe(now) });
    return;
  }
  if (old.lines) return;
  for (const difference of findDifferences(old.body, now.body)) {
    if (difference.class === 'body') found({ class: 'body', path: '', old: describe(old), new: describe(now) });
    // The texts of errors are what callers read of them.
    else found({ ...difference, class: difference.class === 'value' && old.status !== 200 ? 'error-text' : difference.class });
  }
}

/** The status of an answer, with the text of an error in the form of the contract (section 2.3). */
function describe({ status, body }: Answer): string {
  const text = findErrorText(body);
  return text === undefined ? String(status) : `${status} ${knownTexts.includes(text) ? text : 'with another text'}`;
}

/** Compares what stands around the lines. */
function compareFrames(old: LineReader, now: LineReader, found: (difference: Difference) => void): void {
  if (old.mark !== now.mark) found({ class: 'body', path: '', old: `a report ${describeMark(old)}`, new: `one ${describeMark(now)}` });
  const [before, after] = [old.frameText, now.frameText];
  const another = { class: 'body', path: '', old: 'the text around the lines', new: 'another one' } as const;
  if (before === undefined || after === undefined) {
    if (old.frameDigest !== now.frameDigest) found(another);
  } else for (const difference of findDifferences(before, after)) found(difference.class === 'body' ? another : difference);
  if (old.lines > 1 && now.lines > 1 && old.separators !== now.separators) found({ class: 'whitespace', path: '' });
}

const describeMark = ({ mark }: LineReader): string => (mark === '' ? 'in UTF-8' : 'with a byte order mark');
