import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { to as copyTo } from 'pg-copy-streams';
import { IS_CURRENT } from '../../src/data/books/line-columns';
import { hasPsql } from './baselines';
import { fields, type Period } from './contenders';
import { MAIN } from '../support/gateway-package';
import { connectTo, run, type BenchDatabase, type EmptyDatabase } from './database';
import { makeDirectory } from './endings';
import { memoryMb, startProcess } from './processes';
import { median, type Result } from './results';

const SAMPLE_MS = 20;
/** Lines of an import that shows the memory of the command itself. */
const FEW_LINES = 100;

/** The part of the command's result that tells whether it did the work; null when nothing changed. */
interface ImportAnswer {
  readonly version: { readonly lines: { readonly added: number; readonly changed: number; readonly removed: number } } | null;
}

interface ImportRun {
  /** The time of the whole command. */
  readonly ms: number;
  readonly peakRssMb: number;
}

/** Measures an import into an empty database, and of the same file again, against psql's \copy of the file into a flat table. */
export async function measureNewLines(work: string, database: BenchDatabase, count: number, rounds: number): Promise<Result[]> {
  const directory = makeDirectory();
  const times = { flat: [] as number[], first: [] as number[], again: [] as number[] };
  const file = join(directory.path, 'lines.csv');
  const lines = await writeFile(database, file, selectNew(count));
  const isPsqlThere = await hasPsql();
  for (let round = 0; round < rounds; round++) {
    const empty = await database.openEmpty();
    try {
      if (isPsqlThere) times.flat.push(await copyIntoFlatTable(empty.url, file));
      times.first.push((await importFile(empty, file, { added: lines, changed: 0 })).ms);
      times.again.push((await importFile(empty, file, { added: 0, changed: 0 })).ms);
    } finally {
      await empty.stop();
    }
  }
  await directory.remove();
  const measured = { 'psql \\copy into one flat table': times.flat, 'ours, new lines': times.first, 'ours, the same again': times.again };
  return Object.entries(measured)
    .filter(([, own]) => own.length > 0)
    .map(([contender, own]) => ({ ...{ work, contender, lines, rounds }, medianMs: median(own), minMs: Math.min(...own) }));
}

/** Measures the import of a period with a change in each hundredth line. An import of the lines as they were undoes it. */
export async function measureCorrection(work: string, database: BenchDatabase, period: Period, rounds: number): Promise<Result[]> {
  const directory = makeDirectory();
  const [before, after] = ['before.csv', 'after.csv'].map((name) => join(directory.path, name)) as [string, string];
  const lines = await writeFile(database, before, selectPeriod(database.organization.id, period, 'designation_memo'));
  const memo = `CASE row_number() OVER (ORDER BY allocation_id) % 100 WHEN 1 THEN designation_memo || ' corrected' ELSE designation_memo END`;
  await writeFile(database, after, selectPeriod(database.organization.id, period, memo));
  await importFile(database, before, { added: 0, changed: 0 });
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const file of [after, before]) times.push((await importFile(database, file, { added: 0, changed: Math.ceil(lines / 100) })).ms);
  }
  await directory.remove();
  return [{ work, contender: 'ours', lines, rounds, medianMs: median(times), minMs: Math.min(...times) }];
}

/** Measures the memory of an import of so many lines above that of an import of a few. */
export async function measureImportMemory(work: string, database: BenchDatabase, count: number): Promise<Result[]> {
  const directory = makeDirectory();
  const file = join(directory.path, 'lines.csv');
  const empty = await database.openEmpty();
  try {
    const few = await writeFile(database, file, selectNew(FEW_LINES));
    const idle = await importFile(empty, file, { added: few, changed: 0 });
    const lines = await writeFile(database, file, selectNew(count));
    const { ms, peakRssMb } = await importFile(empty, file, { added: lines - few, changed: 0 });
    const memory = { peakRssMb, aboveIdleMb: peakRssMb - idle.peakRssMb };
    return [{ work, contender: 'ours', lines, rounds: 1, medianMs: ms, minMs: ms, ...memory }];
  } finally {
    await empty.stop();
    await directory.remove();
  }
}

const STATUS = 'lower(deposit_status::text) AS deposit_status';
export const toColumns = (expressions: Readonly<Record<string, string>>): string =>
  [...fields.map((name) => (name in expressions ? `${expressions[name]!} AS ${name}` : name)), STATUS].join(', ');

/** The first lines of all organizations, as those of one: their ids tell them apart. */
export const selectNew = (count: number): string => {
  const ids = ['deposit_id', 'transaction_id', 'allocation_id'].map((name) => [name, `organization_id || '-' || ${name}`] as const);
  const donorId = 'CASE donor_id WHEN 0 THEN 0 ELSE donor_id * 100 + organization_id END';
  return `SELECT ${toColumns({ ...Object.fromEntries<string>(ids), donor_id: donorId })} FROM deposit_line line WHERE ${IS_CURRENT}
    ORDER BY line.deposit_date, organization_id, line.deposit_id, line.transaction_id, line.allocation_id LIMIT ${count}`;
};

const selectPeriod = (organizationId: number, { startDate, endDate }: Period, memo: string): string =>
  `SELECT ${toColumns({ designation_memo: memo })} FROM deposit_line WHERE ${IS_CURRENT} AND organization_id = ${organizationId}
    AND deposit_date BETWEEN '${startDate}' AND '${endDate}'`;

/** Writes the rows of a SELECT as CSV, and returns their number. */
export async function writeFile({ url }: EmptyDatabase, file: string, select: string): Promise<number> {
  const client = await connectTo(url);
  const rows = client.query(copyTo(`COPY (${select}) TO STDOUT (FORMAT csv, HEADER)`));
  await pipeline(rows, createWriteStream(file));
  await client.end();
  return rows.rowCount;
}

/** Runs the command `import`. Throws unless it made these changes. */
export async function importFile(
  { url, organization }: EmptyDatabase,
  file: string,
  expected: { readonly added: number; readonly changed: number },
): Promise<ImportRun> {
  const words = [MAIN, '--json', 'import', file, '--organization', organization.name];
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: url };
  const startedAt = performance.now();
  const child = startProcess(() => spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] }));
  let peakRssMb = NaN;
  const timer = setInterval(() => (peakRssMb = memoryMb(child.pid!)?.peak || peakRssMb), SAMPLE_MS);
  const [output, faults] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).finally(() =>
    clearInterval(timer),
  );
  const ms = performance.now() - startedAt;
  if (child.exitCode !== 0) throw new Error(`The import failed: ${faults}`);
  const { version } = JSON.parse(output) as ImportAnswer;
  const { added, changed, removed } = version?.lines ?? { added: 0, changed: 0, removed: 0 };
  if (added !== expected.added || changed !== expected.changed || removed !== 0) {
    throw new Error(`The import made other changes than ${JSON.stringify(expected)}: ${output}`);
  }
  return { ms, peakRssMb };
}

async function copyIntoFlatTable(url: string, file: string): Promise<number> {
  await run(url, `CREATE TABLE flat AS SELECT ${[...fields, STATUS].join(', ')} FROM deposit_line`);
  const startedAt = performance.now();
  const words = ['--no-psqlrc', '--quiet', '--set', 'ON_ERROR_STOP=1', '--command', `\\copy flat FROM '${file}' (FORMAT csv, HEADER)`, url];
  const child = startProcess(() => spawn('psql', words, { stdio: ['ignore', 'ignore', 'inherit'] }));
  const [status] = (await once(child, 'exit')) as [number | null];
  const ms = performance.now() - startedAt;
  if (status !== 0) throw new Error(`psql ended with ${status}`);
  await run(url, 'DROP TABLE flat');
  return ms;
}
