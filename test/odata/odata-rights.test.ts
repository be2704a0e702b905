import { randomUUID } from 'node:crypto';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { saveReport } from '../support/agent-client';
import { readAudit } from '../support/audit-reader';
import { depositBook } from '../support/deposit-book';
import { createOrganization, graphql, importLines, login, v2Line, withGateway, type TestOrganization } from '../support/gateway';
import { basic, readFeed, readPage } from '../support/odata-client';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const PAGE = 'https://app.example.org';
const CANARY = 'Canary';
const LINES = [
  ...depositBook(30),
  v2Line({
    deposit_id: 'D99',
    transaction_id: 'T99',
    allocation_id: 'A99',
    donor_id: 999,
    donor_last_name: CANARY,
    designation_id: 77,
    designation: 'Wells',
  }),
];
const gateway = openGateway({ lines: LINES, settings: { CORS_ORIGINS: PAGE } });
const { organization } = gateway;
let other: TestOrganization;
/** The provisions by what they may read. */
let may: Readonly<Record<'all' | 'figures' | 'lines' | 'totals' | 'schema' | 'web' | 'revoked', string>>;

const VARIABLES = '$startDate: LocalDate!, $endDate: LocalDate!';
const PERIOD = 'startDate: $startDate, endDate: $endDate, pending: WITH';
const REPORTS = {
  lines: `query Lines(${VARIABLES}) { depositDetailsConnection(${PERIOD}, first: 1) { nodes { depositDate donorLastName } } }`,
  totals: `query Totals(${VARIABLES}) { depositSummary(${PERIOD}, groupBy: [DESIGNATION]) { groups(first: 1) { nodes { key { designationId } all { lines donors } } } } }`,
  'by-donor': `query ByDonor(${VARIABLES}) { depositSummary(${PERIOD}, groupBy: [DONOR]) { groups(first: 1) { nodes { key { donorLastName } all { lines } } } } }`,
};

beforeAll(async () => {
  const { services } = gateway;
  other = await createOrganization(services);
  await importLines(services, other, [v2Line({ donor_last_name: 'Foreign' })]);
  for (const [name, query] of Object.entries(REPORTS)) await saveReport(services, organization.id, { name, query, period: 'all-time' });
  const create = (grants: readonly string[], reports: string[] = []): Promise<string> =>
    services.provisions.create({ organization: organization.name, kind: 'API', label: 'bi', grants: [...grants], bounds: { reports } });
  may = {
    all: organization.apiProvision,
    figures: await create([]),
    lines: await create([REPORT_PRIVILEGE], ['lines']),
    totals: await create([], ['totals', 'by-donor', 'lines']),
    schema: await create([], ['schema.graphql']),
    web: organization.webProvision,
    revoked: await create([REPORT_PRIVILEGE]),
  };
  await services.provisions.revoke(may.revoked);
});

type Caller = keyof typeof may;
const FIXED = ['Lines', 'SummaryByDonor', 'SummaryByCity', 'SummaryByMonth', 'SummaryByDesignation'];
const SETS = [...FIXED, 'Report_lines', 'Report_totals', 'Report_by_donor', 'Report_missing'];

async function ask(path: string, headers: Readonly<Record<string, string>>, url = gateway.url) {
  const response = await fetch(`${url}/odata${path}`, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
async function listed(caller: Caller): Promise<string[]> {
  const { text } = await ask('', basic(may[caller]));
  const { value } = JSON.parse(text) as { value: { name: string }[] };
  const metadata = (await ask('/$metadata', basic(may[caller]))).text;
  const names = value.map(({ name }) => name);
  expect([...metadata.matchAll(/<EntitySet Name="(\w+)"/g)].map(([, name]) => name)).toEqual(names);
  return names.filter((name) => SETS.includes(name));
}

describe('a provision', () => {
  test.each<[Caller, readonly string[], readonly (number | undefined)[]]>([
    ['all', [...FIXED, 'Report_by_donor', 'Report_lines', 'Report_totals'], [200, 200, 200, 200, 200, 200, 200, 200, 404]],
    ['figures', ['SummaryByMonth', 'SummaryByDesignation'], [403, 403, 403, 200, 200, 403, 200, 403, 404]],
    ['lines', ['Report_lines'], [403, 403, 403, 403, 403, 200, 403, 403, 403]],
    ['totals', ['Report_totals'], [403, 403, 403, 403, 403, 403, 200, 403, 403]],
    ['schema', [], [403, 403, 403, 403, 403, 403, 403, 403, 403]],
  ])('that may read %s is told the sets that it may read, and reads those', async (caller, names, statuses) => {
    expect((await listed(caller)).sort()).toEqual([...names].sort());
    for (const part of ['', '/$count']) {
      const answers = await Promise.all(SETS.map((set) => ask(`/${set}${part}`, basic(may[caller]))));
      expect(answers.map(({ status }) => status)).toEqual(statuses);
      const mayReadDonors = caller === 'all' || caller === 'lines';
      for (const { text } of answers) {
        expect(text).not.toContain('Foreign');
        if (!mayReadDonors) expect(text).not.toContain(CANARY);
      }
    }
  });

  test.each<[string, string, Readonly<Record<string, string>>]>([
    ['nothing', '', {}],
    ['no password', '', basic('')],
    ['another scheme', '', { Authorization: 'Bearer x' }],
    ['what is no base64', '', { Authorization: 'Basic é'.replace('é', '!!') }],
    ['a name alone', '', { Authorization: `Basic ${Buffer.from('ada').toString('base64')}` }],
    ['an unknown provision', '', basic(randomUUID())],
    ['what is no provision', '', basic('correct horse battery staple')],
  ])('is asked for where a caller sends %s', async (_title, _query, headers) => {
    for (const path of ['', '/', '/$metadata', '/Lines', '/Lines/$count', '/Nothing', '/Lines?$filter=(', "/Lines('A1')"]) {
      const answer = await ask(path, headers);
      expect([path, answer.status, answer.headers.get('www-authenticate')]).toEqual([
        path,
        401,
        'Basic realm="deposit-gateway", charset="UTF-8"',
      ]);
      expect(JSON.parse(answer.text)).toMatchObject({
        error: { code: expect.stringMatching(/^(PROVISION_HEADER_MISSING|INVALID_PROVISION)$/) as string },
      });
    }
  });

  test('that was revoked, and that of an app, open nothing', async () => {
    for (const caller of ['revoked', 'web'] as const)
      for (const path of ['', '/$metadata', '/Lines', '/SummaryByMonth']) expect((await ask(path, basic(may[caller]))).status).toBe(401);
  });

  test('counts as the password alone: not in our header, and no session beside it', async () => {
    const Cookie = await login(gateway.url, organization.webProvision);
    expect((await ask('/Lines', { Provision: may.all })).status).toBe(401);
    expect((await ask('/SummaryByMonth', { Cookie, Provision: may.web })).status).toBe(401);
    expect((await ask('/SummaryByMonth', { ...basic(may.web), Cookie })).status).toBe(401);
    expect((await ask('/Lines', { ...basic(may.figures), Cookie, Provision: may.all })).status).toBe(403);
    // Any user's name will do, with characters of any language and colons after the name.
    for (const user of ['', 'ada', 'Łukasz', organization.name])
      expect((await ask('/Lines?$top=1', basic(may.all, user))).status).toBe(200);
    expect((await ask('/Lines', basic(`x:${may.all}`))).status).toBe(401);
  });

  test('of figures alone asks no condition on donors, and gets no number of them', async () => {
    for (const query of ['donor_id=7', 'donor_name=Ada', 'donors_min=1'])
      expect([query, (await ask(`/SummaryByMonth?${query}`, basic(may.figures))).status]).toEqual([query, 403]);
    const query = `query Free(${VARIABLES}, $by: [GroupBy!]! = [DESIGNATION]) { depositSummary(${PERIOD}, groupBy: $by) { groups(first: 1) { nodes { all { lines } } } } }`;
    await saveReport(gateway.services, organization.id, { name: 'free', query, period: 'all-time' });
    // Whether values fit the feed is told to those alone who may ask for them.
    for (const [by, status] of Object.entries({ DESIGNATION: 200, DONOR: 403, STATUS: 400 }))
      expect([by, (await ask(`/Report_free?by=${by}`, basic(may.figures))).status]).toEqual([by, status]);
    await gateway.database.client.query(`DELETE FROM saved_report WHERE name = 'free'`);
    const rows = async (caller: Caller) =>
      (await readFeed(`${gateway.url}/odata/SummaryByMonth`, may[caller])).flatMap((page) => page.rows);
    expect((await rows('figures')).map(({ donors }) => donors)).toEqual((await rows('figures')).map(() => null));
    expect((await rows('all')).every(({ donors }) => Number(donors) > 0)).toBe(true);
  });

  test('that is bound to a report reads it as it was saved, and narrows it by what it shows alone', async () => {
    const count = async (query: string) => {
      const { status, text } = await ask(`/Report_lines${query}`, basic(may.lines));
      return status === 200 ? (JSON.parse(text) as { value: unknown[] }).value.length : status;
    };
    expect(await count('')).toBe(LINES.length);
    expect(await count('?$filter=depositDate le 2024-01-03')).toBe(
      LINES.filter(({ deposit_date: date }) => String(date) <= '2024-01-03').length,
    );
    expect(await count('?$filter=donorId eq 999')).toBe(400);
    for (const query of ['startDate=2024-01-01', 'period=all-time', 'as_of=1'])
      expect([query, await count(`?${query}`)]).toEqual([query, 400]);
    const pages = await readFeed(`${gateway.url}/odata/Report_lines`, may.lines, { pageRows: 20 });
    expect(pages.flatMap(({ rows }) => rows)).toHaveLength(LINES.length);
  });

  test('of another organization follows no link of this one', async () => {
    const { next } = await readPage(`${gateway.url}/odata/Lines`, may.all, 5);
    await expect(readPage(next!, other.apiProvision)).rejects.toThrow('400');
    await expect(readPage(next!, may.figures)).rejects.toThrow('403');
  });

  test('that is guessed counts as at every door', async () => {
    await withGateway({ PROVISION_ATTEMPTS: '5', DATABASE_URL: gateway.database.url }, async ({ url }) => {
      for (let n = 0; n < 5; n++) expect((await ask('/Lines', basic(randomUUID()), url)).status).toBe(401);
      const { status, headers, text } = await ask('/Lines', basic(may.all), url);
      expect([status, Number(headers.get('retry-after')) > 0, text]).toEqual([
        429,
        true,
        '{"error":{"code":"TOO_MANY_PROVISIONS","message":"Too many unknown provisions from this address"}}',
      ]);
      const file = await fetch(`${url}/export/deposit-details.csv?period=all-time`, { headers: { Provision: may.all } });
      expect(file.status).toBe(429);
    });
  });
});

describe('what is kept of a reading', () => {
  test('is in the audit: each answer with rows, documents that name reports, and refusals', async () => {
    const own = await createOrganization(gateway.services);
    await importLines(gateway.services, own, depositBook(10));
    await gateway.services.provisions.changeGrants(own.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
    await saveReport(gateway.services, own.id, { name: 'lines', query: REPORTS.lines, period: 'all-time' });
    const before = (await readAudit(gateway, own)).length;
    const figures = await gateway.services.provisions.create({ organization: own.name, kind: 'API', label: 'figures', grants: [] });
    const year = '$filter=depositDate ge 2024-01-01 and depositDate le 2024-12-31 and amount ge 1&$top=2';
    const paths = [
      `/Lines?${year}`,
      '/SummaryByMonth?pending=WITHOUT',
      '/Report_lines?$top=1',
      '/Lines/$count',
      '/$metadata',
      '/Lines?$filter=x eq 1',
    ];
    // A gateway that stops writes the ends of its readings, which are otherwise written after a minute.
    await withGateway({ DATABASE_URL: gateway.database.url }, async ({ url }) => {
      for (const path of paths) await ask(path, basic(own.apiProvision), url);
      await ask('/SummaryByMonth', basic(figures), url);
      await ask('', basic(figures), url);
      expect((await ask('/Lines', basic(figures), url)).status).toBe(403);
      await fetch(`${url}/odata/Lines`, { method: 'HEAD', headers: basic(own.apiProvision) });
    });
    const records = (await readAudit(gateway, own)).slice(before).filter(({ door }) => door === 'ODATA');
    expect(records.map(({ kind, outcome }) => (kind === 'READ' ? outcome : null))).toEqual([...Array<string>(7).fill('WHOLE'), null]);
    const told = records.map(({ kind, operation, lines, startDate, endDate, pending, conditions, dataVersion, provisionLabel }) => [
      kind,
      operation,
      lines,
      startDate,
      endDate,
      pending,
      conditions,
      dataVersion,
      provisionLabel,
    ]);
    const ALL = ['0001-01-01', '9999-12-31'];
    expect(told).toEqual([
      ['READ', 'odata/deposit-details', 2, '2024-01-01', '2024-12-31', 'WITH', ['amount_min', 'pending'], 1, ''],
      ['READ', 'odata/deposit-summary/MONTH', null, ...ALL, 'WITHOUT', ['pending', 'group_by=MONTH'], 1, ''],
      ['READ', 'odata/lines', 1, ...ALL, 'WITH', [], 1, ''],
      ['READ', 'odata/deposit-details', null, ...ALL, 'WITH', ['pending'], 1, ''],
      ['READ', 'odata/$metadata', null, null, null, null, [], 1, ''],
      ['READ', 'odata/deposit-summary/MONTH', null, ...ALL, 'WITH', ['pending', 'group_by=MONTH'], 1, 'figures'],
      ['READ', 'odata', null, null, null, null, [], 1, 'figures'],
      ['REFUSAL', 'odata/:set', null, null, null, null, [], null, 'figures'],
    ]);
  });

  test.each([
    ['a date outside of the period', 'Lines?period=last-year&$filter=depositDate eq 1999-01-01', ['pending']],
    ['statuses that there are not', "Lines?$filter=depositStatus eq 'x' and depositStatus eq 'y'", ['pending']],
    ['a status that is left out', "Lines?pending=WITHOUT&$filter=depositStatus eq 'pending'", ['pending']],
    ['amounts that exclude each other', 'Lines?$filter=amount ge 5 and amount le 3', ['amount_min', 'pending']],
    ['a number that no fund has', 'Lines?$filter=designationId eq 1.5', ['designation_id', 'pending']],
    ['two deposits', "Lines?deposit_id=D1&$filter=depositId eq 'D2'", ['deposit_id', 'pending']],
    ['a deposit on a date outside', 'Lines?period=last-year&deposit_id=D1&$filter=depositDate eq 1999-01-01', ['deposit_id', 'pending']],
  ])('names in the audit what was asked where no line meets it: %s', async (_name, path, conditions) => {
    const own = await createOrganization(gateway.services);
    await importLines(gateway.services, own, depositBook(10));
    await gateway.services.provisions.changeGrants(own.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
    const answer = await ask(`/${path}`, basic(own.apiProvision));
    expect([answer.status, (JSON.parse(answer.text) as { readonly value: unknown }).value]).toEqual([200, []]);
    let records: Awaited<ReturnType<typeof readAudit>> = [];
    await until(async () => {
      records = (await readAudit(gateway, own)).filter(({ door }) => door === 'ODATA');
      return records.length > 0;
    });
    expect(records.map((record) => record.conditions)).toEqual([conditions]);
  });

  test('holds no password in logs, whatever a caller writes beside it', async () => {
    const secret = may.all;
    const marks = { 'X-Request-Id': secret, traceparent: `00-${secret.replaceAll('-', '')}-${'1'.repeat(16)}-01` };
    const answers = [
      await ask('/Lines', { ...basic(secret), ...marks }),
      await ask('/Lines', { Authorization: basic(secret).Authorization.replace('Basic ', 'bAsIc  '), ...marks }),
      await ask(`/${secret}?$filter=${secret} eq 1`, { ...basic(secret), ...marks }),
      await ask(`/Lines?$skiptoken=${secret}`, { ...basic(secret, secret), ...marks }),
    ];
    expect(answers[0]!.headers.get('x-request-id')).not.toBe(secret);
    await until(() => Promise.resolve(gateway.logLines.filter((line) => line.includes('"door":"odata"')).length >= 4));
    const log = gateway.logLines.join('');
    for (const text of [secret, secret.replaceAll('-', ''), basic(secret).Authorization.slice(6)])
      expect([text, log.includes(text)]).toEqual([text, false]);
    expect(gateway.logLines.map((line) => JSON.parse(line) as Record<string, unknown>)).toContainEqual(
      expect.objectContaining({ door: 'odata', path: '/odata/:set', operation: 'odata/deposit-details', status: 200, lines: LINES.length }),
    );
  });

  test('is nothing in caches, and pages of named origins may read it', async () => {
    const { headers } = await ask('/Lines', { ...basic(may.all), Origin: PAGE });
    expect([headers.get('cache-control'), headers.get('vary'), headers.get('access-control-allow-origin'), headers.get('etag')]).toEqual([
      'no-store',
      'Origin, Authorization, Accept, Accept-Encoding',
      PAGE,
      null,
    ]);
    expect(
      (await ask('/Lines', { ...basic(may.all), Origin: 'https://evil.example.org' })).headers.get('access-control-allow-origin'),
    ).toBeNull();
    const preflight = await fetch(`${gateway.url}/odata/Lines`, {
      method: 'OPTIONS',
      headers: {
        Origin: PAGE,
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization,odata-maxversion,prefer',
      },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'GET,HEAD']);
  });

  test('ends with the rights: a provision that is revoked between two pages gets no second one', async () => {
    const leaving = await gateway.services.provisions.create({
      organization: organization.name,
      kind: 'API',
      label: '',
      grants: [REPORT_PRIVILEGE],
    });
    const { next } = await readPage(`${gateway.url}/odata/Lines`, leaving, 5);
    await gateway.services.provisions.revoke(leaving);
    await expect(readPage(next!, leaving)).rejects.toThrow('401');
  });

  test('of a state that was pruned is gone, and of books that were restored is of others', async () => {
    const own = await createOrganization(gateway.services);
    await importLines(gateway.services, own, depositBook(10));
    const { next } = await readPage(`${gateway.url}/odata/Lines`, own.apiProvision, 5);
    await gateway.database.client.query(
      `UPDATE data_version SET recorded_at = recorded_at - interval '1 second' WHERE organization_id = $1`,
      [own.id],
    );
    await expect(readPage(next!, own.apiProvision)).rejects.toThrow('$skiptoken is of other books: begin again');
    const { body } = await graphql(gateway.url, '{ __typename }', { provision: own.apiProvision });
    expect(body.errors).toBeUndefined();
  });
});
