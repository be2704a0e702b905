import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { readAudit } from '../support/audit-reader';
import { runCommand, succeed } from '../support/command';
import { createOrganization, graphql, login, openSession, PASSWORD, type GraphqlAnswer } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { fromGlobalId, toGlobalId } from '../../src/values/global-id';

const gateway = openGateway({ loggedIn: true });
const { organization } = gateway;
const asAda = () => ({ provision: organization.webProvision, cookie: gateway.cookie });
let asBea: ReturnType<typeof asAda>;
beforeAll(async () => {
  const user = { organization: organization.name, username: 'bea', password: PASSWORD, grants: [REPORT_PRIVILEGE] };
  await gateway.services.users.create(user);
  asBea = { provision: organization.webProvision, cookie: await login(gateway.url, organization.webProvision, 'bea') };
});

const QUERY = `query January($startDate: LocalDate!, $endDate: LocalDate = "2024-01-31", $ids: [SafeInt!]) {
  depositDetails(startDate: $startDate, endDate: $endDate) { amount }
  depositSummary(startDate: $startDate, endDate: $endDate, filter: { designationIds: $ids }) { all { lines } }
}`;
const SAVE = `mutation ($input: SaveReportInput!) { saveReport(input: $input) {
  replaced report { id name title updatedAt updatedBy parameters { name type value } } } }`;
const save = (input: object, as = asAda()) =>
  graphql(gateway.url, SAVE, { ...as, variables: { input: { query: QUERY, variables: { startDate: '2024-01-01' }, ...input } } });

interface Saved {
  readonly replaced: boolean;
  readonly report: {
    readonly id: string;
    readonly name: string;
    readonly title: string;
    readonly updatedAt: string;
    readonly updatedBy: string;
  };
}
const savedIn = ({ body }: GraphqlAnswer): Saved => {
  expect(body.errors).toBeUndefined();
  return body.data!.saveReport as Saved;
};
const conflictOf = ({ body }: GraphqlAnswer) => {
  const [error] = body.errors!;
  expect([body.data, error!.extensions]).toEqual([null, { code: 'REPORT_CONFLICT', argument: 'input.replaces', requestId: REQUEST_ID }]);
  return error!.message;
};

describe('a saved report', () => {
  test('has an id, a title and the parameters of its query', async () => {
    const { replaced, report } = savedIn(await save({ name: 'january', title: '  Gifts of January ' }));
    expect([replaced, report]).toEqual([
      false,
      {
        ...{ id: toGlobalId('SavedReport', 'january'), name: 'january', title: 'Gifts of January', updatedBy: 'ada' },
        updatedAt: expect.any(String) as string,
        parameters: [
          { name: 'startDate', type: 'LocalDate!', value: '2024-01-01' },
          { name: 'endDate', type: 'LocalDate', value: '2024-01-31' },
          { name: 'ids', type: '[SafeInt!]', value: null },
        ],
      },
    ]);
    expect(savedIn(await save({ name: 'untitled' })).report.title).toBe('untitled');
  });

  test('is found by its id and in lists, by name or by the time of its saving', async () => {
    const names = ['list-a', 'list-c', 'list-b'];
    const saved: Saved[] = [];
    for (const name of names) saved.push(savedIn(await save({ name })));
    const ask = async (fields: string) => (await graphql(gateway.url, `{ ${fields} }`, asAda())).body;
    const missing = ['none', '\0'].map((name) => toGlobalId('SavedReport', name));
    const ids = [...saved.map(({ report }) => report.id), ...missing].map((id) => `"${id}"`).join(' ');
    const named = `filter: { names: [${names.map((name) => `"${name}"`).join(' ')}] }`;
    expect(await ask(`nodes(ids: [${ids}]) { __typename id ... on SavedReport { name path parameters { name } } }`)).toEqual({
      data: {
        nodes: [
          ...saved.map(({ report: { id, name } }) => ({
            ...{ __typename: 'SavedReport', id, name, path: `/reports/${name}.csv` },
            parameters: ['startDate', 'endDate', 'ids'].map((parameter) => ({ name: parameter })),
          })),
          ...[null, null],
        ],
      },
    });
    const list = async (parameters: string) =>
      ((await ask(`savedReports(${parameters}) { name }`)).data!.savedReports as { name: string }[]).map(({ name }) => name);
    expect(await list(named)).toEqual(['list-a', 'list-b', 'list-c']);
    expect(await list(`${named}, orderBy: { field: NAME, direction: DESC }`)).toEqual(['list-c', 'list-b', 'list-a']);
    expect(await list(`${named}, orderBy: { field: UPDATED_AT }`)).toEqual(names);
    expect(await list('filter: { names: ["list-b", "none"] }')).toEqual(['list-b']);
    expect(await list('orderBy: { field: UPDATED_AT, direction: DESC }')).toEqual([...names.toReversed(), 'untitled', 'january']);
    const tooMany = Array.from({ length: 501 }, (_, n) => `"list-${n}"`).join(' ');
    expect((await ask(`savedReports(filter: { names: [${tooMany}] }) { name }`)).errors).toMatchObject([
      { message: 'filter.names has 501 values; the limit is 500', extensions: { argument: 'filter.names' } },
    ]);
  });

  test('is refused by its id to those who may not read the report, and is no report of another organization', async () => {
    const { report } = savedIn(await save({ name: 'private' }));
    const server = (name: string, grants: string[]) =>
      gateway.services.provisions.create({ organization: name, kind: 'API', label: '', grants });
    const ask = async (provision: string, query: string) =>
      (await graphql(gateway.url, `query ($id: ID!) { ${query} }`, { provision, variables: { id: report.id } })).body;
    const member = await server(organization.name, []);
    const refused = [{ extensions: { code: 'PRIVILEGE_NOT_FOUND' } }];
    expect(await ask(member, 'node(id: $id) { id }')).toMatchObject({ data: { node: null }, errors: refused });
    expect(await ask(member, 'nodes(ids: [$id, $id]) { id }')).toMatchObject({ data: { nodes: [null, null] }, errors: refused });
    const other = await createOrganization(gateway.services);
    expect(await ask(other.apiProvision, 'node(id: $id) { id }')).toEqual({ data: { node: null } });
  });

  test.each([
    ['a long title', { name: 'x', title: 'x'.repeat(201) }, 'title is longer than 200 characters', 'input.title'],
    ['a title of several lines', { name: 'x', title: 'a\nb' }, 'title has control characters', 'input.title'],
    [
      'too many variables',
      { name: 'x', query: `query (${Array.from({ length: 51 }, (_, n) => `$v${n}: Boolean`).join()}) { depositDetails { amount } }` },
      expect.stringMatching(/^query/) as string,
      'input.query',
    ],
    ['a name of capitals', { name: 'January' }, expect.stringMatching(/^name must be/) as string, 'input.name'],
    ['a variable that the query lacks', { name: 'x', variables: { day: 1 } }, 'variables: the query has no $day', 'input.variables'],
  ])('is refused with %s', async (_what, input, message, argument) => {
    const { body } = await save(input);
    expect(body.errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT', argument } }]);
  });

  test('is not replaced by somebody who does not know of it', async () => {
    const first = savedIn(await save({ name: 'new' })).report;
    expect(conflictOf(await save({ name: 'new' }, asBea))).toBe(
      `The saved report is another than expected: new was saved by ada at ${first.updatedAt}`,
    );
    const { replaced, report } = savedIn(await save({ name: 'new', title: 'Newer', replaces: first.updatedAt }, asBea));
    expect([replaced, report.title, report.updatedBy]).toEqual([true, 'Newer', 'bea']);
  });

  test('is not replaced by somebody who knows an older one, who is told who has saved it and when', async () => {
    const first = savedIn(await save({ name: 'shared' })).report;
    const second = savedIn(await save({ name: 'shared', replaces: first.updatedAt }, asBea)).report;
    expect(conflictOf(await save({ name: 'shared', replaces: first.updatedAt }))).toBe(
      `The saved report is another than expected: shared was saved by bea at ${second.updatedAt}`,
    );
    await graphql(gateway.url, `mutation { deleteReport(input: { id: "${second.id}" }) { deletedId } }`, asBea);
    expect(conflictOf(await save({ name: 'shared', replaces: second.updatedAt }))).toBe(
      'The saved report is another than expected: there is no shared',
    );
  });

  test('is replaced once by many who know the same one at once', async () => {
    let { updatedAt } = savedIn(await save({ name: 'busy' })).report;
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) => save({ name: 'busy', title: `${round} ${n}`, replaces: updatedAt })),
      );
      const won = answers.filter(({ body }) => !body.errors).map(savedIn);
      expect(won).toHaveLength(1);
      expect(Date.parse(won[0]!.report.updatedAt)).toBeGreaterThan(Date.parse(updatedAt));
      ({ updatedAt } = won[0]!.report);
    }
    const made = await Promise.all(Array.from({ length: 8 }, () => save({ name: 'made-at-once' })));
    expect(made.filter(({ body }) => !body.errors)).toHaveLength(1);
  });

  test('is deleted by its id, and not by the id of something else', async () => {
    savedIn(await save({ name: 'old' }));
    const remove = (id: string) => graphql(gateway.url, `mutation { deleteReport(input: { id: "${id}" }) { deletedId } }`, asAda());
    for (const id of ['old', toGlobalId('Deposit', 'old'), toGlobalId('SavedReport', 'older'), `${toGlobalId('SavedReport', 'old')}=`])
      expect((await remove(id)).body.errors?.[0]?.extensions.code).toBe('NOT_FOUND');
    const id = toGlobalId('SavedReport', 'old');
    expect((await remove(id)).body).toEqual({ data: { deleteReport: { deletedId: id } } });
    expect((await remove(id)).body.errors?.[0]?.extensions.code).toBe('NOT_FOUND');
  });

  test('has a row of the audit when a user or an operator saves or deletes it, because keys may be bound to its name', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gateway-test-'));
    try {
      const path = join(directory, 'bound.graphql');
      await writeFile(path, QUERY);
      const { name, webProvision, apiProvision } = organization;
      const given = [path, '--variables', '{"startDate":"2024-01-01"}'];
      const run = (verb: string, ...words: string[]) =>
        succeed({ DATABASE_URL: gateway.database.url }, ['report', verb, 'bound', ...words, '--organization', name]);
      await gateway.services.provisions.changeGrants(apiProvision, { verb: 'grant', privileges: ['audit_records'] });
      const before = (await readAudit(gateway, organization)).at(-1)!.number;
      const { id, updatedAt } = savedIn(await save({ name: 'bound' })).report;
      savedIn(await save({ name: 'bound', replaces: updatedAt }, asBea));
      conflictOf(await save({ name: 'bound', replaces: updatedAt }));
      await run('save', ...given, '--replace');
      await graphql(gateway.url, `mutation { deleteReport(input: { id: "${id}" }) { deletedId } }`, asAda());
      await graphql(gateway.url, `mutation { deleteReport(input: { id: "${id}" }) { deletedId } }`, asAda());
      await run('save', ...given);
      await run('delete');
      const rows = (await readAudit(gateway, organization, '{ kinds: [RIGHTS] }')).filter(({ number }) => number > before);
      const start = webProvision.slice(0, 8);
      expect(
        rows.map(({ door, operation, subject, detail, username, provision }) => [door, operation, subject, detail, username, provision]),
      ).toEqual([
        ['GRAPHQL', 'report save', 'report bound', 'new', 'ada', start],
        ['GRAPHQL', 'report save', 'report bound', 'replaced', 'bea', start],
        ['COMMAND', 'report save', 'report bound', 'replaced', userInfo().username, null],
        ['GRAPHQL', 'report delete', 'report bound', null, 'ada', start],
        ['COMMAND', 'report save', 'report bound', 'new', userInfo().username, null],
        ['COMMAND', 'report delete', 'report bound', null, userInfo().username, null],
      ]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test('is replaced on the command line when the operator says so', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gateway-test-'));
    try {
      const path = join(directory, 'january.graphql');
      await writeFile(path, QUERY);
      const run = (...words: string[]) =>
        runCommand({ DATABASE_URL: gateway.database.url }, [
          'report',
          'save',
          'by-hand',
          path,
          '--organization',
          organization.name,
          ...words,
        ]);
      const variables = ['--variables', '{"startDate":"2024-01-01"}'];
      const given = savedIn(await save({ name: 'by-hand' })).report;
      expect(await run(...variables)).toMatchObject({
        status: 1,
        stderr: `The saved report is another than expected: by-hand was saved by ada at ${given.updatedAt}\n`,
      });
      const stdout = 'Saved report "by-hand": /reports/by-hand.csv\n';
      expect(await run(...variables, '--title', 'By hand', '--replace')).toMatchObject({ status: 0, stdout });
      const { body } = await graphql(gateway.url, '{ savedReports { name title updatedBy } }', asAda());
      expect(body.data!.savedReports).toContainEqual({ name: 'by-hand', title: 'By hand', updatedBy: null });
      expect(conflictOf(await save({ name: 'by-hand' }))).toContain('by-hand was saved by the command line at 20');
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

test('a logout says whether a session has ended', async () => {
  const provision = organization.webProvision;
  const bearer = await openSession(gateway.url, provision);
  const logout = async () => (await graphql(gateway.url, 'mutation { logout { ended } }', { provision, bearer })).body;
  expect([await logout(), await logout()]).toEqual([{ data: { logout: { ended: true } } }, { data: { logout: { ended: false } } }]);
});

test('a global id leads back to its record, and no other text does', () => {
  for (const parts of [
    { kind: 'SavedReport', id: 'january-2026' },
    { kind: 'Deposit', id: 'a:b é😀' },
    { kind: 'Donor', id: '' },
  ])
    expect(fromGlobalId(toGlobalId(parts.kind, parts.id))).toEqual(parts);
  expect(fromGlobalId(toGlobalId('Donor', 7))).toEqual({ kind: 'Donor', id: '7' });
  for (const text of ['', 'Donor:7', Buffer.from(':7').toString('base64url'), `${toGlobalId('Donor', 7)} `, 'RG9ub3I6Nw==', '/+8='])
    expect(fromGlobalId(text)).toBeUndefined();
});
