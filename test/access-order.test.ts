import { request } from 'node:http';
import { askBoth, PATHS, type Ask, type Kind } from './support/doors';
import { createOrganization, graphql, login, PASSWORD, startGateway, type TestGateway, type TestOrganization } from './support/gateway';

let gateway: TestGateway;
let organization: TestOrganization;
let elsewhere: TestOrganization;
let cookie: string;

const query = (sql: string, values: unknown[] = []) => gateway.database.client.query(sql, values);

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
// Organizations of its own for every test: it may do to them what it likes.
beforeEach(async () => {
  organization = await createOrganization(gateway.services);
  elsewhere = await createOrganization(gateway.services);
  cookie = await login(gateway.url, organization.webProvision);
});

const ask = (kind: Kind, as: Ask) => askBoth(gateway.url, kind, as);

const UNKNOWN = '6f1d4d4e-0a63-4f0c-9d57-0f8f1a6f1c11';
const WRONG_PERIOD = 'Start date cannot be greater than the end date.';

/** From the last check to the first: each step breaks one more thing, and the earlier check must win. */
const steps: { name: string; expected: string; apply: (as: { provision?: string; cookie?: string }) => Promise<void> }[] = [
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
      await query('UPDATE session SET provision_id = $1', [(rows[0] as { id: string }).id]);
    },
  },
  {
    name: 'no session',
    expected: 'Not logged in',
    apply: async (as) => {
      as.cookie = 'session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
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
  test('is told of the first in the order of the checks, on every door', async () => {
    const as: { provision?: string; cookie?: string } = { provision: organization.webProvision, cookie };
    for (const { name, expected, apply } of steps) {
      await apply(as);
      expect([name, await ask('report', as)]).toEqual([name, expected]);
      const session = expected === WRONG_PERIOD ? 'granted' : expected;
      expect([name, await ask('session', as)]).toEqual([name, session]);
    }
  });

  test('is told of service maintenance before anything of the provision, and after a missing header', async () => {
    const closed = await startGateway({ UNDER_MAINTENANCE: 'on' });
    for (const kind of ['system', 'session', 'report'] as const) {
      expect(await askBoth(closed.url, kind, { provision: UNKNOWN })).toBe('Under maintenance');
      expect(await askBoth(closed.url, kind, {})).toBe('Provision header missing');
    }
    await closed.stop();
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
    await gateway.services.organizations.revokeProvision(organization.apiProvision);
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
    await query(`UPDATE provision SET privileges = '{}' WHERE id = $1`, [organization.apiProvision]);
    expect(await ask('report', { provision: organization.apiProvision })).toBe('Not logged in');
    const own = await login(gateway.url, organization.apiProvision);
    expect(await ask('report', { provision: organization.apiProvision, cookie: own })).toBe(WRONG_PERIOD);
  });
});

describe('an organization with hosts', () => {
  const asking = async (headers: Record<string, string>, own = gateway) => {
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
      const own = await startGateway({ TRUST_PROXY });
      expect(await asking(forwarded, own)).toBe(expected);
      await own.stop();
    }
  });
});

describe('a session', () => {
  const session = (as: Ask) => ask('session', as);
  const mine = () => ({ provision: organization.webProvision, cookie });

  test.each(['', 'session=', 'session=garbage', `session=${'A'.repeat(43)}`, `session=${'x'.repeat(8000)}`, 'other=1'])(
    'is not opened by the cookie %.30s',
    async (value) => {
      expect(await session({ provision: organization.webProvision, cookie: value })).toBe('Not logged in');
    },
  );

  test('ends when idle for its time', async () => {
    await query(`UPDATE session SET last_seen_at = now() - interval '31 minutes'`);
    expect(await session(mine())).toBe('Not logged in');
  });

  test('is kept alive by requests', async () => {
    await query(`UPDATE session SET last_seen_at = now() - interval '29 minutes'`);
    expect(await session(mine())).toBe('granted');
    const { rows } = await query(`SELECT last_seen_at > now() - interval '1 minute' AS seen FROM session WHERE organization_id = $1`, [
      organization.id,
    ]);
    expect(rows).toEqual([{ seen: true }]);
  });

  test('is not kept alive by requests under another provision', async () => {
    await query(`UPDATE session SET last_seen_at = now() - interval '29 minutes'`);
    expect(await session({ provision: organization.apiProvision, cookie })).toBe('Provision does not match logged in provision');
    const { rows } = await query(`SELECT last_seen_at < now() - interval '28 minutes' AS kept FROM session WHERE organization_id = $1`, [
      organization.id,
    ]);
    expect(rows).toEqual([{ kept: true }]);
  });

  test('ends at its absolute time', async () => {
    await query('UPDATE session SET expires_at = now()');
    expect(await session(mine())).toBe('Not logged in');
  });

  test('ends at logout', async () => {
    await graphql(gateway.url, 'mutation { logout }', mine());
    expect(await session(mine())).toBe('Not logged in');
  });

  test('ends when its client logs in again', async () => {
    const { headers } = await graphql(gateway.url, `mutation { login(username: "ada", password: "${PASSWORD}") { username } }`, mine());
    expect(await session(mine())).toBe('Not logged in');
    expect(await session({ ...mine(), cookie: headers.get('set-cookie')!.split(';')[0]! })).toBe('granted');
  });

  test('of a disabled user is answered 401', async () => {
    await gateway.services.organizations.disableUser(organization.name, 'ada');
    const response = await fetch(gateway.url + PATHS.session, { headers: { Provision: organization.webProvision, Cookie: cookie } });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ errors: [{ error: 'Unauthorized', status: 401 }] });
  });
});
