import { existsSync, readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema, isEnumType, isInputObjectType, isInterfaceType, isObjectType, type GraphQLSchema } from 'graphql';
import { readVersion } from '../../src/package-files';
import { findBroken, PROMISES, readSchemaVersion, RELEASED_SCHEMA, type Promises } from './promises';

// Fails when schema.graphql breaks what the last release promised, when it deprecates without saying until when, and when a name that the
// release promised is gone within its major version. What that release had marked @deprecated may go when its day has passed.

/** The days that callers have at least, from the release that deprecates. */
const NOTICE_DAYS = 180;
const DAY_MS = 86_400_000;
/** The end of the reason of every deprecation. */
const LAST_DAY = /Stays until ([0-9]{4}-[0-9]{2}-[0-9]{2})\.$/;

const dayAfter = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

/** The reasons of all that is deprecated, by its path: `Query.money`, `Query.deposit.id`, `Status.LOST`. */
function deprecationsOf(schema: GraphQLSchema): Map<string, string> {
  const found = new Map<string, string>();
  const add = (path: string, { deprecationReason }: { readonly deprecationReason?: string | null | undefined }): void => {
    if (deprecationReason !== undefined && deprecationReason !== null) found.set(path, deprecationReason);
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (isEnumType(type)) for (const value of type.getValues()) add(`${type.name}.${value.name}`, value);
    if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) add(`${type.name}.${field.name}`, field);
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      add(`${type.name}.${field.name}`, field);
      for (const argument of field.args) add(`${type.name}.${field.name}.${argument.name}`, argument);
    }
  }
  return found;
}

/** The faults of deprecations: no last day, or one that comes too soon for what was not deprecated before. */
function findDeprecationFaults(now: Map<string, string>, released: Map<string, string>): string[] {
  return [...now].flatMap(([path, reason]) => {
    const day = LAST_DAY.exec(reason)?.[1];
    if (day === undefined) return `${path} is deprecated without its last day: end the reason with "Stays until YYYY-MM-DD."`;
    return released.has(path) || day >= dayAfter(NOTICE_DAYS)
      ? []
      : `${path} is deprecated until ${day}: callers have ${NOTICE_DAYS} days, until ${dayAfter(NOTICE_DAYS)} or later`;
  });
}

const majorOf = (version: string): string => version.split('.')[0]!;

function fail(faults: readonly string[]): void {
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}

async function main(): Promise<void> {
  const now = buildSchema(readFileSync('schema.graphql', 'utf8'));
  if (!existsSync(RELEASED_SCHEMA)) {
    // What goes before the first release needs no notice.
    fail(findDeprecationFaults(deprecationsOf(now), deprecationsOf(now)));
    console.log('Nothing was released yet: nothing can break.');
    return;
  }
  const text = readFileSync(RELEASED_SCHEMA, 'utf8');
  const version = readSchemaVersion(text);
  if (version === undefined) {
    fail([`The first line of ${RELEASED_SCHEMA} names no version.`]);
    return;
  }
  const released = buildSchema(text);
  const deprecated = deprecationsOf(released);
  const mayGo = (path: string): boolean => {
    const day = LAST_DAY.exec(deprecated.get(path) ?? '')?.[1];
    return day !== undefined && day < dayAfter(0);
  };
  const changes = await diff(released, now);
  const breaking = changes.filter(
    ({ criticality, path, type }) =>
      criticality.level === CriticalityLevel.Breaking && !(String(type).endsWith('_REMOVED') && mayGo(path ?? '')),
  );
  fail(breaking.map(({ message, criticality }) => `${message}${criticality.reason ? `: ${criticality.reason}` : ''}`));
  fail(findDeprecationFaults(deprecationsOf(now), deprecated));
  const isMajor = majorOf(version) !== majorOf(readVersion());
  if (!isMajor) fail(findBroken(JSON.parse(readFileSync(PROMISES, 'utf8')) as Promises));
  console.log(`${changes.length} changes since ${version}, ${breaking.length} of them breaking.`);
}

void main();
