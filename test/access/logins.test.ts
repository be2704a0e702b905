import { Client } from 'pg';
import { createOrganization, graphql, login, PASSWORD, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';
import { until } from '../support/until';

const gateway = openGateway({ loggedIn: true });
const { organization } = gateway;

const codes = (body: { errors?: { extensions: { code: string } }[] }) => body.errors?.map(({ extensions }) => extensions.code);

/** Waits until so many statements wait for a lock. */
const areWaiting = (count: number) =>
  until(async () => {
    const { rows } = await gateway.database.client.query(
      `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return (rows[0] as { count: number }).count === count;
  });
const sessionsOf = async (organizationId: number): Promise<number> => {
  const sessions = 'SELECT FROM session WHERE organization_id = $1';
  return (await gateway.database.client.query(sessions, [organizationId])).rowCount!;
};

describe('a login', () => {
  const attempt = (username: string, password: string, provision = organization.webProvision) =>
    graphql(
      gateway.url,
      'mutation ($u: String!, $p: String!) { login(input: { username: $u, password: $p }) { viewer { username organization sessionExpiresAt } } }',
      {
        provision,
        variables: { u: username, p: password },
      },
    );

  test('sets a cookie that scripts and other sites cannot use', async () => {
    const { headers, body } = await attempt('ada', PASSWORD);
    expect(headers.get('set-cookie')).toMatch(/^deposit-gateway-session=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/);
    const { sessionExpiresAt } = (body.data?.login as { viewer: { sessionExpiresAt: string } }).viewer;
    const hours = (Date.parse(sessionExpiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(11.9);
    expect(hours).toBeLessThanOrEqual(12);
  });

  test('over https sets a cookie that is bound to this host', async () => {
    await withGateway({ TRUST_PROXY: '127.0.0.1' }, async (own) => {
      const { webProvision } = await createOrganization(own.services);
      const response = await fetch(`${own.url}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Forwarded-Proto': 'https', Provision: webProvision },
        body: JSON.stringify({ query: `mutation { login(input: { username: "ada", password: "${PASSWORD}" }) { viewer { username } } }` }),
      });
      expect(response.headers.get('set-cookie')).toMatch(
        /^__Host-deposit-gateway-session=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
      );
      expect(response.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    });
  });

  test.each([
    ['a wrong password', 'ada', 'wrong password'],
    ['an unknown user', 'nobody', PASSWORD],
    ['a user of another organization', 'ada@elsewhere', PASSWORD],
    ['a name that cannot be', 'ada\0', PASSWORD],
  ])('fails alike for %s', async (_title, username, password) => {
    const { status, headers, body } = await attempt(username, password);
    expect([status, headers.get('set-cookie')]).toEqual([200, null]);
    expect(body.data).toBeNull();
    expect(body.errors).toEqual([
      expect.objectContaining({
        message: 'Username or password is not correct',
        extensions: { code: 'LOGIN_FAILED', requestId: REQUEST_ID },
      }),
    ]);
  });

  const BY_INPUT = 'mutation ($i: LoginInput!) { login(input: $i) { viewer { username } } }';
  const BY_PARTS = 'mutation ($p: String!) { login(input: { username: "ada", password: $p }) { viewer { username } } }';
  const SECRET = 'hunter2; Field "x';
  const QUOTED = JSON.stringify(SECRET);
  test.each<[string, string, object, string]>([
    [
      'with another field',
      BY_INPUT,
      { i: { username: 'ada', password: SECRET, foo: 1 } },
      'Field "foo" is not defined by type "LoginInput".',
    ],
    ['without a name', BY_INPUT, { i: { password: SECRET } }, 'Field "username" of required type "String!" was not provided.'],
    ['by a field of an odd name', BY_INPUT, { i: { username: 'ada', password: SECRET, 'a"b': 1 } }, 'got an invalid value'],
    ['by a text alone', BY_INPUT, { i: SECRET }, 'Expected type "LoginInput" to be an object.'],
    ['with a list as the password', BY_INPUT, { i: { username: 'ada', password: [SECRET] } }, 'String cannot represent a non string value'],
    ['with a list in a variable', BY_PARTS, { p: [SECRET] }, 'String cannot represent a non string value'],
    ['with an object in a variable', BY_PARTS, { p: { hunter2: 1 } }, 'String cannot represent a non string value'],
    [
      'with a list in its text',
      BY_PARTS.replace('password: $p', `password: [${QUOTED}]`),
      { p: '' },
      'String cannot represent a non string',
    ],
    ['by a text in its text', `mutation { login(input: ${QUOTED}) { viewer { username } } }`, {}, 'Expected value of type "LoginInput!"'],
    [
      'without a comma and a name',
      `mutation { login(input: { username: ${QUOTED} ${QUOTED} }) { viewer { username } } }`,
      {},
      'Syntax Error',
    ],
    [
      'without quotes',
      'mutation { login(input: { username: "ada", password: a correct hunter2 }) { viewer { username } } }',
      {},
      'Syntax Error',
    ],
  ])('%s is refused without the password in the message', async (_title, query, variables, reason) => {
    const { body } = await graphql(gateway.url, query, { provision: organization.webProvision, variables });
    expect(body.errors?.[0]!.message).toContain(reason);
    expect(JSON.stringify(body)).not.toContain('hunter2');
  });

  test('of a disabled user fails like any other', async () => {
    const own = await createOrganization(gateway.services);
    await gateway.services.users.disable(own.name, 'ada');
    expect(codes((await attempt('ada', PASSWORD, own.webProvision)).body)).toEqual(['LOGIN_FAILED']);
  });

  test.each([
    ['replaced', (name: string) => gateway.services.users.setPassword(name, 'ada', 'another long password'), 'another long password'],
    ['deleted with its user', (name: string) => gateway.services.users.delete(name, 'ada'), undefined],
  ])('fails with a password that is being %s, and opens no session', async (_title, change, newPassword) => {
    const own = await createOrganization(gateway.services);
    await login(gateway.url, own.webProvision);
    const holder = new Client({ connectionString: gateway.database.url });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM session WHERE organization_id = $1 FOR UPDATE', [own.id]);
      const changing = change(own.name);
      await areWaiting(1);
      const late = attempt('ada', PASSWORD, own.webProvision);
      // The login waits for the change, which waits for the session that the holder has locked.
      await areWaiting(2);
      await holder.query('ROLLBACK');
      await changing;
      const { headers, body } = await late;
      expect([codes(body), headers.get('set-cookie')]).toEqual([['LOGIN_FAILED'], null]);
    } finally {
      await holder.end();
    }
    expect(await sessionsOf(own.id)).toBe(0);
    if (newPassword === undefined) return;
    expect((await attempt('ada', newPassword, own.webProvision)).body.errors).toBeUndefined();
  });

  test('that is under way ends with the password that is replaced meanwhile', async () => {
    const own = await createOrganization(gateway.services);
    await login(gateway.url, own.webProvision);
    await gateway.database.client.query('UPDATE session SET expires_at = now() WHERE organization_id = $1', [own.id]);
    const holder = new Client({ connectionString: gateway.database.url });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM session WHERE organization_id = $1 FOR UPDATE', [own.id]);
      const early = attempt('ada', PASSWORD, own.webProvision);
      // The login has its new session, and waits to delete the expired one.
      await areWaiting(1);
      const changing = gateway.services.users.setPassword(own.name, 'ada', 'another long password');
      await areWaiting(2);
      await holder.query('ROLLBACK');
      expect(codes((await early).body)).toBeUndefined();
      await changing;
    } finally {
      await holder.end();
    }
    expect(await sessionsOf(own.id)).toBe(0);
  });

  test('is refused after too many failures, with a time to come back, and others are not', async () => {
    const own = await createOrganization(gateway.services);
    await gateway.services.users.create({ organization: own.name, username: 'grace', password: PASSWORD, grants: [] });
    for (let failure = 0; failure < 10; failure++) await attempt('ada', 'wrong password', own.webProvision);
    const { status, headers, body } = await attempt('ada', PASSWORD, own.webProvision);
    expect([status, codes(body)]).toEqual([429, ['TOO_MANY_LOGIN_ATTEMPTS']]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(800);
    expect((await attempt('grace', PASSWORD, own.webProvision)).body.errors).toBeUndefined();
  });

  test('that succeeds counts for nothing', async () => {
    const own = await createOrganization(gateway.services);
    for (let success = 0; success < 12; success++) expect((await attempt('ada', PASSWORD, own.webProvision)).body.errors).toBeUndefined();
  });

  describe('of a browser that has several cookies of sessions', () => {
    const open = async () => {
      const own = await createOrganization(gateway.services);
      const [provision, cookies] = [own.webProvision, [] as string[]];
      for (let n = 0; n < 2; n++) cookies.push(await login(gateway.url, provision));
      return { own, provision, cookie: ['deposit-gateway-session=' + 'x'.repeat(43), ...cookies].join('; ') };
    };
    const LOGIN = 'mutation ($u: String!, $p: String!) { login(input: { username: $u, password: $p }) { viewer { username } } }';
    const variables = { u: 'ada', p: PASSWORD };

    test('ends all of them, beside a bearer too', async () => {
      const { own, provision, cookie } = await open();
      await graphql(gateway.url, LOGIN, { provision, cookie, variables });
      expect(await sessionsOf(own.id)).toBe(1);
      const other = await open();
      await graphql(gateway.url, LOGIN, { provision: other.provision, cookie: other.cookie, bearer: 'of-a-proxy', variables });
      expect(await sessionsOf(other.own.id)).toBe(1);
    });

    test('is undone by a logout, after which nobody is logged in', async () => {
      const { own, provision, cookie } = await open();
      const { body } = await graphql(gateway.url, 'mutation { logout { ended } }', { provision, cookie });
      expect(body).toEqual({ data: { logout: { ended: true } } });
      expect(await sessionsOf(own.id)).toBe(0);
    });
  });

  test('leaves nothing in the database but hashes', async () => {
    const own = await createOrganization(gateway.services);
    const token = (await login(gateway.url, own.webProvision)).split('=')[1]!;
    const { rows } = await gateway.database.client.query(`SELECT string_agg(s::text || u::text, '') AS dump FROM session s, "user" u`);
    const { dump } = rows[0] as { dump: string };
    expect(dump).not.toContain(token);
    expect(dump).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
    expect(dump).not.toContain(PASSWORD);
    expect(dump).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
  });

  test('is written into no log', async () => {
    const logged = gateway.logLines.length;
    const credentials = { provision: organization.webProvision, cookie: gateway.cookie };
    expect((await graphql(gateway.url, '{ viewer { username } }', credentials)).body.errors).toBeUndefined();
    await until(() => gateway.logLines.length > logged);
    const log = gateway.logLines.join('');
    expect(log).not.toContain(PASSWORD);
    expect(log).not.toContain(organization.webProvision);
    expect(log).not.toContain(gateway.cookie.split('=')[1]);
  });
});
