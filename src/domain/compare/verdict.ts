import { createHmac, randomBytes } from 'node:crypto';
import { textClasses, type TextDifference } from './json-difference';
import { isLineName, lineFields } from '../../line/line-fields';
import { knownTexts } from '../../source/v2-source';

/** The kinds of differences between two answers, from the old service to the new one. */
const differenceClasses = [
  ...(['status', 'header', 'body', 'error-text', 'line-missing', 'line-extra', 'line-doubled', 'line-order'] as const),
  ...textClasses,
] as const;
export type DifferenceClass = (typeof differenceClasses)[number];

/** The classes that may be accepted: most readers of JSON see the same value. */
export const acceptableClasses = ['key-order', 'zeros', 'null', 'escapes', 'whitespace', 'text-whitespace', 'line-order'] as const;

/** The ids by which lines are matched. */
export interface LineIds {
  readonly deposit: string;
  readonly transaction: string;
  readonly allocation: string;
}

export interface Difference extends Omit<TextDifference, 'class'> {
  readonly class: DifferenceClass;
  /** The line that differs; undefined for what is beside the lines. */
  readonly line?: LineIds;
  /** The deposit date of the line. */
  readonly day?: string;
}

/** A difference that the verdict shows. Personal values are pseudonyms unless they were asked for. */
export interface Example extends Difference {
  readonly question: string;
}

/** What one service has answered. */
export interface Side {
  readonly status: number;
  /** The number of lines of a report. */
  readonly lines?: number;
  /** The sum of the lines' amounts; null where one is not written as an amount. A split gift counts once for each of its lines. */
  readonly amount?: string | null;
  /** The SHA-256 of the report without its coding, as of a file that curl writes. */
  readonly digest?: string;
  /** The data version that the gateway names. */
  readonly version?: string;
}

export const outcomes = ['equal', 'accepted', 'different', 'moving', 'unreachable', 'not-asked'] as const;
type Outcome = (typeof outcomes)[number];

export interface QuestionResult {
  readonly question: string;
  readonly outcome: Outcome;
  /** Why there is no answer to compare. */
  readonly reason?: string;
  readonly old?: Side;
  readonly new?: Side;
  /** The number of differences of each class. */
  readonly classes?: Partial<Record<DifferenceClass, number>>;
  /** The number of differences of each deposit date that has any. */
  readonly days?: Readonly<Record<string, number>>;
}

/** The verdict of a comparison, which a file keeps and a later run may go on from. */
export interface Verdict {
  readonly verdict: 'equal' | 'different' | 'undecided';
  readonly old: string;
  readonly new: string;
  readonly begunAt: string;
  readonly endedAt: string;
  /** The classes that were accepted. */
  readonly accepted: readonly DifferenceClass[];
  readonly counts: Readonly<Record<Outcome, number>>;
  readonly classes: readonly ClassResult[];
  /** The number of requests of a log that are none of v2, and were not asked; null where no log was read. */
  readonly leftOut: number | null;
  readonly questions: readonly QuestionResult[];
}

export interface ClassResult {
  readonly class: DifferenceClass;
  readonly count: number;
  readonly isAccepted: boolean;
  /** The first of them. */
  readonly examples: readonly Example[];
}

export const MAX_EXAMPLES = 3;
const MAX_SHOWN_LENGTH = 200;

/** Counts the differences of one question. */
export class Tally {
  readonly classes: Partial<Record<DifferenceClass, number>> = {};
  readonly days: Record<string, number> = {};
  readonly examples = new Map<DifferenceClass, Difference[]>();

  add(difference: Difference): void {
    const { class: kind, day } = difference;
    this.classes[kind] = (this.classes[kind] ?? 0) + 1;
    if (day !== undefined) this.days[day] = (this.days[day] ?? 0) + 1;
    const examples = this.examples.get(kind) ?? [];
    if (examples.length < MAX_EXAMPLES) this.examples.set(kind, [...examples, difference]);
  }

  /** Equal, or accepted where every class is one of these, or different. */
  outcome(accepted: readonly DifferenceClass[]): 'equal' | 'accepted' | 'different' {
    const kinds = Object.keys(this.classes) as DifferenceClass[];
    if (kinds.length === 0) return 'equal';
    return kinds.every((kind) => accepted.includes(kind)) ? 'accepted' : 'different';
  }
}

/** Writes pseudonyms in the place of donors' values. Equal values have one pseudonym in a run, different ones have different ones. */
export class Mask {
  private readonly key = randomBytes(32);

  constructor(private readonly showsValues: boolean) {}

  example(question: string, difference: Difference): Example {
    const { path, old, new: now } = difference;
    const isPersonal = mayTellOfDonors(difference);
    const masked = (text: string): string => this.value(isPersonal || (MESSAGE_PATH.test(path) && !KNOWN_MESSAGES.has(text)), text);
    return {
      ...difference,
      question,
      path: path
        .split(/(?<=\.)/)
        .map((name) => (NAME.test(name) ? name : this.value(true, name)))
        .join(''),
      ...(old !== undefined && { old: masked(old) }),
      ...(now !== undefined && { new: masked(now) }),
    };
  }

  private value(isPersonal: boolean, text: string): string {
    // An object or a list may have any field.
    if (!this.showsValues && (isPersonal || /^[[{]/.test(text)) && !['""', 'null'].includes(text)) {
      return `‹${createHmac('sha256', this.key).update(text).digest('hex').slice(0, 10)}›`;
    }
    return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
  }
}

/** The name of a field, as services have them. Other names may be data. */
const NAME = /^(|[A-Za-z_][\w-]{0,60}(\[\d+\]|\.| \(again\))*)$/;
/** The values of answers beside the lines that name nobody. The empty path is that of the answer as a whole, such as its status. */
const IMPERSONAL = /^(|errors\[\d+\]\.(error|status)|data\.message|content-type|content-disposition|www-authenticate)$/;

/** Messages name nobody where they are those of the contract (sections 2.2 and 7). */
const MESSAGE_PATH = /^(errors\[\d+\]\.error|data\.message)$/;
const KNOWN_MESSAGES: ReadonlySet<string> = new Set(
  [...knownTexts, 'System request authenticated', 'Session request authenticated'].map((text) => JSON.stringify(text)),
);

/** True for a value that may tell of a donor or of a caller, also for one of an unknown field. */
function mayTellOfDonors({ class: kind, line, path }: Difference): boolean {
  if (kind === 'line-order' || kind === 'status') return false;
  if (line) return !isLineName(path) || lineFields[path].isPersonal === true;
  return kind === 'body' ? false : !IMPERSONAL.test(path);
}

/** Puts the results of all questions together. */
export function toVerdict(
  { old, new: now, begunAt, accepted, leftOut }: Pick<Verdict, 'old' | 'new' | 'begunAt' | 'accepted' | 'leftOut'>,
  questions: readonly QuestionResult[],
  examples: ReadonlyMap<DifferenceClass, readonly Example[]>,
): Verdict {
  const count = (outcome: Outcome): number => questions.filter((result) => result.outcome === outcome).length;
  const counts = Object.fromEntries(outcomes.map((outcome) => [outcome, count(outcome)])) as Record<Outcome, number>;
  const isDecided = counts.moving + counts.unreachable + counts['not-asked'] === 0;
  const classes = differenceClasses.flatMap((kind): ClassResult[] => {
    const sum = questions.reduce((all, result) => all + (result.classes?.[kind] ?? 0), 0);
    return sum === 0 ? [] : [{ class: kind, count: sum, isAccepted: accepted.includes(kind), examples: examples.get(kind) ?? [] }];
  });
  return {
    verdict: counts.different > 0 ? 'different' : isDecided ? 'equal' : 'undecided',
    ...{ old, new: now, begunAt, endedAt: new Date().toISOString(), accepted, counts, classes, leftOut, questions },
  };
}
