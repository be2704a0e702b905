import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { depositBook } from '../support/deposit-book';
import { createExportReader, RANGE, sha256 } from '../support/export-reader';
import { PASSWORD, createOrganization, importLines, login, v2Line, type TestOrganization } from '../support/gateway';
import { REPORT } from '../support/long-report';
import { openGateway } from '../support/open-gateway';
import { exchange } from '../support/raw-http';

const LINES = [
  ...depositBook(60),
  v2Line({
    ...{
      donor_id: 999,
      deposit_id: 'D99',
      transaction_id: '=T',
      allocation_id: 'A"9',
      amount: '-5.00',
      fee_amount: '-1.00',
      net_amount: '-4.00',
    },
    ...{
      donor_first_name: '=HYPERLINK("x")',
      donor_last_name: 'Łukasiewicz',
      main_memo: 'two\r\nlines',
      designation: '+fund',
      designation_id: 77,
    },
  }),
];

const gateway = openGateway({ lines: LINES });
const { organization } = gateway;
let other: TestOrganization;

beforeAll(async () => {
  other = await createOrganization(gateway.services);
});

const { get, download, receiptOf } = createExportReader(gateway);

async function v2Lines(query = RANGE): Promise<{ body: Buffer; lines: Record<string, string | number>[] }> {
  const { body } = await get(`${REPORT}?${query}`);
  return { body, lines: (JSON.parse(body.toString()) as { response: Record<string, string | number>[] }).response };
}

describe('a file of the report', () => {
  test('has the lines of the v2 answer, in each format', async () => {
    const { body, lines } = await v2Lines();
    const download = (file: string) => get(`/export/${file}?${RANGE}&columns=v2`);
    const json = await download('deposit-details.json');
    expect(json.body).toEqual(body);
    expect(json.trailers['x-export-file-sha256']).toBe(sha256(body));
    const ndjson = (await download('deposit-details.ndjson')).body.toString();
    expect(ndjson).toBe(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const csv = (await download('deposit-details.csv')).body.toString();
    expect(csv.split('\r\n')[0]).toBe(Object.keys(lines[0]!).join(','));
    const records = parse<Record<string, string>>(csv, { columns: true, record_delimiter: '\r\n' });
    // A spreadsheet would run free text that begins so as a formula. Amounts are no free text.
    const guard = (value: string | number) => (typeof value === 'string' && /^[=+]/.test(value) ? `'${value}` : String(value));
    const guarded = lines.map((line) => Object.fromEntries(Object.entries(line).map(([name, value]) => [name, guard(value)])));
    expect(records).toEqual(guarded);
    expect(csv).toContain('"-5.00","-1.00","-4.00"');
  });

  test.each(['', '&totals=headers'])('says what it must add up to, with its own digest%s', async (query) => {
    const { lines } = await v2Lines();
    const { headers, trailers, body } = await download('deposit-details.csv', query);
    const unique = (field: string) => new Set(lines.map((line) => line[field])).size;
    const cents = (rows: readonly Record<string, string | number>[]) =>
      rows.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0);
    const digest = sha256(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const totals = {
      'x-export-rows': String(lines.length),
      'x-export-lines': String(lines.length),
      'x-export-transactions': String(unique('transaction_id')),
      'x-export-deposits': String(unique('deposit_id')),
      'x-export-amount-by-line': (cents(lines) / 100).toFixed(2),
      'x-export-amount-by-transaction': (cents([...new Map(lines.map((line) => [line.transaction_id, line])).values()]) / 100).toFixed(2),
      'x-export-digest': digest,
    };
    expect(headers).toMatchObject({
      'x-export-range': '2024-01-01/2024-12-31',
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="deposit-details-2024-01-01-2024-12-31.csv"',
      'cache-control': 'no-store',
    });
    expect(trailers).toMatchObject({ ...totals, 'x-export-range': '2024-01-01/2024-12-31', 'x-export-file-sha256': sha256(body) });
    const announced = headers.trailer!.split(', ').map((name) => name.toLowerCase());
    expect(announced.sort()).toEqual(Object.keys(trailers).sort());
    if (query === '') expect(Object.keys(headers).filter((name) => name in totals)).toEqual([]);
    else expect(headers).toMatchObject(totals);
    const receipt = await receiptOf(String(headers['x-export-id']));
    expect(receipt).toMatchObject({ outcome: 'whole', lines: lines.length, digest, bytes: body.length, fileSha256: sha256(body) });
  });

  test('tells posted from pending wherever pending lines may be in it, and by the digest the same lines of v2', async () => {
    const { lines } = await v2Lines();
    const statusOf = new Map(depositBook(60).map(({ deposit_id, deposit_status }) => [deposit_id, deposit_status]));
    const withStatus = lines.map((line) => ({ ...line, deposit_status: statusOf.get(String(line.deposit_id)) ?? 'posted' }));
    expect(new Set(withStatus.map(({ deposit_status }) => deposit_status)).size).toBe(2);
    const whole = await download('deposit-details.ndjson');
    expect(whole.body.toString()).toBe(withStatus.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const ofV2 = await download('deposit-details.ndjson', '&columns=v2');
    expect([whole.trailers['x-export-digest'], ofV2.trailers['x-export-digest']]).toEqual([sha256(ofV2.body), sha256(ofV2.body)]);

    const range = 'start_date=2024-01-01&end_date=2024-12-31';
    const linesOf = async (query: string) =>
      (JSON.parse((await get(`/export/deposit-details.json?${query}`)).body.toString()) as { response: object[] }).response;
    expect(await linesOf(`${range}&pending=ONLY`)).toEqual(withStatus.filter(({ deposit_status }) => deposit_status === 'pending'));
    for (const query of [range, `${range}&pending=WITHOUT`, `${RANGE}&pending=WITHOUT`]) {
      expect(await linesOf(query)).toEqual((await v2Lines(range)).lines);
    }
    expect(await linesOf(`${range}&columns=deposit_status&deposit_id=D7`)).toContainEqual({ deposit_status: 'posted' });
  });

  test('gives a share that is not known as null, one that is a gift’s only one as inferred, and no sum of what nobody knows', async () => {
    const own = await createOrganization(gateway.services);
    const as = { Provision: own.apiProvision };
    await importLines(gateway.services, own, [
      v2Line(),
      v2Line({ allocation_id: 'P101' }),
      v2Line({ transaction_id: '2', allocation_id: '2' }),
    ]);
    const { trailers, body } = await download('deposit-details.json', '&columns=allocation_amount,allocation_amount_inferred', as);
    expect(JSON.parse(body.toString())).toEqual({
      response: [
        { allocation_amount: '10.50', allocation_amount_inferred: true },
        { allocation_amount: null, allocation_amount_inferred: null },
        { allocation_amount: null, allocation_amount_inferred: null },
      ],
    });
    expect([trailers['x-export-amount-by-allocation'], trailers['x-export-unknown-allocations']]).toEqual(['10.50', '2']);
    const unknown = await download('deposit-details.csv', '&transaction_id=P10&columns=allocation_amount', as);
    expect(unknown.body.toString()).toBe('allocation_amount\r\n\r\n\r\n');
    expect([unknown.trailers['x-export-amount-by-allocation'], unknown.trailers['x-export-unknown-allocations']]).toEqual([undefined, '2']);
    const summary = '&transaction_id=P10&columns=known_allocations,inferred_allocations,unknown_allocations,allocation_amount';
    expect((await download('deposit-summary.json', summary, as)).body.toString()).toBe(
      '{"response":[{"known_allocations":0,"inferred_allocations":0,"unknown_allocations":2,"allocation_amount":null}]}',
    );
  });

  test('may leave its totals out', async () => {
    const { headers, trailers, body } = await download('deposit-details.csv', '&totals=skip');
    expect(Object.keys(headers).filter((name) => name.startsWith('x-export'))).toEqual(['x-export-range', 'x-export-place', 'x-export-id']);
    expect(trailers).toEqual({ 'x-export-range': '2024-01-01/2024-12-31', 'x-export-file-sha256': sha256(body) });
    expect(await receiptOf(String(headers['x-export-id']))).toMatchObject({
      outcome: 'whole',
      lines: null,
      digest: null,
      bytes: body.length,
    });
  });

  test('has the columns that were chosen, in their order, and a byte order mark where Excel needs it', async () => {
    const { lines } = await v2Lines();
    const { body } = await download('deposit-details.csv', '&columns=amount,deposit_id,donor_id&bom=true');
    const rows = lines.map(({ amount, deposit_id, donor_id }) => `"${amount}","${deposit_id}",${donor_id}\r\n`);
    expect(body.toString()).toBe(`\uFEFFamount,deposit_id,donor_id\r\n${rows.join('')}`);
    const ndjson = await download('deposit-details.ndjson', '&columns=donor_id,amount&bom=true');
    expect(ndjson.body.toString()).toBe(lines.map(({ donor_id, amount }) => `${JSON.stringify({ donor_id, amount })}\n`).join(''));
  });

  test.each<[string, (line: Record<string, string | number>) => boolean]>([
    ['&designation_id=2&designation_id=4', ({ designation_id }) => designation_id === 2 || designation_id === 4],
    ['&amount_min=10.00&amount_max=50.00', ({ amount }) => Number(amount) >= 10 && Number(amount) <= 50],
    [`&amount_min=10.00&amount_max=${'9'.repeat(38)}.99`, ({ amount }) => Number(amount) >= 10],
    ['&status=Hold&account_type=Savings', ({ status, account_type }) => status === 'Hold' && account_type === 'Savings'],
    [
      '&donor_name=ad',
      ({ donor_first_name, donor_last_name }) =>
        /^ad/i.test(String(donor_last_name)) || /^ad/i.test(`${donor_first_name} ${donor_last_name}`),
    ],
    [
      '&transaction_date_from=2024-01-05&transaction_date_to=2024-01-09',
      ({ transaction_date }) => transaction_date! >= '2024-01-05' && transaction_date! <= '2024-01-09',
    ],
    ['&deposit_id=D7&deposit_id=D99&transaction_id=%3DT&payment_type=ACH&donor_id=1', () => false],
  ])('is narrowed by %s, and its totals with it', async (query, isWanted) => {
    const wanted = (await v2Lines()).lines.filter(isWanted);
    const { body, trailers } = await download('deposit-details.json', `${query}&columns=v2`);
    expect((JSON.parse(body.toString()) as { response: object[] }).response).toEqual(wanted);
    expect([trailers['x-export-lines'], trailers['x-export-digest']]).toEqual([
      String(wanted.length),
      sha256(wanted.map((line) => `${JSON.stringify(line)}\n`).join('')),
    ]);
  });

  test('comes compressed to who asks, and tells of the file as it is unpacked', async () => {
    const plain = await download('deposit-details.csv');
    const packed = await download('deposit-details.csv', '', { 'Accept-Encoding': 'gzip' });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(packed.body)).toEqual(plain.body);
    expect(packed.trailers['x-export-file-sha256']).toBe(sha256(plain.body));
  });

  test('is told of without being taken', async () => {
    const before = (await gateway.database.client.query("SELECT FROM audit_record WHERE kind = 'file' AND part = 'started'")).rowCount;
    const path = `/export/deposit-details.csv?${RANGE}`;
    for (const [query, lines] of [
      ['', undefined],
      ['&totals=headers', String((await v2Lines()).lines.length)],
    ] as const) {
      const { status, headers, body } = await get(path + query, {}, 'HEAD');
      expect([status, body.length, headers['x-export-range'], headers['x-export-lines']]).toEqual([200, 0, '2024-01-01/2024-12-31', lines]);
    }
    expect((await gateway.database.client.query("SELECT FROM audit_record WHERE kind = 'file' AND part = 'started'")).rowCount).toBe(
      before,
    );
  });
});

test('a file is narrowed by every one of a thousand values and more', async () => {
  const donors = Array.from({ length: 1000 }, (_, n) => `&donor_id=${n === 999 ? 999 : 5000 + n}`).join('');
  const { body } = await download('deposit-details.csv', `${donors}&columns=donor_id`);
  expect(body.toString()).toBe('donor_id\r\n999\r\n');
  const { status, body: refused } = await download('deposit-details.csv', `${'&status='.repeat(1200)}&nonsense=1`);
  expect([status, refused.toString()]).toEqual([422, expect.stringContaining('there is no parameter nonsense')]);
});

test('a file is for a proxy that speaks HTTP/1.0 too, which has a receipt instead of trailers', async () => {
  const lines = (await v2Lines()).lines.length;
  const path = `/export/deposit-details.csv?${RANGE}&columns=amount`;
  const answer = await exchange(gateway.url, `GET ${path} HTTP/1.0\r\nHost: localhost\r\nProvision: ${organization.apiProvision}\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  const [head, body] = answer.split('\r\n\r\n') as [string, string];
  expect(body.trimEnd().split('\r\n').length).toBe(lines + 1);
  expect(head).not.toMatch(/^Trailer:/im);
  const { trailers } = await download('deposit-details.csv', '&columns=amount');
  const receipt = await receiptOf(/^X-Export-Id: (.+)$/im.exec(head)![1]);
  expect(receipt).toMatchObject({ outcome: 'whole', lines, digest: trailers['x-export-digest'], fileSha256: sha256(body) });
});

describe('a wrong request for a file', () => {
  test.each([
    ['?end_date=2024-01-31', 422, 'Invalid parameter(s): start_date is missing'],
    ['?start_date=2024-02-30&end_date=2024-03-01', 422, 'Invalid parameter(s): start_date: "2024-02-30" is no day of the calendar'],
    [
      '?start_date=1.2.24&end_date=2024-03-01',
      422,
      'Invalid parameter(s): start_date: "1.2.24" is not a date: write YYYY-MM-DD, such as "2026-01-31"',
    ],
    ['?start_date=2024-01-01&start_date=2024-01-02&end_date=2024-03-01', 422, 'Invalid parameter(s): start_date must be a date YYYY-MM-DD'],
    ['?start_date=2024-03-02&end_date=2024-03-01', 422, 'Start date cannot be greater than the end date.'],
    [
      `?${RANGE}&columns=amount,amount`,
      422,
      'Invalid parameter(s): columns must be names of fields of the report, each once, separated by commas',
    ],
    [`?${RANGE}&columns=`, 422, 'Invalid parameter(s): columns must be names of fields of the report, each once, separated by commas'],
    [`?${RANGE}&bom=yes`, 422, 'Invalid parameter(s): bom must be true or false'],
    [`?${RANGE}&totals=trailers`, 422, 'Invalid parameter(s): totals must be headers or skip'],
    [`?${RANGE}&colums=amount`, 422, 'Invalid parameter(s): there is no parameter colums'],
    [`?${RANGE}&__proto__=1`, 422, 'Invalid parameter(s): there is no parameter __proto__'],
    [`?${RANGE}&designation_id=two`, 422, 'Invalid parameter(s): designation_id must be a number'],
    [`?${RANGE}&amount_min=1,5`, 422, 'Invalid parameter(s): amount_min: "1,5" is not an amount: write two decimals, such as "100.00"'],
    [`?${RANGE}&amount_min=9.00&amount_max=1.00`, 422, 'Invalid parameter(s): filter.amount: min is greater than max'],
    [`?${RANGE}&pending=ALL`, 422, 'Invalid parameter(s): pending must be WITH, WITHOUT or ONLY'],
    [`?${RANGE}&donor_name=ada%00`, 422, 'Invalid parameter(s): filter.donorName has a NUL character'],
  ])('%s is told what is wrong', async (query, status, error) => {
    const answer = await get(`/export/deposit-details.csv${query}`);
    expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([status, { errors: [{ error, status }] }]);
    expect(answer.headers['content-disposition']).toBeUndefined();
  });

  test('is refused before its parameters are read, and leaves no record', async () => {
    await gateway.services.users.create({ organization: organization.name, username: 'clerk', password: PASSWORD, grants: [] });
    const clerk = await login(gateway.url, organization.webProvision, 'clerk');
    const count = async () =>
      (await gateway.database.client.query("SELECT FROM audit_record WHERE kind = 'file' AND part = 'started'")).rowCount;
    const before = await count();
    for (const [headers, error] of [
      [{ Provision: '' }, 'Provision header missing'],
      [{ Provision: organization.webProvision }, 'Not logged in'],
      [{ Provision: organization.webProvision, Cookie: clerk }, 'Privilege to perform the action was not found'],
      [{ Provision: other.webProvision, Cookie: clerk }, 'Provision does not match logged in provision'],
    ] as const) {
      const { status, body } = await get('/export/deposit-details.csv?nonsense=1', headers);
      expect([status, JSON.parse(body.toString())]).toEqual([422, { errors: [{ error, status: 422 }] }]);
    }
    expect(await count()).toBe(before);
  });

  test('of another method or name is told so', async () => {
    const { status, headers } = await get('/export/deposit-details.csv', {}, 'POST');
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
    expect((await get('/export/deposit-details.xlsx')).status).toBe(404);
  });
});
