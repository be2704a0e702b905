import { depositBook } from '../support/deposit-book';
import { askFeed, json } from '../support/odata-client';
import { openGateway } from '../support/open-gateway';

const LINES = depositBook(60);
const gateway = openGateway({ lines: LINES });
const { organization } = gateway;

const get = (path: string, headers?: Readonly<Record<string, string>>, method?: string) =>
  askFeed(gateway.url + path, organization.apiProvision, headers, method);

describe('a request that is refused', () => {
  test.each([
    [501, '$orderby=amount', 'Not implemented: there is no $orderby; supported is $filter, $select, $count, $top, $format'],
    [501, '$skip=1', 'Not implemented: there is no $skip; supported is $filter, $select, $count, $top, $format'],
    [501, '$expand=x', undefined],
    [501, '$search=x', undefined],
    [501, '$apply=aggregate(amount with sum as total)', undefined],
    [501, '$compute=x', undefined],
    [
      501,
      '$filter=amount gt 5',
      'Not implemented: $filter has gt; supported is comparisons of a property with a literal by eq, ge, le, joined by and',
    ],
    [501, '$filter=amount ge 5 or amount le 4', undefined],
    [
      501,
      "$filter=contains(donorLastName,'a')",
      'Not implemented: $filter calls contains; supported is comparisons of a property with a literal by eq, ge, le, joined by and',
    ],
    [501, '$filter=not (amount eq 5)', undefined],
    [501, '$filter=5 eq amount', undefined],
    [501, '$filter=amount eq feeAmount', undefined],
    [501, '$filter=allocationAmount eq null', undefined],
    [
      501,
      "$filter=donorLastName eq 'Adams'",
      'Not implemented: donorLastName cannot be compared; supported is what $metadata says of each set',
    ],
    [501, "$filter=depositId ge 'D7'", 'Not implemented: depositId is compared by ge; supported is eq for it'],
    [501, '$filter=amount eq @a&@a=5', undefined],
    [501, '$filter=amount eq @a', undefined],
    [501, '$filter=amount eq 5.001', 'Not implemented: amount is compared with 5.001; supported is an amount of at most two decimals'],
    [501, `$filter=amount le ${'9'.repeat(40)}`, undefined],
    [501, '$filter=amount ge 1E%2B15', undefined],
    [501, '$filter=-amount eq 5', undefined],
    [501, '$filter=amount eq (5)', undefined],
    [501, '$filter=amount eq -INF', undefined],
    [501, '$filter=own.named() and amount eq 5', undefined],
    [501, '$filter=depositDate ge 2024-01-01T00:00:00Z', undefined],
    [501, '$filter=Lines/amount eq 5', undefined],
    [501, '$filter=$it/amount eq 5', undefined],
    [501, '$filter=(amount ge 5) eq true', undefined],
    [
      501,
      '$filter=allocationAmountInferred and amount ge 5',
      'Not implemented: allocationAmountInferred cannot be compared; supported is what $metadata says of each set',
    ],
    [501, '$filter=amount ge 5 and (allocationAmountInferred)', undefined],
    [400, '$filter=', undefined],
    [400, '$filter=amount', 'Invalid parameter(s): $filter: amount is compared with a number'],
    [400, '$filter=amount eq 5 x', undefined],
    [400, '$filter=nothing', undefined],
    [400, '$filter=amount eq 5x', undefined],
    [400, '$filter=amount eq', undefined],
    [400, '$filter=(amount eq 5', undefined],
    [400, '$filter=amount eq 5)', undefined],
    [400, '$filter=amount eq 5) and (amount eq 5', undefined],
    [400, "$filter=status eq 'x", undefined],
    [400, '$filter=amount eq 5 amount eq 5', undefined],
    [400, '$filter=nothing eq 5', 'Invalid parameter(s): $filter: there is no property nothing'],
    [400, "$filter=amount eq 'x'", undefined],
    [400, '$filter=depositDate eq 5', undefined],
    [400, '$filter=depositDate ge 2024-02-30', undefined],
    [400, '$select=nothing', 'Invalid parameter(s): $select: there is no property nothing'],
    [400, '$count=yes', undefined],
    [400, '$top=-1', undefined],
    [400, '$top=1&$top=2', 'Invalid parameter(s): $top must be given once'],
    [
      400,
      '$Top=1',
      'Invalid parameter(s): there is no system option $Top: there are $filter, $select, $count, $top, $format, in small letters',
    ],
    [400, 'start=1', 'Invalid parameter(s): there is no parameter start'],
    [400, 'columns=amount', 'Invalid parameter(s): there is no parameter columns of a set'],
    [400, 'start_date=2024-02-01&end_date=2024-01-01', undefined],
    [400, '$filter=%E9', undefined],
  ])('is answered %s: %s', async (status, query, message) => {
    const answer = await get(`/odata/Lines?${query.replaceAll(' ', '%20')}`);
    expect([answer.status, answer.headers['odata-version'], answer.headers['content-type']]).toEqual([
      status,
      '4.0',
      'application/json; charset=utf-8',
    ]);
    const { error, ...others } = json(answer) as { error: { code: string; message: string } };
    expect([Object.keys(error), others]).toEqual([['code', 'message'], {}]);
    if (message !== undefined) expect(error.message).toBe(message);
    expect((await get(`/odata/Lines/$count?${query.replaceAll(' ', '%20')}`)).status).toBe(status);
  });

  test.each([
    [404, '/odata/Nothing'],
    [404, '/odata/lines'],
    [404, '/odata/Report_missing'],
    [404, '/odata/Report_gifts-2'],
    [404, '/odata/a/b/c'],
    [404, '/odata/Nothing/$count'],
    [404, '/odata/connections/Nothing.odc'],
    [404, '/odata/connections/Lines.exe'],
    [400, '/odata/%E9'],
    [400, '/odata?$top=1'],
    [400, '/odata/$metadata?$top=1'],
    [406, '/odata/$metadata?$format=json'],
    [501, "/odata/Lines('A1')"],
    [501, '/odata/Lines/amount'],
    [501, '/odata/$batch'],
    [501, '/odata/$all'],
    [501, '/odata/$crossjoin(Lines)'],
  ])('is answered %s at %s', async (status, path) => {
    const answer = await get(path);
    expect([answer.status, Object.keys(json(answer))]).toEqual([status, ['error']]);
    expect(answer.headers['odata-version']).toBe('4.0');
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('is one that changes something: %s', async (method) => {
    for (const path of ['/odata/Lines', '/odata', '/odata/$batch', '/odata/connections/Lines.odc']) {
      const answer = await get(path, {}, method);
      expect([answer.status, answer.headers.allow, json(answer)]).toEqual([
        405,
        'GET, HEAD',
        { error: { code: 'METHOD_NOT_ALLOWED', message: 'Method not allowed' } },
      ]);
    }
  });

  test('is one of a client that knows earlier versions alone', async () => {
    for (const [most, status] of [
      ['3.0', 400],
      ['x', 400],
      ['4.0', 200],
      ['4.01', 200],
    ] as const)
      expect((await get('/odata', { 'OData-MaxVersion': most })).status).toBe(status);
  });

  test.each([
    ['deep parentheses', `${'('.repeat(1990)}amount eq 5${')'.repeat(1990)}`, 200],
    ['more characters than are read', 'amount eq 5 and '.repeat(400), 400],
    ['more comparisons than are read', Array.from({ length: 51 }, () => 'amount eq 5').join(' and '), 400],
    ['quotes without an end', `status eq '${"''".repeat(1900)}`, 400],
    ['digits and dots', `amount eq ${'1'.repeat(2000)}.${'1'.repeat(1900)}.`, 400],
    ['SQL', "depositId eq '''; DROP TABLE deposit_line; --'", 200],
    ['COPY', String.raw`depositId eq '\.' and transactionId eq '{"a",\N}'`, 200],
    ['a NUL', "depositId eq '\0'", 400],
    ['markup', '<script>', 400],
    ['the name of a member of objects', 'constructor eq 5', 400],
    ['another one', '__proto__ eq 5', 400],
  ])('or harmless, at once, is a filter with %s', async (_title, filter, status) => {
    const start = performance.now();
    const { status: found, text } = await get(`/odata/Lines?$filter=${encodeURIComponent(filter)}`);
    expect(found).toBe(status);
    if (status === 200)
      expect(JSON.parse(text)).toMatchObject({
        value: filter.includes('amount') ? LINES.filter(({ amount }) => amount === '5.00').map(() => ({})) : [],
      });
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
