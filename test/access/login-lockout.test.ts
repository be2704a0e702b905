import { readAudit, whileAuditIsHeld } from '../support/audit-reader';
import { done, failed, runCommand } from '../support/command';
import { createOrganization, PASSWORD, withGateway, type RunningGateway, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const PROXY = '127.0.0.1';
const OFFICE = '198.51.100.7';

// A proxy on this machine says where a caller is. Few attempts keep the tests short.
const gateway = openGateway({ settings: { TRUST_PROXY: PROXY, LOGIN_ATTEMPTS: '2' } });

/** The code that a login is answered with; undefined where it succeeds. */
async function attempt({ webProvision }: TestOrganization, address: string, username = 'ada', password = PASSWORD) {
  const query =
    'mutation ($username: String!, $password: String!) { login(input: { username: $username, password: $password }) { viewer { username } } }';
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Provision: webProvision, 'X-Forwarded-For': address },
    body: JSON.stringify({ query, variables: { username, password } }),
  });
  const { errors } = (await response.json()) as { errors?: { extensions: { code: string } }[] };
  return errors?.[0]?.extensions.code;
}

const fail = (organization: TestOrganization, address: string, username = 'ada') => attempt(organization, address, username, 'a guess');

/** Uses up what an address has in an organization: two failures for each of ten names. */
async function exhaustAddress(organization: TestOrganization, address: string): Promise<void> {
  for (let name = 0; name < 10; name++) {
    for (let failure = 0; failure < 2; failure++) expect(await fail(organization, address, `guess${name}`)).toBe('LOGIN_FAILED');
  }
  expect(await fail(organization, address, 'one more')).toBe('TOO_MANY_LOGIN_ATTEMPTS');
}

/** Uses up what all new addresses together have with a user. */
async function exhaustUser(organization: TestOrganization, network = '203.0.113'): Promise<void> {
  for (let host = 1; host <= 10; host++) {
    for (let failure = 0; failure < 2; failure++) expect(await fail(organization, `${network}.${host}`)).toBe('LOGIN_FAILED');
  }
  expect(await fail(organization, `${network}.11`)).toBe('TOO_MANY_LOGIN_ATTEMPTS');
}

describe('a user', () => {
  test('logs in behind an address at which another organization’s logins are used up', async () => {
    const [attacked, other] = [await createOrganization(gateway.services), await createOrganization(gateway.services)];
    await exhaustAddress(attacked, OFFICE);
    expect(await attempt(other, OFFICE)).toBeUndefined();
    expect(await attempt(attacked, OFFICE)).toBe('TOO_MANY_LOGIN_ATTEMPTS');
  });

  test('logs in where that succeeded before, whatever fails elsewhere and for others at the same address', async () => {
    const organization = await createOrganization(gateway.services);
    expect(await attempt(organization, OFFICE)).toBeUndefined();
    await exhaustUser(organization);
    await exhaustAddress(organization, OFFICE);
    expect(await attempt(organization, OFFICE)).toBeUndefined();
    expect(await attempt(organization, '198.51.100.8')).toBe('TOO_MANY_LOGIN_ATTEMPTS');
  });

  test('logs in many times at once with the right password, which uses up nothing', async () => {
    const organization = await createOrganization(gateway.services);
    for (const address of [OFFICE, OFFICE, '198.51.100.8']) {
      const codes = await Promise.all(Array.from({ length: 25 }, () => attempt(organization, address)));
      expect(codes).toEqual(Array(25).fill(undefined));
    }
    for (const code of ['LOGIN_FAILED', 'LOGIN_FAILED', 'TOO_MANY_LOGIN_ATTEMPTS']) expect(await fail(organization, OFFICE)).toBe(code);
  });

  test('is guarded against guesses at once, which are tried no more often, and the refused ones count as nothing', async () => {
    const organization = await createOrganization(gateway.services);
    const countsOf = async (): Promise<ReadonlyMap<string, number>> => {
      const { rows } = await gateway.database.client.query<{ key: string; points: number }>('SELECT key, points FROM login_attempt');
      return new Map(rows.map(({ key, points }) => [key, points]));
    };
    const before = await countsOf();
    for (const tried of [2, 0]) {
      const codes = await Promise.all(Array.from({ length: 25 }, () => fail(organization, OFFICE)));
      expect(codes.filter((code) => code === 'LOGIN_FAILED').length).toBe(tried);
      expect(codes.filter((code) => code === 'TOO_MANY_LOGIN_ATTEMPTS').length).toBe(25 - tried);
    }
    const added = [...(await countsOf())].filter(([key]) => !before.has(key)).map(([key, points]) => [key.split(':')[0], points]);
    expect(added.toSorted()).toEqual([
      ['organization-address', 2],
      ['user', 2],
      ['user-address', 2],
    ]);
  });

  test('is known again in the same IPv6 network, and guessers of one are counted together', async () => {
    const organization = await createOrganization(gateway.services);
    expect(await attempt(organization, '2001:db8:1:2::1')).toBeUndefined();
    await exhaustUser(organization);
    expect(await attempt(organization, '2001:db8:1:2:aaaa:bbbb:cccc:dddd')).toBeUndefined();
    for (const host of ['1', 'ffff:1']) expect(await fail(organization, `2001:db8:1:2::${host}`)).toBe('LOGIN_FAILED');
    expect(await fail(organization, '2001:db8:1:2::2')).toBe('TOO_MANY_LOGIN_ATTEMPTS');
  });

  test('is one caller behind a proxy that writes ports behind addresses', async () => {
    const organization = await createOrganization(gateway.services);
    await gateway.services.provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
    for (const [first, ...others] of [
      ['192.0.2.77:50001', '192.0.2.77:50002', '10.0.0.1:1, 192.0.2.77:50003', '192.0.2.77'],
      ['[2001:db8:7::1]:50001', '[2001:db8:7::2]:50002', '[2001:db8:7::1]', '2001:db8:7::1'],
    ] as const) {
      for (const address of [first, others[0]]) expect(await fail(organization, address)).toBe('LOGIN_FAILED');
      for (const address of others) expect(await fail(organization, address)).toBe('TOO_MANY_LOGIN_ATTEMPTS');
    }
    const records = await readAudit(gateway, organization, '{ kinds: [LOGIN_FAILED] }');
    expect(records.map(({ address }) => address)).toEqual(['192.0.2.77', '2001:db8:7::1', '2001:db8:7::2']);
  });

  test('is locked out for an IPv6 network with one row of the audit, whichever of its addresses guessers take', async () => {
    const organization = await createOrganization(gateway.services);
    await gateway.services.provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
    for (const host of [1, 2]) expect(await fail(organization, `2001:db8:1:2::${host}`)).toBe('LOGIN_FAILED');
    for (const host of [3, 4, 5]) expect(await fail(organization, `2001:db8:1:2::${host}`)).toBe('TOO_MANY_LOGIN_ATTEMPTS');
    const addresses = async (kind: string) =>
      (await readAudit(gateway, organization, `{ kinds: [${kind}] }`)).map(({ address }) => address);
    expect(await addresses('LOGIN_FAILED')).toEqual(['2001:db8:1:2::1', '2001:db8:1:2::2']);
    expect(await addresses('LOCKOUT')).toEqual(['2001:db8:1:2']);
  });

  test('is guarded without a row for each name that a locked-out address invents', async () => {
    const organization = await createOrganization(gateway.services);
    await exhaustAddress(organization, OFFICE);
    const rows = async (): Promise<number> => (await gateway.database.client.query('SELECT FROM login_attempt')).rowCount ?? 0;
    const before = await rows();
    for (const name of ['first', 'second', 'third']) expect(await fail(organization, OFFICE, name)).toBe('TOO_MANY_LOGIN_ATTEMPTS');
    expect(await rows()).toBe(before);
    // A client that tries one user again and again leaves the address to its neighbours.
    for (let failure = 0; failure < 2; failure++) expect(await fail(organization, '198.51.100.8')).toBe('LOGIN_FAILED');
    for (let retry = 0; retry < 25; retry++) expect(await fail(organization, '198.51.100.8')).toBe('TOO_MANY_LOGIN_ATTEMPTS');
    await gateway.services.users.create({ organization: organization.name, username: 'bea', password: PASSWORD, grants: [] });
    expect(await attempt(organization, '198.51.100.8', 'bea')).toBeUndefined();
  });

  test('is guarded at a known address too: guesses there are counted', async () => {
    const organization = await createOrganization(gateway.services);
    expect(await attempt(organization, OFFICE)).toBeUndefined();
    for (let failure = 0; failure < 2; failure++) expect(await fail(organization, OFFICE)).toBe('LOGIN_FAILED');
    expect(await attempt(organization, OFFICE)).toBe('TOO_MANY_LOGIN_ATTEMPTS');
  });

  test('is forgotten at an address after 30 days, and at all but the last 20', async () => {
    const organization = await createOrganization(gateway.services);
    const { client } = gateway.database;
    const known = async (): Promise<number> =>
      (await client.query('SELECT FROM known_address WHERE organization_id = $1', [organization.id])).rowCount ?? 0;
    expect(await attempt(organization, OFFICE)).toBeUndefined();
    for (let host = 1; host <= 20; host++) expect(await attempt(organization, `192.0.2.${host}`)).toBeUndefined();
    expect(await known()).toBe(20);
    await exhaustUser(organization);
    expect(await attempt(organization, OFFICE)).toBe('TOO_MANY_LOGIN_ATTEMPTS');
    expect(await attempt(organization, '192.0.2.1')).toBeUndefined();

    await client.query("UPDATE known_address SET last_login_at = now() - interval '31 days' WHERE organization_id = $1", [organization.id]);
    expect(await attempt(organization, '192.0.2.1')).toBe('TOO_MANY_LOGIN_ATTEMPTS');
    const other = await createOrganization(gateway.services);
    expect(await attempt(other, OFFICE)).toBeUndefined();
    expect(await known()).toBe(0);
  });

  test('leaves no address and no name in what is remembered of logins', async () => {
    const organization = await createOrganization(gateway.services);
    await gateway.services.users.create({ organization: organization.name, username: 'grace', password: PASSWORD, grants: [] });
    expect(await attempt(organization, OFFICE, 'grace')).toBeUndefined();
    expect(await fail(organization, OFFICE, 'grace')).toBe('LOGIN_FAILED');
    const { rows } = await gateway.database.client.query<{ text: string }>(
      `SELECT encode(address_hash, 'escape') || k::text AS text FROM known_address k UNION ALL SELECT a::text FROM login_attempt a`,
    );
    // In whatever coding a key has them.
    const texts = rows.flatMap(({ text }) => [text, ...text.split(/[(:.,)]/).map((part) => Buffer.from(part, 'base64url').toString())]);
    expect(texts.join(' ')).not.toMatch(/198\.51|grace/);
    expect(texts.join(' ')).toContain('user-address:');
  });
});

describe('an operator', () => {
  test('unlocks a user, and lets one in from an address while others guess elsewhere', async () => {
    const organization = await createOrganization(gateway.services);
    const unlock = (...words: string[]) =>
      runCommand({ DATABASE_URL: gateway.database.url }, ['login', 'unlock', '--organization', organization.name, ...words]);
    const unlocked = done(`Unlocked user "ada" of "${organization.name}"`);

    await exhaustUser(organization);
    expect(await attempt(organization, '198.51.100.6')).toBe('TOO_MANY_LOGIN_ATTEMPTS');
    expect(await unlock('--username', 'ada')).toEqual(unlocked);
    expect(await attempt(organization, '203.0.113.1')).toBeUndefined();
    await exhaustUser(organization, '192.0.2');
    await exhaustAddress(organization, OFFICE);
    expect(await attempt(organization, OFFICE)).toBe('TOO_MANY_LOGIN_ATTEMPTS');
    expect(await unlock('--username', 'ada', '--address', OFFICE)).toEqual(unlocked);
    await exhaustUser(organization, '192.0.2');
    expect(await attempt(organization, OFFICE)).toBeUndefined();
    expect(await attempt(organization, '198.51.100.8')).toBe('TOO_MANY_LOGIN_ATTEMPTS');

    // So is a colleague at that address.
    await gateway.services.users.create({ organization: organization.name, username: 'bea', password: PASSWORD, grants: [] });
    expect(await attempt(organization, OFFICE, 'bea')).toBeUndefined();
    // Guesses at an address that is known are forgotten too.
    for (let failure = 0; failure < 2; failure++) expect(await fail(organization, OFFICE)).toBe('LOGIN_FAILED');
    expect(await attempt(organization, OFFICE)).toBe('TOO_MANY_LOGIN_ATTEMPTS');
    expect(await unlock('--username', 'ada')).toEqual(unlocked);
    expect(await attempt(organization, OFFICE)).toBeUndefined();

    expect(await unlock('--username', 'ada', '--address', 'office')).toEqual(failed('"office" is not an IP address'));
    expect(await unlock('--username', 'bob')).toEqual(failed(`There is no user "bob" in "${organization.name}"`));
  });

  const warnings = ({ logLines }: RunningGateway): unknown[] =>
    logLines.map((line) => JSON.parse(line) as { level: number }).filter(({ level }) => level === 40);
  const header = (name: string, value: string) => ({ headers: { [name]: value } });

  test.each([
    ['X-Forwarded-For', '203.0.113.9'],
    ['X-Forwarded-Proto', 'https'],
    ['Forwarded', 'for=203.0.113.9;proto=https'],
  ])('is told once of a proxy that TRUST_PROXY does not name, by its %s', async (name, value) => {
    await withGateway({}, async (own) => {
      await fetch(`${own.url}/live`);
      expect(warnings(own)).toEqual([]);
      for (const path of ['/ready', '/live', '/graphql']) await fetch(own.url + path, header(name, value));
      expect(warnings(own)).toEqual([
        expect.objectContaining({
          header: name.toLowerCase(),
          peer: '127.0.0.1',
          msg: 'TRUST_PROXY does not name a peer that forwards requests: all callers behind it count as one address at login, and as plain http',
        }),
      ]);
      expect(own.logLines.join('')).not.toContain('203.0.113.9');
    });
  });

  test('is told of nothing where TRUST_PROXY names the proxy', async () => {
    await fetch(`${gateway.url}/live`, header('X-Forwarded-For', '203.0.113.9'));
    expect(warnings(gateway)).toEqual([]);
  });
});

test('a guesser is answered before its row is written, so that the time tells nobody whether the user exists', async () => {
  const organization = await createOrganization(gateway.services);
  await gateway.services.provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
  await whileAuditIsHeld(gateway.database.url, organization, async () => {
    for (const username of ['nobody', 'ada', 'ada']) expect(await fail(organization, OFFICE, username)).toBe('LOGIN_FAILED');
    expect(await fail(organization, OFFICE)).toBe('TOO_MANY_LOGIN_ATTEMPTS');
  });
  const events = async () =>
    (await readAudit(gateway, organization, '{ kinds: [LOGIN_FAILED, LOCKOUT] }')).map(({ kind, username }) => [kind, username]);
  await until(async () => (await events()).length === 3);
  expect(await events()).toEqual([
    ['LOGIN_FAILED', null],
    ['LOGIN_FAILED', 'ada'],
    ['LOCKOUT', 'ada'],
  ]);
});
