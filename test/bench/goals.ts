import { CHANGES, FEW_CHANGED, MANY_CHANGED, TODAY, TODAY_LATER } from './history-work';
import { toColumns, type Result } from './results';

/** The most that a figure should be: a ratio, milliseconds, microseconds or megabytes. */
interface Goal {
  readonly name: string;
  readonly limit: number;
  /** Undefined when a work that it needs was not measured. */
  readonly value: Value;
}

type Find = (work: string, contender: string) => Result | undefined;
type Value = (find: Find) => number | undefined;

const limit = (name: string, value: Value, limit: number): Goal => ({ name, limit, value });

const figure =
  (key: 'medianMs' | 'firstByteMs' | 'p99Ms' | 'aboveIdleMb' | 'diskMb', work: string, contender: string): Value =>
  (find) =>
    find(work, contender)?.[key];

/** One figure over the sum of others. */
const over =
  (value: Value, ...others: readonly Value[]): Value =>
  (find) => {
    const [mine, ...theirs] = [value, ...others].map((each) => each(find));
    if (mine === undefined || theirs.includes(undefined)) return undefined;
    return mine / theirs.reduce<number>((sum, each) => sum + each!, 0);
  };

/** The ratio of two contenders' times. */
const ratio = (work: string, contender: string, other: string): Value =>
  over(figure('medianMs', work, contender), figure('medianMs', work, other));

/** CPU of one answer, of the gateway alone or with the database's. */
const cpu =
  (work: string, contender: string, ...keys: readonly ('databaseCpuMs' | 'serverCpuMs')[]): Value =>
  (find) => {
    const result = find(work, contender);
    const parts = keys.map((key) => result?.[key]);
    return parts.includes(undefined) ? undefined : parts.reduce<number>((sum, part) => sum + part!, 0);
  };

const microsecondsPerLine =
  (value: Value, work: string, contender: string): Value =>
  (find) => {
    const [ms, lines] = [value(find), find(work, contender)?.lines];
    return ms === undefined || lines === undefined ? undefined : (ms * 1000) / lines;
  };

export const TENFOLD_MONTH = 'month, ten times the data';
const JOIN = 'psql \\copy of the join';
const LINES = 'psql \\copy of the lines';
const JOIN_STREAM = 'COPY of the join, pg-copy-streams';
const LINES_STREAM = 'COPY of the lines, pg-copy-streams';
/** Without psql, the same COPY through pg-copy-streams stands for it. */
const STANDS_FOR: Readonly<Record<string, string>> = { [JOIN]: JOIN_STREAM, [LINES]: LINES_STREAM };
const APOLLO = 'Apollo + TypeGraphQL + Prisma';
const PERIODS = ['day', 'month', 'year', 'four years'];
/** Those who answer programs, by their names as contenders. */
export const DOORS: readonly string[] = ['ours, REST', 'ours, GraphQL'];
const SCREENS = ['lines of a month', 'lines with their number', 'lines with totals', 'donor', 'deposits with gifts'];
const FOUR_REPORTS = '/live during 4 reports of a year';

const goals: readonly Goal[] = [
  ...DOORS.flatMap((door) => [
    limit(`${door}, year / psql \\copy of the join`, ratio('year', door, JOIN), 0.32),
    limit(`${door}, year / psql \\copy of the lines`, ratio('year', door, LINES), 0.65),
  ]),
  limit('GraphQL, year / mercurius + jit', ratio('year', 'ours, GraphQL', 'mercurius + jit'), 0.12),
  limit('GraphQL, year / PostGraphile 5', ratio('year', 'ours, GraphQL', 'PostGraphile 5'), 0.06),
  limit(`GraphQL, year / ${APOLLO}`, ratio('year', 'ours, GraphQL', APOLLO), 0.08),
  limit(`GraphQL, month / ${APOLLO}`, ratio('month', 'ours, GraphQL', APOLLO), 0.08),
  limit('GraphQL, year, 5 fields / 26 fields', ratio('year', 'ours, GraphQL, 5 fields', 'ours, GraphQL'), 0.6),
  ...DOORS.flatMap((door) => [
    limit(
      `${door}, year, CPU of database and gateway / of the database for psql \\copy of the join`,
      over(cpu('year', door, 'databaseCpuMs', 'serverCpuMs'), cpu('year', JOIN, 'databaseCpuMs')),
      0.28,
    ),
    limit(`${door}, year, gateway's CPU, µs a line`, microsecondsPerLine(cpu('year', door, 'serverCpuMs'), 'year', door), 0.8),
    ...PERIODS.map((period) => limit(`${door}, ${period}, first byte, ms`, figure('firstByteMs', period, door), 15)),
    limit(
      `${door}, first byte of four years / of a day`,
      over(figure('firstByteMs', 'first byte', `${door}, four years`), figure('firstByteMs', 'first byte', `${door}, day`)),
      2,
    ),
    limit(
      `${door}, day / authentication and pg's query of the same lines`,
      over(
        figure('medianMs', 'day', door),
        figure('medianMs', 'not modified', 'ours, authentication'),
        figure('medianMs', 'day', 'pg query'),
      ),
      1.3,
    ),
    limit(`${door}, month, 8 clients / psql \\copy of the join`, ratio('month, 8 clients', door, JOIN), 1 / 1.9),
  ]),
  limit('REST, year, gzip / not compressed', ratio('year', 'ours, REST, gzip', 'ours, REST'), 1.5),
  limit('REST, year, br / not compressed', ratio('year', 'ours, REST, br', 'ours, REST'), 1.5),
  limit('CSV, totals in trailers, year / REST', ratio('year', 'ours, CSV', 'ours, REST'), 1.2),
  limit('CSV, totals=headers, cold, year / REST', ratio('year', 'ours, CSV, totals=headers, cold', 'ours, REST'), 2),
  limit('page of lines with totals, cold / an earlier release', ratio('page of lines with totals', 'ours, cold', 'earlier release'), 0.5),
  limit('page of lines with totals, warm, ms', figure('medianMs', 'page of lines with totals', 'ours, warm'), 5),
  limit('12 months of 60 designations, cold / an earlier release', ratio('months by designation', 'ours, cold', 'earlier release'), 0.6),
  limit('12 months of 60 designations, warm, ms', figure('medianMs', 'months by designation', 'ours, warm'), 5),
  limit('summary of a year with digest, cold / its lines by REST', ratio('summary of a year', 'ours, cold', 'ours, REST'), 1.4),
  limit("304 of a year's report / authentication", ratio('not modified', 'ours, 304', 'ours, authentication'), 1.2),
  limit('nested page, ours / PostGraphile 5', ratio('nested page', 'ours, GraphQL', 'PostGraphile 5'), 1),
  ...SCREENS.flatMap((screen) => [
    limit(`screen, ${screen}, ours / PostGraphile 5`, ratio(screen, 'ours', 'PostGraphile 5'), 1.3),
    limit(`screen, ${screen}, 20 users, ours / PostGraphile 5`, ratio(`${screen}, 20 users`, 'ours', 'PostGraphile 5'), 1),
  ]),
  limit('dashboard, cold / its SQL', ratio('dashboard', 'ours, cold', 'its SQL'), 1.5),
  limit('dashboard, warm, ms', figure('medianMs', 'dashboard', 'ours, warm'), 5),
  limit('import of new lines / psql \\copy into one flat table', ratio('import', 'ours, new lines', 'psql \\copy into one flat table'), 22),
  limit('import of the same lines again / of new lines', ratio('import', 'ours, the same again', 'ours, new lines'), 0.3),
  limit('import of a month with 1 % changed, ms', figure('medianMs', 'import of a month', 'ours'), 2000),
  limit('lines as of a state with 5 % changed since / today', ratio('history', FEW_CHANGED, TODAY), 1.15),
  limit('lines of 50 states ago with half changed since / today', ratio('history', MANY_CHANGED, TODAY_LATER), 1.6),
  limit('changes of 1 % of the lines / reading them all', ratio('history', CHANGES, TODAY_LATER), 0.3),
  limit('import of all lines, MB above idle', figure('aboveIdleMb', 'import of all lines', 'ours'), 150),
  limit(
    'disk, books and lines / books alone',
    over(figure('diskMb', 'disk', 'books and lines'), figure('diskMb', 'disk', 'books alone')),
    1.8,
  ),
  limit(
    'disk, books and lines / books for the join',
    over(figure('diskMb', 'disk', 'books and lines'), figure('diskMb', 'disk', 'books for the join')),
    1.8,
  ),
  ...[...DOORS, 'ours, CSV'].map((door) =>
    limit(`memory, whole data set, ${door}, MB above idle`, figure('aboveIdleMb', 'memory, whole data set', door), 64),
  ),
  limit(
    'memory, 20 readers that stop reading, MB above idle',
    figure('aboveIdleMb', 'memory, 20 readers that stop reading', 'ours, REST'),
    64,
  ),
  ...['authenticated_test_system', 'authenticated_test_session'].map((route) =>
    limit(`${route} / bare Express + pg`, ratio(route, 'ours, REST', 'bare Express + pg'), 1.25),
  ),
  limit(
    'REST, month, time per line with ten times the data',
    over(
      microsecondsPerLine(figure('medianMs', TENFOLD_MONTH, 'ours, REST'), TENFOLD_MONTH, 'ours, REST'),
      microsecondsPerLine(figure('medianMs', 'month', 'ours, REST'), 'month', 'ours, REST'),
    ),
    1.2,
  ),
  limit(`${FOUR_REPORTS}, p99 ms`, figure('p99Ms', FOUR_REPORTS, 'ours'), 20),
];

/** The goals and what the results say of them, as a Markdown table. */
export function toGoalTable(results: readonly Result[]): string {
  const find: Find = (work, contender) => {
    const found = results.find((result) => result.work === work && result.contender === contender);
    const other = STANDS_FOR[contender];
    return found ?? (other === undefined ? undefined : find(work, other));
  };
  const rows = goals.map(({ name, limit: most, value }) => {
    const found = value(find);
    return [name, most.toFixed(2), found?.toFixed(2) ?? 'not measured', found === undefined ? '' : found <= most ? 'yes' : 'no'];
  });
  return toColumns([['goal', 'at most', 'measured', 'holds'], Array(4).fill('---') as string[], ...rows]);
}
