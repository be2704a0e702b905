import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readVersion } from '../../src/package-files';
import setUp from '../support/global-setup';
import tearDown from '../support/global-teardown';
import { fill } from './filled-books';
import { askAfterUpgrade, fixtureOf } from './fixture';

// Makes the fixture of the present version: a database that is filled anew, and the answers that it gives after its backup is restored.

async function main(): Promise<void> {
  const fixture = fixtureOf(readVersion());
  rmSync(fixture.directory, { recursive: true, force: true });
  for (const kind of ['commands', 'files', 'graphql']) mkdirSync(join(fixture.answers, kind), { recursive: true });
  await setUp();
  try {
    await fill(fixture);
    for (const [name, answer] of await askAfterUpgrade(fixture)) writeFileSync(join(fixture.answers, name), answer);
  } finally {
    await tearDown();
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
