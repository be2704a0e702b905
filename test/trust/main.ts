import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import setUp from '../support/global-setup';
import tearDown from '../support/global-teardown';
import { topologyParts } from '../topology/parts';
import { NotRun, type Finding } from './attack';
import { runAttack } from './attack-process';
import { catalogue, type TrustEntry } from './catalogue';
import { judge, runTests, type TestResults } from './test-evidence';

/** The whole table is bounded by these and by the entries' own minutes. */
const TEST_MINUTES = 60;
const SOAK_MINUTES = { alone: '30', 'in the table': '10' };

const TESTS = join(__dirname, '..');
const allTests = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.test.ts') && !name.includes('node_modules'),
);
/** The files of tests that are run whole, by the names of their groups: those that destroy, and those that try random cases. */
const groups = {
  destructive: allTests.filter((name) => name.startsWith('destructive/')),
  random: allTests.filter((name) => readFileSync(join(TESTS, name), 'utf8').includes('support/tries')),
};
/** The name of the group of trials of several machines. */
const TOPOLOGY = 'topology';

type Outcome = 'holds' | 'MISSED' | 'not run';
const counts: Record<Outcome, number> = { holds: 0, MISSED: 0, 'not run': 0 };

/** A line of the table that is printed. */
interface Row {
  readonly id: string;
  readonly subject: string;
  readonly goal: string;
  readonly outcome: Outcome;
  readonly figure: string;
}

function print({ id, subject, goal, outcome, figure }: Row): void {
  counts[outcome]++;
  console.log(`${id} | ${subject} | ${goal} | ${figure.replaceAll('|', '/').replaceAll('\n', ' ')} | ${outcome}`);
}

const outcomeOf = (findings: readonly Finding[]): Outcome => (findings.every(({ holds }) => holds) ? 'holds' : 'MISSED');

/** Several entries may rest on one attack, which is then made once. */
const attacks = new Map<string, Promise<readonly Finding[]>>();

function attackOnce(file: string, minutes: number): Promise<readonly Finding[]> {
  const known = attacks.get(file) ?? runAttack(file, minutes);
  attacks.set(file, known);
  return known;
}

/** The outcome of trials, or the reason why they could not be made here. */
async function tryAll(find: () => Promise<readonly Finding[]>): Promise<Pick<Row, 'outcome' | 'figure'>> {
  try {
    const findings = await find();
    return {
      outcome: outcomeOf(findings),
      figure: findings.map(({ name, figure, holds }) => `${holds ? '' : 'MISSED '}${name}: ${figure}`).join('; '),
    };
  } catch (error) {
    if (!(error instanceof NotRun)) throw error;
    return { outcome: 'not run', figure: error.message };
  }
}

const findAll = async ({ tests, attack, minutes = 3 }: TrustEntry, results: TestResults): Promise<readonly Finding[]> => [
  ...(tests ? [judge(tests, results)] : []),
  ...(attack === undefined ? [] : await attackOnce(attack, minutes)),
];

/** Tries what is named: entries by number or by attack, `destructive`, `random`, `topology` or a part of it; all without words. Prints a row for each. */
async function main(): Promise<void> {
  const { positionals: words } = parseArgs({ allowPositionals: true });
  const isNamed = (...names: readonly (string | undefined)[]): boolean =>
    words.length === 0 || names.some((name) => words.some((word) => word.toLowerCase() === name?.toLowerCase()));
  const known = [
    ...catalogue.flatMap(({ id, attack }) => [id, attack]),
    ...[...Object.keys(groups), TOPOLOGY, ...topologyParts.map(({ name }) => name)],
  ].map((name) => name?.toLowerCase());
  const unknown = words.filter((word) => !known.includes(word.toLowerCase()));
  if (unknown.length > 0) throw new Error(`There is no ${unknown.join(', ')}; there are ${[...new Set(known)].join(', ')}`);
  process.env.SOAK_MINUTES ??= words.length === 0 ? SOAK_MINUTES['in the table'] : SOAK_MINUTES.alone;

  const entries = catalogue.filter(({ id, attack }) => isNamed(id, attack));
  const named = Object.entries(groups).filter(([group]) => isNamed(group));
  const files = new Set([...entries.flatMap(({ tests = {} }) => Object.keys(tests)), ...named.flatMap(([, tests]) => tests)]);
  const results: TestResults = files.size === 0 ? new Map() : await runTests([...files], TEST_MINUTES);
  await setUp();
  try {
    console.log('trial | subject | goal | measured | outcome');
    for (const entry of entries) print({ ...entry, ...(await tryAll(() => findAll(entry, results))) });
    for (const [group, tests] of named) {
      for (const file of tests) {
        const finding = judge({ [file]: [] }, results);
        print({ id: group, subject: file, goal: 'every test passes', figure: finding.figure, outcome: outcomeOf([finding]) });
      }
    }
    for (const { name, minutes } of topologyParts.filter((part) => isNamed(TOPOLOGY, part.name))) {
      const trial = await tryAll(() => runAttack(`../topology/${name}`, minutes));
      print({ id: TOPOLOGY, subject: name, goal: 'every figure holds', ...trial });
    }
  } finally {
    await tearDown();
  }
  console.log(`${counts.holds} hold, ${counts.MISSED} missed, ${counts['not run']} not run`);
  process.exit(counts.MISSED + counts['not run'] === 0 ? 0 : 1);
}

void main();
