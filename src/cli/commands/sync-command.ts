import { setTimeout as delay } from 'node:timers/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Logger } from 'pino';
import type { NewVersion } from '../../data/books/book-transaction';
import type { SyncState } from '../../data/sync/sync-store';
import { describeErasedAgain, describeLate } from './import-command';
import { describeFailure, SyncEnded, type Hold, type SyncRound, type SyncTarget } from '../../domain/sync/sync-service';
import { OperatorError } from '../../errors';
import type { Services } from '../../services';
import { V2Source } from '../../source/v2-source';
import type { LocalDate } from '../../values/dates';
import { findToday, type OrganizationCalendar } from '../../values/periods';
import { withServices, type CommandContext } from '../command';
import { logOf } from '../command-log';
import { lateOption, MS_PER_SECOND, ORGANIZATION, readDate, readSeconds, readTime, type LateChoice } from '../command-options';
import { readAddress, readAuthority, readCredentials } from '../source-credentials';
import { onStopSignal } from '../stop-signals';
import { formatTable, NO_PROGRESS, printResult, readLimit, startProgress, type Progress } from '../terminal';

/** `sync`: keeps the books of an organization equal to those of its old v2 service. */
export function syncCommand(context: () => CommandContext): Command {
  return new Command('sync')
    .addCommand(runCommand(context), { isDefault: true })
    .addCommand(statusCommand(context))
    .addCommand(endCommand(context));
}

const DAYS_PER_WEEK = 7;
const SECONDS_PER_DAY = 86_400;

function readDays(text: string): number {
  const days = readSeconds(text) / SECONDS_PER_DAY;
  if (!Number.isInteger(days)) throw new InvalidArgumentError('It must be whole days, such as 45d.');
  return days;
}

interface RunOptions {
  readonly organization: string;
  readonly from: string;
  readonly provisionFile?: string;
  readonly cookieFile?: string;
  readonly caFile?: string;
  readonly since?: LocalDate;
  readonly window: number;
  readonly every?: number;
  readonly once: boolean;
  readonly full: 'weekly' | 'always' | 'never';
  readonly onConflict: 'refuse' | 'last';
  readonly maxRemoved?: number;
  readonly late: LateChoice;
  readonly timeout: number;
}

const FULL_DAYS: Readonly<Record<RunOptions['full'], number | undefined>> = { weekly: DAYS_PER_WEEK, always: 0, never: undefined };

function runCommand(context: () => CommandContext): Command {
  return new Command('run')
    .description('reads the old service and imports what has changed; the first run reads the whole history, month by month')
    .requiredOption(...ORGANIZATION)
    .requiredOption('--from <url>', 'address of the old service, before /api/v2')
    .option('--provision-file <file>', 'file with the provision of the old service; SOURCE_PROVISION in its place')
    .option(
      '--cookie-file <file>',
      'file with the session cookie of the old service, as curl writes it or as name=value; SOURCE_COOKIE in its place',
    )
    .option('--ca-file <file>', 'certificate of the authority that has signed that of the old service, in PEM')
    .addOption(new Option('--since <date>', 'first deposit date of the history, for the first run').argParser(readDate))
    .addOption(new Option('--window <days>', 'the days before the last round that each round reads').argParser(readDays).default(45, '45d'))
    .addOption(
      new Option('--every <time>', 'begins a round so often, such as 15m, until a signal ends it').argParser(readTime).conflicts('once'),
    )
    .option('--once', 'runs one round; the default', false)
    .addOption(new Option('--full <when>', 'reads the whole history again').choices(Object.keys(FULL_DAYS)).default('weekly'))
    .addOption(
      new Option('--on-conflict <choice>', 'of lines that contradict each other, refuses all or takes the last one')
        .choices(['refuse', 'last'])
        .default('refuse'),
    )
    .addOption(
      new Option(
        '--max-removed <lines>',
        "refuses to remove more lines in a round (default: 5 % of a month's lines, at least 20, and none of a month without lines in the answer)",
      ).argParser(readLimit),
    )
    .addOption(lateOption())
    .addOption(new Option('--timeout <time>', 'gives up an answer that takes longer').argParser(readTime).default(600, '10m'))
    .action(async (options: RunOptions) => {
      const url = readAddress('--from', '--provision-file', options.from);
      const stopping = new AbortController();
      const off = onStopSignal(() => (stopping.signal.aborted ? process.exit(1) : stopping.abort()));
      const { config } = context();
      const log = logOf(config);
      const { provisionFile, cookieFile } = options;
      const openSource = async (): Promise<V2Source> =>
        new V2Source({
          ...(await readCredentials({
            ...{ url, service: 'the old service', provisionFile, cookieFile, names: '--provision-file or SOURCE_PROVISION' },
            ...{ provision: config.SOURCE_PROVISION, cookie: config.SOURCE_COOKIE },
          })),
          url,
          authority: await readAuthority(options.caFile),
          timeoutMs: options.timeout * MS_PER_SECOND,
          signal: stopping.signal,
          onRetry: (error, waitMs) => log.warn({ reason: error.message, waitSeconds: Math.round(waitMs / MS_PER_SECOND) }, 'asking again'),
        });
      try {
        // The operator is told of a wrong file before anything else. A file may be a pipe, which gives its content once.
        let first: V2Source | undefined = await openSource();
        const takeSource = (): Promise<V2Source> => {
          const source = first;
          first = undefined;
          return source ? Promise.resolve(source) : openSource();
        };
        await withServices({ ...context(), hasOwnStop: true }, (services) =>
          run(services, { openSource: takeSource, log, signal: stopping.signal }, options, context()),
        );
      } finally {
        off();
      }
    });
}

interface Run {
  readonly openSource: SyncTarget['openSource'];
  readonly log: Logger;
  readonly signal: AbortSignal;
}

async function run(
  { organizations, syncs }: Services,
  { openSource, log, signal }: Run,
  options: RunOptions,
  context: CommandContext,
): Promise<void> {
  const organization = await organizations.get(options.organization);
  await syncs.alone(organization.id, async (hold) => {
    await syncs.begin(hold, options.since);
    const parts = { openSource, hold, organization };
    if (options.every === undefined) return runOnce(syncs, parts, options, context);
    for (;;) {
      const begun = Date.now();
      try {
        await hold.assertHeld();
        logRound(log, await runRound(syncs, parts, options, NO_PROGRESS));
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof SyncEnded) throw error;
        log.error({ reason: describeFailure(error) }, 'round failed');
      }
      const waitMs = Math.max(0, begun + options.every * MS_PER_SECOND - Date.now());
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  });
}

interface RoundParts {
  readonly openSource: Run['openSource'];
  readonly hold: Hold;
  readonly organization: OrganizationCalendar;
}

function runRound(
  syncs: Services['syncs'],
  { openSource, hold, organization }: RoundParts,
  options: RunOptions,
  progress: Progress,
): Promise<SyncRound> {
  const plan = { today: findToday(organization).today, windowDays: options.window, fullDays: FULL_DAYS[options.full] };
  const target: SyncTarget = {
    ...{ organizationId: hold.organizationId, openSource },
    ...{ isLastRight: options.onConflict === 'last', maxRemoved: options.maxRemoved, acceptsLate: options.late === 'accept' },
  };
  return syncs.round(target, hold, plan, ({ done, total, lines, period }) =>
    progress.add(1, { lines, month: period.startDate.slice(0, 'YYYY-MM'.length), done, all: total }),
  );
}

async function runOnce(
  syncs: Services['syncs'],
  parts: RoundParts,
  options: RunOptions,
  { terminal, json }: CommandContext,
): Promise<void> {
  const progress = startProgress(terminal, undefined, 'Reading {month} | {done} of {all} months | {lines} lines | {duration_formatted}');
  try {
    const round = await runRound(syncs, parts, options, progress);
    progress.stop();
    printResult(terminal, json, round, describeRound(round).join('\n'));
    if (round.moving.length > 0) throw new OperatorError('The source did not stop changing: run the command again');
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') throw new OperatorError(ENDED, { cause: error });
    throw error;
  } finally {
    progress.stop();
  }
}

const ENDED = 'Ended by a signal: the same command goes on with the months that are not in';

function logRound(log: Logger, { kind, from, to, lines, versions, moving, erasedAgain }: SyncRound): void {
  const { added, changed, removed } = sumOf(versions);
  const facts = { kind, from, to, lines, version: versions.at(-1)?.number, added, changed, removed, erasedAgain };
  for (const { late } of versions) if (late) log.warn({ ...late }, 'changes of closed months were let in');
  if (moving.length === 0) log.info(facts, 'synced');
  else
    log.warn({ ...facts, moving: moving.map(({ startDate, endDate }) => `${startDate}/${endDate}`) }, 'the source did not stop changing');
}

function describeRound({ from, to, lines, versions, moving, erasedAgain }: SyncRound): string[] {
  const { added, changed, removed } = sumOf(versions);
  return [
    `Read ${lines} lines from ${from} to ${to}`,
    versions.length === 0
      ? 'Nothing has changed: there is no new data version'
      : `The books are at data version ${versions.at(-1)!.number}: ${added} lines added, ${changed} changed, ${removed} removed`,
    ...describeErasedAgain(erasedAgain),
    ...versions.flatMap(({ late }) => (late ? describeLate(late) : [])),
    ...moving.map(
      ({ startDate, endDate }) => `Left for the next round, because the source did not stop changing: ${startDate} to ${endDate}`,
    ),
  ];
}

function sumOf(versions: readonly NewVersion[]): NewVersion['lines'] {
  const sum = { added: 0, changed: 0, removed: 0 };
  for (const { lines } of versions) {
    sum.added += lines.added;
    sum.changed += lines.changed;
    sum.removed += lines.removed;
  }
  return sum;
}

/** `sync status`: the readings of one organization, or of all. */
function statusCommand(context: () => CommandContext): Command {
  return new Command('status')
    .description('lists the organizations that follow an old service, and their newest rounds')
    .option('--organization <name>', 'name of the organization; all of them when it is missing')
    .action(async ({ organization }: { organization?: string }) => {
      const { terminal, json } = context();
      const states = await withServices(context(), async ({ organizations, syncs }) => {
        const chosen = organization === undefined ? await organizations.list() : [await organizations.get(organization)];
        const all = new Map((await syncs.listStates()).map((state) => [state.organizationId, state]));
        return chosen.flatMap(({ id, name }) => {
          const state = all.get(id);
          return state ? [{ organization: name, ...state }] : [];
        });
      });
      if (organization !== undefined && states.length === 0) throw new OperatorError(`${organization} follows no old service`);
      printResult(terminal, json, states, formatStates(states));
    });
}

/** `sync end`: forgets the old service of an organization, whose books stay. */
function endCommand(context: () => CommandContext): Command {
  return new Command('end')
    .description('ends the following of an old service that is switched off; the books stay, and no alert waits for another round')
    .requiredOption(...ORGANIZATION)
    .action(async ({ organization }: { organization: string }) => {
      const { terminal, json } = context();
      await withServices(context(), async ({ organizations, syncs }) => syncs.end((await organizations.get(organization)).id));
      printResult(terminal, json, { organization, ended: true }, `${organization} follows no old service any more`);
    });
}

const failureOf = ({ failure, fullFailure }: SyncState): string =>
  failure ?? (fullFailure === null ? '' : `Reading the whole history: ${fullFailure}`);

function formatStates(states: readonly (SyncState & { readonly organization: string })[]): string {
  const time = (date: Date | null): string => date?.toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length) ?? '';
  const rows = states.map((state) => [
    ...[state.organization, state.since ?? '', state.lastFullAt === null ? (state.readThrough ?? '') : 'all'],
    ...[time(state.lastRoundAt), time(state.lastSuccessAt), String(state.linesChanged), state.isHeld ? 'yes' : 'no', failureOf(state)],
  ]);
  return formatTable(['ORGANIZATION', 'SINCE', 'READ', 'LAST ROUND', 'LAST SUCCESS', 'LINES CHANGED', 'RUNS', 'FAILURE'], rows);
}
