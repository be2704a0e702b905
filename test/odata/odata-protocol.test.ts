import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { OData } from '@odata/client';
import { o } from 'odata';
import { xml2json } from 'odata-csdl';
import { saveReport } from '../support/agent-client';
import { depositBook } from '../support/deposit-book';
import { ask, readAll } from '../support/http-client';
import { askFeed, basic, json, readFeed } from '../support/odata-client';
import { openGateway } from '../support/open-gateway';

const LINES = depositBook(60);
const gateway = openGateway({ lines: LINES, settings: { TRUST_PROXY: '127.0.0.1' } });
const { organization } = gateway;

beforeAll(async () => {
  const query =
    'query Gifts($startDate: LocalDate!, $endDate: LocalDate!) { depositDetailsConnection(startDate: $startDate, endDate: $endDate, first: 1) { nodes { amount allocationAmount } } }';
  await saveReport(gateway.services, organization.id, { name: 'gifts-2', query, period: 'all-time' });
});

const get = (path: string, headers?: Readonly<Record<string, string>>, method?: string) =>
  askFeed(gateway.url + path, organization.apiProvision, headers, method);

describe('the documents of the service', () => {
  test.each(['/odata', '/odata/', '/odata?$format=json', '/odata/?period=last-year'])('name the sets at %s', async (path) => {
    const answer = await get(path);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json;odata.metadata=minimal;IEEE754Compatible=false;charset=utf-8',
      'odata-version': '4.0',
      'cache-control': 'no-store',
    });
    const { value, ...others } = json(answer);
    expect(others).toEqual({ '@odata.context': `${gateway.url}/odata/$metadata` });
    const names = (value as { name: string }[]).map(({ name }) => name);
    expect([names.length, names[0], names.at(-1)]).toEqual([17, 'Lines', 'Report_gifts_2']);
    expect(value).toContainEqual({ name: 'SummaryByMonth', kind: 'EntitySet', url: 'SummaryByMonth' });
  });

  test.each([
    ['/odata/$metadata', '/odata/$metadata/'],
    ['/odata/Lines?$top=2', '/odata/Lines/?$top=2'],
    ['/odata/SummaryByMonth?$select=month', '/odata/SummaryByMonth/?$select=month'],
    ['/odata/Lines/$count', '/odata/Lines/$count/'],
    ['/odata/Report_gifts_2?$top=1', '/odata/Report_gifts_2/?$top=1'],
    ['/odata/Nothing', '/odata/Nothing/'],
  ])('and the sets are at %s with a slash behind it too', async (path, slashed) => {
    const [one, other] = [await get(path), await get(slashed)];
    expect([other.status, other.text]).toEqual([one.status, one.text]);
    expect(other.status).toBe(path.includes('Nothing') ? 404 : 200);
  });

  test('describe them in valid CSDL, with the types of the answers and what may be asked', async () => {
    const { headers, text } = await get('/odata/$metadata');
    expect(headers['content-type']).toBe('application/xml; charset=utf-8');
    const messages: unknown[] = [];
    const document = xml2json(text, { messages, strict: true }) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    expect(messages).toEqual([]);
    const schema = JSON.parse(readFileSync(require.resolve('odata-csdl/schemas/csdl.schema.json'), 'utf8')) as object;
    const ajv = new Ajv({ strict: false });
    addFormats(ajv);
    const isValid = ajv.compile(schema);
    expect([isValid(document), isValid.errors]).toEqual([true, null]);
    const types = document.DepositGateway!;
    expect(types.Report_gifts_2).toEqual({
      ...{ $Kind: 'EntityType', $Key: ['allocationId'] },
      ...{
        allocationId: {},
        amount: { $Type: 'Edm.Decimal', $Scale: 2 },
        allocationAmount: { $Type: 'Edm.Decimal', $Nullable: true, $Scale: 2 },
      },
    });
    expect(types.Lines).toMatchObject({
      depositDate: { $Type: 'Edm.Date' },
      designationId: { $Type: 'Edm.Int64' },
      allocationAmountInferred: { $Type: 'Edm.Boolean', $Nullable: true },
    });
    expect(types.SummaryByMonth).toMatchObject({
      $Key: ['month'],
      month: { $Type: 'Edm.Date' },
      donors: { $Type: 'Edm.Int64', $Nullable: true },
      lineAmount: { $Type: 'Edm.Decimal' },
    });
    // Each property of each answer is one of its type, and the other way round.
    for (const set of ['Lines', 'SummaryByMonth', 'SummaryByDonor', 'Report_gifts_2']) {
      const [page] = await readFeed(`${gateway.url}/odata/${set}?$top=1`, organization.apiProvision);
      expect(Object.keys(page!.rows[0]!)).toEqual(Object.keys(types[set]!).filter((name) => !name.startsWith('$')));
    }
    const lines = (types.Books as Readonly<Record<string, Readonly<Record<string, unknown>>>>).Lines!;
    expect(lines).toMatchObject({ '@Capabilities.IndexableByKey': false });
    expect(lines).toMatchObject({ '@Capabilities.SkipSupported': false, '@Capabilities.SortRestrictions': { Sortable: false } });
    expect(JSON.stringify(lines)).toContain('{"Property":"depositDate","AllowedExpressions":"SingleRange"}');
    expect(JSON.stringify(lines)).toContain('{"Property":"status","AllowedExpressions":"SingleValue"}');
  });

  test('lead to the sets where no context says from where', async () => {
    const { value } = json(await get('/odata', { Accept: 'application/json;odata.metadata=none' }));
    expect(value).toContainEqual({ name: 'Lines', kind: 'EntitySet', url: `${gateway.url}/odata/Lines` });
    expect((await get('/odata/$metadata?$format=application/xml;charset=utf-8')).status).toBe(200);
  });

  test('are found by escapes too', async () => {
    expect((await get('/odata/$metadata?period=last-year&$format=application/xml')).text).toContain('<EntitySet Name="Lines"');
    expect((await get('/odata/%24metadata')).text).toBe((await get('/odata/$metadata')).text);
    expect((await get('/odata/Lines/%24count')).text).toBe(String(LINES.length));
  });
});

describe('an answer', () => {
  test.each([
    [{}, '', 'minimal', false],
    [{ Accept: '*/*' }, '', 'minimal', false],
    [{ Accept: 'application/json;odata.metadata=none' }, '', 'none', false],
    [{ Accept: 'text/html, application/json;odata.metadata=none;q=0.5, application/json;IEEE754Compatible=true' }, '', 'minimal', true],
    [{ Accept: 'application/json;odata.metadata=full, application/json;q=0.1' }, '', 'minimal', false],
    [{ Accept: 'application/xml' }, '$format=json', 'minimal', false],
    [{}, '$format=application/json;odata.metadata=none;IEEE754Compatible=true', 'none', true],
  ])('has the form that %j and "%s" ask for', async (headers, format, metadata, isExact) => {
    const answer = await get(`/odata/Lines?$top=1&$select=amount,designationId&${format}`, headers);
    expect(answer.headers['content-type']).toBe(`application/json;odata.metadata=${metadata};IEEE754Compatible=${isExact};charset=utf-8`);
    const context = metadata === 'none' ? '' : `"@odata.context":"${gateway.url}/odata/$metadata#Lines(amount,designationId)",`;
    const { amount, designation_id: fund } = LINES[0]!;
    expect(answer.text).toBe(
      `{${context}"value":[${isExact ? `{"amount":"${amount}","designationId":"${fund}"}` : `{"amount":${amount},"designationId":${fund}}`}]}`,
    );
  });

  test.each([
    [{ Accept: 'application/atom+xml' }, ''],
    [{ Accept: 'application/json;odata.metadata=full' }, ''],
    [{ Accept: 'application/json;q=0' }, ''],
    [{ Accept: 'application/json;odata=verbose' }, ''],
    [{}, '?$format=atom'],
  ])('is refused in the form that %j and "%s" ask for', async (headers, query) => {
    const answer = await get(`/odata/Lines${query}`, headers);
    expect([answer.status, json(answer)]).toEqual([
      406,
      { error: { code: 'NOT_ACCEPTABLE', message: 'Not acceptable: application/json is there, with odata.metadata=minimal or none' } },
    ]);
  });

  test('that is the number of rows has the types that its clients accept, and claims no pages', async () => {
    for (const accept of ['text/plain', 'text/*', '*/*', 'application/json', 'application/json;odata.metadata=full']) {
      const answer = await get('/odata/Lines/$count', { Accept: accept, Prefer: 'odata.maxpagesize=5' });
      expect([answer.text, answer.headers['content-type']]).toEqual([String(LINES.length), 'text/plain; charset=utf-8']);
      expect(answer.headers['preference-applied']).toBeUndefined();
    }
    const refused = await get('/odata/Lines/$count', { Accept: 'application/xml' });
    expect([refused.status, json(refused)]).toEqual([
      406,
      { error: { code: 'NOT_ACCEPTABLE', message: 'Not acceptable: the number of rows is text/plain' } },
    ]);
    expect((await get('/odata/SummaryByMonth', { Prefer: 'odata.maxpagesize=5' })).headers['preference-applied']).toBeUndefined();
  });

  test('has its number of rows as the client has its numbers', async () => {
    for (const [isExact, count] of [
      [true, String(LINES.length)],
      [false, LINES.length],
    ] as const) {
      const answer = await get('/odata/Lines?$count=true&$top=1', { Accept: `application/json;IEEE754Compatible=${isExact}` });
      expect(json(answer)['@odata.count']).toBe(count);
    }
  });

  test('to HEAD has the headers of GET, and no row', async () => {
    const [whole, head] = [await get('/odata/Lines'), await get('/odata/Lines', {}, 'HEAD')];
    expect([head.status, head.text]).toEqual([200, '']);
    for (const name of ['content-type', 'odata-version', 'x-data-version', 'vary', 'cache-control'])
      expect([name, head.headers[name]]).toEqual([name, whole.headers[name]]);
    expect(whole.headers.vary).toBe('Authorization, Accept, Accept-Encoding');
  });

  test('is compressed where that is asked for', async () => {
    const [plain, packed] = [await get('/odata/Lines'), await get('/odata/Lines', { 'Accept-Encoding': 'gzip' })];
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
  });

  test('has links that lead through a proxy, with the options of the first page', async () => {
    const behind = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'give.example.org', Prefer: 'odata.maxpagesize=2' };
    const answer = await get("/odata/Lines?$filter=depositId eq 'D7'&%24select=amount&period=all-time", behind);
    expect(answer.headers['preference-applied']).toBe('odata.maxpagesize=2');
    const link = new URL(json(answer)['@odata.nextLink'] as string);
    expect([link.origin, link.pathname]).toEqual(['https://give.example.org', '/odata/Lines']);
    const { $skiptoken: token, ...others } = Object.fromEntries(link.searchParams);
    expect([others, token!.length > 40]).toEqual([{ $filter: "depositId eq 'D7'", $select: 'amount', period: 'all-time' }, true]);
    expect(link.href).not.toContain(organization.apiProvision);
    const next = await get(link.pathname + link.search, behind);
    expect(json(next)['@odata.context']).toBe('https://give.example.org/odata/$metadata#Lines(amount)');
  });

  test('has no other page for a link that was changed, or of another set or filter', async () => {
    const first = await get('/odata/Lines?$filter=designationId eq 3', { Prefer: 'maxpagesize=2' });
    const { search } = new URL(json(first)['@odata.nextLink'] as string);
    const token = new URLSearchParams(search).get('$skiptoken')!;
    const wrong = [
      `/odata/Lines?$filter=designationId eq 4&$skiptoken=${token}`,
      `/odata/Lines?$filter=designationId eq 3&include_pending=false&$skiptoken=${token}`,
      `/odata/SummaryByDay?$skiptoken=${token}`,
      `/odata/Lines?$filter=designationId eq 3&$skiptoken=${token.slice(0, -4)}AAAA`,
      '/odata/Lines?$skiptoken=x',
    ];
    for (const path of wrong) {
      const answer = await get(path.replaceAll(' ', '%20'));
      expect([answer.status, json(answer)]).toMatchObject([400, { error: { code: 'INVALID_PARAMETERS' } }]);
    }
    expect((await get(`/odata/Lines${search}`)).status).toBe(200);
  });
});

describe('clients of OData', () => {
  test('that follow the links get all lines: odata', async () => {
    const { Authorization } = basic(organization.apiProvision);
    const config = { headers: { Authorization, Prefer: 'odata.maxpagesize=50' }, fragment: '' };
    const ids: string[] = [];
    interface Page {
      readonly value: readonly { readonly allocationId: string }[];
      readonly '@odata.nextLink'?: string;
    }
    const query = { $filter: 'depositDate ge 2024-01-01', $select: 'allocationId', $count: true };
    let page = (await o(`${gateway.url}/odata/`, config).get('Lines').query(query)) as Page;
    for (;;) {
      ids.push(...page.value.map(({ allocationId }) => allocationId));
      const next = page['@odata.nextLink'];
      if (next === undefined) break;
      page = (await o(`${gateway.url}/odata/`, config).get(next).query()) as Page;
    }
    expect(ids).toEqual(LINES.map(({ allocation_id: id }) => id));
    await expect(o(`${gateway.url}/odata/`, config).get('Lines').query({ $orderby: 'amount' })).rejects.toMatchObject({ status: 501 });
  });

  test('that write filters by themselves are understood: @odata/client', async () => {
    const client = OData.New4({
      serviceEndpoint: `${gateway.url}/odata/`,
      credential: { username: organization.name, password: organization.apiProvision },
    });
    const set = client.getEntitySet<{ readonly allocationId: string; readonly amount: number }>('Lines');
    const filter = client.newFilter().property('amount').ge(30).property('designationId').eq(3);
    const found = await set.query(client.newOptions().filter(filter).select(['allocationId', 'amount']).top(3).count(true));
    const expected = LINES.filter(({ amount, designation_id: fund }) => Number(amount) >= 30 && fund === 3);
    expect(found).toEqual(
      expected.slice(0, 3).map(({ allocation_id: allocationId, amount }) => ({ allocationId, amount: Number(amount) })),
    );
    expect(await set.count(filter)).toBe(expected.length);
  });
});

describe('the files that programs open', () => {
  test('name the address of the service, or that of a set, and hold no password', async () => {
    const plain = await fetch(`${gateway.url}/odata/connections/deposit-gateway.pbids`);
    expect([plain.status, plain.headers.get('content-disposition')]).toEqual([200, 'attachment; filename="deposit-gateway.pbids"']);
    const connection = (url: string) => ({
      version: '0.1',
      connections: [{ details: { protocol: 'odata', address: { url } }, options: {}, mode: 'Import' }],
    });
    expect(await plain.json()).toEqual(connection(`${gateway.url}/odata/`));
    const behind = { headers: { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'give.example.org' } };
    const { body } = await readAll(await ask(`${gateway.url}/odata/connections/Lines.pbids?period=last-year&status=%22%3C%27`, behind));
    expect(JSON.parse(body.toString())).toEqual(connection('https://give.example.org/odata/Lines?period=last-year&status=%22%3C%27'));
  });

  test('have a query of Power Query for Excel that nothing in the address leaves', async () => {
    const response = await fetch(`${gateway.url}/odata/connections/Report_gifts_2.odc?status=${encodeURIComponent(`a"]]></Formula>&<'`)}`);
    expect([response.headers.get('content-type'), response.headers.get('content-disposition')]).toEqual([
      'text/x-ms-odc; charset=utf-8',
      'attachment; filename="Report_gifts_2.odc"',
    ]);
    const text = await response.text();
    const [, escaped] = /<odc:PowerQueryMashupData>([^<>]*)<\/odc:PowerQueryMashupData>/.exec(text)!;
    const mashup = escaped!.replace(/&(lt|gt|quot|amp);/g, (_, name: string) => ({ lt: '<', gt: '>', quot: '"', amp: '&' })[name]!);
    const [, formula] = /<Query Name="Report_gifts_2"><Formula><!\[CDATA\[(.*)\]\]><\/Formula>/.exec(mashup)!;
    const address = `${gateway.url}/odata/Report_gifts_2?status=a%22%5D%5D%3E%3C%2FFormula%3E%26%3C%27`;
    expect(formula).toBe(`let Source = OData.Feed("${address}", null, [Implementation="2.0"]) in Source`);
  });
});
