import { request } from 'node:http';
import { askBoth, viaGraphql, viaRest, PATHS, type Ask, type Kind } from '../support/doors';
import {
  createOrganization,
  graphql,
  login,
  openSession,
  PASSWORD,
  withGateway,
  type RunningGateway,
  type TestOrganization,
} from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();
let organization: TestOrganization;
let elsewhere: TestOrganization;
let cookie: string;
let bearer: string;

const query = (sql: string, values: unknown[] = []) => gateway.database.client.query(sql, values);

// Each test has organizations of its own and may change them.
beforeEach(async () => {
  organization = await createOrganization(gateway.services);
  elsewhere = await createOrganization(gateway.services);
  cookie = await login(gateway.url, organization.webProvision);
  bearer = await openSession(gateway.url, organization.webProvision);
});

/** The two ways to send a session. All tests hold for both. */
const WAYS = ['cookie', 'bearer'] as const;
type Way = (typeof WAYS)[number];
const bring = (way: Way): Ask => (way === 'cookie' ? { cookie } : { bearer });

const ask = (kind: Kind, as: Ask) => askBoth(gateway.url, kind, as);

const UNKNOWN = '6f1d4d4e-0a63-4f0c-9d57-0f8f1a6f1c11';
const WRONG_PERIOD = 'Start date cannot be greater than the end date.';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** The checks from the last to the first. Each step breaks one more thing, and the earlier check must win. */
const steps: { name: string; expected: string; apply: (as: Writable<Ask>) => Promise<void> }[] = [
  { name: 'nothing but the parameters wrong', expected: WRONG_PERIOD, apply: async () => undefined },
  {
    name: 'a user without the privilege',
    expected: 'Privilege to perform the action was not found',
    apply: async () => void (await query(`UPDATE "user" SET privileges = '{}'`)),
  },
  { name: 'a disabled user', expected: 'Unauthorized', apply: async () => void (await query('UPDATE "user" SET disabled_at = now()')) },
  {
    name: 'a session of another provision',
    expected: 'Provision does not match logged in provision',
    apply: async () => {
      const { rows } = await query('SELECT id FROM provision WHERE organization_id = $1', [elsewhere.id]);
      await query('UPDATE session SET provision_id = $1', [(rows[0] as { id: number }).id]);
    },
  },
  {
    name: 'no session',
    expected: 'Not logged in',
    apply: async (as) => {
      if (as.cookie !== undefined) as.cookie = `deposit-gateway-session=${'A'.repeat(43)}`;
      if (as.bearer !== undefined) as.bearer = 'A'.repeat(43);
    },
  },
  {
    name: 'an organization under maintenance',
    expected: 'Under maintenance',
    apply: async () => void (await query('UPDATE organization SET under_maintenance = true')),
  },
  {
    name: 'another host',
    expected: 'Incorrect host for provision',
    apply: async () => void (await query(`UPDATE organization SET hosts = '{example.org}'`)),
  },
  {
    name: 'an unknown provision',
    expected: 'Invalid provision',
    apply: async (as) => {
      as.provision = UNKNOWN;
    },
  },
  {
    name: 'no provision header',
    expected: 'Provision header missing',
    apply: async (as) => {
      delete as.provision;
    },
  },
];

describe('a caller with several things wrong', () => {
  test.each(WAYS)('is told of the first in the order of the checks, on every door, with a session by %s', async (way) => {
    const as: Writable<Ask> = { provision: organization.webProvision, ...bring(way) };
    for (const { name, expected, apply } of steps) {
      await apply(as);
      expect([name, await ask('report', as)]).toEqual([name, expected]);
      const session = expected === WRONG_PERIOD ? 'granted' : expected;
      expect([name, await ask('session', as)]).toEqual([name, session]);
    }
  });

  test('is told of service maintenance before anything of the provision, and after a missing header', async () => {
    await withGateway({ UNDER_MAINTENANCE: 'on' }, async (closed) => {
      for (const kind of ['system', 'session', 'report'] as const) {
        expect(await askBoth(closed.url, kind, { provision: UNKNOWN })).toBe('Under maintenance');
        expect(await askBoth(closed.url, kind, {})).toBe('Provision header missing');
      }
    });
  });
});

describe('a provision', () => {
  test.each([
    'x',
    '',
    ' ',
    `{${UNKNOWN}}`,
    UNKNOWN.replaceAll('-', ''),
    '00000000-0000-0000-0000-000000000000',
    UNKNOWN,
    `${UNKNOWN}, ${UNKNOWN}`,
  ])('that is %j is refused', async (provision) => {
    const text = provision.trim() === '' ? 'Provision header missing' : 'Invalid provision';
    for (const kind of ['system', 'session', 'report'] as const) expect(await ask(kind, { provision })).toBe(text);
  });

  test('that was revoked is refused at once', async () => {
    expect(await ask('system', { provision: organization.apiProvision })).toBe('granted');
    await gateway.services.provisions.revoke(organization.apiProvision);
    expect(await ask('system', { provision: organization.apiProvision })).toBe('Invalid provision');
  });

  test('without the privilege of the system test is refused', async () => {
    await query(`UPDATE provision SET privileges = '{}'`);
    expect(await ask('system', { provision: organization.apiProvision })).toBe('Privilege to perform the action was not found');
  });

  test('of an API that was granted the report needs no login for it', async () => {
    expect(await ask('report', { provision: organization.apiProvision })).toBe(WRONG_PERIOD);
  });

  test('of a WEB page never opens the report by itself, even when its grants say so', async () => {
    await query('UPDATE provision SET privileges = $1', [['deposit_detail_designation_detail_with_contact_info']]);
    expect(await ask('report', { provision: organization.webProvision })).toBe('Not logged in');
  });

  test('of an API without the grant opens the report to a logged-in user alone', async () => {
    await query(`UPDATE provision SET privileges = '{}' WHERE organization_id = $1`, [organization.id]);
    expect(await ask('report', { provision: organization.apiProvision })).toBe('Not logged in');
    const own = await login(gateway.url, organization.apiProvision);
    expect(await ask('report', { provision: organization.apiProvision, cookie: own })).toBe(WRONG_PERIOD);
  });
});

describe('an organization with hosts', () => {
  const asking = async (headers: Record<string, string>, own: RunningGateway = gateway) => {
    const { apiProvision } = await createOrganization(own.services, ['give.example.org', '[::1]']);
    const text = await new Promise<string>((resolve, reject) => {
      const sent = request(`${own.url}${PATHS.system}`, { headers: { Provision: apiProvision, ...headers }, agent: false }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
        response.on('end', () => resolve(body));
      });
      sent.on('error', reject).end();
    });
    return text.includes('authenticated') ? 'granted' : (JSON.parse(text) as { errors: { error: string }[] }).errors[0]?.error;
  };

  test.each(['give.example.org', 'give.example.org:8443', 'GIVE.Example.ORG', 'give.example.org.', '[::1]:4000'])(
    'is reached at %s',
    async (Host) => {
      expect(await asking({ Host })).toBe('granted');
    },
  );

  test.each(['example.org', 'give.example.org.evil.net', 'give.example.org@evil.net', 'evil.net#give.example.org', '127.0.0.1'])(
    'is not reached at %s',
    async (Host) => {
      expect(await asking({ Host })).toBe('Incorrect host for provision');
    },
  );

  test.each(['X-Forwarded-Host', 'X-Host', 'X-Original-Host', 'Forwarded', 'X-Forwarded-Server'])(
    'is not reached by a claim in %s',
    async (name) => {
      const value = name === 'Forwarded' ? 'host=give.example.org' : 'give.example.org';
      expect(await asking({ Host: 'evil.net', [name]: value })).toBe('Incorrect host for provision');
    },
  );

  test('is reached by what a trusted proxy forwards', async () => {
    const forwarded = { Host: 'internal', 'X-Forwarded-Host': 'give.example.org' };
    for (const [TRUST_PROXY, expected] of [
      ['127.0.0.1', 'granted'],
      ['10.0.0.0/8', 'Incorrect host for provision'],
    ] as const) {
      await withGateway({ TRUST_PROXY }, async (own) => {
        expect(await asking(forwarded, own)).toBe(expected);
      });
    }
  });
});

const session = (as: Ask) => ask('session', as);

describe.each(WAYS)('a session by %s', (way) => {
  const mine = () => ({ provision: organization.webProvision, ...bring(way) });

  test('ends when idle for its time', async () => {
    await query(`UPDATE session SET last_seen_at = now() - interval '31 minutes'`);
    expect(await session(mine())).toBe('Not logged in');
  });

  test('is kept alive by requests', async () => {
    await query(`UPDATE session SET last_seen_at = now() - interval '29 minutes'`);
    expect(await session(mine())).toBe('granted');
    const { rows } = await query(
      `SELECT last_seen_at > now() - interval '1 minute' AS seen FROM session WHERE organization_id = $1 ORDER BY seen`,
      [organization.id],
    );
    // The requests kept this session alive, and not the session that comes the other way.
    expect(rows).toEqual([{ seen: false }, { seen: true }]);
  });

  test('is not kept alive by requests under another provision', async () => {
    await query(`UPDATE session SET last_seen_at = now() - interval '29 minutes'`);
    expect(await session({ ...mine(), provision: organization.apiProvision })).toBe('Provision does not match logged in provision');
    const { rows } = await query(`SELECT last_seen_at < now() - interval '28 minutes' AS kept FROM session WHERE organization_id = $1`, [
      organization.id,
    ]);
    expect(rows).toEqual([{ kept: true }, { kept: true }]);
  });

  test('ends at its absolute time', async () => {
    await query('UPDATE session SET expires_at = now()');
    expect(await session(mine())).toBe('Not logged in');
  });

  test('ends at logout', async () => {
    await graphql(gateway.url, 'mutation { logout { ended } }', mine());
    expect(await session(mine())).toBe('Not logged in');
  });

  test('ends when its provision is revoked', async () => {
    await gateway.services.provisions.revoke(organization.webProvision);
    expect(await session(mine())).toBe('Invalid provision');
    expect(await session({ ...mine(), provision: organization.apiProvision })).toBe('Provision does not match logged in provision');
  });

  test('of a disabled user is answered 401', async () => {
    await gateway.services.users.disable(organization.name, 'ada');
    const headers = new Headers({ Provision: organization.webProvision });
    headers.set(way === 'cookie' ? 'Cookie' : 'Authorization', way === 'cookie' ? cookie : `Bearer ${bearer}`);
    const response = await fetch(gateway.url + PATHS.session, { headers });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ errors: [{ error: 'Unauthorized', status: 401 }] });
  });
});

describe('a session by cookie', () => {
  test.each([
    '',
    'deposit-gateway-session=',
    'deposit-gateway-session=garbage',
    `deposit-gateway-session=${'A'.repeat(43)}`,
    `deposit-gateway-session=${'x'.repeat(8000)}`,
    'other=1',
  ])('is not opened by the cookie %.30s', async (value) => {
    expect(await session({ provision: organization.webProvision, cookie: value })).toBe('Not logged in');
  });

  test.each([
    ['one of another application before it', (own: string) => `session=abc; ${own}`],
    ['a faulty one of its name before it', (own: string) => `deposit-gateway-session=abc; ${own}`],
    ['one that has ended before it', (own: string) => `deposit-gateway-session=${'A'.repeat(43)}; ${own}`],
    ['one that has ended behind it', (own: string) => `${own}; deposit-gateway-session=${'A'.repeat(43)}`],
  ])('is opened beside %s', async (_title, toCookie) => {
    expect(await session({ provision: organization.webProvision, cookie: toCookie(cookie) })).toBe('granted');
  });

  test('is not looked for among more than three', async () => {
    const others = ['A', 'B', 'C'].map((letter) => `deposit-gateway-session=${letter.repeat(43)}; `).join('');
    expect(await session({ provision: organization.webProvision, cookie: others + cookie })).toBe('Not logged in');
  });

  test('ends when its client logs in again', async () => {
    const { headers } = await graphql(
      gateway.url,
      `mutation { login(input: { username: "ada", password: "${PASSWORD}" }) { viewer { username } } }`,
      {
        provision: organization.webProvision,
        cookie,
      },
    );
    expect(await session({ provision: organization.webProvision, cookie })).toBe('Not logged in');
    expect(await session({ provision: organization.webProvision, cookie: headers.get('set-cookie')!.split(';')[0]! })).toBe('granted');
  });
});

describe('a session by bearer', () => {
  const openAgain = `mutation { openSession(input: { username: "ada", password: "${PASSWORD}" }) {
    token idleExpiresAt expiresAt viewer { username organization privileges sessionExpiresAt } } }`;

  test.each(['', 'garbage', 'A'.repeat(43), 'x'.repeat(8000)])('is not opened by a token that is none: %#', async (token) => {
    expect(await session({ provision: organization.webProvision, bearer: token })).toBe('Not logged in');
  });

  test('is opened with its ends and its user, and sets no cookie', async () => {
    const { headers, body } = await graphql(gateway.url, openAgain, { provision: organization.webProvision });
    const { expiresAt, idleExpiresAt, token } = body.data?.openSession as Readonly<Record<string, string>>;
    expect([headers.get('set-cookie'), headers.get('cache-control')]).toEqual([null, 'no-store']);
    const minutesLeft = (end: string | undefined): number => Math.round((Date.parse(end!) - Date.now()) / 60_000);
    expect([minutesLeft(idleExpiresAt), minutesLeft(expiresAt)]).toEqual([30, 720]);
    const privileges = ['authenticated_test_system', 'authenticated_test_session', 'deposit_detail_designation_detail_with_contact_info'];
    expect(body).toEqual({
      data: {
        openSession: {
          ...{ token: expect.stringMatching(/^[\w-]{43}$/) as unknown, idleExpiresAt, expiresAt },
          viewer: { username: 'ada', organization: organization.name, privileges, sessionExpiresAt: expiresAt },
        },
      },
    });
    const viewer = await graphql(gateway.url, '{ viewer { sessionExpiresAt } }', { provision: organization.webProvision, bearer: token! });
    expect(viewer.body).toEqual({ data: { viewer: { sessionExpiresAt: expiresAt } } });
    const dump = await query('SELECT string_agg(s::text, $1) AS dump FROM session s', [' ']);
    expect(JSON.stringify(dump.rows) + gateway.logLines.join()).not.toContain(token);
  });

  test('is not opened with a wrong password', async () => {
    const { body } = await graphql(gateway.url, 'mutation { openSession(input: { username: "ada", password: "wrong" }) { token } }', {
      provision: organization.webProvision,
    });
    expect([body.data, body.errors?.map(({ extensions }) => extensions.code)]).toEqual([null, ['LOGIN_FAILED']]);
  });

  test('is guarded by the same counter as the login', async () => {
    const attempt = (mutation: string, password: string) =>
      graphql(gateway.url, `mutation { ${mutation}(input: { username: "ada", password: "${password}" }) { __typename } }`, {
        provision: organization.webProvision,
      });
    for (let failure = 0; failure < 10; failure++) await attempt('openSession', 'wrong');
    for (const mutation of ['openSession', 'login']) {
      const { status, headers } = await attempt(mutation, PASSWORD);
      expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
    }
  });

  test('ends when its client opens another, which leaves the browser its own', async () => {
    const { body } = await graphql(gateway.url, openAgain, { provision: organization.webProvision, bearer, cookie });
    const { token } = body.data?.openSession as { token: string };
    expect(await session({ provision: organization.webProvision, bearer })).toBe('Not logged in');
    expect(await session({ provision: organization.webProvision, bearer: token })).toBe('granted');
    expect(await session({ provision: organization.webProvision, cookie })).toBe('granted');
  });

  test("counts before the browser's, good or not, and ends alone", async () => {
    const both = { provision: organization.webProvision, cookie, bearer };
    const users = ['ada', 'bea'];
    await gateway.services.users.create({ organization: organization.name, username: 'bea', password: PASSWORD, grants: [] });
    const bea = await openSession(gateway.url, organization.webProvision, 'bea');
    for (const [position, token] of [bearer, bea].entries()) {
      const { body } = await graphql(gateway.url, '{ viewer { username } }', { ...both, bearer: token });
      expect(body).toEqual({ data: { viewer: { username: users[position] } } });
    }
    for (const none of ['garbage', '']) {
      expect(await viaGraphql(gateway.url, 'session', { ...both, bearer: none })).toBe('Not logged in');
      // v2 had no bearer tokens, so a token that a proxy adds must not replace the cookie.
      expect(await viaRest(gateway.url, 'session', { ...both, bearer: none })).toBe('granted');
    }
    const { headers } = await graphql(gateway.url, 'mutation { logout { ended } }', both);
    expect(headers.get('set-cookie')).toBeNull();
    expect(await viaGraphql(gateway.url, 'session', both)).toBe('Not logged in');
    expect(await session({ provision: organization.webProvision, cookie })).toBe('granted');
  });

  test.each(['bearer', 'BEARER', 'Bearer '])('takes its scheme in any case, and more than one space: %j', async (scheme) => {
    const headers = { Provision: organization.webProvision, Authorization: `${scheme} ${bearer}` };
    expect((await fetch(gateway.url + PATHS.session, { headers })).status).toBe(200);
  });

  test.each(['Basic YWRhOmFkYQ==', 'Negotiate', 'bearerish x', ''])(
    'is none of ours as %j, which leaves the cookie to count',
    async (Authorization) => {
      const headers = { Provision: organization.webProvision, Authorization };
      expect((await fetch(gateway.url + PATHS.session, { headers })).status).toBe(422);
      expect((await fetch(gateway.url + PATHS.session, { headers: { ...headers, Cookie: cookie } })).status).toBe(200);
    },
  );

  test('takes home a file', async () => {
    const path = '/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-01-31';
    const ask = (Authorization: string) => fetch(gateway.url + path, { headers: { Provision: organization.webProvision, Authorization } });
    expect((await ask(`Bearer ${bearer}`)).status).toBe(200);
    expect((await ask('Bearer garbage')).status).toBe(422);
  });
});
