import { createOrganization, login, startGateway, v2Line } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { openGateway } from '../support/open-gateway';

const LISTED = 'https://app.example.org';
const OTHER = 'https://app.example.org.evil.net';
const PERIOD = 'start_date=2024-01-01&end_date=2024-01-31';

const gateway = openGateway({ settings: { CORS_ORIGINS: `${LISTED}, capacitor://localhost` }, lines: [v2Line()] });
const { organization } = gateway;

/** Every CORS header of an answer, and its Vary. */
async function corsHeaders(path: string, { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> }) {
  const response = await ask(gateway.url + path, { method, headers: { Connection: 'close', ...headers } });
  const { body } = await readAll(response);
  const cors = Object.entries(response.headers).filter(([name]) => name.startsWith('access-control-') || name === 'vary');
  return { status: response.statusCode, body: body.toString(), headers: response.headers, cors: Object.fromEntries(cors) };
}

const DOORS: readonly (readonly [path: string, methods: string])[] = [
  ['/graphql', 'GET,POST'],
  [`/export/deposit-details.csv?${PERIOD}`, 'GET,HEAD'],
  ['/export/receipts/1', 'GET,HEAD'],
  ['/reports/january.json', 'GET,HEAD'],
  ['/odata/Lines', 'GET,HEAD'],
  ['/schema.graphql', 'GET,HEAD'],
  ['/api/v2/authenticated_test_system', 'GET,HEAD'],
  ['/api/v2/deposit_detail_designation_detail_with_contact_info', 'GET,HEAD'],
];
/** The doors whose answers differ by other headers than the origin, each with its Vary. */
const VARIES: readonly (readonly [door: string, vary: string])[] = [
  ['/graphql', 'Origin, Accept-Encoding'],
  ['/odata', 'Origin, Authorization, Accept'],
];
const PREFLIGHT = {
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'authorization,content-type,provision',
};

describe("a preflight of an app with a tracer's headers", () => {
  const traced = openGateway({
    settings: { CORS_ORIGINS: LISTED, CORS_HEADERS: 'b3, X-B3-*, x-datadog-*,request-id, x-f*' },
  });
  const allowedFor = async (asked: string, Origin = LISTED): Promise<string[] | undefined> => {
    const response = await ask(`${traced.url}/graphql`, {
      method: 'OPTIONS',
      headers: { Connection: 'close', Origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': asked },
    });
    await readAll(response);
    return response.headers['access-control-allow-headers']?.split(',');
  };

  test('is allowed those of the setting, and no others', async () => {
    const asked = 'b3,content-type,request-id,x-b3-traceid,x-datadog-trace-id,x-datadog-,x-data,x-other,x-flag,x-forwarded-for,forwarded';
    const allowed = (await allowedFor(asked))!;
    const usual = (await allowedFor(''))!;
    expect(usual.slice(0, 2)).toEqual(['Content-Type', 'Provision']);
    expect(usual.slice(-2)).toEqual(['b3', 'request-id']);
    expect(allowed).toEqual([...usual, 'x-b3-traceid', 'x-datadog-trace-id', 'x-datadog-', 'x-flag']);
  });

  test('gets back nothing but names', async () => {
    const usual = await allowedFor('');
    expect(await allowedFor('x-b3-a b, x-b3-"c", x-b3-é,x-b3-<d>,X-B3-E')).toEqual(usual);
  });

  test('is told nothing on another origin', async () => {
    expect(await allowedFor('b3,x-b3-traceid', OTHER)).toBeUndefined();
  });

  test('is not allowed them without the setting', async () => {
    const { cors } = await corsHeaders('/graphql', {
      method: 'OPTIONS',
      headers: { Origin: LISTED, ...PREFLIGHT, 'Access-Control-Request-Headers': 'b3,x-datadog-trace-id' },
    });
    expect(cors['access-control-allow-headers']).not.toMatch(/b3|datadog/);
  });
});

describe("a browser's preflight", () => {
  test.each(DOORS)('is answered for %s before anything is asked of the caller', async (path, methods) => {
    const { status, body, cors } = await corsHeaders(path, { method: 'OPTIONS', headers: { Origin: LISTED, ...PREFLIGHT } });
    expect([status, body]).toEqual([204, '']);
    expect(cors).toEqual({
      'access-control-allow-origin': LISTED,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': methods,
      'access-control-allow-headers': expect.stringMatching(
        /^Content-Type,Provision,Authorization,.*X-Apollo-Operation-Name.*traceparent/,
      ) as unknown,
      'access-control-expose-headers': expect.any(String) as unknown,
      'access-control-max-age': '7200',
      vary: 'Origin',
    });
  });

  test.each(DOORS)('is told nothing for %s where its origin is not listed', async (path) => {
    for (const Origin of [OTHER, 'null', `${LISTED}:8443`, 'http://app.example.org', 'HTTPS://APP.EXAMPLE.ORG']) {
      const { status, cors } = await corsHeaders(path, { method: 'OPTIONS', headers: { Origin, ...PREFLIGHT } });
      expect([Origin, status! >= 400, cors]).toEqual([
        Origin,
        true,
        { vary: VARIES.find(([door]) => path.startsWith(door))?.[1] ?? 'Origin' },
      ]);
    }
  });

  test('is answered for a hybrid app, whose scheme is its own', async () => {
    const { status, cors } = await corsHeaders('/graphql', {
      method: 'OPTIONS',
      headers: { Origin: 'capacitor://localhost', ...PREFLIGHT },
    });
    expect([status, cors['access-control-allow-origin']]).toEqual([204, 'capacitor://localhost']);
  });
});

/** An answer of every kind that an app may have to read: what is asked, and the status that comes. */
const ANSWERS = (): readonly (readonly [path: string, status: number, headers?: Record<string, string>])[] => [
  ['/graphql?query=%7B__typename%7D', 200, { Provision: organization.apiProvision }],
  // Says by Allow which method would do.
  ['/graphql?query=mutation%7Blogout%7Bended%7D%7D', 405, { Provision: organization.apiProvision }],
  [`/export/deposit-details.csv?${PERIOD}`, 200, { Provision: organization.apiProvision }],
  [`/export/deposit-details.csv?${PERIOD}&totals=headers`, 200, { Provision: organization.apiProvision }],
  [`/export/deposit-changes.csv?${PERIOD}&from=1`, 200, { Provision: organization.apiProvision }],
  [`/api/v2/deposit_detail_designation_detail_with_contact_info?${PERIOD}`, 200, { Provision: organization.apiProvision }],
  ['/api/v2/authenticated_test_system', 422],
  ['/api/v2/nothing', 404],
  ['/export/deposit-details.xml', 404],
  ['/reports/january.csv', 422],
  ['/schema.graphql', 200, { Provision: organization.apiProvision }],
  ['/schema.graphql', 422],
  ['/nothing', 404],
  ['/live', 200],
  ['/live', 431, Object.fromEntries(Array.from({ length: 101 }, (_none, n) => [`X-${n}`, '1']))],
];

test('an app on a listed origin may read every answer, errors too', async () => {
  for (const [path, expected, headers] of ANSWERS()) {
    const { status, cors } = await corsHeaders(path, { headers: { ...headers, Origin: LISTED } });
    expect([path, status, cors['access-control-allow-origin'], cors['access-control-allow-credentials']]).toEqual([
      path,
      expected,
      LISTED,
      'true',
    ]);
    expect(cors.vary).toMatch(/\bOrigin\b/);
  }
});

test('an app on another origin, or on none, is told nothing, and caches keep the answers apart', async () => {
  for (const [path, expected, headers] of ANSWERS()) {
    for (const origin of [{ Origin: OTHER }, {}] as Record<string, string>[]) {
      const { status, cors } = await corsHeaders(path, { headers: { ...headers, ...origin } });
      expect([path, status, Object.keys(cors), cors.vary]).toEqual([path, expected, ['vary'], expect.stringMatching(/\bOrigin\b/)]);
    }
  }
});

test('an app may read every header that a door has sent it', async () => {
  // The headers that a browser shows anyway, that are for the browser itself, or that are for the connection.
  const others =
    /^(cache-control|content-(type|length|encoding|security-policy)|access-control-.*|cross-origin-.*|connection|date|keep-alive|origin-agent-cluster|referrer-policy|set-cookie|timing-allow-origin|trailer|transfer-encoding|vary|x-(content-type-options|dns-prefetch-control|download-options|frame-options|permitted-cross-domain-policies|xss-protection))$/;
  for (const [path, , headers] of ANSWERS()) {
    const { headers: sent } = await corsHeaders(path, { headers: { ...headers, Origin: LISTED } });
    const exposed = String(sent['access-control-expose-headers']).toLowerCase().split(',');
    expect([path, Object.keys(sent).filter((name) => !others.test(name) && !exposed.includes(name))]).toEqual([path, []]);
    expect(exposed).toEqual(
      expect.arrayContaining(['x-request-id', 'retry-after', 'x-graphql-cost', 'content-disposition', 'x-export-digest']),
    );
  }
});

test('without the setting nobody is told anything, and a preflight is a wrong method', async () => {
  const closed = await startGateway();
  try {
    for (const method of ['GET', 'OPTIONS']) {
      const headers = { Origin: LISTED, ...PREFLIGHT, Connection: 'close' };
      const { statusCode, headers: sent } = await ask(`${closed.url}/api/v2/authenticated_test_system`, { method, headers });
      expect([statusCode, Object.keys(sent).filter((name) => name.startsWith('access-control-') || name === 'vary')]).toEqual([
        method === 'GET' ? 422 : 405,
        [],
      ]);
    }
  } finally {
    await closed.stop();
  }
});

describe('the session cookie', () => {
  const cookieOf = async (settings: Record<string, string>, headers: Record<string, string>): Promise<string | null> => {
    const own = await startGateway({ TRUST_PROXY: '127.0.0.1', ...settings });
    try {
      const { webProvision } = await createOrganization(own.services);
      const response = await fetch(`${own.url}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Provision: webProvision, ...headers },
        body: JSON.stringify({
          query: `mutation { login(input: { username: "ada", password: "correct horse battery staple" }) { viewer { username } } }`,
        }),
      });
      return response.headers.get('set-cookie');
    } finally {
      await own.stop();
    }
  };
  const TLS = { 'X-Forwarded-Proto': 'https' };

  test.each([
    [undefined, TLS, /^__Host-deposit-gateway-session=.*; HttpOnly; Secure; SameSite=Lax$/],
    ['strict', TLS, /^__Host-deposit-gateway-session=.*; HttpOnly; Secure; SameSite=Strict$/],
    ['none', TLS, /^__Host-deposit-gateway-session=.*; HttpOnly; Secure; SameSite=None$/],
    // Browsers throw a cookie away that is None and not Secure.
    ['none', {}, /^deposit-gateway-session=.*; HttpOnly; SameSite=Lax$/],
    ['strict', {}, /^deposit-gateway-session=.*; HttpOnly; SameSite=Strict$/],
  ])('has the SameSite that is set: %s with %j', async (SESSION_SAME_SITE, headers, expected) => {
    expect(await cookieOf(SESSION_SAME_SITE === undefined ? {} : { SESSION_SAME_SITE }, headers)).toMatch(expected);
  });
});

describe('a page of another site that a logged-in user visits', () => {
  /** All that a browser sends for a page without asking first (Fetch standard: simple methods, headers and types). */
  const FORMS: readonly (readonly [method: string, path: string, type?: string, body?: string])[] = [
    ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', undefined].map(
      (type) => ['POST', '/graphql', type, '{"query":"mutation{logout{ended}}"}'] as const,
    ),
    ['POST', '/graphql?query=mutation%7Blogout%7Bended%7D%7D', 'text/plain', ''],
    ['GET', '/graphql?query=%7Bviewer%7Busername%7D%7D'],
    ['GET', `/export/deposit-details.csv?${PERIOD}`],
    ['GET', `/export/deposit-summary.csv?${PERIOD}`],
    ['GET', `/export/deposit-changes.csv?${PERIOD}&from=1`],
    ['GET', '/export/receipts/1'],
    ['GET', '/reports/january.csv'],
    ['GET', '/api/v2/authenticated_test_system'],
    ['GET', '/api/v2/authenticated_test_session'],
    ['GET', `/api/v2/deposit_detail_designation_detail_with_contact_info?${PERIOD}`],
  ];

  test('reaches no door by what needs no preflight, though the cookie comes along', async () => {
    const cookie = await login(gateway.url, organization.webProvision);
    for (const [method, path, type, body] of FORMS) {
      const response = await fetch(gateway.url + path, {
        method,
        headers: { Cookie: cookie, Origin: OTHER, 'Sec-Fetch-Site': 'cross-site', ...(type !== undefined && { 'Content-Type': type }) },
        ...(body !== undefined && { body }),
      });
      const text = await response.text();
      expect([method, path, type, response.status >= 400, /"data":\{|"ada\b/i.test(text)]).toEqual([method, path, type, true, false]);
    }
    const session = { Provision: organization.webProvision, Cookie: cookie };
    expect((await fetch(`${gateway.url}/api/v2/authenticated_test_system`, { headers: session })).status).toBe(200);
    const viewer = await fetch(`${gateway.url}/graphql?query=%7Bviewer%7Busername%7D%7D`, { headers: session });
    expect(await viewer.json()).toEqual({ data: { viewer: { username: 'ada' } } });
  });
});
