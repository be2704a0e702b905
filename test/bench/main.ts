import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { Command } from 'commander';
import { measureAuthentication } from './auth-work';
import { openBaselines } from './baselines';
import { COLD, ours, oursCold, startGateway, startPeers, type Contender, type Period } from './contenders';
import { measureDashboard } from './dashboard-work';
import { openBenchDatabase, type BenchDatabase } from './database';
import { measureDisk } from './disk-work';
import { endAll, makeDirectory, untilSignal } from './endings';
import { DOORS, TENFOLD_MONTH, toGoalTable } from './goals';
import { measureHistory } from './history-work';
import { measureCorrection, measureImportMemory, measureNewLines } from './import-work';
import { measureLiveness, measureMemory, measureStalledReaders } from './load-works';
import { measurePages } from './page-work';
import type { ServerProcess } from './processes';
import { measureFirstBytes, measureReports } from './report-work';
import { toTable, type Result } from './results';
import { depositsWithGifts, donorPage, measureScreen, pageOfLines, pageWithCount, pageWithSummary, type Screen } from './screen-work';
import {
  measureNotModified,
  measureTotals,
  monthsAndDesignations,
  pageWithTotals,
  summaryWithDigest,
  type TotalsQuestion,
} from './totals-work';
import { measureWorkers } from './worker-work';

const ORGANIZATIONS = 5;
const IMPORTED_LINES = 300_000;
/** A reading of both reports takes about a second. First bytes vary up to twofold from one reading to the next. */
const FIRST_BYTES_PER_ROUND = 5;
const day: Period = { startDate: '2024-05-06', endDate: '2024-05-06' };
const month: Period = { startDate: '2024-05-01', endDate: '2024-05-31' };
const year: Period = { startDate: '2024-01-01', endDate: '2024-12-31' };
const yearBefore: Period = { startDate: '2023-01-01', endDate: '2023-12-31' };
const fourYears: Period = { startDate: '2022-01-01', endDate: '2025-12-31' };

interface Bench {
  readonly database: BenchDatabase;
  readonly gateway: ServerProcess;
  /** A gateway that keeps no totals. */
  readonly cold: ServerProcess;
  /** The gateway of an earlier release, over the same database. */
  readonly earlier: ServerProcess | undefined;
  readonly contenders: readonly Contender[];
  readonly rounds: number;
  /** Opens another data set beside the first. */
  readonly openOther: (lines: number, organizations: number) => Promise<BenchDatabase>;
  readonly lines: number;
}

type Work = (bench: Bench) => Promise<Result[]>;

const report =
  (name: string, period: Period, clients: number, repeats: number): Work =>
  ({ contenders, database, rounds }) =>
    measureReports({ name, period, clients, repeats }, contenders, database, rounds);

const page =
  (name: string, clients: number): Work =>
  (bench) =>
    measurePages({ name, startDate: year.startDate, clients }, bench);

/** A screen for one user, and for 20 at once. */
const screen = (name: string, shown: Screen): Readonly<Record<string, Work>> =>
  Object.fromEntries(
    [
      { name, users: 1 },
      { name: `${name}, 20 users`, users: 20 },
    ].map((work) => [work.name, (bench) => measureScreen({ ...work, screen: shown }, bench)] satisfies [string, Work]),
  );

const totals =
  (name: string, question: TotalsQuestion): Work =>
  (bench) =>
    measureTotals(name, question, year, bench);

/** Every work by its name; those with a star are run only when they are asked for. */
const works: Readonly<Record<string, Work>> = {
  day: report('day', day, 1, 40),
  month: report('month', month, 1, 5),
  year: report('year', year, 1, 3),
  'four years': report('four years', fourYears, 1, 1),
  'first byte': ({ contenders, database, rounds }) =>
    measureFirstBytes(
      'first byte',
      { short: { name: 'day', period: day }, long: { name: 'four years', period: fourYears } },
      contenders.filter(({ name }) => DOORS.includes(name)),
      database,
      rounds * FIRST_BYTES_PER_ROUND,
    ),
  'day, 8 clients': report('day, 8 clients', day, 8, 20),
  'month, 8 clients': report('month, 8 clients', month, 8, 3),
  'year, 8 clients': report('year, 8 clients', year, 8, 1),
  'four years, 8 clients': report('four years, 8 clients', fourYears, 8, 1),
  'nested page': page('nested page', 1),
  'nested page, 8 clients': page('nested page, 8 clients', 8),
  ...screen('lines of a month', pageOfLines(month)),
  ...screen('lines with their number', pageWithCount(month)),
  ...screen('lines with totals', pageWithSummary(month)),
  ...screen('donor', donorPage(17, year)),
  ...screen('deposits with gifts', depositsWithGifts),
  dashboard: (bench) => measureDashboard({ name: 'dashboard', period: year, compared: yearBefore, funds: 40 }, bench),
  'page of lines with totals': totals('page of lines with totals', pageWithTotals),
  'months by designation': totals('months by designation', monthsAndDesignations),
  'summary of a year': totals('summary of a year', summaryWithDigest),
  'not modified': (bench) => measureNotModified('not modified', year, bench),
  authentication: ({ database, gateway, rounds }) => measureAuthentication(database, gateway, rounds),
  workers: ({ database, rounds }) => measureWorkers(database, month, rounds),
  live: async ({ database, gateway }) => [await measureLiveness(gateway, database, year)],
  'stalled readers': ({ database }) => measureStalledReaders(database, year, day),
  memory: async ({ openOther, lines }) => {
    const database = await openOther(lines, 1);
    try {
      return await measureMemory(database, fourYears, day);
    } finally {
      await database.stop();
    }
  },
  disk: ({ database, lines }) => measureDisk('disk', database, lines),
  'import*': ({ database, rounds }) => measureNewLines('import', database, IMPORTED_LINES, rounds),
  'import of a month*': ({ database, rounds }) => measureCorrection('import of a month', database, month, rounds),
  'history*': ({ database, rounds }) => measureHistory('history', database, IMPORTED_LINES / 3, rounds),
  'import of all lines*': ({ database, lines }) => measureImportMemory('import of all lines', database, lines),
  'tenfold*': async ({ openOther, lines, rounds }) => {
    const database = await openOther(lines * 10, ORGANIZATIONS);
    const gateway = await startGateway(database);
    try {
      const work = { name: TENFOLD_MONTH, period: month, clients: 1, repeats: 5 };
      return await measureReports(work, [...(await openBaselines(database)), ...ours(gateway, database)], database, rounds);
    } finally {
      await gateway.stop();
      await database.stop();
    }
  },
};

interface Options {
  readonly lines: string;
  readonly rounds: string;
  readonly works?: string;
  readonly contenders?: string;
  readonly earlier?: string;
  readonly data?: string;
  readonly json?: string;
}

/** A signal ends all that was started, and the benchmark with it. */
async function main(options: Options): Promise<void> {
  const status = await Promise.race([untilSignal(), measure(options)]).finally(endAll);
  if (status !== undefined) process.exit(status);
}

async function measure(options: Options): Promise<void> {
  const lines = Number(options.lines);
  const wanted = options.works?.split(';') ?? Object.keys(works).filter((name) => !name.endsWith('*'));
  const unknown = wanted.find((name) => !(name in works));
  if (unknown !== undefined) throw new Error(`There is no work ${unknown}; there are: ${Object.keys(works).join('; ')}`);
  const processor = `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`;
  console.log(
    `${lines} lines, ${processor}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`,
  );

  const directory = options.data ?? makeDirectory().path;
  const openOther: Bench['openOther'] = (count, organizations) => openBenchDatabase(directory, { lines: count, organizations });
  const isWanted = (name: string): boolean => options.contenders?.split(';').includes(name) ?? true;
  const results: Result[] = [];
  const database = await openOther(lines, ORGANIZATIONS);
  const gateway = await startGateway(database);
  const earlier = options.earlier === undefined ? undefined : await startGateway(database, COLD, options.earlier);
  const cold = await startGateway(database, COLD);
  const peers = await startPeers(database, isWanted);
  const all = [
    ...(await openBaselines(database)),
    ...ours(gateway, database),
    oursCold(cold, database),
    ...peers.map(({ contender }) => contender),
  ];
  const contenders = all.filter(({ name }) => isWanted(name));
  for (const name of wanted) {
    const measured = await works[name]!({ database, gateway, cold, earlier, contenders, rounds: Number(options.rounds), openOther, lines });
    results.push(...measured);
    console.log(
      `\n${name}${measured[0]?.lines === undefined ? '' : `: ${measured[0].lines} lines`}\n${measured.length === 0 ? '' : toTable(measured)}`,
    );
    if (options.json !== undefined) await writeFile(options.json, JSON.stringify(results, null, 2));
  }
  console.log(`\n${toGoalTable(results)}`);
}

void new Command('bench')
  .description('measures the gateway against psql, pg and its peers; the contenders take turns, and all must answer the same lines')
  .option('--lines <count>', 'deposit lines of the data set', '2000000')
  .option('--rounds <count>', 'rounds of each work', '5')
  .option('--works <names>', `only these, separated by ; those with a star run only so: ${Object.keys(works).join('; ')}`)
  .option('--contenders <names>', 'only these, separated by ;')
  .option('--earlier <directory>', 'a built checkout of an earlier release, which answers the totals too')
  .option('--data <directory>', 'where to keep the data sets for another run')
  .option('--json <file>', 'where to write the results')
  .action(main)
  .parseAsync();
