import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isObjectType,
  type GraphQLField,
  type GraphQLObjectType,
} from 'graphql';
import { depositBook } from '../support/deposit-book';
import { createOrganization, importLines } from '../support/gateway';
import { inMs, percentile, probe, send, startTarget, type Finding } from './attack';

const SEARCH_SECONDS = 60;
const MEASURE_SECONDS = 8;
const TOGETHER = 4;
const MAX_BLOCK_MS = 100;
/** Fields of a path from the root to where the values are. */
const MAX_PATH = 8;

/** A way down the schema's lists, with a length for each: what an operation of the search is made of. */
interface Candidate {
  readonly path: readonly Step[];
  /** The times that the path is asked for, each with an alias. */
  readonly aliases: number;
  /** The times that each value at its end is asked for besides the first, each with an alias. */
  readonly leafAliases: number;
}
interface Step {
  readonly field: GraphQLField<unknown, unknown>;
  readonly first: number;
}

const schema = buildSchema(readFileSync(join(__dirname, '../../schema.graphql'), 'utf8'));
const REQUIRED: Readonly<Record<string, string>> = {
  startDate: '"2000-01-01"',
  endDate: '"2099-12-31"',
  groupBy: '[DAY, DESIGNATION, STATUS]',
  pending: 'WITH',
  includePending: 'true',
};
const LENGTHS = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000];
const LEAF_ALIASES = [0, 0, 1, 3, 8];
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)]!;

const objectFields = (type: GraphQLObjectType) =>
  Object.values(type.getFields()).filter((field) => {
    const needed = field.args.filter(({ type: of, defaultValue }) => getNullableType(of) !== of && defaultValue === undefined);
    return isObjectType(getNamedType(field.type)) && needed.every(({ name }) => name in REQUIRED);
  });

const typeAfter = (path: readonly Step[]): GraphQLObjectType =>
  path.length === 0 ? schema.getQueryType()! : (getNamedType(path.at(-1)!.field.type) as GraphQLObjectType);

function grow(path: readonly Step[], length: number): Step[] {
  const grown = [...path];
  while (grown.length < length) {
    const fields = objectFields(typeAfter(grown));
    if (fields.length === 0) break;
    grown.push({ field: pick(fields), first: pick(LENGTHS) });
  }
  return grown;
}

const anyCandidate = (): Candidate => ({
  path: grow([], 1 + Math.floor(Math.random() * MAX_PATH)),
  aliases: pick([1, 1, 2, 5]),
  leafAliases: pick(LEAF_ALIASES),
});

/** The same with one length, the way from somewhere on, or a repetition changed. */
function change(candidate: Candidate): Candidate {
  const { path } = candidate;
  const at = Math.floor(Math.random() * path.length);
  const kind = Math.random();
  if (kind < 0.5) return { ...candidate, path: path.map((step, position) => (position === at ? { ...step, first: pick(LENGTHS) } : step)) };
  if (kind < 0.8) return { ...candidate, path: grow(path.slice(0, at), 1 + Math.floor(Math.random() * MAX_PATH)) };
  if (kind < 0.9) return { ...candidate, leafAliases: pick(LEAF_ALIASES) };
  return { ...candidate, aliases: pick([1, 2, 5, 10]) };
}

function print({ path, aliases, leafAliases }: Candidate): string {
  const leaves = Object.values(typeAfter(path).getFields())
    .filter(({ type, args }) => (isLeafType(getNamedType(type)) || isEnumType(getNamedType(type))) && args.length === 0)
    .filter(({ type }) => !isListType(getNullableType(type)))
    .map(({ name }) => name);
  const repeated = (name: string): string => [name, ...Array.from({ length: leafAliases }, (_, n) => `${name}${n}: ${name}`)].join(' ');
  const inner = path.reduceRight(
    (below, { field, first }) => {
      const given = field.args.flatMap(({ name }) =>
        name === 'first' ? `first: ${first}` : name in REQUIRED ? `${name}: ${REQUIRED[name]!}` : [],
      );
      return `{ ${field.name}${given.length > 0 ? `(${given.join(', ')})` : ''} ${below} }`;
    },
    `{ __typename ${leaves.map(repeated).join(' ')} }`,
  );
  const root = inner.slice(1, -1);
  return `{ ${Array.from({ length: aliases }, (_, n) => `a${n}: ${root}`).join(' ')} }`;
}

/** Looks for the operation of a member that is accepted and keeps everybody else waiting longest, by change and choice. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget();
  try {
    const organization = await createOrganization(target.services);
    await importLines(target.services, organization, depositBook(3000));
    const headers = { Provision: organization.apiProvision, 'Content-Type': 'application/json' };
    const ask = (query: string) => send(`${target.serve.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const live = () => send(`${target.serve.url}/live`);
    /** The longest that anybody waited while the operation was answered; undefined where it was not. */
    const blockOf = async (query: string, together: number): Promise<number | undefined> => {
      const under = { way: true };
      let worst = 0;
      const answers = Promise.all(Array.from({ length: together }, () => ask(query))).finally(() => (under.way = false));
      while (under.way) worst = Math.max(worst, (await live()).ms);
      return (await answers).every(({ status, body }) => status === 200 && !body.startsWith('{"errors"')) ? worst : undefined;
    };

    let best = { candidate: anyCandidate(), ms: 0 };
    let tried = 0;
    let accepted = 0;
    for (const end = Date.now() + SEARCH_SECONDS * 1000; Date.now() < end; tried++) {
      const candidate = Math.random() < 0.3 ? anyCandidate() : change(best.candidate);
      const ms = await blockOf(print(candidate), 1);
      if (ms === undefined) continue;
      accepted++;
      // A second time, because what kept it waiting may have been another.
      const again = ms > best.ms ? ((await blockOf(print(candidate), 1)) ?? 0) : 0;
      if (again > best.ms) best = { candidate, ms: Math.min(ms, again) };
    }
    const worst = print(best.candidate);
    const findings: Finding[] = [];
    for (const together of [1, TOGETHER]) {
      const under = { way: true };
      const attack = Promise.all(
        Array.from({ length: together }, async () => {
          while (under.way) await ask(worst);
        }),
      );
      const waits = await probe(MEASURE_SECONDS, 20, live);
      under.way = false;
      await attack;
      const longest = percentile(waits, 99);
      findings.push({
        name: `/live beside the worst of ${accepted} accepted operations of ${tried}, ${together} at once`,
        figure: `p99 ${inMs(longest)}, longest ${inMs(percentile(waits, 100))} (goal ${MAX_BLOCK_MS} ms): ${worst.slice(0, 900)}`,
        holds: longest <= MAX_BLOCK_MS && accepted > 0 && waits.every(({ status }) => status === 200),
      });
    }
    return findings;
  } finally {
    await target.stop();
  }
}
