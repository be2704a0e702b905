import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CriticalityLevel, diff, DiffRule } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';

// Fails when schema.graphql breaks what the last release promised. What that release had marked @deprecated may go.

const git = (...words: string[]): string | undefined => {
  try {
    return execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
};

async function main(): Promise<void> {
  const tag = git('describe', '--tags', '--abbrev=0', '--match', 'v*')?.trim();
  const released = tag === undefined ? undefined : git('show', `${tag}:./schema.graphql`);
  if (released === undefined) {
    console.log('No release holds a schema yet: nothing can break.');
    return;
  }
  const now = readFileSync('schema.graphql', 'utf8');
  const changes = await diff(buildSchema(released), buildSchema(now), [DiffRule.suppressRemovalOfDeprecatedField]);
  const breaking = changes.filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking);
  for (const { message, criticality } of breaking) console.error(`${message}${criticality.reason ? `: ${criticality.reason}` : ''}`);
  console.log(`${changes.length} changes since ${tag}, ${breaking.length} of them breaking.`);
  if (breaking.length > 0) process.exitCode = 1;
}

void main();
