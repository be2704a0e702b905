import { toColumns, type Result } from './results';

/** The most that a figure should be: a ratio, milliseconds or megabytes. `value` is undefined when a work that it needs was not measured. */
interface Goal {
  readonly name: string;
  readonly limit: number;
  readonly value: (find: Find) => number | undefined;
}

type Find = (work: string, contender: string) => Result | undefined;

const ratio =
  (work: string, contender: string, other: string, otherWork = work) =>
  (find: Find) => {
    const mine = find(work, contender);
    // Without psql, the same COPY through pg-copy-streams stands for it.
    const theirs = find(otherWork, other) ?? (other === COPY ? find(otherWork, COPY_STREAM) : undefined);
    return mine && theirs && mine.medianMs / theirs.medianMs;
  };

const limit = (name: string, value: Goal['value'], limit: number): Goal => ({ name, limit, value });

export const TENFOLD_MONTH = 'month, ten times the data';
const COPY = 'psql \\copy';
const COPY_STREAM = 'COPY, pg-copy-streams';
const PERIODS = ['day', 'month', 'year', 'four years'];

const goals: readonly Goal[] = [
  limit('REST, year / psql \\copy', ratio('year', 'ours, REST', COPY), 1.15),
  limit('REST, four years / psql \\copy', ratio('four years', 'ours, REST', COPY), 1.15),
  limit('REST, year, gzip / not compressed', ratio('year', 'ours, REST, gzip', 'ours, REST'), 1.5),
  limit('REST, year, br / not compressed', ratio('year', 'ours, REST, br', 'ours, REST'), 1.5),
  limit('CSV with totals in its trailers, year / REST', ratio('year', 'ours, CSV', 'ours, REST'), 1.2),
  limit('CSV with totals in its headers, year / REST', ratio('year', 'ours, CSV, totals first', 'ours, REST'), 2),
  limit('GraphQL, year / psql \\copy', ratio('year', 'ours, GraphQL', COPY), 1.2),
  limit('GraphQL, year / mercurius + jit', ratio('year', 'ours, GraphQL', 'mercurius + jit'), 0.4),
  limit('GraphQL, year / PostGraphile 5', ratio('year', 'ours, GraphQL', 'PostGraphile 5'), 0.18),
  limit('GraphQL, year / Apollo + TypeGraphQL + Prisma', ratio('year', 'ours, GraphQL', 'Apollo + TypeGraphQL + Prisma'), 0.08),
  limit('GraphQL, month / Apollo + TypeGraphQL + Prisma', ratio('month', 'ours, GraphQL', 'Apollo + TypeGraphQL + Prisma'), 0.08),
  limit('GraphQL, year, 5 fields / 26 fields', ratio('year', 'ours, GraphQL, 5 fields', 'ours, GraphQL'), 0.6),
  limit('nested page, ours / PostGraphile 5', ratio('nested page', 'ours, GraphQL', 'PostGraphile 5'), 1),
  limit('summary of a year with digest / its lines by REST', ratio('summary of a year', 'ours, summary', 'ours, REST'), 1.5),
  ...PERIODS.flatMap((period) =>
    ['ours, REST', 'ours, GraphQL'].map((contender) =>
      limit(`first byte, ${period}, ${contender}, ms after the database's`, firstByteAfter(period, contender), 10),
    ),
  ),
  limit('REST, day / pg query', ratio('day', 'ours, REST', 'pg query'), 1.3),
  limit('GraphQL, day / pg query', ratio('day', 'ours, GraphQL', 'pg query'), 1.6),
  limit('REST, month, 8 clients / psql \\copy', ratio('month, 8 clients', 'ours, REST', COPY), 1 / 0.85),
  ...['ours, REST', 'ours, GraphQL', 'ours, CSV'].map((door) =>
    limit(`memory, whole data set, ${door}, MB above idle`, (find) => find('memory, whole data set', door)?.aboveIdleMb, 64),
  ),
  limit(
    'memory, 20 readers that stop reading, MB above idle',
    (find) => find('memory, 20 readers that stop reading', 'ours, REST')?.aboveIdleMb,
    64,
  ),
  ...['authenticated_test_system', 'authenticated_test_session'].map((route) =>
    limit(`${route} / bare Express + pg`, ratio(route, 'ours, REST', 'bare Express + pg'), 1 / 0.8),
  ),
  limit('REST, month, time per line with ten times the data', growth, 1.2),
  limit('/live during 4 reports of a year, p99 ms', (find) => find('/live during 4 reports of a year', 'ours')?.p99Ms, 50),
];

function growth(find: Find): number | undefined {
  const [once, tenfold] = [find('month', 'ours, REST'), find(TENFOLD_MONTH, 'ours, REST')].map((result) =>
    result?.lines === undefined ? undefined : result.medianMs / result.lines,
  );
  return once === undefined || tenfold === undefined ? undefined : tenfold / once;
}

function firstByteAfter(period: string, contender: string): Goal['value'] {
  return (find) => {
    const [mine, database] = [find(period, contender)?.firstByteMs, find(period, COPY_STREAM)?.firstByteMs];
    return mine === undefined || database === undefined ? undefined : mine - database;
  };
}

/** The goals and what the results say of them, as a Markdown table. */
export function toGoalTable(results: readonly Result[]): string {
  const find: Find = (work, contender) => results.find((result) => result.work === work && result.contender === contender);
  const rows = goals.map(({ name, limit: most, value }) => {
    const found = value(find);
    return [name, most.toFixed(2), found?.toFixed(2) ?? 'not measured', found === undefined ? '' : found <= most ? 'yes' : 'no'];
  });
  return toColumns([['goal', 'at most', 'measured', 'holds'], Array(4).fill('---') as string[], ...rows]);
}
