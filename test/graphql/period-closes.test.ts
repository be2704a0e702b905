import {
  createOrganization,
  graphql,
  importLines,
  login,
  PASSWORD,
  v2Line,
  type GraphqlAnswer,
  type TestOrganization,
} from '../support/gateway';
import { readAudit } from '../support/audit-reader';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const gateway = openGateway();

type Caller = Parameters<typeof graphql>[2];
const gift = (number: number, month: string) =>
  v2Line({ deposit_id: `D${number}`, transaction_id: `T${number}`, allocation_id: `A${number}`, deposit_date: `2024-${month}-10` });
const ask = (caller: Caller, query: string, variables: object = {}): Promise<GraphqlAnswer> =>
  graphql(gateway.url, query, { ...caller, variables });
const CLOSE_FIELDS = `through version closedBy note reopenedVersion reopenedBy reopenReason
  months { startDate endDate lines transactions deposits lineAmount transactionAmount allocationAmount unknownAllocations digest }`;
const close = (caller: Caller, through: string, note: string | null = null) =>
  ask(caller, `mutation ($input: ClosePeriodInput!) { closePeriod(input: $input) { close { ${CLOSE_FIELDS} } } }`, {
    input: { through, note },
  });
const reopen = (caller: Caller, through: string, reason: string) =>
  ask(caller, 'mutation ($input: ReopenPeriodInput!) { reopenPeriod(input: $input) { version reopened closedThrough } }', {
    input: { through, reason },
  });
const faultsOf = ({ body }: GraphqlAnswer) => body.errors?.map(({ message, extensions }) => [extensions.code, message]);

interface Members {
  readonly organization: TestOrganization;
  /** The user who has the report, and may close. */
  readonly ada: Caller;
  /** The user who may close, and has no report. */
  readonly bob: Caller;
  /** The user who has nothing of both. */
  readonly eve: Caller;
}

async function createMembers(): Promise<Members> {
  const { services, url } = gateway;
  const organization = await createOrganization(services);
  const { name, webProvision: provision } = organization;
  await importLines(services, organization, [gift(1, '09'), gift(2, '10')]);
  await services.provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
  await services.users.changeGrants(name, 'ada', { verb: 'grant', privileges: ['close_periods'] });
  for (const [username, grants] of Object.entries({ bob: ['close_periods'], eve: [] }))
    await services.users.create({ organization: name, username, password: PASSWORD, grants });
  const enter = async (username: string): Promise<Caller> => ({ provision, cookie: await login(url, provision, username) });
  return { organization, ada: await enter('ada'), bob: await enter('bob'), eve: await enter('eve') };
}

const CLOSED = '{ closedThrough periodCloses { totalCount nodes { through version } } }';

test('a member who may close does so, every member sees it, and the audit has who it was', async () => {
  const { organization, ada, eve } = await createMembers();
  expect((await ask(eve, CLOSED)).body.data).toEqual({ closedThrough: null, periodCloses: { totalCount: 0, nodes: [] } });
  const closed = await close(ada, '2024-10-31', 'Booked for Ada Lovelace');
  const figures = { lines: 1, transactions: 1, deposits: 1, lineAmount: '10.50', transactionAmount: '10.50', allocationAmount: '10.50' };
  const more = { unknownAllocations: 0, digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string };
  expect(closed.body).toEqual({
    data: {
      closePeriod: {
        close: {
          ...{ through: '2024-10-31', version: 2, closedBy: 'ada', note: 'Booked for Ada Lovelace' },
          ...{ reopenedVersion: null, reopenedBy: null, reopenReason: null },
          months: [
            { startDate: '2024-09-10', endDate: '2024-09-30', ...figures, ...more },
            { startDate: '2024-10-01', endDate: '2024-10-31', ...figures, ...more },
          ],
        },
      },
    },
  });
  const seen = { closedThrough: '2024-10-31', periodCloses: { totalCount: 1, nodes: [{ through: '2024-10-31', version: 2 }] } };
  const after = await ask(eve, CLOSED);
  expect([after.body.data, after.headers.get('x-data-version')]).toEqual([seen, '2']);
  expect((await ask(eve, '{ dataVersion { number cause linesChanged } }')).body.data).toEqual({
    dataVersion: { number: 2, cause: 'CLOSE', linesChanged: 0 },
  });
  expect((await reopen(ada, '2024-10-31', 'A deposit of Ada Lovelace was missing')).body).toEqual({
    data: { reopenPeriod: { version: 3, reopened: ['2024-10-31'], closedThrough: null } },
  });
  const { body } = await ask(ada, `{ periodCloses { nodes { ${CLOSE_FIELDS} } } }`);
  expect(body.data).toMatchObject({
    periodCloses: {
      nodes: [
        { version: 2, reopenedVersion: 3, reopenedBy: 'ada', reopenReason: 'A deposit of Ada Lovelace was missing', months: [{}, {}] },
      ],
    },
  });
  const changes = (await readAudit(gateway, organization)).filter(({ operation }) => operation.startsWith('period'));
  expect(changes.map(({ operation, username, subject, detail }) => [operation, username, subject, detail])).toEqual([
    ['period close', 'ada', 'months through 2024-10-31', null],
    ['period reopen', 'ada', 'months through 2024-10-31', null],
  ]);
});

test('nobody closes or reopens without the privilege, and nobody the months of another organization', async () => {
  const { organization, ada, eve } = await createMembers();
  const { organization: other } = await createMembers();
  const server = { provision: organization.apiProvision };
  expect([faultsOf(await close(eve, '2024-10-31')), faultsOf(await reopen(eve, '2024-10-31', 'x'))]).toEqual(
    Array(2).fill([['PRIVILEGE_NOT_FOUND', 'Privilege to perform the action was not found']]),
  );
  expect(faultsOf(await close(server, '2024-10-31'))).toEqual([['NOT_LOGGED_IN', 'Not logged in']]);
  expect(faultsOf(await close({ provision: organization.webProvision }, '2024-10-31'))).toEqual([['NOT_LOGGED_IN', 'Not logged in']]);
  const { provisions } = gateway.services;
  await expect(provisions.changeGrants(organization.webProvision, { verb: 'grant', privileges: ['close_periods'] })).rejects.toThrow(
    'A WEB provision is public: only an API provision can be granted close_periods',
  );
  await provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['close_periods'] });
  const closed = await close(server, '2024-09-30');
  expect(closed.body.data).toMatchObject({ closePeriod: { close: { closedBy: organization.apiProvision.slice(0, 8) } } });
  expect((await ask({ provision: other.apiProvision }, CLOSED)).body.data).toMatchObject({ closedThrough: null });
  expect(faultsOf(await ask({ provision: organization.webProvision }, CLOSED))?.map(([code]) => code)).toEqual(
    Array(2).fill('NOT_LOGGED_IN'),
  );
  expect((await ask(ada, '{ closedThrough }')).body.data).toEqual({ closedThrough: '2024-09-30' });
});

test('a member without the report sees figures, and neither digests nor notes', async () => {
  const { bob } = await createMembers();
  const { body } = await close(bob, '2024-10-31', 'Booked');
  expect(body.data).toMatchObject({
    closePeriod: { close: { note: null, reopenReason: null, months: [{ lineAmount: '10.50', digest: null }, { digest: null }] } },
  });
  const refused = body.errors?.map((error) => [(error as { path?: unknown[] }).path?.at(-1), error.extensions.code]);
  expect(refused).toEqual(['note', 'reopenReason', 'digest'].map((field) => [field, 'PRIVILEGE_NOT_FOUND']));
});

test('a close that cannot be is refused with its reason, and leaves no trace', async () => {
  const { organization, ada } = await createMembers();
  await close(ada, '2024-09-30');
  expect(faultsOf(await close(ada, '2024-09-30'))).toEqual([
    ['PERIOD_CLOSED', 'The months are closed: the books are closed through 2024-09-30 already'],
  ]);
  const [[code, message] = []] = faultsOf(await close(ada, '2999-12-31'))!;
  expect([code, message]).toEqual(['BAD_USER_INPUT', expect.stringMatching(/through: 2999-12-31 is in the future: it is .* in UTC$/)]);
  expect(faultsOf(await close(ada, '2024-10-31', 'a\nb'))).toEqual([['BAD_USER_INPUT', 'note has control characters']]);
  expect(faultsOf(await close(ada, '2024-10-31', 'a'.repeat(1001)))).toEqual([['BAD_USER_INPUT', 'note is longer than 1000 characters']]);
  expect(faultsOf(await reopen(ada, '2024-09-29', 'x'))).toEqual([
    ['BAD_USER_INPUT', 'through: there is no close through 2024-09-29: in force are those through 2024-09-30'],
  ]);
  const changes = (await readAudit(gateway, organization)).filter(({ operation }) => operation.startsWith('period'));
  expect(changes).toHaveLength(1);
  expect((await ask(ada, '{ dataVersion { number } }')).body.data).toEqual({ dataVersion: { number: 2 } });
});

test('a close waits for an import that is under way, and is refused when that takes long', async () => {
  const { organization, ada } = await createMembers();
  const release = await holdBooks(organization);
  const refused = await close(ada, '2024-09-30');
  const waiting = await reopen(ada, '2024-09-30', 'x');
  expect([faultsOf(refused), faultsOf(waiting)]).toEqual(
    Array(2).fill([['BOOKS_CHANGING', 'The books are being changed: an import is under way; try again when it has ended']]),
  );
  await release();
  expect((await close(ada, '2024-09-30')).body.errors).toBeUndefined();
});

/** Keeps the books of an organization from being changed, as an import does, until the returned function is called. */
async function holdBooks({ id }: TestOrganization): Promise<() => Promise<unknown>> {
  const { client } = gateway.database;
  await client.query('BEGIN');
  await client.query(`SELECT pg_advisory_xact_lock(hashtext('deposit-gateway import'), $1)`, [id]);
  return () => client.query('COMMIT');
}
const countWaiting = async (): Promise<number> => {
  const { rows } = await gateway.database.client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`,
  );
  return rows[0]!.count;
};

test('closes that wait for an import leave the reports of other organizations their connections', async () => {
  const { organization, ada } = await createMembers();
  const other = await createOrganization(gateway.services);
  await importLines(gateway.services, other, [gift(1, '09')]);
  await close(ada, '2024-09-30');
  const release = await holdBooks(organization);
  let answered = 0;
  const waiting = Array.from({ length: 12 }, () => reopen(ada, '2024-09-30', 'x').finally(() => answered++));
  await until(async () => answered === 11 && (await countWaiting()) === 1);
  const answer = await fetch(`${gateway.url}/export/deposit-details.csv?period=all-time`, { headers: { Provision: other.apiProvision } });
  expect([answer.status, (await answer.text()).split('\n').length]).toEqual([200, 3]);
  await release();
  const faults = (await Promise.all(waiting)).map(faultsOf);
  const OTHER = 'The books are being changed: another close or reopening is under way; try again when it has ended';
  expect(faults.filter((fault) => fault === undefined)).toHaveLength(1);
  expect(faults.filter((fault) => fault !== undefined)).toEqual(Array(11).fill([['BOOKS_CHANGING', OTHER]]));
});

test('a member who has left when the books can be changed closes nothing', async () => {
  const { organization, ada } = await createMembers();
  const release = await holdBooks(organization);
  const leaving = new AbortController();
  const body = JSON.stringify({ query: 'mutation { closePeriod(input: { through: "2024-09-30" }) { close { version } } }' });
  const headers = { 'Content-Type': 'application/json', Provision: ada!.provision!, Cookie: ada!.cookie! };
  const leaver = fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body, signal: leaving.signal });
  await until(async () => (await countWaiting()) === 1);
  leaving.abort();
  await expect(leaver).rejects.toThrow('aborted');
  await release();
  await until(async () => (await countWaiting()) === 0);
  // The close that was given up may still be at its end.
  let answer = await close(ada, '2024-09-30');
  while (faultsOf(answer)?.[0]?.[0] === 'BOOKS_CHANGING') answer = await close(ada, '2024-09-30');
  expect(answer.body.data).toMatchObject({ closePeriod: { close: { version: 2 } } });
  expect((await readAudit(gateway, organization)).filter(({ operation }) => operation.startsWith('period'))).toHaveLength(1);
});

test('a member who may close no more when the books can be changed closes nothing', async () => {
  const { organization, ada } = await createMembers();
  const release = await holdBooks(organization);
  const waiting = close(ada, '2024-09-30');
  await until(async () => (await countWaiting()) === 1);
  await gateway.services.users.changeGrants(organization.name, 'ada', { verb: 'revoke', privileges: ['close_periods'] });
  await release();
  expect(faultsOf(await waiting)).toEqual([['PRIVILEGE_NOT_FOUND', 'Privilege to perform the action was not found']]);
  expect((await ask(ada, '{ closedThrough }')).body.data).toEqual({ closedThrough: null });
  expect((await readAudit(gateway, organization)).filter(({ operation }) => operation.startsWith('period'))).toEqual([]);
});
