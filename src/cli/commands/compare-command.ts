import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Command, InvalidArgumentError, Option } from 'commander';
import { Comparison } from '../../domain/compare/comparison';
import {
  caseQuestions,
  keyOf,
  LEFT_OUT,
  nameQuestion,
  pendingChoices,
  reportQuestions,
  trafficQuestion,
  type PendingChoice,
  type Question,
} from '../../domain/compare/question';
import {
  acceptableClasses,
  outcomes,
  toVerdict,
  type ClassResult,
  type DifferenceClass,
  type QuestionResult,
  type Side,
  type Verdict,
} from '../../domain/compare/verdict';
import { OperatorError } from '../../errors';
import { readRequests } from '../../domain/compare/request-log';
import { V2Client } from '../../source/v2-client';
import type { LocalDate } from '../../values/dates';
import type { CommandContext } from '../command';
import { logOf } from '../command-log';
import { append, MS_PER_SECOND, readDate, readTime, UNDECIDED, UndecidedError, UsageError } from '../command-options';
import { describeCommandFailure } from '../failure-words';
import { readAddress, readAuthority, readCredentials } from '../source-credentials';
import { onStopSignal } from '../stop-signals';
import { formatTable, printResult, startProgress } from '../terminal';
import { writeWhole } from '../whole-file';

interface Options {
  readonly old: string;
  readonly oldProvisionFile: string;
  readonly oldCookieFile?: string;
  readonly oldCaFile?: string;
  readonly new: string;
  readonly newProvisionFile: string;
  readonly newCookieFile?: string;
  readonly newCaFile?: string;
  readonly from?: LocalDate;
  readonly to?: LocalDate;
  readonly pending: PendingChoice;
  readonly requests?: string;
  readonly accept: readonly DifferenceClass[];
  readonly rate: number;
  readonly timeout: number;
  readonly showValues: boolean;
  readonly verdict?: string;
  readonly force: boolean;
  readonly sinceVerdict?: string;
}

/** No old service has an earlier deposit, and each month is asked for. */
const FIRST_DATE = '1900-01-01';
const MIN_RATE = 0.01;
const MAX_RATE = 1000;
/** A run that is killed loses the answers of so long a time. */
const SAVE_MS = 5000;

/** `compare`: proves that a new v2 service answers as the old one does. */
export function compareCommand(context: () => CommandContext): Command {
  const command = new Command('compare');
  for (const [name, side] of [
    ['old', 'old'],
    ['new', 'new'],
  ] as const) {
    command
      .requiredOption(`--${name} <url>`, `address of the ${side} service, before /api/v2`)
      .requiredOption(`--${name}-provision-file <file>`, `file with a provision of the ${side} service`)
      .option(`--${name}-cookie-file <file>`, `file with a session cookie of the ${side} service, as curl writes it or as name=value`)
      .option(`--${name}-ca-file <file>`, `certificate of the authority that has signed that of the ${side} service, in PEM`);
  }
  return command
    .addOption(new Option('--from <date>', 'first deposit date of the reports').argParser(readDate))
    .addOption(new Option('--to <date>', 'last deposit date of the reports').argParser(readDate))
    .addOption(new Option('--pending <choice>', 'the reports with pending deposits').choices([...pendingChoices]).default('both'))
    .option('--requests <file>', 'asks the GET requests of a HAR file, an access log, or NDJSON in the place of --from and --to')
    .addOption(acceptOption())
    .addOption(new Option('--rate <number>', 'the most requests a second').argParser(readRate).default(10))
    .addOption(new Option('--timeout <time>', 'gives up an answer that takes longer').argParser(readTime).default(600, '10m'))
    .option('--show-values', "shows donors' values, and not pseudonyms", false)
    .option('--verdict <file>', 'writes the verdict as JSON')
    .option('--force', 'replaces the file of the verdict', false)
    .option('--since-verdict <file>', 'asks only what was not equal in this verdict; a run that was ended goes on from its own')
    .action(async (options: Options) => {
      try {
        await compare(options, context());
      } catch (error) {
        if (error instanceof UsageError || error instanceof DifferentError || error instanceof UndecidedError) throw error;
        // Status 1 says that the answers differ.
        const failure = describeCommandFailure(error);
        throw new UndecidedError(error instanceof OperatorError ? failure : `The comparison has failed: ${failure}`, { cause: error });
      }
    });
}

function acceptOption(): Option {
  const option = new Option('--accept <class>', 'counts this class of differences apart; may be repeated');
  option.argChoices = [...acceptableClasses];
  return option.default([], 'none').argParser((value: string, earlier: readonly string[]) => {
    if (!acceptableClasses.some((kind) => kind === value))
      throw new InvalidArgumentError(`It must be one of: ${acceptableClasses.join(', ')}.`);
    return append(value, earlier);
  });
}

function readRate(text: string): number {
  const rate = Number(text);
  if (!/^[0-9]+(\.[0-9]+)?$/.test(text) || rate < MIN_RATE || rate > MAX_RATE)
    throw new InvalidArgumentError(`It must be a number from ${MIN_RATE} to ${MAX_RATE}, such as 5 or 0.5.`);
  return rate;
}

/** The services answer differently. */
class DifferentError extends OperatorError {}

async function compare(options: Options, context: CommandContext): Promise<void> {
  const { questions, leftOut } = await readQuestions(options);
  const stopping = new AbortController();
  const off = onStopSignal(() => (stopping.signal.aborted ? process.exit(UNDECIDED) : stopping.abort()));
  const service = async (
    side: 'old' | 'new',
  ): Promise<{ client: V2Client; credentials: { provision: string; cookie: string | undefined } }> => {
    const [address, provisionFile, cookieFile, authority] = [
      options[side],
      options[`${side}ProvisionFile`],
      options[`${side}CookieFile`],
      options[`${side}CaFile`],
    ];
    const url = readAddress(`--${side}`, `--${side}-provision-file`, address);
    const log = logOf(context.config);
    const credentials = await readCredentials({
      ...{ url, provisionFile, cookieFile, service: `the ${side} service`, names: `--${side}-provision-file` },
    });
    const client = new V2Client({
      url,
      authority: await readAuthority(authority),
      timeoutMs: options.timeout * MS_PER_SECOND,
      signal: stopping.signal,
      onRetry: ({ message }, waitMs) =>
        log.warn({ service: side, reason: message, waitSeconds: Math.round(waitMs / MS_PER_SECOND) }, 'asking again'),
    });
    return { client, credentials };
  };
  const [old, now] = [await service('old'), await service('new')];
  try {
    const comparison = new Comparison({
      ...{ old, new: now, accepted: options.accept, showsValues: options.showValues, rate: options.rate, signal: stopping.signal },
    });
    const verdict = await run(comparison, { questions, leftOut }, options, context);
    printResult(context.terminal, context.json, verdict, context.json ? '' : formatVerdict(verdict).join('\n'));
    if (verdict.verdict === 'different') throw new DifferentError('The new service does not answer as the old one does');
    if (verdict.verdict === 'undecided')
      throw new UndecidedError('It could not be decided whether the new service answers as the old one does');
  } finally {
    old.client.close();
    now.client.close();
    off();
  }
}

interface Questions {
  readonly questions: readonly Question[];
  /** The number of requests of a log that are none of v2; null where no log was read. */
  readonly leftOut: number | null;
}

/** The questions of the options. Throws a UsageError for options that make none. */
async function readQuestions({ from, to, requests, pending }: Options): Promise<Questions> {
  if (requests !== undefined) {
    if (from !== undefined || to !== undefined) throw new UsageError('--requests has the questions: leave --from and --to out');
    return readTraffic(requests);
  }
  if (from === undefined || to === undefined) throw new UsageError('--from and --to, or --requests, must say what to ask');
  if (from > to) throw new UsageError('--from is after --to');
  if (from < FIRST_DATE) throw new UsageError(`--from: no date before ${FIRST_DATE} is asked for`);
  const range = { startDate: from, endDate: to };
  return { questions: [...caseQuestions(range), ...reportQuestions(range, pending)], leftOut: null };
}

/** The questions of a file of requests, each once. */
async function readTraffic(file: string): Promise<Questions> {
  const logged = new Map<string, Question>();
  let others = 0;
  try {
    for await (const request of readRequests(createInterface({ input: createReadStream(file) }))) {
      const question = request && trafficQuestion(request);
      if (question) logged.set(keyOf(question), question);
      else others++;
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`Cannot read ${file}`, { cause: error });
  }
  if (logged.size === 0) throw new UsageError(`${file} has no GET request of v2, and ${others} others`);
  const questions = [...logged.values()];
  if (questions.some(({ provision }) => provision === 'given')) return { questions, leftOut: others };
  // A log in which no request has a provision leaves credentials out.
  const given = questions.map((question) => ({ ...question, provision: 'given' as const }));
  return { questions: [...new Map(given.map((question) => [keyOf(question), question])).values()], leftOut: others };
}

/** Asks the questions, and keeps the verdict as far as it is known in a file. */
async function run(
  comparison: Comparison,
  { questions, leftOut }: Questions,
  options: Options,
  { terminal }: CommandContext,
): Promise<Verdict> {
  const begunAt = new Date().toISOString();
  const earlier = options.sinceVerdict === undefined ? new Map<string, QuestionResult>() : await readEarlier(options.sinceVerdict, options);
  const asked = new Set(questions.map(nameQuestion));
  const open = questions.filter((question) => !earlier.has(nameQuestion(question)));
  const known = new Map(questions.map((question) => [keyOf(question), earlier.get(nameQuestion(question))]));
  const isOwn =
    options.verdict !== undefined && options.sinceVerdict !== undefined && resolve(options.verdict) === resolve(options.sinceVerdict);
  if (isOwn && !options.force && [...earlier.keys()].some((name) => !asked.has(name)))
    throw new UsageError(`${options.verdict} has results of other questions: name another file, or replace it with --force`);
  const mayReplace = options.force || isOwn;
  const judge = (): Verdict => {
    const results = questions.map(
      (question) => known.get(keyOf(question)) ?? ({ question: nameQuestion(question), outcome: 'not-asked' } as const),
    );
    return toVerdict({ old: options.old, new: options.new, begunAt, accepted: options.accept, leftOut }, results, comparison.examples);
  };
  let savedAt = 0;
  const save = async (isFirst: boolean): Promise<Verdict> => {
    savedAt = performance.now();
    const verdict = judge();
    if (options.verdict !== undefined) await saveVerdict(options.verdict, verdict, mayReplace || !isFirst);
    return verdict;
  };
  // A file that cannot be written is known before the work.
  await save(true);
  const progress = startProgress(terminal, open.length, 'Comparing {bar} {value} of {total} | {lines} lines | {duration_formatted}');
  let lines = 0;
  try {
    for await (const [question, result] of comparison.run(open)) {
      known.set(keyOf(question), result);
      lines += result.old?.lines ?? 0;
      progress.add(1, { lines });
      if (performance.now() - savedAt > SAVE_MS) await save(false);
    }
  } finally {
    progress.stop();
  }
  return save(false);
}

function saveVerdict(file: string, verdict: Verdict, mayReplace: boolean): Promise<void> {
  return writeWhole(file, mayReplace, (put) => put(oneBlock(`${JSON.stringify(verdict, null, 2)}\n`)));
}

async function* oneBlock(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

/** The results of an earlier verdict that need not be asked for again: those that were equal, or differ by what is accepted now too. */
async function readEarlier(file: string, options: Options): Promise<Map<string, QuestionResult>> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new OperatorError(`Cannot read ${file}`, { cause: error });
  });
  const { old, new: now, questions } = parseVerdict(text, file);
  if (old !== options.old || now !== options.new) throw new UsageError(`${file} is a verdict about ${old} and ${now}`);
  const isSettled = ({ question, outcome, classes }: QuestionResult): boolean =>
    // A name that leaves a value out may be that of several questions.
    !question.includes(LEFT_OUT) &&
    (outcome === 'equal' ||
      (outcome === 'accepted' && Object.keys(classes ?? {}).every((kind) => options.accept.some((accepted) => accepted === kind))));
  return new Map(questions.filter(isSettled).map((result) => [result.question, result]));
}

function parseVerdict(text: string, file: string): Verdict {
  try {
    const verdict = JSON.parse(text) as Verdict;
    if (Array.isArray(verdict.questions)) return verdict;
  } catch {
    // The error below says it.
  }
  throw new OperatorError(`${file} is no verdict`);
}

function formatVerdict({ verdict, counts, classes, leftOut, questions }: Verdict): string[] {
  const others = questions.filter(({ outcome }) => outcome !== 'equal' && outcome !== 'not-asked');
  const lines = (side: Side | undefined): string => (side?.lines === undefined ? String(side?.status ?? '') : String(side.lines));
  const sum = questions.reduce((all, { old }) => all + (old?.lines ?? 0), 0);
  return [
    formatTable(
      ['OUTCOME', 'QUESTIONS'],
      outcomes.filter((outcome) => counts[outcome] > 0).map((outcome) => [outcome, String(counts[outcome])]),
    ),
    ...(classes.length === 0
      ? []
      : ['', formatTable(['CLASS', 'COUNT', 'QUESTION', 'LINE', 'FIELD', 'OLD', 'NEW'], classes.flatMap(formatClass))]),
    ...(others.length === 0
      ? []
      : [
          '',
          formatTable(
            ['QUESTION', 'OUTCOME', 'OLD LINES', 'NEW LINES', 'OLD AMOUNTS', 'NEW AMOUNTS', 'DAYS', 'REASON'],
            others
              .slice(0, MAX_SHOWN)
              .map(({ question, outcome, old, new: now, days = {}, reason = '' }) => [
                ...[question, outcome, lines(old), lines(now), old?.amount ?? '', now?.amount ?? ''],
                ...[formatDays(Object.keys(days).sort()), reason],
              ]),
          ),
        ]),
    '',
    ...(others.length > MAX_SHOWN ? [`and ${others.length - MAX_SHOWN} more, which --json and --verdict list`] : []),
    ...(leftOut ? [`Not asked, because they are no GET requests of v2: ${leftOut} requests of the log`] : []),
    describeVerdict(verdict, counts, questions.length, sum),
  ];
}

function describeVerdict(verdict: Verdict['verdict'], counts: Verdict['counts'], questions: number, lines: number): string {
  if (verdict === 'equal') return `Equal: the new service answers as the old one does. ${questions} questions, ${lines} lines.`;
  if (verdict === 'different') return `Different: ${counts.different} of ${questions} questions.`;
  const open = counts.moving + counts.unreachable + counts['not-asked'];
  return `Undecided: ${open} of ${questions} questions are moving, unreachable or not asked. --since-verdict asks them again.`;
}

/** The questions that a page for people lists. */
const MAX_SHOWN = 50;
const MAX_SHOWN_DAYS = 3;
const formatDays = (days: readonly string[]): string =>
  `${days.slice(0, MAX_SHOWN_DAYS).join(' ')}${days.length > MAX_SHOWN_DAYS ? ` and ${days.length - MAX_SHOWN_DAYS} more` : ''}`;

function formatClass({ class: kind, count, isAccepted, examples }: ClassResult): string[][] {
  const named = `${kind}${isAccepted ? ' (accepted)' : ''}`;
  if (examples.length === 0) return [[named, String(count), '', '', '', '', '']];
  return examples.map(({ question, line, path, old = '', new: now = '' }, position) => [
    ...(position === 0 ? [named, String(count)] : ['', '']),
    ...[question, line ? `${line.deposit} ${line.transaction} ${line.allocation}` : '', path, old, now],
  ]);
}
