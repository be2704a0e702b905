import { hammer, send, startTarget, type Finding } from './attack';
import { askBeside, createNeighbours, YEAR } from './neighbours';

const CLIENTS = 200;
const SECONDS = 22;

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
      // A client that is told to come back later, and does not listen.
      else await new Promise((resolve) => setTimeout(resolve, 200));
    });
    const findings = await askBeside(target, neighbours);
    await attack;
    return [...findings, { name: 'reports of a year that the attacker still got', figure: `${served}`, holds: served > 0 }];
  } finally {
    await target.stop();
  }
}
