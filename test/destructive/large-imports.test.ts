import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { startCommand, withoutDatabase } from '../support/command';
import { openDepositFiles, toNdjson, type DepositFiles } from '../support/deposit-files';
import { v2Line } from '../support/gateway';
import { until } from '../support/until';

const LINES = 30_000;
/** A bound against hanging, not a goal. */
const IMPORT_TIMEOUT_MS = 300_000;
const MEGABYTE = 1_000_000;

let files: DepositFiles;

beforeAll(async () => {
  files = await openDepositFiles();
});
afterAll(() => files.close());

/** A v2 answer of about 60 MB. Each gift goes to two designations, and long memos make few lines of many bytes. */
function* largeAnswer(): Generator<string> {
  const main_memo = 'Thank you! '.repeat(135);
  for (let line = 0; line < LINES; line++) {
    const gift = {
      deposit_id: `${line >> 6}`,
      transaction_id: `P${line >> 1}`,
      allocation_id: `${line}`,
      donor_id: 1 + (line >> 4),
      main_memo,
    };
    yield `${line === 0 ? '{"response":[' : ','}${JSON.stringify(v2Line(gift))}`;
  }
  yield ']}';
}

/** The most memory that a process has held so far, in bytes (proc(5), status). */
async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmHWM:\s+([0-9]+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

/** Runs a command to its end, with `input` on its standard input, and measures the most memory that its process held. */
async function run(
  words: readonly string[],
  input?: Iterable<string>,
): Promise<{ status: number | null; stdout: string; stderr: string; peak: number }> {
  const child = startCommand(files.environment, words);
  const closed = once(child, 'close') as Promise<[number | null]>;
  const output = Promise.all([text(child.stdout!), text(child.stderr!)]);
  const sent = input && pipeline(Readable.from(input), child.stdin!);
  let peak = 0;
  await until(async () => {
    peak = Math.max(peak, await peakMemory(child.pid!));
    return child.exitCode !== null || child.signalCode !== null;
  }, IMPORT_TIMEOUT_MS);
  await sent;
  const [stdout, stderr] = await output;
  return { status: (await closed)[0], stdout, stderr: withoutDatabase(stderr), peak };
}

test.each(['a large file', 'a large answer from a pipe'])('an operator imports %s in constant memory', async (source) => {
  const organization = await files.createOrganization();
  // Statistics of a table with one row must not mislead the planner in an import of many.
  await files.import(
    organization,
    'first.ndjson',
    toNdjson([v2Line({ deposit_id: 'a', transaction_id: 'a', allocation_id: 'a', donor_id: 9_999 })]),
  );
  await files.query('ANALYZE');
  const file = files.path('large.json');
  await pipeline(Readable.from(largeAnswer()), createWriteStream(file));
  expect((await stat(file)).size).toBeGreaterThan(60 * MEGABYTE);
  const [words, input] = source === 'a large file' ? [[file]] : [['-', '--format', 'json'], largeAnswer()];

  const idle = await run(['organization', 'list']);
  const { peak, stdout, ...result } = await run(['import', ...words, '--organization', organization, '--json'], input);
  expect(result).toEqual({ status: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({
    ...{ lines: 30_000, deposits: 469, transactions: 15_000, allocations: 30_000, designations: 0, donors: 1875 },
    ...{ assumed: { posted: 469, kept: 0, settled: 0 }, removed: { allocations: 0, transactions: 0, deposits: 0 } },
    correctedShares: { gifts: 0, count: 0, first: [] },
    ...{ mismatches: { count: 0, first: [] }, late: null, preview: null, refusal: null },
    erasedAgain: { donors: 0, lines: 0, states: 0 },
    version: { number: 2, lines: { added: 30_000, changed: 0, removed: 0 } },
  });
  expect(idle.peak).toBeGreaterThan(50 * MEGABYTE);
  expect(peak - idle.peak).toBeLessThan(100 * MEGABYTE);
});
