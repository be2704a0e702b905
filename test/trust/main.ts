import { parseArgs } from 'node:util';
import setUp from '../support/global-setup';
import tearDown from '../support/global-teardown';
import { run as anonymous } from './anonymous';
import type { Attack } from './attack';
import { run as histories } from './histories';
import { run as lockout } from './lockout';
import { run as starvation } from './starvation';
import { run as stop } from './stop';
import { run as trickle } from './trickle';
import { run as worstOperation } from './worst-operation';

/** Each has a bound of its own in time. */
const attacks: Readonly<Record<string, Attack>> = {
  ...{ starvation, trickle, anonymous, 'worst-operation': worstOperation },
  ...{ lockout, stop, histories },
};

/** Runs the attacks that are named, or all; exits with 1 when one of them reaches what it should not. */
async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true });
  const unknown = positionals.filter((name) => !(name in attacks));
  if (unknown.length > 0) throw new Error(`There is no attack ${unknown.join(', ')}; there are ${Object.keys(attacks).join(', ')}`);
  await setUp();
  let missed = 0;
  try {
    for (const [name, run] of Object.entries(attacks)) {
      if (positionals.length > 0 && !positionals.includes(name)) continue;
      for (const { name: what, figure, holds } of await run()) {
        console.log(`${holds ? 'holds ' : 'MISSED'}  ${name}: ${what}: ${figure}`);
        if (!holds) missed++;
      }
    }
  } finally {
    await tearDown();
  }
  process.exit(missed === 0 ? 0 : 1);
}

void main();
