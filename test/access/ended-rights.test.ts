import type { IncomingMessage } from 'node:http';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { succeed } from '../support/command';
import { graphql, login, PASSWORD, withGateway } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { activeReports, EVERYTHING, fillReport } from '../support/long-report';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

// Only the loss of rights ends an answer whose reader waits.
const gateway = openGateway({ settings: { READER_STALL_SECONDS: '3600', ACCESS_CHECK_SECONDS: '2' } });
const { organization } = gateway;
const FILE = '/export/deposit-details.csv?start_date=2020-01-01&end_date=2029-12-31';
const QUERY = '{ depositDetails(startDate: "2020-01-01", endDate: "2029-12-31") { mainMemo } }';

// Few long lines are written sooner than many short ones, and fill the buffers of a connection as well.
beforeAll(() => fillReport(gateway.database.client, organization.id, 8000, `repeat('m', 2500)`));

/** Opens a long answer, and reads nothing of its body. */
async function open(path: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  const response = await ask(gateway.url + path, { headers });
  expect(response.statusCode).toBe(200);
  return response;
}
const IN_TRANSACTION = `datname = current_database() AND state LIKE 'idle in transaction%'`;
const areActive = (count: number) => until(async () => (await activeReports(gateway.database.client)) === count);
const areWhole = async (answers: readonly IncomingMessage[]): Promise<boolean[]> =>
  (await Promise.all(answers.map(readAll))).map(({ complete }) => complete);

let number = 0;
async function newUser(): Promise<{ username: string; headers: { Provision: string; Cookie: string } }> {
  const username = `user${++number}`;
  const { users } = gateway.services;
  await users.create({ organization: organization.name, username, password: PASSWORD, grants: [REPORT_PRIVILEGE] });
  const Provision = organization.webProvision;
  return { username, headers: { Provision, Cookie: await login(gateway.url, Provision, username) } };
}

describe('an answer under way ends within seconds, and the database reads no more for it,', () => {
  test.each<[string, string[]]>([
    ['when its user is disabled', ['user', 'disable']],
    ['when its user gets another password', ['user', 'password']],
    ['when its user is deleted', ['user', 'delete']],
    ['when its session is ended', ['session', 'end']],
    ['when its privilege is taken back', ['user', 'revoke-grant', REPORT_PRIVILEGE]],
  ])('%s', async (_title, words) => {
    const [one, other] = [await newUser(), await newUser()];
    const query = `/graphql?query=${encodeURIComponent(QUERY)}`;
    const headers = { ...one.headers, Accept: 'application/graphql-response+json', 'Apollo-Require-Preflight': '1' };
    const ended = [await open(EVERYTHING, one.headers), await open(query, headers)];
    const lasting = await open(FILE, other.headers);
    await areActive(3);
    const command = [...words, '--organization', organization.name, '--username', one.username];
    await succeed({ DATABASE_URL: gateway.database.url }, command, 'another long password');
    await areActive(1);
    expect(await areWhole(ended)).toEqual([false, false]);
    lasting.destroy();
    await areActive(0);
  });

  test('when its provision is revoked, and when the session of its link ends', async () => {
    const { provisions } = gateway.services;
    const request = { organization: organization.name, kind: 'API' as const, label: '', grants: [REPORT_PRIVILEGE] };
    const Provision = await provisions.create(request);
    const { headers } = await newUser();
    const { body } = await graphql(
      gateway.url,
      `
        query ($query: String!) {
          reportFile(query: $query) {
            downloadUrl
          }
        }
      `,
      {
        ...{ provision: headers.Provision, cookie: headers.Cookie, variables: { query: QUERY } },
      },
    );
    const { downloadUrl } = body.data!.reportFile as { downloadUrl: string };
    const answers = [await open(FILE, { Provision }), await open(downloadUrl, {})];
    await areActive(2);
    await provisions.revoke(Provision);
    await graphql(gateway.url, 'mutation { logout { ended } }', { provision: headers.Provision, cookie: headers.Cookie });
    await areActive(0);
    expect(await areWhole(answers)).toEqual([false, false]);
    const list = ['--json', 'audit', '--organization', organization.name, '--kind', 'file', '--limit', '2'];
    const outcomes = async () =>
      (JSON.parse(await succeed({ DATABASE_URL: gateway.database.url }, list)) as { outcome: string | null }[]).map(
        ({ outcome }) => outcome,
      );
    await until(async () => (await outcomes()).join() === 'broken,broken');
  });

  test.each([
    ['when its user is disabled', { READER_STALL_SECONDS: '3600', ACCESS_CHECK_SECONDS: '2' }],
    ['when its reader takes nothing', { READER_STALL_SECONDS: '2' }],
  ])('also where all of it is in memory: %s', async (title, settings) => {
    const { username, headers } = await newUser();
    const pages = Array.from({ length: 6 }, (_, n) => `p${n}: depositDetailsConnection(first: 1000) { nodes { mainMemo } }`);
    const query = `/graphql?query=${encodeURIComponent(`query Pages { ${pages.join(' ')} depositSummary { all { lines } digest } }`)}`;
    const asked = { ...headers, Accept: 'application/graphql-response+json', 'Apollo-Require-Preflight': '1' };
    const { client } = gateway.database;
    const ofUser = ['--organization', organization.name, '--username', username];
    await withGateway({ DATABASE_URL: gateway.database.url, ...settings }, async ({ url, logLines }) => {
      const answer = await ask(url + query, { headers: asked });
      // Whatever the reader does, the database has done its part.
      await until(async () => (await client.query(`SELECT FROM pg_stat_activity WHERE ${IN_TRANSACTION}`)).rowCount === 0);
      if (title.includes('disabled')) await succeed({ DATABASE_URL: gateway.database.url }, ['user', 'disable', ...ofUser]);
      await until(() => logLines.some((line) => line.includes(String(answer.headers['x-request-id']))));
      expect(await areWhole([answer])).toEqual([false]);
    });
    const list = ['--json', 'audit', '--organization', organization.name, '--user', username, '--kind', 'read'];
    expect(JSON.parse(await succeed({ DATABASE_URL: gateway.database.url }, list))).toMatchObject([{ outcome: 'broken' }]);
  });
});
