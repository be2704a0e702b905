import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { CriticalityLevel, diff, DiffRule } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';

// Fails when schema.graphql breaks what the last release promised. What that release had marked @deprecated may go.

const git = (...words: string[]): string => execFileSync('git', words, { encoding: 'utf8' }).trim();

async function main(): Promise<void> {
  if (!existsSync('.git') || git('rev-parse', '--is-shallow-repository') === 'true') {
    console.log('The releases are not known here: a clone with its whole history is needed to compare with them.');
    return;
  }
  const [tag] = git('tag', '--list', 'v*', '--sort=-version:refname').split('\n');
  if (!tag) {
    console.log('Nothing was released yet: nothing can break.');
    return;
  }
  const released = git('show', `${tag}:schema.graphql`);
  const now = readFileSync('schema.graphql', 'utf8');
  const changes = await diff(buildSchema(released), buildSchema(now), [DiffRule.suppressRemovalOfDeprecatedField]);
  const breaking = changes.filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking);
  for (const { message, criticality } of breaking) console.error(`${message}${criticality.reason ? `: ${criticality.reason}` : ''}`);
  console.log(`${changes.length} changes since ${tag}, ${breaking.length} of them breaking.`);
  if (breaking.length > 0) process.exitCode = 1;
}

void main();
