import { parseArgs } from 'node:util';
import setUp from '../support/global-setup';
import tearDown from '../support/global-teardown';
import { NotRun, type Finding } from './attack';
import { runAttack } from './attack-process';
import { catalogue, type TrustEntry } from './catalogue';
import { judge, runTests, type TestResults } from './test-evidence';

/** The whole table is bounded by these and by the entries' own minutes. */
const TEST_MINUTES = 20;
const SOAK_MINUTES = { alone: '30', 'in the table': '10' };

type Outcome = 'holds' | 'MISSED' | 'not run';
interface Row {
  readonly outcome: Outcome;
  readonly figure: string;
}

const isNamed = (words: readonly string[], { id, attack }: TrustEntry): boolean =>
  words.some((word) => id.toLowerCase() === word.toLowerCase() || attack === word);

/** Several entries may rest on one attack, which is then made once. */
const attacks = new Map<string, Promise<readonly Finding[]>>();

function attackOnce(file: string, minutes: number): Promise<readonly Finding[]> {
  const known = attacks.get(file) ?? runAttack(file, minutes);
  attacks.set(file, known);
  return known;
}

async function findRow(entry: TrustEntry, results: TestResults): Promise<Row> {
  try {
    const findings: Finding[] = entry.tests ? [judge(entry.tests, results)] : [];
    if (entry.attack !== undefined) findings.push(...(await attackOnce(entry.attack, entry.minutes ?? 3)));
    return {
      outcome: findings.every(({ holds }) => holds) ? 'holds' : 'MISSED',
      figure: findings.map(({ name, figure, holds }) => `${holds ? '' : 'MISSED '}${name}: ${figure}`).join('; '),
    };
  } catch (error) {
    if (!(error instanceof NotRun)) throw error;
    return { outcome: 'not run', figure: error.message };
  }
}

/** Tries the entries that are named by number or by attack, or all, and prints a row for each. Exits with 1 when one does not hold. */
async function main(): Promise<void> {
  const { positionals: words } = parseArgs({ allowPositionals: true });
  const entries = words.length === 0 ? catalogue : catalogue.filter((entry) => isNamed(words, entry));
  const unknown = words.filter((word) => !catalogue.some((entry) => isNamed([word], entry)));
  if (unknown.length > 0) throw new Error(`The catalogue has no ${unknown.join(', ')}; it has ${catalogue.map(({ id }) => id).join(', ')}`);
  process.env.SOAK_MINUTES ??= words.length === 0 ? SOAK_MINUTES['in the table'] : SOAK_MINUTES.alone;

  const files = [...new Set(entries.flatMap(({ tests = {} }) => Object.keys(tests)))];
  const results: TestResults = files.length === 0 ? new Map() : await runTests(files, TEST_MINUTES);
  await setUp();
  const counts: Record<Outcome, number> = { holds: 0, MISSED: 0, 'not run': 0 };
  try {
    console.log('entry | subject | goal | measured | outcome');
    for (const entry of entries) {
      const { outcome, figure } = await findRow(entry, results);
      counts[outcome]++;
      console.log(`${entry.id} | ${entry.subject} | ${entry.goal} | ${figure.replaceAll('|', '/').replaceAll('\n', ' ')} | ${outcome}`);
    }
  } finally {
    await tearDown();
  }
  console.log(`${counts.holds} hold, ${counts.MISSED} missed, ${counts['not run']} not run`);
  process.exit(counts.holds === entries.length ? 0 : 1);
}

void main();
