import { randomUUID } from 'node:crypto';
import { createOrganization, PASSWORD } from '../support/gateway';
import { inMs, percentile, probe, send, startTarget, type Answer, type Finding } from './attack';

const SECONDS = 20;
/** A hundred guesses of provisions in a second, and forty of passwords: ten thousand in a minute together. */
const GUESS_EVERY_MS = { provision: 10, password: 25 };
/** The defaults of PROVISION_ATTEMPTS and LOGIN_ATTEMPTS: unknown provisions in a minute, and failed logins of a user in 15. */
const PROVISIONS = 60;
const PASSWORDS = 10;
const MOST_P99_MS = 100;
const GUESSER = '203.0.113.5';
const LOGIN = 'mutation ($u: String!, $p: String!) { login(input: { username: $u, password: $p }) { viewer { username } } }';

/** One address guesses provisions and a password while an application at another one works. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget({ TRUST_PROXY: '127.0.0.1' });
  try {
    const { webProvision, apiProvision } = await createOrganization(target.services);
    const { url } = target.serve;
    const post = (provision: string, address: string, body: object): Promise<Answer> =>
      send(`${url}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Provision: provision, 'X-Forwarded-For': address },
        body: JSON.stringify(body),
      });
    const works = () =>
      send(`${url}/api/v2/authenticated_test_system`, { headers: { Provision: apiProvision, 'X-Forwarded-For': '198.51.100.9' } });
    for (let n = 0; n < 500; n++) await works();
    const tried = { provisions: 0, lookedUp: 0, passwords: 0, checked: 0, opened: 0 };
    const guessProvision = async (): Promise<Answer> => {
      const answer = await post(randomUUID(), GUESSER, { query: '{ __typename }' });
      tried.provisions++;
      if (answer.status !== 429) tried.lookedUp++;
      return answer;
    };
    const guessPassword = async (): Promise<Answer> => {
      const answer = await post(webProvision, '203.0.113.6', { query: LOGIN, variables: { u: 'ada', p: `guess ${tried.passwords}` } });
      tried.passwords++;
      if (answer.body.includes('LOGIN_FAILED')) tried.checked++;
      if (answer.body.includes('"username":"ada"')) tried.opened++;
      return answer;
    };
    const attack = Promise.all([
      probe(SECONDS, GUESS_EVERY_MS.provision, guessProvision),
      probe(SECONDS, GUESS_EVERY_MS.password, guessPassword),
    ]);
    const answers = await probe(SECONDS, 50, works);
    await attack;
    const p99 = percentile(answers, 99);
    const rightLogin = await post(webProvision, '198.51.100.10', { query: LOGIN, variables: { u: 'ada', p: PASSWORD } });
    return [
      {
        name: `${tried.provisions} unknown provisions of one address in ${SECONDS} s: looked up`,
        // Those of two calendar minutes, at most.
        figure: `${tried.lookedUp} (goal ${PROVISIONS} in a minute)`,
        holds: tried.lookedUp <= 2 * PROVISIONS && tried.provisions > 10 * PROVISIONS,
      },
      {
        name: `${tried.passwords} passwords for one user from one address: checked`,
        figure: `${tried.checked} (goal ${PASSWORDS}), opened ${tried.opened}`,
        holds: tried.checked <= PASSWORDS && tried.opened === 0 && tried.passwords > 10 * PASSWORDS,
      },
      {
        name: 'another application meanwhile',
        figure: `p99 ${inMs(p99)} (goal ${MOST_P99_MS} ms), refused ${answers.filter(({ status }) => status !== 200).length}`,
        holds: p99 <= MOST_P99_MS && answers.every(({ status }) => status === 200),
      },
      {
        name: 'the user logs in from elsewhere afterwards',
        figure: rightLogin.body.includes('"ada"') ? 'yes' : rightLogin.body.slice(0, 200),
        holds: rightLogin.body.includes('"ada"'),
      },
    ];
  } finally {
    await target.stop();
  }
}
