import { startTarget, type Finding } from './attack';
import { askBeside, createNeighbours, YEAR } from './neighbours';
import { readYears } from './year-readers';

const CLIENTS = 200;
const SECONDS = 22;

/** One organization asks for years, with many clients at once and again and again. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget();
  try {
    const neighbours = await createNeighbours(target);
    const headers = { Provision: neighbours.attacker.apiProvision };
    const attack = readYears({ url: target.serve.url + YEAR, headers, clients: CLIENTS, seconds: SECONDS });
    const findings = await askBeside(target, neighbours);
    const { served } = await attack;
    return [...findings, { name: 'reports of a year that the attacker still got', figure: `${served}`, holds: served > 0 }];
  } finally {
    await target.stop();
  }
}
