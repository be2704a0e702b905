import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { createOrganization, openSession } from '../support/gateway';
import { send, startTarget, type Finding } from './attack';

const PAIRS = 10_000;
/** Each of these takes two argon2 hashes, of some 15 ms. */
const LOGIN_PAIRS = 1000;
const MOST_T = 4.5;
const PLANTED_US = 20;
/** The slowest answers of both kinds tell of the machine, not of the gateway. */
const KEPT_SHARE = 0.9;
const LOGIN = 'mutation ($u: String!, $p: String!) { login(input: { username: $u, password: $p }) { viewer { username } } }';

type Call = () => Promise<unknown>;

/** Welch's t of the times of two kinds of calls, made in turns and in either order. */
async function compare(pairs: number, one: Call, other: Call): Promise<{ t: number; differenceUs: number }> {
  const times: [number[], number[]] = [[], []];
  const time = async (kind: 0 | 1): Promise<void> => {
    const startedAt = performance.now();
    await (kind === 0 ? one() : other());
    times[kind].push((performance.now() - startedAt) * 1000);
  };
  for (let pair = 0; pair < pairs; pair++) {
    const first = Math.random() < 0.5 ? 0 : 1;
    await time(first);
    await time(first === 0 ? 1 : 0);
  }
  const sorted = times.flat().toSorted((a, b) => a - b);
  const limit = sorted[Math.floor(sorted.length * KEPT_SHARE)]!;
  const [a, b] = times.map((all) => describe(all.filter((us) => us <= limit))) as [Sample, Sample];
  return { t: (b.mean - a.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count), differenceUs: b.mean - a.mean };
}

interface Sample {
  readonly count: number;
  readonly mean: number;
  readonly variance: number;
}
function describe(values: readonly number[]): Sample {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { count: values.length, mean, variance };
}

/** A text with another character at a place. */
const changeAt = (text: string, place: number): string => {
  const other = text.at(place) === 'a' ? 'b' : 'a';
  return place === -1 ? text.slice(0, -1) + other : text.slice(0, place) + other + text.slice(place + 1);
};

/** Looks for what the time of an answer tells of a secret: how much of a provision or of a token is right, and whether a user exists. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget({ PROVISION_ATTEMPTS: '1000000', LOGIN_ATTEMPTS: '10000' });
  try {
    const { webProvision, apiProvision } = await createOrganization(target.services);
    const { url } = target.serve;
    const token = await openSession(url, webProvision);
    const system =
      (provision: string): Call =>
      () =>
        send(`${url}/api/v2/authenticated_test_system`, { headers: { Provision: provision } });
    const session =
      (bearer: string): Call =>
      () =>
        send(`${url}/api/v2/authenticated_test_session`, { headers: { Provision: webProvision, Authorization: `Bearer ${bearer}` } });
    const login =
      (username: string): Call =>
      () =>
        send(`${url}/graphql`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Provision: webProvision },
          body: JSON.stringify({ query: LOGIN, variables: { u: username, p: 'a wrong password' } }),
        });
    const live: Call = () => send(`${url}/live`);
    const planted: Call = async () => {
      const end = performance.now() + PLANTED_US / 1000;
      while (performance.now() < end);
      await live();
    };
    for (let n = 0; n < 2000; n++) await live();
    const none = randomUUID();
    const cases: readonly (readonly [string, number, Call, Call])[] = [
      [
        'a provision of which all but the last digit is right, and one of which nothing is',
        PAIRS,
        system(none),
        system(changeAt(apiProvision, -1)),
      ],
      [
        'a token that is wrong at its first character, and one at its last but one',
        PAIRS,
        session(changeAt(token, 0)),
        session(changeAt(token, 41)),
      ],
      ['a login of a user who exists, and of one who does not', LOGIN_PAIRS, login('nobody'), login('ada')],
    ];
    const findings: Finding[] = [];
    for (const [name, pairs, one, other] of cases) {
      for (let n = 0; n < 50; n++) await Promise.all([one(), other()]);
      const { t, differenceUs } = await compare(pairs, one, other);
      findings.push({
        name,
        figure: `t ${t.toFixed(2)}, ${differenceUs.toFixed(1)} µs in ${pairs} pairs (goal ${MOST_T})`,
        holds: Math.abs(t) < MOST_T,
      });
    }
    const control = await compare(PAIRS, live, planted);
    return [
      ...findings,
      {
        name: `control: a planted difference of ${PLANTED_US} µs`,
        figure: `t ${control.t.toFixed(2)} (must be found)`,
        holds: control.t >= MOST_T,
      },
    ];
  } finally {
    await target.stop();
  }
}
