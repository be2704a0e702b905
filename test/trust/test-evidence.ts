import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { Finding } from './attack';

/** Tests that try a promise: files below `test`, each with beginnings or parts of titles. No titles stand for the whole file. */
export type Evidence = Readonly<Record<string, readonly string[]>>;

/** The outcome of each test, by its full title, by file. */
export type TestResults = ReadonlyMap<string, readonly { readonly title: string; readonly status: string }[]>;

const ROOT = join(__dirname, '../..');
/** More tries than the suite makes each time. */
const THOROUGH = { FUZZED_REQUESTS: '10000', GENERATED_QUERIES: '10000', KILLED_IMPORTS: '20', KILLED_BACKUPS: '20', TRIES: '10' };

interface JestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Runs files of tests at once, for so long at most. Throws when they have not ended by then. */
export async function runTests(files: readonly string[], minutes: number): Promise<TestResults> {
  const directory = mkdtempSync(join(tmpdir(), 'trust-tests-'));
  const output = join(directory, 'results.json');
  try {
    const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
    const words = [
      jest,
      '--config',
      join(ROOT, 'test/destructive/jest.config.js'),
      '--json',
      `--outputFile=${output}`,
      '--silent',
      ...files.map((file) => join(ROOT, 'test', file)),
    ];
    const child = spawn(process.execPath, words, {
      cwd: ROOT,
      env: { ...THOROUGH, ...process.env },
      stdio: 'ignore',
    });
    const late = setTimeout(() => child.kill('SIGTERM'), minutes * 60_000);
    await once(child, 'exit');
    clearTimeout(late);
    // Without the file nothing is known of any test, which is not to pass for a miss of each promise.
    if (!existsSync(output)) throw new Error(`The tests of the promises gave no results in ${minutes} minutes`);
    const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as JestReport;
    return new Map(
      testResults.map(({ name, assertionResults }) => [
        relative(join(ROOT, 'test'), name),
        assertionResults.map(({ fullName, status }) => ({ title: fullName, status })),
      ]),
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The finding of a promise's tests. A title that no test has any more is a miss. */
export function judge(evidence: Evidence, results: TestResults): Finding {
  const faults: string[] = [];
  let passed = 0;
  let skipped = 0;
  for (const [file, titles] of Object.entries(evidence)) {
    const ran = results.get(file) ?? [];
    const chosen = new Set(titles.length === 0 ? ran : []);
    for (const title of titles) {
      const found = ran.filter((test) => test.title.includes(title));
      if (found.length === 0) faults.push(`${file} has no test "${title}"`);
      for (const test of found) chosen.add(test);
    }
    if (ran.length === 0) faults.push(`${file} was not run`);
    for (const test of chosen) {
      if (test.status === 'passed') passed++;
      // A test that is skipped says why in its file.
      else if (test.status === 'pending') skipped++;
      else faults.push(`${file}: ${test.title}`);
    }
  }
  return {
    name: 'tests',
    figure: `${passed} of ${passed + faults.length}${skipped > 0 ? `, ${skipped} skipped` : ''}${faults.map((fault) => `; ${fault}`).join('')}`,
    holds: faults.length === 0 && passed > 0,
  };
}
