import { createOrganization, importLines, login, v2Line, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { toGlobalId } from '../../src/values/global-id';

const gateway = openGateway();
/** The version of the books after the one import. */
const VERSION = 1;
const NEWER = String(VERSION + 1);
let organization: TestOrganization;
let cookie: string;
beforeEach(async () => {
  organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, [v2Line()]);
  cookie = await login(gateway.url, organization.webProvision);
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly data?: unknown;
    readonly errors?: readonly { readonly message: string; readonly extensions: { code: string } }[];
  };
}
async function mutate(query: string, least: string): Promise<Answer> {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Provision: organization.webProvision, Cookie: cookie, 'X-Min-Data-Version': least },
    body: JSON.stringify({ query }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}
const faultOf = ({ body }: Answer) => body.errors?.map(({ message, extensions }) => [extensions.code, message]);
const namesOf = async () => (await gateway.services.savedReports.list(organization.id)).map(({ name }) => name);
const countSessions = async () =>
  (await gateway.database.client.query('SELECT FROM session WHERE organization_id = $1', [organization.id])).rowCount;

const SAVE = 'mutation { saveReport(input: { name: "all", query: "{ depositSummary { all { lines } } }" }) { report { name } replaced } }';
const DELETE = `mutation { deleteReport(input: { id: "${toGlobalId('SavedReport', 'all')}" }) { deletedId } }`;
const LOGIN = 'mutation { login(input: { username: "ada", password: "correct horse battery staple" }) { viewer { username } } }';
const TOO_OLD = [['INVALID_PARAMETERS', `Invalid parameter(s): X-Min-Data-Version is ${NEWER}, and the books are of version ${VERSION}`]];
const NO_NUMBER = 'X-Min-Data-Version is not the number of a version';

describe('a user who names a newer version than the books have', () => {
  test('saves no report, and is told so', async () => {
    const answer = await mutate(SAVE, NEWER);
    expect([answer.body.data, faultOf(answer), answer.headers.get('retry-after')]).toEqual([null, TOO_OLD, '1']);
    expect(await namesOf()).toEqual([]);
  });

  test('deletes no report, and is told so', async () => {
    await mutate(SAVE, '0');
    const answer = await mutate(DELETE, NEWER);
    expect([answer.body.data, faultOf(answer)]).toEqual([null, TOO_OLD]);
    expect(await namesOf()).toEqual(['all']);
  });

  test('logs out all the same, because that asks for no books', async () => {
    const { status, body } = await mutate('mutation { logout { ended } }', NEWER);
    expect([status, body]).toEqual([200, { data: { logout: { ended: true } } }]);
    expect(await countSessions()).toBe(0);
  });

  test('gets the error of the refused change alone beside a logout that was made', async () => {
    const answer = await mutate(`mutation { logout { ended } ${SAVE.slice('mutation {'.length)}`, NEWER);
    expect([answer.status, answer.body.errors]).toMatchObject([200, [{ path: ['saveReport'] }]]);
    expect([await countSessions(), await namesOf()]).toEqual([0, []]);
  });
});

test('a user who names the version of the books changes reports, and learns the version', async () => {
  const saved = await mutate(SAVE, String(VERSION));
  expect([saved.body, saved.headers.get('x-data-version')]).toEqual([
    { data: { saveReport: { report: { name: 'all' }, replaced: false } } },
    String(VERSION),
  ]);
  expect((await mutate(DELETE, String(VERSION))).body.errors).toBeUndefined();
  expect(await namesOf()).toEqual([]);
});

describe('a caller who names no number', () => {
  test.each([SAVE, LOGIN, 'mutation { logout { ended } }'])('changes nothing by %s', async (query) => {
    const before = await countSessions();
    const answer = await mutate(query, 'one');
    expect([answer.status, faultOf(answer), answer.headers.get('set-cookie')]).toEqual([422, [['BAD_USER_INPUT', NO_NUMBER]], null]);
    expect([await countSessions(), await namesOf()]).toEqual([before, []]);
  });

  test.each([
    ['/api/v2/authenticated_test_system', 'Invalid parameter(s)'],
    ['/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31', `Invalid parameter(s): ${NO_NUMBER}`],
    ['/export/receipts/none', `Invalid parameter(s): ${NO_NUMBER}`],
    ['/reports/all.csv', `Invalid parameter(s): ${NO_NUMBER}`],
  ])('is refused at %s, once the access is checked', async (path, error) => {
    const ask = async (credentials: Record<string, string>): Promise<unknown> => {
      const response = await fetch(gateway.url + path, { headers: { ...credentials, 'X-Min-Data-Version': '-1' } });
      return [response.status, await response.json()];
    };
    expect(await ask({ Provision: organization.apiProvision })).toEqual([422, { errors: [{ error, status: 422 }] }]);
    expect(await ask({})).toEqual([422, { errors: [{ error: 'Provision header missing', status: 422 }] }]);
    expect(await ask({ Provision: 'none' })).toEqual([422, { errors: [{ error: 'Invalid provision', status: 422 }] }]);
  });

  test('is refused a query without a session', async () => {
    const answer = await fetch(`${gateway.url}/graphql?query={viewer{username}}`, {
      headers: { Provision: organization.webProvision, 'X-Min-Data-Version': '1.5' },
    });
    expect([answer.status, await answer.json()]).toMatchObject([422, { errors: [{ message: NO_NUMBER }] }]);
  });
});

test('a user whose client takes no JSON saves nothing, and an integrator who is too early is told when to come back', async () => {
  const { status } = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { Provision: organization.webProvision, Cookie: cookie, 'Content-Type': 'application/json', Accept: 'text/html' },
    body: JSON.stringify({ query: SAVE.replace('"all"', '"unseen"') }),
  });
  expect([status, await namesOf()]).toEqual([406, expect.not.arrayContaining(['unseen'])]);
  const early = await fetch(`${gateway.url}/api/v2/authenticated_test_system`, {
    headers: { Provision: organization.apiProvision, 'X-Min-Data-Version': NEWER },
  });
  expect([early.status, early.headers.get('retry-after'), await early.json()]).toEqual([
    ...[422, '1'],
    { errors: [{ error: 'Invalid parameter(s)', status: 422 }] },
  ]);
});
