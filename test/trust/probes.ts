import { createOrganization } from '../support/gateway';
import { inMs, percentile, send, startTarget, type Answer, type Finding } from './attack';

const ROUNDS = 5;
const MAX_MS = 100;
const MAX_BYTES = 2048;
const INSIDE = /prisma|node_modules|\.[jt]s:\d|INTERNAL_SERVER_ERROR|<html|<!DOCTYPE/i;

const repeat = (count: number, item: (n: number) => string): string => Array.from({ length: count }, (_, n) => item(n)).join(' ');
const bomb = (levels: number): string =>
  `{ ...F0 } ${repeat(levels, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F${levels} on Query { __typename }`;
const nested = (levels: number, field = 'a'): string => `{ ${`${field} { `.repeat(levels)} a ${'} '.repeat(levels)} }`;
const overlap = (count: number): string => `{ ${repeat(count, (n) => `a: viewer { f${n}: username }`)} }`;
const deepJson = (levels: number): string => `{"query":"{ __typename }","variables":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;
const asJson = (query: string): string => JSON.stringify({ query });

/** Operations that cost much or mean harm, as bodies of a POST. All must be refused before they run. */
const BODIES: Readonly<Record<string, string>> = {
  '1,000 aliases': asJson(`{ ${repeat(1000, (n) => `a${n}: __typename`)} }`),
  '4,500 aliases': asJson(`{ ${repeat(4500, (n) => `a${n}: __typename`)} }`),
  '101 aliases of a query': asJson(`{ ${repeat(101, (n) => `a${n}: viewer { username }`)} }`),
  '9,000 repeated fields': asJson(`{ ${repeat(9000, () => '__typename')} }`),
  '1,900 repeated fields': asJson(`{ viewer { ${repeat(1900, () => 'username')} } }`),
  '280 repeated nested fields': asJson(`{ ${repeat(280, () => 'viewer { username }')} }`),
  'overlapping fields': asJson(overlap(300)),
  '2,500 overlapping fields': asJson(overlap(2500)),
  'depth of 50': asJson(nested(50)),
  'depth of 500': asJson(nested(500)),
  'depth of 8,000': asJson(nested(8000)),
  'depth by inline fragments': asJson(nested(300, '... on Query')),
  'depth of lists in a value': asJson(`{ nodes(ids: ${'['.repeat(900)}1${']'.repeat(900)}) { id } }`),
  'fragments in a circle': asJson('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'),
  'a fragment that holds itself': asJson('{ ...F } fragment F on Query { __typename ...F }'),
  'a fragment bomb of 2^16': asJson(bomb(16)),
  'a fragment bomb of 2^60': asJson(bomb(60)),
  'fragments that nobody spreads': asJson(`{ __typename } ${repeat(300, (n) => `fragment G${n} on Query { __typename }`)}`),
  '10 unknown directives': asJson(`{ __typename ${repeat(10, () => '@aa')} }`),
  '6,000 directives': asJson(`{ __typename ${repeat(6000, () => '@include(if: true)')} }`),
  '900 unknown variables': asJson(`query (${repeat(300, (n) => `$v${n}: Nothing`)}) { __typename }`),
  'a name of 90 kB': asJson(`{ ${'x'.repeat(90_000)} }`),
  'a text of 90 kB': asJson(`{ deposit(depositId: "${'x'.repeat(90_000)}) { id } }`),
  'a number of 90 kB': asJson(`{ deposits(first: ${'9'.repeat(90_000)}) { nodes { id } } }`),
  'comments of 90 kB': asJson(`{ nothing } ${'#\n'.repeat(45_000)}`),
  'JSON of 10,000 levels that is no operation': `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  'a variable of 9,000 levels that nobody takes': deepJson(9000).replace('__typename', 'nothing'),
  'a batch of 100': `[${Array.from({ length: 100 }, () => asJson('{ __typename }')).join(',')}]`,
  'a prototype as an argument': asJson('{ deposits(__proto__: { first: 1 }) { nodes { id } } }'),
  'fields of every prototype': asJson('{ constructor __proto__ toString }'),
  'two operations without a choice': asJson('query A { __typename } query B { __typename }'),
  'a subscription': asJson('subscription { x }'),
};

/** Each operation several times, with the provision of a server; the slowest answer counts, and its bytes for each that was sent. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget();
  try {
    const { apiProvision } = await createOrganization(target.services);
    const headers = { 'Content-Type': 'application/json', Provision: apiProvision };
    const post = (body: string) => send(`${target.serve.url}/graphql`, { method: 'POST', headers, body });
    const getMutation = () => send(`${target.serve.url}/graphql?query=mutation%7Blogout%7Bended%7D%7D`, { headers });
    const probes: readonly (readonly [string, number, () => Promise<Answer>])[] = [
      ...Object.entries(BODIES).map(([name, body]) => [name, body.length, () => post(body)] as const),
      ['a mutation by GET', 60, getMutation],
    ];
    for (const [, , probe] of probes) await probe();
    const worst = { ms: 0, name: '' };
    let amplification = 0;
    const faults: string[] = [];
    for (const [name, sent, probe] of probes) {
      const answers: Answer[] = [];
      for (let round = 0; round < ROUNDS; round++) answers.push(await probe());
      const { status, body } = answers[0]!;
      const ms = percentile(answers, 50);
      if (ms > worst.ms) Object.assign(worst, { ms, name });
      amplification = Math.max(amplification, body.length / Math.max(sent, MAX_BYTES));
      if (status >= 500 || INSIDE.test(body)) faults.push(`${name} is answered ${status}: ${body.slice(0, 100)}`);
      if (!body.startsWith('{"errors":[') || /"data":\{/.test(body)) faults.push(`${name} is not refused: ${body.slice(0, 100)}`);
      if (body.length > MAX_BYTES) faults.push(`${name} is answered with ${body.length} bytes`);
    }
    return [
      {
        name: `${probes.length} operations that are not refused in at most 2 kB of JSON`,
        figure: `${faults.length}${faults.map((fault) => `; ${fault}`).join('')}`,
        holds: faults.length === 0,
      },
      {
        name: 'the slowest of them, median of 5',
        figure: `${inMs(worst.ms)} (${worst.name}; goal ${MAX_MS} ms)`,
        holds: worst.ms <= MAX_MS,
      },
      {
        name: 'the most bytes for each byte sent, from 2 kB on',
        figure: `${amplification.toFixed(2)} (goal 10)`,
        holds: amplification <= 10,
      },
    ];
  } finally {
    await target.stop();
  }
}
