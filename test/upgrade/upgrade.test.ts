import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testOnOneNode } from '../support/limited-tests';
import { askAfterUpgrade, fixtureOf, releases } from './fixture';

const FEWEST = 20;

testOnOneNode.each(releases)('callers of a database of %s get the same answers after the upgrade', async (version) => {
  const fixture = fixtureOf(version);
  const answers = await askAfterUpgrade(fixture);
  const kept = readdirSync(fixture.answers, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'));
  expect(kept.length).toBeGreaterThan(FEWEST);
  const read = (name: string): string => readFileSync(join(fixture.answers, name), 'utf8');
  // A later release may add fields to what commands print, and nothing to what callers have asked for by name.
  const commands = kept.filter((name) => name.startsWith('commands/'));
  for (const name of commands) expect([name, JSON.parse(answers.get(name)!)]).toMatchObject([name, JSON.parse(read(name))]);
  const others = kept.filter((name) => !commands.includes(name));
  for (const name of others) expect([name, answers.get(name)]).toEqual([name, read(name)]);
});
