import { createOrganization, type TestOrganization } from '../support/gateway';
import { fillReport, REPORT } from '../support/long-report';
import { inMs, percentile, probe, send, type Answer, type Finding, type Target } from './attack';

/** A year of it are some 97,000 lines. */
const LINES = 266_000;
export const YEAR = `${REPORT}?start_date=2021-01-01&end_date=2021-12-31`;
const DAY = `${REPORT}?start_date=2021-06-01&end_date=2021-06-01`;
const DAY_SUMMARY = '{ depositSummary(startDate: "2021-06-01", endDate: "2021-06-01") { all { lines byTransaction { amount } } } }';
const PROBE_SECONDS = 20;
const PROBE_EVERY_MS = 200;

/** Two organizations beside each other: one attacks, the other wants its day's report. */
export interface Neighbours {
  readonly attacker: TestOrganization;
  readonly victim: TestOrganization;
  /** The median of a year's report alone, in milliseconds. */
  readonly yearMs: number;
}

export async function createNeighbours({ serve, database, services }: Target): Promise<Neighbours> {
  const attacker = await createOrganization(services);
  const victim = await createOrganization(services);
  await fillReport(database.client, attacker.id, LINES, `''`);
  await fillReport(database.client, victim.id, LINES / 10, `''`);
  const years: Answer[] = [];
  for (let round = 0; round < 5; round++) years.push(await send(serve.url + YEAR, { headers: { Provision: attacker.apiProvision } }));
  return { attacker, victim, yearMs: percentile(years, 50) };
}

/** Measures the victim's requests while the attack goes on, over REST and GraphQL in turns. */
export async function askBeside({ serve }: Target, { victim, yearMs }: Neighbours): Promise<readonly Finding[]> {
  const headers = { Provision: victim.apiProvision };
  const body = JSON.stringify({ query: DAY_SUMMARY });
  let turn = 0;
  const answers = await probe(PROBE_SECONDS, PROBE_EVERY_MS, () =>
    turn++ % 2 === 0
      ? send(serve.url + DAY, { headers })
      : send(`${serve.url}/graphql`, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body }),
  );
  const refused = answers.filter(({ status, body: text }) => status !== 200 || text.includes('"errors"'));
  const p99 = percentile(answers, 99);
  return [
    {
      name: "the neighbour's reports that were refused",
      figure: `${refused.length} of ${answers.length} (goal 0)`,
      holds: refused.length === 0,
    },
    {
      name: "p99 of the neighbour's day",
      figure: `${inMs(p99)}, median ${inMs(percentile(answers, 50))}; a year alone takes ${inMs(yearMs)} (goal at most twice that)`,
      holds: p99 <= 2 * yearMs,
    },
  ];
}
