import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Verdict } from '../../src/domain/compare/verdict';
import { runCommand, type CommandResult } from './command';
import { gift, OLD_COOKIE, OLD_PROVISION, OldService } from './old-service';

/** Two services with the same books, and files of credentials. */
export interface Comparisons {
  readonly path: (name: string) => string;
  readonly write: (name: string, content: string) => Promise<string>;
  readonly readVerdict: (name: string) => Promise<Verdict>;
  /** The words of a comparison of January 2026 that writes no verdict, as quick as it may be. */
  readonly words: (pair: Pair, ...options: string[]) => string[];
  readonly compare: (pair: Pair, ...options: string[]) => Promise<CommandResult & { readonly verdict: Verdict }>;
  readonly withPair: (use: (pair: Pair) => Promise<void>) => Promise<void>;
}

export interface Pair {
  readonly old: OldService;
  readonly now: OldService;
}

const JANUARY = ['--from', '2026-01-01', '--to', '2026-01-31'];
/** No database is asked. With an address of one, the command runs in the process of the test. */
export const ENVIRONMENT = { LOG_LEVEL: 'fatal', DATABASE_URL: 'postgresql://nobody@127.0.0.1:9/none' };
/** No test waits between requests. */
const RATE = ['--rate', '1000'];

/** Makes the files before the tests of a file, and removes them after them. */
export function openComparisons(): Comparisons {
  let directory: string;
  const path = (name: string): string => join(directory, name);
  const write = async (name: string, content: string): Promise<string> => {
    await writeFile(path(name), content, { mode: 0o600 });
    return path(name);
  };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'compare-'));
    await write('provision', `${OLD_PROVISION}\n`);
    await write('cookie', OLD_COOKIE);
  });
  afterAll(() => rm(directory, { recursive: true }));
  const words: Comparisons['words'] = ({ old, now }, ...options) => {
    const range = options.includes('--requests') || options.includes('--from') ? [] : JANUARY;
    const credentials = ['old', 'new'].flatMap((side) => [
      ...[`--${side}-provision-file`, path('provision'), `--${side}-cookie-file`, path('cookie')],
    ]);
    return ['--json', 'compare', '--old', old.url, '--new', now.url, ...credentials, ...range, ...RATE, ...options];
  };
  return {
    path,
    write,
    words,
    readVerdict: async (name) => JSON.parse(await readFile(path(name), 'utf8')) as Verdict,
    compare: async (pair, ...options) => {
      const result = await runCommand(ENVIRONMENT, words(pair, ...options));
      if (result.stdout === '') throw new Error(`No verdict: ${result.stderr}`);
      return { ...result, verdict: JSON.parse(result.stdout) as Verdict };
    },
    withPair: async (use) => {
      const [old, now] = [await OldService.start(), await OldService.start()];
      for (const service of [old, now]) service.isSorted = true;
      try {
        await use({ old, now });
      } finally {
        await Promise.all([old.stop(), now.stop()]);
      }
    },
  };
}

/** Gives both services the same gifts of January: one is split over two funds, one is pending. */
export function fill({ old, now }: Pair, count = 6): void {
  for (let number = 0; number < count; number++) {
    const depositDate = `2026-01-${String(1 + (number % 28)).padStart(2, '0')}`;
    const id = String(number).padStart(5, '0');
    const shares = [{ allocation: `A${id}`, fund: 1, memo: number % 2 === 0 ? '' : 'für Ada' }];
    if (number === 1) shares.push({ allocation: 'A00001b', fund: 2, memo: '' });
    const fields = { deposit: `D${id}`, transaction: `T${id}`, depositDate, date: depositDate, donor: number % 5, isPending: number === 5 };
    for (const service of [old, now]) service.gifts.push(gift({ ...fields, cents: 1000 + number, memo: 'a "memo"', shares: [...shares] }));
  }
}
