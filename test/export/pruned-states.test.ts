import { succeed } from '../support/command';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy';
import { createOrganization, graphql, importLines, v2Line, withGateway, type TestOrganization } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { activeReports, fillReport } from '../support/long-report';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();
const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const LINES = '/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31';
const SUMMARY = '/export/deposit-summary.csv?start_date=2024-01-01&end_date=2024-12-31&group_by=MONTH';
const CHANGES = '/export/deposit-changes.ndjson?start_date=2024-01-01&end_date=2024-12-31';

const named = (name: string) => v2Line({ donor_last_name: name });

/** An organization whose donor had the names Lovelace, King and Byron, in versions 1 to 3. */
async function createBooks(): Promise<TestOrganization> {
  const organization = await createOrganization(gateway.services);
  for (const name of ['Lovelace', 'King', 'Byron']) await importLines(gateway.services, organization, [named(name)]);
  return organization;
}

async function instantOf({ id }: TestOrganization, version: number): Promise<string> {
  const { rows } = await gateway.database.client.query<{ recorded_at: Date }>(
    'SELECT recorded_at FROM data_version WHERE organization_id = $1 AND number = $2',
    [id, version],
  );
  return rows[0]!.recorded_at.toISOString();
}

/** Leaves the states from a version on. */
async function prune(organization: TestOrganization, earliest = 2): Promise<void> {
  const before = await instantOf(organization, earliest);
  await succeed({ DATABASE_URL: gateway.database.url }, ['history', 'prune', '--organization', organization.name, '--before', before]);
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

async function get(
  { apiProvision }: TestOrganization,
  path: string,
  headers: Record<string, string> = {},
  url = gateway.url,
): Promise<Answer> {
  const response = await fetch(url + path, { headers: { Provision: apiProvision, ...headers } });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

const query = ({ apiProvision }: TestOrganization, text: string, variables: object = {}, url = gateway.url) =>
  graphql(url, text, { provision: apiProvision, variables });

/** The words on what is left: the states from version 2 on, of which the newest is the prune. */
async function known(organization: TestOrganization): Promise<string> {
  const [earliest, latest] = [await instantOf(organization, 2), await instantOf(organization, 4)];
  return `the earliest is 2 of ${earliest}, the latest 4 of ${latest}`;
}
const gone = (error: string) => ({ status: 410, text: JSON.stringify({ errors: [{ error, status: 410 }] }) });

describe('whoever asks for a state that was pruned', () => {
  let organization: TestOrganization;
  let rest: string;
  let first: string;
  beforeAll(async () => {
    organization = await createBooks();
    await prune(organization);
    rest = await known(organization);
    first = await instantOf(organization, 1);
  });

  test('is told so by every file, with the earliest version that is kept', async () => {
    for (const [path, name] of [
      [`${LINES}&as_of=1`, 'as_of'],
      [`${LINES}&as_of=${first}`, 'as_of'],
      [`${LINES}&as_of=1&totals=headers`, 'as_of'],
      [`${SUMMARY}&as_of=1`, 'as_of'],
      [`${CHANGES}&from=1`, 'from'],
      [`${CHANGES}&from=1&to=3`, 'from'],
    ] as const) {
      const answer = await get(organization, path);
      expect(answer).toMatchObject(gone(`The state is no longer kept: ${name}: version 1 was pruned: ${rest}`));
    }
    expect(await get(organization, `${LINES}&as_of=5`)).toMatchObject({ status: 422 });
    const before = new Date(Date.parse(first) - 1).toISOString();
    expect(await get(organization, `${LINES}&as_of=${before}`)).toMatchObject({ status: 422 });
    expect(await get(organization, `${CHANGES}&from=3&to=1`)).toMatchObject({ status: 410 });
  });

  test('is told so by GraphQL, which names the argument', async () => {
    for (const [field, argument] of [
      [`depositDetails(${RANGE}, asOf: { version: 1 }) { amount }`, 'asOf'],
      [`depositDetailsConnection(${RANGE}, asOf: { at: "${first}" }) { nodes { amount } }`, 'asOf'],
      [`depositSummary(${RANGE}, asOf: { version: 1 }) { digest }`, 'asOf'],
      [`closedThrough(asOf: { version: 1 })`, 'asOf'],
      [`depositChanges(${RANGE}, from: { version: 1 }) { nodes { class } }`, 'from'],
      [`depositChanges(${RANGE}, from: { version: 1 }, to: { version: 2 }) { nodes { class } }`, 'from'],
    ]) {
      const { body } = await query(organization, `{ ${field} }`);
      expect(body.errors).toMatchObject([
        {
          message: `The state is no longer kept: ${argument}: version 1 was pruned: ${rest}`,
          extensions: { code: 'VERSION_PRUNED', argument },
        },
      ]);
    }
    const { body } = await query(
      organization,
      '{ history { earliest { number } latest { number cause linesChanged } } dataVersions { totalCount } }',
    );
    expect(body.data).toEqual({
      history: { earliest: { number: 2 }, latest: { number: 4, cause: 'PRUNE', linesChanged: 0 } },
      dataVersions: { totalCount: 4 },
    });
  });

  test('has all later states as they were, with what changed between them', async () => {
    for (const [version, name] of [
      [2, 'King'],
      [3, 'Byron'],
      [4, 'Byron'],
    ] as const)
      expect((await get(organization, `${LINES}&as_of=${version}&columns=donor_last_name`)).text).toBe(`donor_last_name\r\n"${name}"\r\n`);
    const changes = await query(
      organization,
      `{ depositChanges(${RANGE}, from: { version: 2 }) { nodes { class before { donorLastName } after { donorLastName } } } }`,
    );
    expect(changes.body.data).toEqual({
      depositChanges: { nodes: [{ class: 'RELABELLED', before: { donorLastName: 'King' }, after: { donorLastName: 'Byron' } }] },
    });
  });
});

test('whoever kept an address, a tag, a link, a cursor or a place of a state is told that it was pruned', async () => {
  const organization = await createBooks();
  const saving = `mutation { saveReport(input: { name: "then", query: "{ depositDetails(${RANGE.replaceAll('"', '\\"')}, asOf: { version: 1 }) { amount } }" }) { report { name } } }`;
  const login = `mutation { openSession(input: { username: "ada", password: "correct horse battery staple" }) { token } }`;
  const opened = await graphql(gateway.url, login, { provision: organization.webProvision });
  const { token: bearer } = opened.body.data!.openSession as { token: string };
  expect((await graphql(gateway.url, saving, { provision: organization.webProvision, bearer })).body.errors).toBeUndefined();
  const page = `query ($after: String) { depositDetailsConnection(${RANGE}, asOf: { version: 1 }, first: 1, after: $after) { pageInfo { endCursor } } }`;
  const file = `query ($query: String!) { reportFile(query: $query, asOf: { version: 1 }) { downloadUrl summary { digest } } }`;
  const asked = { query: `{ depositDetails(${RANGE}) { amount } }` };
  const paged = await query(organization, page);
  const { endCursor: after } = (paged.body.data!.depositDetailsConnection as { pageInfo: { endCursor: string } }).pageInfo;
  const linked = await query(organization, file, asked);
  const { downloadUrl } = linked.body.data!.reportFile as { downloadUrl: string };
  const kept = await get(organization, `${LINES}&as_of=1`);
  const baseline = await get(organization, LINES.replace('?', '?pending=WITH&'));
  const state = kept.headers.get('X-Export-Place')!;
  expect([kept.status, (await get(organization, `/reports/then.csv`)).status, (await fetch(gateway.url + downloadUrl)).status]).toEqual([
    ...[200, 200, 200],
  ]);
  expect((await get(organization, `${LINES}&as_of=1`, { 'If-None-Match': kept.headers.get('ETag')! })).status).toBe(304);
  await prune(organization);
  const rest = await known(organization);
  const pruned = (name: string) => gone(`The state is no longer kept: ${name}: version 1 was pruned: ${rest}`);
  expect(await get(organization, `${LINES}&as_of=1`, { 'If-None-Match': kept.headers.get('ETag')! })).toMatchObject(pruned('as_of'));
  expect(await get(organization, '/reports/then.csv')).toMatchObject(pruned('as_of'));
  const link = await fetch(gateway.url + downloadUrl);
  expect({ status: link.status, text: await link.text() }).toEqual(pruned('as_of'));
  expect(await get(organization, `/export/deposit-changes.ndjson?since=${state}&wait=20`)).toMatchObject(pruned('since'));
  expect(
    await get(organization, `/export/deposit-changes.ndjson?since=${state.replace(/.$/, (digit) => String((Number(digit) + 1) % 10))}`),
  ).toMatchObject({
    status: 422,
    text: expect.stringContaining('these are other books than those that were followed') as string,
  });
  const codes = { extensions: { code: 'VERSION_PRUNED' } };
  expect((await query(organization, page, { after })).body.errors).toMatchObject([codes]);
  expect((await query(organization, file, asked)).body.errors).toMatchObject([codes]);
  // A follower of the newest lines hears of the prune as of a version without a change.
  const followed = await get(organization, `/export/deposit-changes.ndjson?since=${baseline.headers.get('X-Export-Place')!}`);
  expect([followed.status, followed.text.split('\n').length, followed.headers.get('X-Data-Version')]).toEqual([200, 2, '4']);
});

test('a follower of books that were empty is told all lines, whatever was pruned since', async () => {
  const organization = await createOrganization(gateway.services);
  for (const name of ['Lovelace', 'King']) await importLines(gateway.services, organization, [named(name)]);
  await prune(organization);
  const { status, text } = await get(organization, '/export/deposit-changes.ndjson?since=0');
  expect([status, text.split('\n').length, text.includes('"King"'), text.includes('Lovelace')]).toEqual([200, 3, true, false]);
});

describe('a prune that comes between the finding of a state and the reading of its lines', () => {
  let proxy: DatabaseProxy;
  beforeAll(async () => {
    proxy = await startDatabaseProxy(gateway.database.url);
  });
  afterAll(() => proxy.close());

  const GRAPHQL = [
    `depositDetails(${RANGE}, asOf: { version: 1 }) { amount donorLastName }`,
    `depositDetailsConnection(${RANGE}, asOf: { version: 1 }) { nodes { donorLastName } totalCount }`,
    `depositSummary(${RANGE}, asOf: { version: 1 }) { digest all { lines } }`,
    `depositChanges(${RANGE}, from: { version: 1 }, to: { version: 3 }) { nodes { class } totalCount }`,
  ];
  const FILES = [
    `${LINES}&as_of=1`,
    `${LINES}&as_of=1&totals=headers`,
    `${LINES}&as_of=1&totals=skip`,
    `${SUMMARY}&as_of=1`,
    `${CHANGES}&from=1`,
    `${CHANGES}&from=1&totals=skip`,
    '/export/deposit-changes.ndjson?since=PLACE',
  ];
  /** The beginning of the transaction that lines are read in, and of the statement that reads them. */
  const [OPENING, READING] = ['BEGIN ISOLATION LEVEL', 'COPY ('];

  /** Makes a prune before a text reaches the database. */
  const pruneBefore = (text: string, organization: TestOrganization): Promise<void> =>
    new Promise((resolve) => proxy.before(text, () => prune(organization).then(resolve)));

  test.each(FILES)('refuses the file before its first byte: %s', async (path) => {
    await withGateway({ DATABASE_URL: proxy.url }, async ({ url }) => {
      const organization = await createBooks();
      const place = (await get(organization, `${LINES}&as_of=1`)).headers.get('X-Export-Place')!;
      const pruned = pruneBefore(OPENING, organization);
      const { status, text } = await get(organization, path.replace('PLACE', place), {}, url);
      await pruned;
      expect([status, text]).toEqual([410, expect.stringContaining(`version 1 was pruned: ${await known(organization)}`)]);
    });
  });

  test('lets a file through whose transaction has begun', async () => {
    await withGateway({ DATABASE_URL: proxy.url }, async ({ url }) => {
      const organization = await createBooks();
      const pruned = pruneBefore(READING, organization);
      const { status, text } = await get(organization, `${LINES}&as_of=1&columns=donor_last_name`, {}, url);
      await pruned;
      expect([status, text]).toEqual([200, 'donor_last_name\r\n"Lovelace"\r\n']);
    });
  });

  test.each(GRAPHQL)('refuses the operation: %s', async (field) => {
    await withGateway({ DATABASE_URL: proxy.url }, async ({ url }) => {
      const organization = await createBooks();
      const held = pruneBefore(OPENING, organization);
      const { body } = await query(organization, `{ ${field} }`, {}, url);
      await held;
      expect(body.errors).toMatchObject([{ extensions: { code: 'VERSION_PRUNED' } }]);
      expect(JSON.stringify(body)).not.toContain('Lovelace');
    });
  });

  test('lets a file of a state that is kept through, and a follower whose newest state was pruned is told so', async () => {
    await withGateway({ DATABASE_URL: proxy.url }, async ({ url }) => {
      const organization = await createBooks();
      const held = pruneBefore(OPENING, organization);
      const { status, text } = await get(organization, `${LINES}&as_of=2&columns=donor_last_name`, {}, url);
      await held;
      expect([status, text]).toEqual([200, 'donor_last_name\r\n"King"\r\n']);
      const empty = await createBooks();
      const later = new Promise<void>((resolve) =>
        proxy.before(OPENING, async () => {
          await importLines(gateway.services, empty, [named('Noel')]);
          await prune(empty, 4);
          resolve();
        }),
      );
      const followed = await get(empty, '/export/deposit-changes.ndjson?since=0', {}, url);
      await later;
      expect([followed.status, followed.text]).toEqual([410, expect.stringContaining('since: version 3 was pruned')]);
    });
  });
});

test('a reader who was there before a prune has the whole file, however slowly they take it', async () => {
  const organization = await createOrganization(gateway.services);
  const { client } = gateway.database;
  const lines = 40_000;
  await fillReport(client, organization.id, lines, `repeat('x', 200)`);
  await client.query('UPDATE "transaction" SET fee_amount = 1 WHERE organization_id = $1', [organization.id]);
  await succeed({ DATABASE_URL: gateway.database.url }, ['check', '--organization', organization.name, '--repair']);
  const path = `${gateway.url}/export/deposit-details.csv?start_date=2020-01-01&end_date=2029-12-31&as_of=1&columns=transaction_id,fee_amount,main_memo`;
  const headers = { Provision: organization.apiProvision };
  // Nothing is taken but the head, so that the database waits for the reader.
  const response = await ask(path, { headers });
  await prune(organization);
  const { rows } = await client.query('SELECT count(*)::int AS count FROM deposit_line WHERE organization_id = $1', [organization.id]);
  expect([rows, await activeReports(client)]).toEqual([[{ count: lines }], 1]);
  const { body, complete } = await readAll(response);
  const read = body.toString().split('\r\n').slice(1, -1);
  expect([complete, response.statusCode, read.length, read.every((line) => line.includes(',"0.00",'))]).toEqual([true, 200, lines, true]);
  expect(response.trailers['x-export-lines']).toBe(String(lines));
  expect((await fetch(path, { headers })).status).toBe(410);
});
