import { randomUUID } from 'node:crypto';
import { createOrganization } from '../support/gateway';
import { hammer, inMs, percentile, probe, send, startTarget, type Finding } from './attack';

const CLIENTS = 50;
const SECONDS = 6;
const MAX_LIVE_MS = 50;

const repeat = (count: number, text: string): string => Array.from({ length: count }, () => text).join(' ');
const FRAGMENTS = Array.from(
  { length: 60 },
  (_, n) => `fragment f${n} on Query { ${n < 59 ? `...f${n + 1} ...f${n + 1}` : ''} viewer { username } }`,
);
/** Documents that cost much to parse or to validate. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  'repeated nested fields': `{ ${repeat(280, 'viewer { username }')} }`,
  'repeated deep fields': `{ ${repeat(20, `deposit(depositId:"1") { ${repeat(10, 'transactions { nodes { id } }')} }`)} }`,
  'fragments that spread each other': `{ ...f0 } ${FRAGMENTS.join(' ')}`,
  comments: `{ viewer { username } } ${repeat(2000, `#${'x'.repeat(20)}\n`)}`,
  introspection:
    '{ __schema { types { fields { type { ofType { ofType { ofType { fields { type { ofType { ofType { fields { name description } } } } } } } } } } } } }',
};

/** Callers without a provision, with one that does not exist, and with one that everybody can read in an app. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget({ PROVISION_ATTEMPTS: '1000000' });
  try {
    const { webProvision } = await createOrganization(target.services);
    const callers: Readonly<Record<string, () => Record<string, string>>> = {
      'no provision': () => ({}),
      'an unknown provision': () => ({ Provision: randomUUID() }),
      "an app's provision": () => ({ Provision: webProvision }),
    };
    const findings: Finding[] = [];
    await warmUp(target.serve.url);
    for (const [caller, credentials] of Object.entries(callers)) {
      for (const [name, document] of Object.entries(DOCUMENTS)) {
        const [before, after] = JSON.stringify({ query: `${document} #FRESH` }).split('FRESH');
        // A fresh comment keeps the document out of every cache.
        const body = () => `${before}${randomUUID()}${after}`;
        const attack = hammer(CLIENTS, SECONDS, () =>
          send(`${target.serve.url}/graphql`, {
            method: 'POST',
            headers: { ...credentials(), 'Content-Type': 'application/json' },
            body: body(),
          }),
        );
        const answers = await probe(SECONDS, 20, () => send(`${target.serve.url}/live`));
        await attack;
        const p99 = percentile(answers, 99);
        findings.push({
          name: `/live beside ${CLIENTS} clients with ${caller} and ${name}`,
          figure: `p99 ${inMs(p99)}, median ${inMs(percentile(answers, 50))} (goal ${MAX_LIVE_MS} ms)`,
          holds: p99 <= MAX_LIVE_MS && answers.every(({ status }) => status === 200),
        });
      }
    }
    return findings;
  } finally {
    await target.stop();
  }
}

/** A process that has just started compiles its own code first. */
async function warmUp(url: string): Promise<void> {
  await hammer(CLIENTS, 2, () => send(`${url}/graphql`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }));
}
