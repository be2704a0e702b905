import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { createSchema } from '../../src/graphql/schema';
import { SchemaReportDocuments } from '../../src/resolvers/reports/report-documents';
import { createOrganization, importLines, login, openSession, PASSWORD, v2Line, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { MAIL_SETTINGS, saveSchedule } from '../support/scheduled-mails';
import { REQUEST_ID } from '../support/request-id';
import { until } from '../support/until';
import { paths, PERIOD, questions, toOperations, toQuery, write, type Step, type Written } from '../support/schema-questions';
import { tries } from '../support/tries';

/** Personal values name the organization they belong to, so that a leak shows whose data it is. */
const CANARY = 'canary';
const personal = (organization: string): Record<string, string> =>
  Object.fromEntries(
    [
      ...['donor_first_name', 'donor_last_name', 'address1', 'address2', 'address3', 'city', 'state', 'zip', 'phone', 'email_address'],
      ...['designation_memo', 'main_memo'],
    ].map((field) => [field, `${CANARY}-${organization}-${field}`]),
  );
/** Both organizations have the same ids. */
const bookOf = (organization: string): object[] => [
  v2Line({ ...personal(organization), designation: `Fund of ${organization}`, allocation_amount: '9.50' }),
  v2Line({
    ...personal(organization),
    ...{ designation_id: 4, designation: `Second fund of ${organization}`, allocation_id: 'P101', allocation_amount: '1.00' },
  }),
];

interface Actor {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The privilege of the actor, `donors` or `member`, or the code of the error that every request gets. */
  readonly level: string;
}

const isRefused = ({ level }: Actor): boolean => level !== 'donors' && level !== 'member';

/** The same before a change of each line. */
const earlierBook = (organization: string): object[] =>
  bookOf(organization).map((line) => ({ ...line, fee_amount: '0.00', net_amount: (line as { amount: string }).amount }));

const gateway = openGateway({ lines: earlierBook('ours'), settings: MAIL_SETTINGS });
let actors: Actor[];

beforeAll(async () => {
  const { provisions, users } = gateway.services;
  const { organization: ours } = gateway;
  const theirs = await createOrganization(gateway.services);
  await importLines(gateway.services, theirs, earlierBook('theirs'));
  for (const [of, organization] of Object.entries({ ours, theirs })) {
    const { periods, journalAccounts, fundBudgets } = gateway.services;
    const account = `${CANARY}-${of}`;
    const funds = [{ designationId: 3, account }];
    await journalAccounts.save(organization.id, { bank: account, fees: account, funds }, { name: 'ada' });
    await fundBudgets.save(
      organization.id,
      { startDate: '2024-01-01', funds: [{ designationId: 3, amount: '1.00' }], replaces: null },
      { name: 'ada' },
    );
    const close = () =>
      periods.close({ ...organization, timeZone: 'UTC', fiscalYearStart: 1 }, '2024-01-31', `${CANARY}-${of}`, { name: 'ada' });
    await close();
    await periods.reopen(organization.id, '2024-01-31', `${CANARY}-${of}`, { name: 'ada' });
    await close();
    // The newest version is that of a file.
    await importLines(gateway.services, organization, bookOf(of), { acceptsLate: true });
  }

  const provision = (organization: TestOrganization, kind: 'API' | 'MOBILE' | 'WEB', grants: string[] = []) =>
    provisions.create({ organization: organization.name, kind, label: '', grants });
  await users.create({ organization: ours.name, username: 'clerk', password: PASSWORD, grants: [] });
  await users.create({ organization: ours.name, username: 'gone', password: PASSWORD, grants: [] });
  const [api, mobile, revoked] = [await provision(ours, 'API'), await provision(ours, 'MOBILE'), await provision(ours, 'API')];
  await provisions.revoke(revoked);
  const cookieOf = (of: string, username: string) => login(gateway.url, of, username);
  const gone = await cookieOf(ours.webProvision, 'gone');
  const goneToken = await openSession(gateway.url, ours.webProvision, 'gone');
  await users.disable(ours.name, 'gone');
  const foreign = await login(gateway.url, theirs.webProvision);

  const saved = (organization: TestOrganization, of: string) =>
    gateway.services.savedReports.save(
      organization.id,
      {
        ...{ name: 'fund', updatedBy: 'ada', period: 'all-time' },
        query: `query Fund($name: String!, $startDate: LocalDate!, $endDate: LocalDate!) { depositDetails(startDate: $startDate, endDate: $endDate) { amount } ${CANARY}: depositSummary(${PERIOD.join(', ')}, filter: { donorName: $name }) { all { lines } } }`,
        variables: { name: `${CANARY}-${of}` },
      },
      new SchemaReportDocuments(createSchema()),
    );
  await saved(ours, 'ours');
  await saved(theirs, 'theirs');
  for (const [of, organization] of Object.entries({ ours, theirs })) {
    const username = `${CANARY}-${of}`;
    await users.create({ organization: organization.name, username, password: PASSWORD, grants: [REPORT_PRIVILEGE] });
    await users.setEmail(organization.name, username, 'reader@example.org');
    const { id } = await saveSchedule(gateway.services, organization, { report: 'fund', recipients: [username] });
    await gateway.services.schedules.pause(null, id);
  }

  const actor = (name: string, level: string, Provision?: string, Cookie?: string, token?: string): Actor => ({
    name,
    level,
    headers: {
      ...(Provision !== undefined && { Provision }),
      ...(Cookie !== undefined && { Cookie }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    },
  });
  const bearer = async (name: string, level: string, Provision: string, token: string | Promise<string>): Promise<Actor> =>
    actor(`${name}, by bearer`, level, Provision, undefined, await token);
  actors = [
    actor('a server that was granted the report', 'donors', ours.apiProvision),
    actor('a user who was granted the report', 'donors', ours.webProvision, await cookieOf(ours.webProvision, 'ada')),
    actor('that user on a server that was not', 'donors', api, await cookieOf(api, 'ada')),
    actor('a server that was not granted the report', 'member', api),
    actor('a user who was not granted the report', 'member', mobile, await cookieOf(mobile, 'clerk')),
    actor('an app nobody has logged in to', 'NOT_LOGGED_IN', ours.webProvision),
    actor('a phone nobody has logged in to', 'NOT_LOGGED_IN', mobile),
    actor('a session of another organization', 'PROVISION_MISMATCH', ours.webProvision, foreign),
    actor('a session of another provision', 'PROVISION_MISMATCH', mobile, await cookieOf(ours.webProvision, 'ada')),
    actor('a user who was disabled', 'UNAUTHORIZED', ours.webProvision, gone),
    await bearer('a user who was granted the report', 'donors', ours.webProvision, openSession(gateway.url, ours.webProvision)),
    await bearer('a user who was not granted the report', 'member', mobile, openSession(gateway.url, mobile, 'clerk')),
    await bearer('a token that is none', 'NOT_LOGGED_IN', ours.webProvision, 'x'),
    await bearer(
      'a session of another organization',
      'PROVISION_MISMATCH',
      ours.webProvision,
      openSession(gateway.url, theirs.webProvision),
    ),
    await bearer('a user who was disabled', 'UNAUTHORIZED', ours.webProvision, goneToken),
    actor('a revoked provision', 'INVALID_PROVISION', revoked),
    actor('nobody', 'PROVISION_HEADER_MISSING'),
  ];
});

const PERSONAL_FIELDS = [
  ...['Transaction.mainMemo', 'Allocation.memo', 'DepositSummary.digest', 'SummaryTotals.donors'],
  ...['DataVersion.fileName', 'DataVersion.fileSha256', 'PeriodClose.note', 'PeriodClose.reopenReason', 'ClosedMonth.digest'],
];
const GUARDED_TYPES = [
  ...['Donor', 'DepositChangeConnection', 'DepositDetail', 'DepositDetailConnection', 'DonorConnection', 'SavedReport'],
  ...['JournalAccounts', 'FundBudget', 'ReportMailing', 'ReportSchedule'],
];
/**
 * Personal fields: all of a donor and of the report's lines, free texts, digests, and files, which may be named after a donor. The accounts of
 * the journal and the budgets are guarded as they are. The test names them once more on purpose. The money digest is for every member.
 */
const isPersonal = (type: string, field: string): boolean => GUARDED_TYPES.includes(type) || PERSONAL_FIELDS.includes(`${type}.${field}`);

const isPersonalWay = (path: readonly Step[]): boolean =>
  path.some(({ type, field, record }) => record?.name === 'Donor' || record?.name === 'SavedReport' || isPersonal(type.name, field.name));

interface Body {
  readonly data?: unknown;
  readonly errors?: readonly { readonly path?: readonly (string | number)[]; readonly extensions: { readonly code: string } }[];
}

/** The values at the end of a way through an answer, those of all members of its lists. */
const valuesAt = (data: unknown, names: readonly string[]): unknown[] => {
  if (Array.isArray(data)) return data.flatMap((each) => valuesAt(each, names));
  if (data === null || data === undefined) return [];
  return names.length === 0 ? [data] : valuesAt((data as Readonly<Record<string, unknown>>)[names[0]!], names.slice(1));
};

async function faultsIn({ headers, level }: Actor, asked: readonly Written[]): Promise<string[]> {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query: toQuery(asked) }),
  });
  const text = await response.text();
  if (text.includes(`${CANARY}-theirs`) || text.includes('Fund of theirs')) return [`another organization's data: ${text}`];
  // Neither a value nor a message holds personal data, wherever in the answer.
  if (level !== 'donors' && text.includes(CANARY)) return [`personal data: ${text}`];
  const { data, errors = [] } = JSON.parse(text) as Body;
  return asked.flatMap(({ question: { way, values }, nameOf }) =>
    values.flatMap((value) => {
      const path = [...way, value];
      const names = path.map(nameOf);
      // An error at a step of the way is one of every value behind it.
      const isOnTheWay = (at: readonly (string | number)[] = []): boolean =>
        at.filter((each) => typeof each === 'string').every((name, depth) => name === names[depth]);
      const codes = [...new Set(errors.filter(({ path: at }) => isOnTheWay(at)).map(({ extensions }) => extensions.code))];
      const isGranted = level === 'donors' || (level === 'member' && !isPersonalWay(path));
      // The v2 report first asks a server without the privilege for a session.
      const isV2 = path[0]!.field.name === 'depositDetails' && headers.Cookie === undefined && headers.Authorization === undefined;
      const expected = isGranted ? [] : [level !== 'member' ? level : isV2 ? 'NOT_LOGGED_IN' : 'PRIVILEGE_NOT_FOUND'];
      const found = valuesAt(data, names);
      const say = (fault: string): string[] => [`${names.join('.')}: ${fault}: ${text}`];
      if (JSON.stringify(codes) !== JSON.stringify(expected)) return say(`${codes.join()} instead of ${expected.join()}`);
      if (!isGranted) return found.length > 0 ? say('data beside the error') : [];
      // A granted field must have a value, or the test would prove nothing. Some fields may be null.
      return found.length === 0 && !MAY_BE_NULL.includes(value.field.name) ? say('nothing at all') : [];
    }),
  );
}
/** Group keys are null unless the query groups by them, and dates of gifts where there are no lines. */
const MAY_BE_NULL = [
  ...['week', 'month', 'quarter', 'year', 'depositId', 'depositDate', 'transactionId', 'transactionDate'],
  ...['depositStatus', 'status', 'accountType', 'paymentType'],
  ...['donorId', 'donorFirstName', 'donorLastName', 'address1', 'address2', 'address3', 'city', 'state', 'zip', 'phone', 'emailAddress'],
  ...['firstGift', 'lastGift', 'percentage', 'late'],
];

test('a caller has many ways through the schema', () => {
  expect(paths.length).toBeGreaterThan(3000);
  const reached = new Set(paths.flatMap((path) => path.map(({ type, field }) => `${type.name}.${field.name}`)));
  for (const name of ['Donor.email', 'Allocation.memo', 'DepositDetail.zip', 'DepositSummary.digest', 'SummaryAmounts.amount']) {
    expect(reached.has(name)).toBe(true);
  }
});

/** The tenths of all values that are asked for alone. With all of them, each actor asks for each record, too. */
const TENTHS = tries(1);

test.each([
  ['with the privilege of the report', ({ level }: Actor) => level === 'donors'],
  ['without that privilege', ({ level }: Actor) => level === 'member'],
  ['who is refused', isRefused],
])('nobody %s reads what was not granted, on any way through the schema', async (_who, isAsked) => {
  const faults: string[] = [];
  const cells = actors.filter(isAsked).flatMap((actor, place) => {
    const row = actors.indexOf(actor);
    // Each three actors ask for all values of each record, many records at a time, and each record is asked for in one of the manners.
    const isOwn = (column: number): boolean => TENTHS >= 10 || column % 3 === place % 3;
    const many = [0, 1, 2].flatMap((manner) =>
      toOperations(
        questions
          .filter((_question, column) => isOwn(column) && (row + Math.floor(column / 3)) % 3 === manner)
          .map((each, number) => write(each, manner, number)),
      ),
    );
    // A value alone is asked for by one of all actors: no check of another value must stand in for its own.
    // Personal values near the root are asked for by all who are refused them, too.
    const isAlone = (column: number): boolean => column % actors.length === row && Math.floor(column / actors.length) % 10 < TENTHS;
    const alone = paths
      .filter((path, column) => isAlone(column) || (actor.level === 'member' && isPersonalWay(path) && path.length <= 3))
      .map((path, column) => [write({ way: path.slice(0, -1), values: path.slice(-1) }, column % 3, 0)]);
    return [...many, ...alone].map((asked) => ({ actor, asked }));
  });
  const work = async (): Promise<void> => {
    for (let cell = cells.pop(); cell; cell = cells.pop()) {
      const { actor, asked } = cell;
      for (const found of await faultsIn(actor, asked)) faults.push(`${actor.name}: ${toQuery(asked)}: ${found}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  expect(faults.slice(0, 5)).toEqual([]);
});

test.each([
  ['donorName', 'depositSummary(startDate: "2024-01-01", endDate: "2024-12-31", filter: { donorName: "canary" }) { all { lines } }'],
  ['donorIds', 'depositSummary(startDate: "2024-01-01", endDate: "2024-12-31", filter: { donorIds: [7] }) { all { lines } }'],
])('a caller without the privilege cannot ask for totals by donor: %s', async (_name, field) => {
  for (const { level, headers } of actors.filter((actor) => !isRefused(actor))) {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ query: `{ ${field} }` }),
    });
    const { data, errors } = (await response.json()) as Body;
    const codes = errors?.map(({ extensions }) => extensions.code);
    expect([data, codes]).toEqual(
      level === 'donors' ? [{ depositSummary: { all: { lines: 2 } } }, undefined] : [{ depositSummary: null }, ['PRIVILEGE_NOT_FOUND']],
    );
  }
});

test('a caller without the privilege is told of it before a range that ends before it begins', async () => {
  const { headers } = actors.find(({ level }) => level === 'member')!;
  for (const asked of ['groupBy: [DONOR]', 'filter: { donorIds: [7] }']) {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ query: `{ depositSummary(startDate: "2026-02-01", endDate: "2026-01-01", ${asked}) { all { lines } } }` }),
    });
    expect(((await response.json()) as Body).errors?.map(({ extensions }) => extensions.code)).toEqual(['PRIVILEGE_NOT_FOUND']);
  }
});

test('nobody reads the audit without its own privilege, and nobody that of another organization', async () => {
  const query = '{ auditRecords(first: 1000) { totalCount nodes { operation address username subject conditions hash } } }';
  const ask = async ({ headers }: Pick<Actor, 'headers'>): Promise<Body> => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    });
    return (await response.json()) as Body;
  };
  for (const actor of actors) {
    const { data, errors } = await ask(actor);
    // A server without the privilege is first asked for a session.
    const isServer = !isRefused(actor) && actor.headers.Cookie === undefined && actor.headers.Authorization === undefined;
    const code = isRefused(actor) ? actor.level : isServer ? 'NOT_LOGGED_IN' : 'PRIVILEGE_NOT_FOUND';
    expect([actor.name, errors?.map(({ extensions }) => extensions.code)]).toEqual([actor.name, [code]]);
    expect((data as { auditRecords?: unknown } | undefined)?.auditRecords ?? null).toBeNull();
  }
  const { provisions, users } = gateway.services;
  const { organization: ours } = gateway;
  await users.create({ organization: ours.name, username: 'auditor', password: PASSWORD, grants: ['audit_records'] });
  const Cookie = await login(gateway.url, ours.webProvision, 'auditor');
  const headers = { Provision: ours.webProvision, Cookie };
  const { data, errors } = await ask({ headers });
  expect(errors).toBeUndefined();
  const { totalCount } = (data as { auditRecords: { totalCount: number } }).auditRecords;
  const { rows } = await gateway.database.client.query(
    `SELECT count(*)::int FROM audit_record WHERE part <> 'ended' AND organization_id = $1`,
    [ours.id],
  );
  expect(rows).toEqual([{ count: totalCount }]);
  await expect(provisions.changeGrants(ours.webProvision, { verb: 'grant', privileges: ['audit_records'] })).rejects.toThrow(
    'A WEB provision is public: only an API provision can be granted audit_records',
  );
});

test('a reader of the audit needs the report for the digests, and for the hashes and lengths of files that tell of donors', async () => {
  const { users } = gateway.services;
  const { organization: ours } = gateway;
  const grants = { reader: ['audit_records'], auditing: ['audit_records', REPORT_PRIVILEGE] };
  const cookies: Record<string, string> = {};
  for (const [username, granted] of Object.entries(grants)) {
    await users.create({ organization: ours.name, username, password: PASSWORD, grants: granted });
    cookies[username] = await login(gateway.url, ours.webProvision, username);
  }
  const range = 'start_date=2024-01-01&end_date=2024-12-31';
  const take = async (headers: Readonly<Record<string, string>>): Promise<void> => {
    const path = `/export/deposit-summary.csv?${range}&columns=lines,donors`;
    await (await fetch(gateway.url + path, { headers })).text();
  };
  const ask = async (username: string): Promise<Body> => {
    const query = '{ auditRecords(first: 2, filter: { kinds: [FILE] }) { nodes { kind tellsDonors bytes fileSha256 digest } } }';
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Provision: ours.webProvision, Cookie: cookies[username]! },
      body: JSON.stringify({ query }),
    });
    return (await response.json()) as Body;
  };
  // The first file has no numbers of donors, because its reader may not have them, and the second one has.
  await take({ Provision: ours.webProvision, Cookie: cookies.reader! });
  await take({ Provision: ours.apiProvision });
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/) as unknown;
  const bytes = expect.any(Number) as unknown;
  const open = { tellsDonors: false, bytes, fileSha256: hash };
  await until(async () => JSON.stringify((await ask('auditing')).data).match(/"bytes":\d/g)?.length === 2);
  expect(await ask('auditing')).toMatchObject({
    data: { auditRecords: { nodes: [{ tellsDonors: true, bytes, fileSha256: hash, digest: hash }, open] } },
  });
  const { data, errors } = await ask('reader');
  expect(data).toMatchObject({ auditRecords: { nodes: [{ tellsDonors: true, bytes: null, fileSha256: null, digest: null }, open] } });
  expect(errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code])).toEqual(
    ['bytes', 'fileSha256', 'digest'].map((field) => [field, 'PRIVILEGE_NOT_FOUND']),
  );
});

test('a caller is told once of a field that is refused, however many values of it there are', async () => {
  const member = actors.find(({ level }) => level === 'member')!;
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...member.headers },
    body: JSON.stringify({
      query: '{ transaction(transactionId: "P10") { amount allocations { nodes { allocationId one: memo two: memo } } } }',
    }),
  });
  const refused = { one: null, two: null };
  expect(await response.json()).toEqual({
    data: {
      transaction: {
        amount: '10.50',
        allocations: {
          nodes: [
            { allocationId: 'P100', ...refused },
            { allocationId: 'P101', ...refused },
          ],
        },
      },
    },
    errors: ['one', 'two'].map((name) => ({
      message: 'Privilege to perform the action was not found',
      locations: expect.any(Array) as unknown,
      path: ['transaction', 'allocations', 'nodes', 0, name],
      extensions: { code: 'PRIVILEGE_NOT_FOUND', requestId: REQUEST_ID },
    })),
  });
});
