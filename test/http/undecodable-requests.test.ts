import { graphql, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { exchange, parseAnswer } from '../support/raw-http';
import { REQUEST_ID } from '../support/request-id';

const TOKEN = 'an-operators-token-of-enough-length';
const gateway = openGateway({
  loggedIn: true,
  settings: { ADMIN_PORT: '0', ADMIN_TOKEN: TOKEN },
  lines: [v2Line({ status: 'Annulé', donor_id: 8, donor_last_name: 'García' }), v2Line({ transaction_id: 'P11', allocation_id: 'P101' })],
});
const { organization } = gateway;

const DATES = 'start_date=2024-01-01&end_date=2024-12-31';
const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
const BY_STATUS = `query ($statuses: [String!]) {
  depositDetailsConnection(startDate: "2024-01-01", endDate: "2024-12-31", filter: { statuses: $statuses }) { nodes { amount status } } }`;
beforeAll(async () => {
  const mutation = 'mutation ($query: String!) { saveReport(input: { name: "by-status", query: $query }) { replaced } }';
  const as = { provision: organization.webProvision, cookie: gateway.cookie };
  expect((await graphql(gateway.url, mutation, { ...as, variables: { query: BY_STATUS } })).body.errors).toBeUndefined();
});

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Asks for a target as it stands, byte by byte: each character of it is one. */
async function askRaw(target: string, provision: string | null = organization.apiProvision): Promise<Answer> {
  const head = `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${provision === null ? '' : `Provision: ${provision}\r\n`}\r\n`;
  const answer = await exchange(gateway.url, Buffer.from(head, 'latin1'));
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  return answer.startsWith('HTTP/1.1 200') ? { status: 200, body } : parseAnswer(answer);
}

const refused = (error: string, status = 422): Answer => ({ status, body: { errors: [{ error, status }] } });

describe('a caller of a file', () => {
  test.each([
    ['Latin-1', 'status=Annul%E9', 'status is not UTF-8 at byte 6'],
    ['a Latin-1 name', 'donor_name=Garc%EDa', 'donor_name is not UTF-8 at byte 5'],
    ['a cut character', 'donor_name=Garc%C3', 'donor_name is not UTF-8 at byte 5'],
    ['a cut character before another', 'donor_name=Garc%C3+x', 'donor_name is not UTF-8 at byte 5'],
    ['a bare %', 'status=100%', 'status has a % that begins no escape, such as %25'],
    ['a % before other letters', 'status=%zz', 'status has a % that begins no escape, such as %25'],
    ['an escape of one digit', 'status=%4', 'status has a % that begins no escape, such as %25'],
    ['a cut mark of a byte order', 'donor_name=%EF%BB', 'donor_name is not UTF-8 at byte 1'],
    ['a cut replacement character', 'donor_name=a%EF%BF%BD%EF%BFz', 'donor_name is not UTF-8 at byte 5'],
    ['an overlong slash', 'status=%C0%AF', 'status is not UTF-8 at byte 1'],
    ['half of a character', 'status=%ED%A0%80', 'status is not UTF-8 at byte 1'],
    ['a character beyond the last', 'status=%F4%90%80%80', 'status is not UTF-8 at byte 1'],
    ['a mark of UTF-16', 'status=%FF%FEA%00', 'status is not UTF-8 at byte 1'],
    ['one good value and one that is not', 'status=Complete&status=Annul%E9', 'status is not UTF-8 at byte 6'],
    ['an undecodable date', 'transaction_date_from=2024-01-0%B9', 'transaction_date_from is not UTF-8 at byte 10'],
    ['an undecodable amount', 'amount_min=%A310.00', 'amount_min is not UTF-8 at byte 1'],
    ['undecodable columns', 'columns=amount,%E9', 'columns is not UTF-8 at byte 8'],
    ['an undecodable option', 'bom=%E9', 'bom is not UTF-8 at byte 1'],
    ['an undecodable name', 'stat%E9=Complete', 'the name "stat%E9" is not UTF-8 at byte 5'],
  ])('is refused with %s, which would become another text', async (_case, parameter, fault) => {
    const answer = refused(`Invalid parameter(s): ${fault}`);
    expect(await askRaw(`/export/deposit-details.csv?${DATES}&${parameter}`)).toEqual(answer);
    expect(await askRaw(`/export/deposit-summary.json?${DATES}&${parameter}`)).toEqual(answer);
  });

  // The time is far above what one reading of the address takes, and far below what one for each pair of its parameters does.
  test('is refused at once for a name that is given thousands of times', async () => {
    const many = 'a&'.repeat(7000);
    expect(await askRaw(`/export/deposit-details.csv?${many}`)).toMatchObject({ status: 422 });
    expect(await askRaw(`/graphql?${many}`)).toMatchObject({ status: 400 });
  }, 6000);

  test.each([
    ['escapes', 'status=Annul%C3%A9'],
    ['a blank as a plus', 'donor_name=ada+garc%c3%ada'],
  ])('gets the rows of a text in UTF-8, by %s', async (_case, parameter) => {
    const { status, body } = await askRaw(`/export/deposit-details.csv?${DATES}&${parameter}&columns=status`);
    expect([status, String(body).includes('Annulé')]).toEqual([200, true]);
    expect(String(body)).not.toContain('Complete');
  });

  test.each([
    ['a parameter', `/export/deposit-details.csv?${DATES}&status=Annul`],
    ['a saved report', '/reports/'],
    ['a query of GraphQL', '/graphql?query=%7B__typename%7D&operationName='],
    ['v2', `${REPORT}?start_date=`],
  ])('is told of bytes without escapes in the address: %s', async (_case, target) => {
    const answer = refused('Bad request: the address has characters that need escapes, as é needs %C3%A9', 400);
    for (const letter of ['\xe9', '\xc3\xa9']) expect(await askRaw(target + letter)).toEqual(answer);
  });

  test('learns of what cannot be decoded after all checks of access', async () => {
    const target = `/export/deposit-details.csv?${DATES}&status=%E9`;
    expect(await askRaw(target, null)).toEqual(refused('Provision header missing'));
    expect(await askRaw(target, organization.webProvision)).toEqual(refused('Not logged in'));
    expect(await askRaw('/reports/by-status.csv?statuses=%E9', null)).toEqual(refused('Provision header missing'));
  });
});

describe('a caller of a saved report', () => {
  test.each([
    ['a value', '/reports/by-status.csv?statuses=Annul%E9', refused('Invalid parameter(s): statuses is not UTF-8 at byte 6')],
    ['an option', '/reports/by-status.csv?totals=%', refused('Invalid parameter(s): totals has a % that begins no escape, such as %25')],
    ['a name', '/reports/by-status.csv?%C3=1', refused('Invalid parameter(s): the name "%C3" is not UTF-8 at byte 1')],
    ['the report', '/reports/%E9.csv', refused('Bad request: the path has escapes that are not UTF-8', 400)],
    ['a % that begins no escape', '/reports/%zz.csv', refused('Bad request: the path has escapes that are not UTF-8', 400)],
    ['a receipt', '/export/receipts/%C0%AF', refused('Bad request: the path has escapes that are not UTF-8', 400)],
  ])('is refused where %s cannot be decoded', async (_case, target, answer) => {
    expect(await askRaw(target)).toEqual(answer);
  });
});

describe('a caller of v2', () => {
  test.each([
    `${REPORT}?${DATES}&include_pending=%E9`,
    `${REPORT}?start_date=2024-01-01&end_date=%32024-12-31%C3`,
    `${REPORT}?${DATES}&x=%`,
    `${REPORT}?${DATES}&%E9=1`,
    '/api/v2/authenticated_test_system?x=%E9',
  ])('gets the text of the contract for an address that cannot be decoded: %s', async (target) => {
    expect(await askRaw(target)).toEqual(refused('Invalid parameter(s)'));
    expect(await askRaw(target, null)).toEqual(refused('Provision header missing'));
  });
});

describe('a caller of GraphQL', () => {
  const fault = (message: string): Answer => ({
    status: 400,
    body: { errors: [{ message: `Bad request: ${message}`, extensions: { code: 'BAD_REQUEST', requestId: REQUEST_ID } }] },
  });
  const post = async (body: Buffer, type = 'application/json', provision = organization.apiProvision): Promise<Answer> => {
    const headers = { 'Content-Type': type, Provision: provision };
    const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body: new Uint8Array(body) });
    return { status: response.status, body: await response.json() };
  };
  const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

  test.each([
    ['query', 'query=%7B__typename%7D%23%E9', 'query is not UTF-8 at byte 14'],
    ['variables', 'query=%7B__typename%7D&variables=%7B%22s%22:%22%E9%22%7D', 'variables is not UTF-8 at byte 7'],
    ['operationName', 'query=%7B__typename%7D&operationName=%C3', 'operationName is not UTF-8 at byte 1'],
    ['extensions', 'query=%7B__typename%7D&extensions=%', 'extensions has a % that begins no escape, such as %25'],
    [
      'half of a character',
      'query=%7B__typename%7D&variables=%7B%22s%22:%22%5Cud800%22%7D',
      'variables has half of a character at line 1, column 7',
    ],
  ])('is refused by GET with %s that cannot be decoded', async (_case, search, message) => {
    expect(await askRaw(`/graphql?${search}`)).toEqual(fault(message));
  });

  test.each([
    ['Latin-1', '{"query":"query($s:[String!]){__typename}","variables":{"s":["Annul\xe9"]}}', 'the body is not UTF-8 at byte 68'],
    ['a cut character at the end of a text', '{"query":"{__typename} #\xc3"}', 'the body is not UTF-8 at byte 25'],
    ['half of a character', '{"query":"{__typename}","variables":{"s":"\xed\xa0\x80"}}', 'the body is not UTF-8 at byte 43'],
    [
      'an escape of half a character',
      '{"query":"{__typename}","variables":\n{"s":"\\uD800"}}',
      'the body has half of a character at line 2, column 7',
    ],
    [
      'halves in the wrong order',
      '{"query":"{__typename}","variables":{"s":"\\udc00\\ud800"}}',
      'the body has half of a character at line 1, column 43',
    ],
    ['a half in a name', '{"query":"{__typename}","variables":{"\\udfff":1}}', 'the body has half of a character at line 1, column 39'],
    ['half of a character in the query', '{"query":"{__typename}#\\ud83d!"}', 'the body has half of a character at line 1, column 24'],
  ])('is told the place of %s in a body', async (_case, body, message) => {
    expect(await post(bytesOf(body))).toEqual(fault(message));
    expect(await post(bytesOf(body), 'application/json', organization.webProvision)).toEqual(fault(message));
  });

  test('is refused for its provision before its body is read', async () => {
    const { body } = await post(bytesOf('{"query":"\xe9"}'), 'application/json', 'x');
    expect(body).toMatchObject({ errors: [{ message: 'Invalid provision' }] });
  });

  test('cannot log in with a password in Latin-1', async () => {
    const login = '{"query":"mutation { login(input: { username: \\"ada\\", password: \\"\xe9t\xe9\\" }) { viewer { username } } }"}';
    expect(await post(bytesOf(login), 'application/json', organization.webProvision)).toEqual(fault('the body is not UTF-8 at byte 68'));
  });

  test('may escape whole characters and backslashes', async () => {
    const { body } = await graphql(gateway.url, BY_STATUS, { provision: organization.apiProvision, variables: { statuses: ['😀'] } });
    expect(body.data!.depositDetailsConnection).toEqual({ nodes: [] });
    const escaped = '{"query":"query($s:String){donors(search:$s){totalCount}}","variables":{"s":"\\ud83d\\ude00 \\\\ud800"}}';
    expect(await post(bytesOf(escaped))).toEqual({ status: 200, body: { data: { donors: { totalCount: 0 } } } });
  });

  test.each([
    ['utf8', 200],
    ['UTF8', 200],
    ['"utf-8"', 200],
    ['utf-16', 415],
    ['utf-7', 415],
    ['iso-8859-1', 415],
    ['utf88', 415],
  ])('who says charset=%s gets the status %d', async (charset, status) => {
    expect((await post(bytesOf('{"query":"{__typename}"}'), `application/json; charset=${charset}`)).status).toBe(status);
  });
});

describe('an operator', () => {
  const send = async (target: string, body?: Buffer, type = 'application/json'): Promise<Answer> => {
    const headers = { 'Content-Type': type, Authorization: `Bearer ${TOKEN}` };
    const response = await fetch(gateway.adminUrl + target, { headers, ...(body && { method: 'POST', body: new Uint8Array(body) }) });
    return { status: response.status, body: await response.json() };
  };

  test.each([
    ['Latin-1', 'Soci\xe9t\xe9', 'the body is not UTF-8 at byte 49'],
    ['half of a character', '\\ud800', 'the body has half of a character at line 1, column 45'],
  ])('creates no organization whose name is %s', async (_case, name, fault) => {
    const body = Buffer.from(
      `{"query":"mutation($n:String!){createOrganization(organization:$n){name}}","variables":{"n":"${name}"}}`,
      'latin1',
    );
    const place = body.indexOf(name, 0, 'latin1') + 1;
    const text = fault.replace(/byte \d+/, `byte ${place + 4}`).replace(/column \d+/, `column ${place}`);
    expect(await send('/graphql', body)).toEqual(refused(`Bad request: ${text}`, 400));
  });

  test('is refused by GET with variables that are not UTF-8', async () => {
    const target = '/graphql?query=query($n:String!)%7Borganization(organization:$n)%7Bname%7D%7D&variables=%7B%22n%22:%22%E9%22%7D';
    expect(await send(target)).toEqual(refused('Bad request: variables is not UTF-8 at byte 7', 400));
  });

  test.each([
    ['utf8', 200],
    ['utf-16le', 415],
  ])('who says charset=%s gets the status %d', async (charset, status) => {
    expect((await send('/graphql', Buffer.from('{"query":"{__typename}"}'), `application/json; charset=${charset}`)).status).toBe(status);
  });
});
