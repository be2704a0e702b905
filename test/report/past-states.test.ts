import { createSchema } from '../../src/graphql/schema';
import { SchemaReportDocuments } from '../../src/resolvers/reports/report-documents';
import { BookModel } from '../support/book-model';
import { Chance, KEEPING } from '../support/book-steps';
import { createOrganization, graphql, importLines, v2Line, type GraphqlAnswer, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { takeStep } from '../support/step-runner';
import { historySeeds } from '../support/tries';

const gateway = openGateway();
const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const FIELDS = 'depositDate depositId transactionId allocationId amount donorLastName designation depositStatus';
/** The files of a state, each with its address. */
const FILES = [
  ...['csv', 'ndjson', 'json'].map((format) => `/export/deposit-details.${format}?columns=all&pending=WITH`),
  '/export/deposit-summary.csv?pending=WITH&group_by=DESIGNATION&group_by=MONTH',
].map((path) => `${path}&start_date=2024-01-01&end_date=2024-12-31`);
/** The fields of a state in GraphQL, each with the rest of its arguments. */
const LISTS: readonly (readonly [field: string, rest: string, selection: string])[] = [
  ['depositDetails', `${RANGE}, includePending: true`, FIELDS],
  [
    'depositDetailsConnection',
    `${RANGE}, pending: WITH, orderBy: { field: DONOR_NAME }`,
    `totalCount nodes { ${FIELDS} } summary { digest dataVersion { number } }`,
  ],
  ['depositDetailsConnection', `${RANGE}, orderBy: { field: DESIGNATION, direction: DESC }`, `nodes { ${FIELDS} }`],
  [
    'depositSummary',
    `${RANGE}, pending: WITH, groupBy: [DONOR]`,
    'dataVersion { number linesAdded } digest all { lines deposits donors byTransaction { amount } byAllocation { amount unknown } } groups { nodes { key { donorId } all { lines } } }',
  ],
];

interface SentFile {
  readonly text: string;
  readonly version: string | null;
  readonly tag: string | null;
}

async function getFile({ apiProvision }: TestOrganization, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(gateway.url + path, { headers: { Provision: apiProvision, ...headers } });
}

async function readFile(organization: TestOrganization, path: string): Promise<SentFile> {
  const response = await getFile(organization, path);
  return { text: await response.text(), version: response.headers.get('x-data-version'), tag: response.headers.get('etag') };
}

const ask = ({ apiProvision }: TestOrganization, query: string, variables: object = {}): Promise<GraphqlAnswer> =>
  graphql(gateway.url, query, { provision: apiProvision, variables });

async function readLists(organization: TestOrganization, asOf = ''): Promise<unknown> {
  const fields = LISTS.map(([field, rest, selection], at) => `f${at}: ${field}(${rest}${asOf}) { ${selection} }`);
  const { body } = await ask(organization, `{ ${fields.join(' ')} }`);
  expect(body.errors).toBeUndefined();
  return body.data;
}

const faultOf = ({ body }: GraphqlAnswer): string => body.errors![0]!.message;

test('every state that the books had is answered again as it was then, on every door, by number and by instant', async () => {
  for (const seed of historySeeds(3)) {
    const chance = new Chance(seed);
    const history = { services: gateway.services, organization: await createOrganization(gateway.services), model: new BookModel() };
    const { organization, model, services } = history;
    const states: { version: number; at: Date; lists: unknown; files: SentFile[] }[] = [];
    for (let steps = 6, before = 0; steps > 0; steps--, before = model.version) {
      await takeStep(history, chance, KEEPING);
      if (model.version === before) continue;
      const [newest] = await services.books.newestVersions(organization.id, 1);
      const files = [];
      for (const path of FILES) files.push(await readFile(organization, path));
      states.push({ version: newest!.number, at: newest!.recordedAt, lists: await readLists(organization), files });
    }
    for (const { version, at, lists, files } of states) {
      for (const asOf of [`version: ${version}`, `at: "${at.toISOString()}"`]) {
        expect([seed, await readLists(organization, `, asOf: { ${asOf} }`)]).toEqual([seed, lists]);
      }
      for (const [which, path] of FILES.entries()) {
        for (const state of [String(version), at.toISOString()]) {
          const { text, version: told } = await readFile(organization, `${path}&as_of=${state}`);
          expect([seed, text, told]).toEqual([seed, files[which]!.text, String(version)]);
        }
      }
    }
  }
});

describe('whoever asks for a state of the books', () => {
  let organization: TestOrganization;
  let versions: readonly { number: number; recordedAt: Date }[];
  const line = v2Line({ donor_last_name: 'Lovelace', amount: '10.50' });
  beforeAll(async () => {
    organization = await createOrganization(gateway.services);
    await importLines(gateway.services, organization, [line, v2Line({ allocation_id: 'P101', transaction_id: 'P11' })]);
    await importLines(gateway.services, organization, [{ ...line, donor_last_name: 'King' }]);
    await importLines(gateway.services, organization, [{ ...line, amount: '20.50', net_amount: '20.00' }]);
    versions = [...(await gateway.services.books.newestVersions(organization.id, 10))].reverse();
  });

  test('sees two of them beside each other and the newest one, in one operation', async () => {
    const names = (asOf: string): string => `depositDetails(${RANGE}${asOf}) { donorLastName amount }`;
    const { body } = await ask(
      organization,
      `{ first: ${names(', asOf: { version: 1 }')} second: ${names(', asOf: { version: 2 }')} now: ${names('')} }`,
    );
    expect(body.data).toEqual({
      first: Array(2).fill({ donorLastName: 'Lovelace', amount: '10.50' }),
      second: Array(2).fill({ donorLastName: 'King', amount: '10.50' }),
      now: [
        { donorLastName: 'Lovelace', amount: '20.50' },
        { donorLastName: 'Lovelace', amount: '10.50' },
      ],
    });
  });

  test('sees the earliest and the latest, and null before the first', async () => {
    const query = '{ history { earliest { number } latest { number recordedAt } } }';
    expect((await ask(organization, query)).body.data).toEqual({
      history: { earliest: { number: 1 }, latest: { number: 3, recordedAt: versions[2]!.recordedAt.toISOString() } },
    });
    const empty = await createOrganization(gateway.services);
    expect((await ask(empty, query)).body.data).toEqual({ history: null });
    expect(faultOf(await ask(empty, `{ depositSummary(asOf: { version: 1 }) { digest } }`))).toContain('the books have no version yet');
  });

  test('is told the earliest and the latest where there is none', async () => {
    const known = `the earliest is 1 of ${versions[0]!.recordedAt.toISOString()}, the latest 3 of ${versions[2]!.recordedAt.toISOString()}`;
    const before = new Date(versions[0]!.recordedAt.getTime() - 1).toISOString();
    const none = `there is no version at that time: ${known}`;
    const future = `the instant is in the future: ${known}`;
    for (const [asOf, address, fault] of [
      ['version: 4', '4', `there is no version 4: ${known}`],
      ['version: 0', undefined, `there is no version 0: ${known}`],
      [`at: "${before}"`, before, none],
      ['at: "0001-01-01T00:00:00+01:00"', '0001-01-01T00:00:00+01:00', none],
      ['at: "2999-01-01T00:00:00Z"', '2999-01-01T00:00:00Z', future],
      ['at: "9999-12-31T23:59:59-01:00"', '9999-12-31T23:59:59-01:00', future],
    ]) {
      for (const field of [`depositDetails(${RANGE}, asOf: { ${asOf} }) { amount }`, `depositSummary(asOf: { ${asOf} }) { digest }`]) {
        const { body } = await ask(organization, `{ ${field} }`);
        expect(body.errors).toMatchObject([
          { message: expect.stringContaining(`asOf: ${fault!}`) as string, extensions: { code: 'BAD_USER_INPUT' } },
        ]);
      }
      if (address === undefined) continue;
      const file = await getFile(organization, `${FILES[0]!}&as_of=${encodeURIComponent(address)}`);
      expect([file.status, await file.text()]).toEqual([422, expect.stringContaining(`as_of: ${fault!}`)]);
    }
    const dates = ['2026-01-01', '2026-01-01T00:00:00', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '2026-01-01T24:00:00Z'];
    for (const address of ['0', '-1', '1.5', 'newest', '', ...dates]) {
      const { status } = await getFile(organization, `${FILES[0]!}&as_of=${encodeURIComponent(address)}`);
      expect([address, status]).toEqual([address, 422]);
    }
    const instants = dates.map((date) => `{ at: "${date}" }`);
    for (const asOf of ['{}', '{ version: 1, at: "2026-01-01T00:00:00Z" }', '{ version: null }', ...instants]) {
      expect((await ask(organization, `{ depositSummary(asOf: ${asOf}) { digest } }`)).status).toBe(400);
    }
  });

  test('is led to no records, which are of the newest state', async () => {
    for (const field of ['depositDetails', 'depositDetailsConnection']) {
      const nodes = (selection: string): string => (field === 'depositDetails' ? selection : `nodes { ${selection} }`);
      for (const record of ['deposit', 'transaction', 'allocation', 'donor', 'fund']) {
        const answer = await ask(organization, `{ ${field}(${RANGE}, asOf: { version: 1 }) { ${nodes(`amount ${record} { id }`)} } }`);
        expect(faultOf(answer)).toContain(`asOf: lines of a past state lead to no records: leave ${record} out`);
      }
    }
  });

  test('goes through its pages, and a cursor of another state is refused', async () => {
    const page = async (asOf: string, after: string | null): Promise<GraphqlAnswer> =>
      ask(
        organization,
        `query ($after: String) { depositDetailsConnection(${RANGE}, first: 1, after: $after${asOf}) { nodes { donorLastName } pageInfo { endCursor } } }`,
        { after },
      );
    const first = await page(', asOf: { version: 2 }', null);
    const { endCursor } = (first.body.data!.depositDetailsConnection as { pageInfo: { endCursor: string } }).pageInfo;
    const second = await page(', asOf: { version: 2 }', endCursor);
    expect(second.body.data!.depositDetailsConnection).toMatchObject({ nodes: [{ donorLastName: 'King' }] });
    for (const other of ['', ', asOf: { version: 1 }']) expect(faultOf(await page(other, endCursor))).toContain('after is not a cursor');
  });

  test('has a tag that stays good, whatever changes afterwards', async () => {
    const moving = await createOrganization(gateway.services);
    await importLines(gateway.services, moving, [line]);
    const path = `${FILES[0]!}&as_of=1`;
    const summary = `${FILES[3]!}&as_of=1`;
    const [{ tag }, { tag: newest }] = [await readFile(moving, path), await readFile(moving, FILES[0]!)];
    const { tag: tagOfSummary } = await readFile(moving, summary);
    await importLines(gateway.services, moving, [{ ...line, city: 'Bern' }]);
    const again = await getFile(moving, path, { 'If-None-Match': tag! });
    expect([again.status, again.headers.get('x-data-version')]).toEqual([304, '1']);
    expect((await getFile(moving, summary, { 'If-None-Match': tagOfSummary! })).status).toBe(304);
    expect((await getFile(moving, FILES[0]!, { 'If-None-Match': newest! })).status).toBe(200);
    expect((await getFile(moving, `${FILES[0]!}&as_of=2`, { 'If-None-Match': tag! })).status).toBe(200);
  });

  test('has it in the receipt and in the audit', async () => {
    const response = await getFile(organization, `${FILES[0]!}&as_of=2`);
    await response.arrayBuffer();
    const receipt = await getFile(organization, `/export/receipts/${response.headers.get('x-export-id')!}`);
    expect(await receipt.json()).toMatchObject({ dataVersion: 2, conditions: ['pending', 'as_of=2'] });
    const head = await fetch(`${gateway.url}${FILES[0]!}&as_of=1&totals=headers`, {
      ...{ method: 'HEAD', headers: { Provision: organization.apiProvision } },
    });
    expect([head.headers.get('x-data-version'), head.headers.get('x-export-amount-by-line')]).toEqual(['1', '21.00']);
    await ask(organization, `{ depositDetails(${RANGE}, asOf: { version: 1 }) { amount donorLastName } }`);
    for (const condition of ['as_of=1', 'as_of=2', 'asOf=1']) {
      const { rowCount } = await gateway.database.client.query(
        'SELECT FROM audit_record WHERE organization_id = $1 AND $2 = ANY (conditions)',
        [organization.id, condition],
      );
      expect([condition, rowCount! > 0]).toEqual([condition, true]);
    }
  });

  test('may name the instant of the newest version, whatever the clock says', async () => {
    const moving = await createOrganization(gateway.services);
    await importLines(gateway.services, moving, [line]);
    const ahead = new Date(Date.now() + 3_600_000);
    await gateway.database.client.query('UPDATE data_version SET recorded_at = $2 WHERE organization_id = $1', [moving.id, ahead]);
    expect((await getFile(moving, `${FILES[0]!}&as_of=${ahead.toISOString()}`)).status).toBe(200);
    expect((await getFile(moving, `${FILES[0]!}&as_of=${new Date(ahead.getTime() + 1).toISOString()}`)).status).toBe(422);
  });

  test('gets it in a saved report, and by the link to a file', async () => {
    const query = `query ($asOf: AsOf) { depositDetails(${RANGE}, asOf: $asOf) { donorLastName amount } }`;
    const variables = { asOf: { at: versions[1]!.recordedAt.toISOString() } };
    const file = await ask(
      organization,
      'query ($query: String!, $variables: JSONObject) { reportFile(query: $query, variables: $variables) { path downloadUrl summary { all { byLine { amount } } } } }',
      { query, variables },
    );
    const { path, downloadUrl, summary } = file.body.data!.reportFile as { path: string; downloadUrl: string; summary: unknown };
    expect(summary).toEqual({ all: { byLine: { amount: '21.00' } } });
    const saved = { title: '', updatedBy: null, query, variables };
    await gateway.services.savedReports.save(organization.id, { name: 'then', ...saved }, new SchemaReportDocuments(createSchema()));
    const linked = await fetch(gateway.url + downloadUrl);
    for (const response of [linked, await getFile(organization, path), await getFile(organization, '/reports/then.csv')]) {
      expect([await response.text(), response.headers.get('x-data-version')]).toEqual([
        'donor_last_name,amount\r\n"King","10.50"\r\n"King","10.50"\r\n',
        '2',
      ]);
    }
  });
});
