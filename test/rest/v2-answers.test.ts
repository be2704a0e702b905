import { createDemoLines } from '../../src/domain/imports/demo-lines';
import type { ImportLine } from '../../src/formats/import-line';
import { blocksOf, readDocument, sectionOf } from '../support/documents';
import { createOrganization, graphql, importLines, login, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const SYSTEM = '/api/v2/authenticated_test_system';
const SESSION = '/api/v2/authenticated_test_session';
const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';

const gateway = openGateway();
const { organization } = gateway;

const get = (path: string, headers: Record<string, string> = { Provision: organization.apiProvision }) =>
  fetch(gateway.url + path, { headers });
const report = (query: string, provision = organization.apiProvision) => get(`${REPORT}?${query}`, { Provision: provision });
const toNumber = (text: string): number => Number(text.replaceAll(',', ''));
const error = (status: number, text: string) => ({ errors: [{ error: text, status }] });

describe('a legacy integrator', () => {
  test('checks a system request', async () => {
    const response = await get(SYSTEM);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.text()).toBe(`{"data":{"message":"System request authenticated","provision":"${organization.apiProvision}"}}`);
  });

  test('checks a session request', async () => {
    const Cookie = await login(gateway.url, organization.webProvision);
    const response = await get(SESSION, { Provision: organization.webProvision, Cookie });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(`{"data":{"message":"Session request authenticated","provision":"${organization.webProvision}"}}`);
  });

  test('gets the provision back as it was sent', async () => {
    const provision = organization.apiProvision.toUpperCase();
    const response = await get(SYSTEM, { Provision: provision });
    expect(await response.json()).toEqual({ data: { message: 'System request authenticated', provision } });
  });

  test('gets the lines of a range byte for byte, with keys, types and order of the contract', async () => {
    const own = await createOrganization(gateway.services);
    const first = v2Line({
      deposit_id: '10',
      transaction_id: '5',
      allocation_id: '9',
      amount: '-5.00',
      fee_amount: '0.00',
      net_amount: '-5.00',
    });
    const nobody = {
      donor_id: 0,
      donor_first_name: '',
      donor_last_name: '',
      address1: '',
      city: '',
      zip: '',
      phone: '',
      email_address: '',
    };
    const second = v2Line({
      deposit_id: '9',
      transaction_id: 'P6',
      allocation_id: 'P1',
      status: '',
      account_type: '',
      payment_type: '',
      ...nobody,
    });
    const later = v2Line({ deposit_id: '8', deposit_date: '2024-01-03', transaction_id: '7', allocation_id: '70' });
    await importLines(gateway.services, own, [later, second, first]);

    const response = await report('start_date=2024-01-02&end_date=2024-01-03', own.apiProvision);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.text()).toBe(JSON.stringify({ response: [first, second, later] }));
  });

  test('gets both ends of the range and nothing beyond', async () => {
    const own = await createOrganization(gateway.services);
    const dates = ['2024-02-28', '2024-02-29', '2024-03-01', '2024-03-02'];
    await importLines(
      gateway.services,
      own,
      dates.map((deposit_date, n) => v2Line({ deposit_id: `${n}`, deposit_date, transaction_id: `${n}`, allocation_id: `${n}` })),
    );
    const body = (await (await report('start_date=2024-02-29&end_date=2024-03-01', own.apiProvision)).json()) as {
      response: { deposit_date: string }[];
    };
    expect(body.response.map((line) => line.deposit_date)).toEqual(['2024-02-29', '2024-03-01']);
  });

  test('gets pending deposits only when asking for them', async () => {
    const own = await createOrganization(gateway.services);
    const posted = v2Line({ deposit_id: 'a', transaction_id: 'a', allocation_id: 'a' });
    const pending = v2Line({ deposit_id: 'b', transaction_id: 'b', allocation_id: 'b' });
    await importLines(gateway.services, own, [posted, { ...pending, deposit_status: 'pending' }]);
    const range = 'start_date=2024-01-02&end_date=2024-01-02';
    const lines = async (query: string) => (await report(query, own.apiProvision)).json();
    expect(await lines(range)).toEqual({ response: [posted] });
    expect(await lines(`${range}&include_pending=false`)).toEqual({ response: [posted] });
    expect(await lines(`${range}&include_pending=true`)).toEqual({ response: [posted, pending] });
  });

  test('gets every character unchanged, wherever a long answer is cut on its way', async () => {
    const own = await createOrganization(gateway.services);
    const special = ['"', '\\', '\b\f\n\r\t\v', '\u0001\u001f\u007f', 'é李🌻', '\u2028', "'", '\\N', '\\.'];
    const lines = Array.from({ length: 4000 }, (_, n) => {
      const number = `${n}`.padStart(5, '0');
      const text = special.map((_piece, at) => special[(at + n) % special.length]).join('x'.repeat(n % 7));
      return v2Line({ deposit_id: 'D', transaction_id: number, allocation_id: number, main_memo: text, designation_memo: text.repeat(2) });
    });
    await importLines(gateway.services, own, lines);
    const text = await (await report('start_date=2024-01-02&end_date=2024-01-02', own.apiProvision)).text();
    expect(text.length).toBeGreaterThan(2_000_000);
    expect(text).toBe(JSON.stringify({ response: lines }));
  });

  test('gets an empty answer for a range without deposits', async () => {
    expect(await (await report('start_date=1900-01-01&end_date=1900-12-31')).text()).toBe('{"response":[]}');
  });

  test('never gets the lines of another organization, whose ids may be the same', async () => {
    const [mine, theirs] = [await createOrganization(gateway.services), await createOrganization(gateway.services)];
    await importLines(gateway.services, mine, [v2Line({ donor_last_name: 'Mine' })]);
    await importLines(gateway.services, theirs, [v2Line({ donor_last_name: 'Theirs' })]);
    const body = await (await report('start_date=0001-01-01&end_date=9999-12-31', mine.apiProvision)).json();
    expect(body).toEqual({ response: [v2Line({ donor_last_name: 'Mine' })] });
  });

  test('gets the headers of a HEAD request without a body', async () => {
    for (const path of [SYSTEM, `${REPORT}?start_date=2024-01-02&end_date=2024-01-03`]) {
      const response = await fetch(gateway.url + path, { method: 'HEAD', headers: { Provision: organization.apiProvision } });
      expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
        200,
        'application/json; charset=utf-8',
        '',
      ]);
    }
  });
});

describe('a reader of the v2 document', () => {
  const document = readDocument('docs/v2.md');

  test('gets the error that it shows, to the byte but for blanks', async () => {
    const [{ body } = { body: '' }] = blocksOf(sectionOf(document, 'Errors')).filter(({ language }) => language === 'json');
    const response = await report('start_date=2024-01-01');
    expect([response.status, await response.text()]).toEqual([422, JSON.stringify(JSON.parse(body))]);
  });

  test('takes no part of an answer for the whole, when it parses the answer as JSON', async () => {
    const own = await createOrganization(gateway.services);
    await importLines(gateway.services, own, [
      v2Line({ main_memo: ']} {"response":[]}' }),
      v2Line({ transaction_id: 'P11', allocation_id: 'P101' }),
    ]);
    const text = await (await report('start_date=2024-01-02&end_date=2024-01-02', own.apiProvision)).text();
    const taken = Array.from(text, (_, length) => text.slice(0, length)).filter((part) => {
      try {
        JSON.parse(part);
        return true;
      } catch {
        return false;
      }
    });
    expect([JSON.parse(text), taken]).toEqual([{ response: [expect.anything(), expect.anything()] }, []]);
  });

  test('gets from its GraphQL document and variables the lines that v2 answers, with every value, under names in camelCase', async () => {
    const section = sectionOf(document, 'From v2 to GraphQL');
    const query = blocksOf(section).find(({ body }) => body.startsWith('query Report'))!.body;
    const [{ body: variables } = { body: '' }] = blocksOf(section).filter(({ language }) => language === 'json');
    const own = await createOrganization(gateway.services);
    const line = v2Line({ deposit_date: '2026-01-31' });
    await importLines(gateway.services, own, [line, v2Line({ deposit_id: '2', transaction_id: 'T2', allocation_id: 'A2' })]);
    const { response } = (await (await report('start_date=2026-01-01&end_date=2026-01-31', own.apiProvision)).json()) as {
      response: object[];
    };
    const toCamelCase = (name: string): string => name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
    const renamed = response.map((each) => Object.fromEntries(Object.entries(each).map(([name, value]) => [toCamelCase(name), value])));
    expect(renamed).toHaveLength(1);
    const { body } = await graphql(gateway.url, query, { provision: own.apiProvision, variables: JSON.parse(variables) as object });
    expect(body).toEqual({ data: { depositDetails: renamed } });
  });

  test('finds as many unknown shares as it says after an import of v2 answers alone, and none with allocation_amount', async () => {
    const [, lines, unknown] = /of the ([\d,]+) posted lines [^.]*? year, ([\d,]+) have an unknown share/.exec(document)!.map(toNumber);
    const year: ImportLine[] = [];
    for await (const block of createDemoLines(new Date('2026-11-25T12:00:00Z')))
      for (const { values } of block as readonly { values: ImportLine }[])
        if (values.deposit_date.startsWith('2026') && values.deposit_status === 'posted') year.push(values);
    const query = '{ depositSummary { all { lines byAllocation { unknown } } } }';
    const readAfter = async (imported: readonly object[]) => {
      const own = await createOrganization(gateway.services);
      await importLines(gateway.services, own, imported);
      return (await graphql(gateway.url, query, { provision: own.apiProvision })).body.data;
    };
    const ofV2 = year.map(({ allocation_amount: _amount, deposit_status: _status, ...fields }) => fields);
    expect(await readAfter(ofV2)).toEqual({ depositSummary: { all: { lines, byAllocation: { unknown } } } });
    expect(await readAfter(year)).toEqual({ depositSummary: { all: { lines, byAllocation: { unknown: 0 } } } });
  });
});

describe('a report with wrong parameters', () => {
  const good = { start_date: '2024-01-01', end_date: '2024-01-31' };
  const dates = [
    '2024-02-30',
    '2023-02-29',
    '2024-13-01',
    '2024-00-10',
    '2024-01-00',
    '0000-01-01',
    '2024-1-1',
    '2024-01-01T00:00:00Z',
    '+02024-01-01',
  ];
  const texts = [
    '',
    ' 2024-01-01',
    '2024-01-01 ',
    '２０２４-01-01',
    '2024-01-01\0',
    "2024-01-01' OR '1'='1",
    'x'.repeat(8000),
    '20240101',
    'today',
  ];
  const cases: [string, string][] = [
    ['no parameters', ''],
    ['no end', 'start_date=2024-01-01'],
    ['no start', 'end_date=2024-01-01'],
    ['a repeated start', 'start_date=2024-01-01&start_date=2024-01-01&end_date=2024-01-31'],
    ['brackets', 'start_date[gte]=2024-01-01&end_date=2024-01-31'],
    ['a repeated include_pending', 'start_date=2024-01-01&end_date=2024-01-31&include_pending=true&include_pending=true'],
    ...[...dates, ...texts].map((date): [string, string] => [
      `start ${JSON.stringify(date.slice(0, 30))}`,
      new URLSearchParams({ ...good, start_date: date }).toString(),
    ]),
    ...[...dates, ...texts].map((date): [string, string] => [
      `end ${JSON.stringify(date.slice(0, 30))}`,
      new URLSearchParams({ ...good, end_date: date }).toString(),
    ]),
    ...['TRUE', '1', 'yes', '', 'null', 'true '].map((flag): [string, string] => [
      `include_pending ${JSON.stringify(flag)}`,
      new URLSearchParams({ ...good, include_pending: flag }).toString(),
    ]),
    ['both wrong and in the wrong order', 'start_date=2024-02-30&end_date=2024-01-01'],
  ];

  test.each(cases)('is told so: %s', async (_title, query) => {
    const response = await report(query);
    expect(response.status).toBe(422);
    expect(await response.json()).toEqual(error(422, 'Invalid parameter(s)'));
  });

  test('is told that the start comes after the end', async () => {
    const response = await report('start_date=2024-02-01&end_date=2024-01-31');
    expect(response.status).toBe(422);
    expect(await response.json()).toEqual(error(422, 'Start date cannot be greater than the end date.'));
  });
});

describe('a request that is no v2 request', () => {
  test.each([
    ['/api/v2'],
    ['/api/v2/'],
    ['/api/v2/nothing'],
    [`${SYSTEM}/`],
    ['/api/v2/Authenticated_Test_System'],
    ['/api//v2/authenticated_test_system'],
    ['/api/v3/authenticated_test_system'],
    ['/API/v2/authenticated_test_system'],
    ['/index.html'],
    ['/favicon.ico'],
  ])('is answered 404 in the error shape: %s', async (path) => {
    const response = await get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
    expect(await response.json()).toEqual(error(404, 'Not found'));
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('is answered 405 with what is allowed: %s', async (method) => {
    for (const path of [SYSTEM, SESSION, REPORT]) {
      const response = await fetch(gateway.url + path, { method, headers: { Provision: organization.apiProvision } });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      expect(await response.json()).toEqual(error(405, 'Method not allowed'));
    }
  });

  test('is answered 404 where the path cannot be decoded', async () => {
    const response = await get('/api/v2/%E0%A4%A');
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual(error(404, 'Not found'));
  });
});
