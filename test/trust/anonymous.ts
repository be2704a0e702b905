import { randomUUID } from 'node:crypto';
import { createOrganization } from '../support/gateway';
import { hammer, inMs, percentile, probe, send, startTarget, type Finding } from './attack';

const CLIENTS = 50;
const SECONDS = 6;
const MAX_LIVE_MS = 50;

const repeat = (count: number, text: string): string => Array.from({ length: count }, () => text).join(' ');
/** Bodies that cost much to parse or to validate; a fresh comment keeps them out of every cache. */
const BODIES: Readonly<Record<string, () => string>> = {
  'repeated nested fields': () => `{ ${repeat(280, 'viewer { username }')} } # ${randomUUID()}`,
  'repeated deep fields': () => `{ ${repeat(20, `deposit(id:"1") { ${repeat(10, 'transactions { nodes { id } }')} }`)} } # ${randomUUID()}`,
  'fragments that spread each other': () =>
    `{ ...f0 } ${Array.from({ length: 60 }, (_, n) => `fragment f${n} on Query { ${n < 59 ? `...f${n + 1} ...f${n + 1}` : ''} viewer { username } }`).join(' ')} # ${randomUUID()}`,
  comments: () => `{ viewer { username } } ${repeat(2000, `#${'x'.repeat(20)}\n`)} # ${randomUUID()}`,
  introspection: () =>
    `{ __schema { types { fields { type { ofType { ofType { ofType { fields { type { ofType { ofType { fields { name description } } } } } } } } } } } } # ${randomUUID()}`,
  'a long document that is to be persisted': () => `{ viewer { username } } ${repeat(2000, `#${'y'.repeat(20)}\n`)} # ${randomUUID()}`,
};

/** Callers without a provision, with one that does not exist, and with one that everybody can read in an app. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget();
  try {
    const { webProvision } = await createOrganization(target.services);
    const callers: Readonly<Record<string, () => Record<string, string>>> = {
      'no provision': () => ({}),
      'an unknown provision': () => ({ Provision: randomUUID() }),
      "an app's provision": () => ({ Provision: webProvision }),
    };
    const findings: Finding[] = [];
    for (const [caller, credentials] of Object.entries(callers)) {
      for (const [name, body] of Object.entries(BODIES)) {
        const attack = hammer(CLIENTS, SECONDS, () =>
          send(`${target.serve.url}/graphql`, {
            method: 'POST',
            headers: { ...credentials(), 'Content-Type': 'application/json' },
            body: JSON.stringify({ query: body() }),
          }),
        );
        const answers = await probe(SECONDS, 20, () => send(`${target.serve.url}/live`));
        await attack;
        const p99 = percentile(answers, 99);
        findings.push({
          name: `/live beside ${CLIENTS} clients with ${caller} and ${name}`,
          figure: `p99 ${inMs(p99)}, median ${inMs(percentile(answers, 50))} (goal ${MAX_LIVE_MS} ms)`,
          holds: p99 <= MAX_LIVE_MS,
        });
      }
    }
    return findings;
  } finally {
    await target.stop();
  }
}
