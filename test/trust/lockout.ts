import { createOrganization, startGateway, PASSWORD } from '../support/gateway';
import type { Finding } from './attack';

const OFFICE = '198.51.100.7';
const GUESSES = 100;
const ATTACKERS = 11;
const GUESSES_EACH = 10;

/** Tries to shut users out of the gateway by wrong passwords: those behind one address, and one user from everywhere. */
export async function run(): Promise<readonly Finding[]> {
  // Addresses are as a proxy on this machine says.
  const gateway = await startGateway({ TRUST_PROXY: '127.0.0.1' });
  const login = async (provision: string, address: string, username: string, password: string): Promise<boolean> => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Provision: provision, 'X-Forwarded-For': address },
      body: JSON.stringify({
        query:
          'mutation ($username: String!, $password: String!) { login(input: { username: $username, password: $password }) { viewer { username } } }',
        variables: { username, password },
      }),
    });
    return !('errors' in ((await response.json()) as object));
  };
  const lockedOut = async (logins: readonly (() => Promise<boolean>)[]): Promise<string[]> => {
    const results: string[] = [];
    for (const [index, attempt] of logins.entries()) if (!(await attempt())) results.push(`${index}`);
    return results;
  };
  const report = (name: string, locked: readonly string[], of: number): Finding => ({
    name,
    figure: `locked out others: ${locked.length} of ${of} (goal 0)`,
    holds: locked.length === 0,
  });
  try {
    const attacked = await createOrganization(gateway.services);
    const others = await Promise.all(Array.from({ length: 10 }, () => createOrganization(gateway.services)));
    const colleagues = ['grace', 'joan', 'mary'];
    for (const username of colleagues) {
      await gateway.services.users.create({ organization: attacked.name, username, password: PASSWORD, grants: [] });
      if (!(await login(attacked.webProvision, OFFICE, username, PASSWORD))) throw new Error('A user cannot log in before the attack');
    }
    for (let guess = 0; guess < GUESSES; guess++) await login(attacked.webProvision, OFFICE, `guess${guess}`, 'a guess');
    const atOneAddress = [
      ...others.map(
        ({ webProvision }) =>
          () =>
            login(webProvision, OFFICE, 'ada', PASSWORD),
      ),
      ...colleagues.map((username) => () => login(attacked.webProvision, OFFICE, username, PASSWORD)),
    ];
    const behindAddress = report(`${GUESSES} bad logins of one address`, await lockedOut(atOneAddress), atOneAddress.length);

    const target = others[0]!;
    const known = [OFFICE, '198.51.100.20', '198.51.100.21'];
    for (const address of known.slice(1)) await login(target.webProvision, address, 'ada', PASSWORD);
    for (let attacker = 1; attacker <= ATTACKERS; attacker++) {
      for (let guess = 0; guess < GUESSES_EACH; guess++) await login(target.webProvision, `203.0.113.${attacker}`, 'ada', 'a guess');
    }
    const fromKnown = known.map((address) => () => login(target.webProvision, address, 'ada', PASSWORD));
    return [behindAddress, report(`${ATTACKERS} addresses against one user`, await lockedOut(fromKnown), fromKnown.length)];
  } finally {
    await gateway.stop();
  }
}
