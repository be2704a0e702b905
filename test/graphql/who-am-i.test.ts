import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createOrganization, graphql, login, openSession, PASSWORD, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const gateway = openGateway({ loggedIn: true });
const { organization } = gateway;
const asUser = () => ({ provision: organization.webProvision, cookie: gateway.cookie });
const codesOf = (errors: readonly { readonly extensions: { readonly code: string } }[] = []) =>
  errors.map(({ extensions }) => extensions.code);

const MINUTE_MS = 60_000;

describe('a session', () => {
  const QUERY = '{ viewer { sessionIdleExpiresAt sessionExpiresAt } }';
  const ends = async (credentials: object): Promise<readonly [idleMs: number, latestMs: number]> => {
    const { body } = await graphql(gateway.url, QUERY, credentials);
    const { sessionIdleExpiresAt, sessionExpiresAt } = body.data!.viewer as Record<string, string>;
    return [Date.parse(sessionIdleExpiresAt!), Date.parse(sessionExpiresAt!)];
  };
  const bearer = () => openSession(gateway.url, organization.webProvision);
  /** Makes the newest session older. */
  const age = (minutes: number) =>
    gateway.database.client.query(
      `UPDATE session SET last_seen_at = last_seen_at - make_interval(mins => $1), expires_at = expires_at - make_interval(mins => $1)
       WHERE created_at = (SELECT max(created_at) FROM session)`,
      [minutes],
    );

  test('tells both of its ends, so that an app can count down to them', async () => {
    const session = { provision: organization.webProvision, bearer: await bearer() };
    const [idle, latest] = await ends(session);
    const now = Date.now();
    expect(idle - now).toBeGreaterThan(29 * MINUTE_MS);
    expect(idle - now).toBeLessThanOrEqual(30 * MINUTE_MS);
    expect(latest - now).toBeGreaterThan((12 * 60 - 1) * MINUTE_MS);
  });

  test('is moved by a request, but never beyond its latest end', async () => {
    const session = { provision: organization.webProvision, bearer: await bearer() };
    const [, latest] = await ends(session);
    await age(20);
    const [moved, sameLatest] = await ends(session);
    expect(moved - Date.now()).toBeGreaterThan(29 * MINUTE_MS);
    expect(sameLatest).toBe(latest - 20 * MINUTE_MS);
    for (let hours = 0; hours < 11.5; hours += 0.25) {
      await age(15);
      await ends(session);
    }
    const [idle, end] = await ends(session);
    expect([idle === end, end - Date.now() < 30 * MINUTE_MS]).toEqual([true, true]);
  });
});

describe('a provision', () => {
  const QUERY = '{ provision { kind label privileges } }';
  const create = (kind: 'API' | 'MOBILE') =>
    gateway.services.provisions.create({ organization: organization.name, kind, label: 'Nightly export', grants: [] });
  const PRIVILEGES = ['authenticated_test_system', 'authenticated_test_session'];

  test('tells a server what it is and what it was granted', async () => {
    const { body } = await graphql(gateway.url, QUERY, { provision: await create('API') });
    expect(body).toEqual({ data: { provision: { kind: 'API', label: 'Nightly export', privileges: PRIVILEGES } } });
  });

  test('tells the label and the privileges of an app to its users alone', async () => {
    const provision = await create('MOBILE');
    const stranger = await graphql(gateway.url, QUERY, { provision });
    expect(stranger.body.data).toEqual({ provision: { kind: 'MOBILE', label: null, privileges: null } });
    expect(codesOf(stranger.body.errors)).toEqual(['NOT_LOGGED_IN', 'NOT_LOGGED_IN']);
    const user = { provision, cookie: await login(gateway.url, provision) };
    expect((await graphql(gateway.url, QUERY, user)).body).toEqual({
      data: { provision: { kind: 'MOBILE', label: 'Nightly export', privileges: PRIVILEGES } },
    });
  });
});

describe('the schema as a file', () => {
  const TEXT = readFileSync(resolve(__dirname, '../../schema.graphql'), 'utf8');
  const get = (url: string, headers: Readonly<Record<string, string | undefined>>, method = 'GET') =>
    fetch(`${url}/schema.graphql`, { method, headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value)) as never });

  test('is for a server and for a logged-in user, and says when a copy is still good', async () => {
    const { provision, cookie } = asUser();
    for (const headers of [{ Provision: organization.apiProvision }, { Provision: provision, Cookie: cookie }]) {
      const answer = await get(gateway.url, headers);
      expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([200, 'text/plain; charset=utf-8', TEXT]);
      const etag = answer.headers.get('etag')!;
      expect(etag).toMatch(/^"[\w-]{43}"$/);
      const again = await get(gateway.url, { ...headers, 'If-None-Match': `"other", ${etag}` });
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
      expect((await get(gateway.url, { ...headers, 'If-None-Match': '"other"' })).status).toBe(200);
      const head = await get(gateway.url, headers, 'HEAD');
      expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, String(Buffer.byteLength(TEXT)), '']);
    }
  });

  test('is refused as introspection is, whatever copy the caller has', async () => {
    const refusal = async (headers: Record<string, string>, url = gateway.url) => {
      const answer = await get(url, { 'If-None-Match': '*', ...headers });
      return [answer.status, ((await answer.json()) as { errors: { error: string }[] }).errors[0]!.error];
    };
    expect(await refusal({})).toEqual([422, 'Provision header missing']);
    expect(await refusal({ Provision: '00000000-0000-4000-8000-000000000000' })).toEqual([422, 'Invalid provision']);
    expect(await refusal({ Provision: organization.webProvision })).toEqual([422, 'Not logged in']);
    await gateway.services.users.create({ organization: organization.name, username: 'gone', password: PASSWORD, grants: [] });
    const cookie = await login(gateway.url, organization.webProvision, 'gone');
    await gateway.services.users.disable(organization.name, 'gone');
    expect(await refusal({ Provision: organization.webProvision, Cookie: cookie })).toEqual([401, 'Unauthorized']);
    await withGateway({ INTROSPECTION: 'off' }, async ({ url, services }) => {
      const { apiProvision } = await createOrganization(services);
      expect(await refusal({ Provision: apiProvision }, url)).toEqual([403, 'Introspection is switched off']);
    });
    await withGateway({ INTROSPECTION: 'on' }, async ({ url, services }) => {
      const { webProvision } = await createOrganization(services);
      expect((await get(url, { Provision: webProvision })).status).toBe(200);
      expect(await refusal({}, url)).toEqual([422, 'Provision header missing']);
    });
  });

  test('is at one address, by GET and HEAD, and leaves a line in the log as every request', async () => {
    const answer = await fetch(`${gateway.url}/schema.graphql`, { method: 'POST', headers: { Provision: organization.apiProvision } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect([answer.headers.get('cache-control'), answer.headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff']);
    const id = answer.headers.get('x-request-id')!;
    await until(() => Promise.resolve(gateway.logLines.some((line) => line.includes(id) && line.includes('"path":"/schema.graphql"'))));
    expect((await fetch(`${gateway.url}/schema.graphql/`)).status).toBe(404);
  });
});
