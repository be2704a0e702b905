import { parseArgs } from 'node:util';
import setUp from '../support/global-setup';
import tearDown from '../support/global-teardown';
import { NotRun, type Finding } from '../trust/attack';
import { runAttack } from '../trust/attack-process';

/** The parts, by their files in this folder, and the longest time that each may take. */
const PARTS: Readonly<Record<string, { readonly minutes: number }>> = {
  'rolling-restart': { minutes: 6 },
  'many-organizations': { minutes: 8 },
  pooler: { minutes: 10 },
  citus: { minutes: 20 },
  'replica-answers': { minutes: 5 },
  'replica-loss': { minutes: 5 },
  promotion: { minutes: 5 },
  'slow-network': { minutes: 5 },
};

type Outcome = 'holds' | 'MISSED' | 'not run';

async function findRows(name: string): Promise<readonly (Finding & { readonly outcome: Outcome })[]> {
  try {
    const findings = await runAttack(`../topology/${name}`, PARTS[name]!.minutes);
    return findings.map((finding) => ({ ...finding, outcome: finding.holds ? 'holds' : 'MISSED' }));
  } catch (error) {
    if (!(error instanceof NotRun)) throw error;
    return [{ name, figure: error.message, holds: false, outcome: 'not run' }];
  }
}

/** Runs the parts that are named, or all, and prints a row for each figure. Exits with 1 when one does not hold. */
async function main(): Promise<void> {
  const { positionals: words } = parseArgs({ allowPositionals: true });
  const unknown = words.filter((word) => !Object.hasOwn(PARTS, word));
  if (unknown.length > 0) throw new Error(`There is no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);
  await setUp();
  let holds = true;
  try {
    console.log('part | subject | measured | outcome');
    for (const part of words.length > 0 ? words : Object.keys(PARTS)) {
      for (const { name, figure, outcome } of await findRows(part)) {
        holds &&= outcome === 'holds';
        console.log(`${part} | ${name} | ${figure.replaceAll('|', '/').replaceAll('\n', ' ')} | ${outcome}`);
      }
    }
  } finally {
    await tearDown();
  }
  process.exit(holds ? 0 : 1);
}

void main();
