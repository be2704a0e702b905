import { setTimeout as sleep } from 'node:timers/promises';
import { hammer, send, startTarget, type Finding } from './attack';
import { askBeside, createNeighbours, YEAR } from './neighbours';

const CLIENTS = 200;
const SECONDS = 22;
/** A refused client is told to come back after five seconds, and does not listen. */
const REFUSED_MS = 1000;

/** One organization asks for years, with many clients at once and again and again. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget();
  try {
    const neighbours = await createNeighbours(target);
    const headers = { Provision: neighbours.attacker.apiProvision };
    let served = 0;
    const attack = hammer(CLIENTS, SECONDS, async () => {
      const { status } = await send(target.serve.url + YEAR, { headers });
      if (status === 200) served++;
      else await sleep(REFUSED_MS);
    });
    const findings = await askBeside(target, neighbours);
    await attack;
    return [...findings, { name: 'reports of a year that the attacker still got', figure: `${served}`, holds: served > 0 }];
  } finally {
    await target.stop();
  }
}
