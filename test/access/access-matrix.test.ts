import {
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  type GraphQLField,
  type GraphQLObjectType,
} from 'graphql';
import { createSchema } from '../../src/graphql/schema';
import { SchemaReportDocuments } from '../../src/resolvers/report-documents';
import { createOrganization, importLines, login, openSession, PASSWORD, v2Line, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';

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

const gateway = openGateway({ lines: bookOf('ours') });
let actors: Actor[];

beforeAll(async () => {
  const { organizations } = gateway.services;
  const { organization: ours } = gateway;
  const theirs = await createOrganization(gateway.services);
  await importLines(gateway.services, theirs, bookOf('theirs'));

  const provision = (organization: TestOrganization, kind: 'API' | 'MOBILE' | 'WEB', grants: string[] = []) =>
    organizations.createProvision({ organization: organization.name, kind, label: '', grants });
  await organizations.createUser({ organization: ours.name, username: 'clerk', password: PASSWORD, grants: [] });
  await organizations.createUser({ organization: ours.name, username: 'gone', password: PASSWORD, grants: [] });
  const [api, mobile, revoked] = [await provision(ours, 'API'), await provision(ours, 'MOBILE'), await provision(ours, 'API')];
  await organizations.revokeProvision(revoked);
  const cookieOf = (of: string, username: string) => login(gateway.url, of, username);
  const gone = await cookieOf(ours.webProvision, 'gone');
  const goneToken = await openSession(gateway.url, ours.webProvision, 'gone');
  await organizations.disableUser(ours.name, 'gone');
  const foreign = await login(gateway.url, theirs.webProvision);

  const saved = (organization: TestOrganization, of: string) =>
    gateway.services.savedReports.save(
      organization.id,
      {
        ...{ name: `fund-of-${of}`, updatedBy: 'ada' },
        query: `query Fund($name: String!) { depositDetails(${PERIOD.join(', ')}) { amount } ${CANARY}: depositSummary(${PERIOD.join(', ')}, filter: { donorName: $name }) { all { lines } } }`,
        variables: { name: `${CANARY}-${of}` },
      },
      new SchemaReportDocuments(createSchema()),
    );
  await saved(ours, 'ours');
  await saved(theirs, 'theirs');

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

const PERIOD = ['startDate: "2024-01-01"', 'endDate: "2024-12-31"'];
const COMPARED = 'compareWith: { startDate: "2023-01-01", endDate: "2023-12-31" }';
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'Query.deposit': ['depositId: "1"'],
  'Query.transaction': ['transactionId: "P10"'],
  'Query.designation': ['designationId: 3'],
  'Query.donor': ['donorId: 7'],
  'Query.donors': ['search: "canary"'],
  'Query.depositDetails': PERIOD,
  'Query.depositDetailsConnection': PERIOD,
  'Query.depositSummary': [...PERIOD, 'groupBy: [DAY, DESIGNATION]', COMPARED],
  // The file of a query needs the privileges of its fields, here those of totals.
  'Query.reportFile': [
    `query: ${JSON.stringify(`{ depositSummary(${PERIOD.join(', ')}, groupBy: [DAY, DESIGNATION]) { groups(first: 1000) { nodes { all { lines } } } } }`)}`,
  ],
  'DepositDetailConnection.summary': ['groupBy: [DAY, DESIGNATION]', COMPARED],
};
const OTHER_QUERIES = ['authenticatedTestSystem', 'authenticatedTestSession', 'viewer', 'errorCodes'];
const PERSONAL_FIELDS = [
  ...['Transaction.mainMemo', 'Allocation.memo', 'DepositSummary.digest', 'SummaryTotals.donors'],
  ...['DataVersion.fileName', 'DataVersion.fileSha256'],
];
/**
 * Personal fields: all of a donor and of the report's lines, free texts, digests, and files, which may be named after a donor. The test
 * names them once more on purpose.
 */
const isPersonal = (type: string, field: string): boolean =>
  ['Donor', 'DepositDetail', 'DepositDetailConnection', 'DonorConnection', 'SavedReport'].includes(type) ||
  PERSONAL_FIELDS.includes(`${type}.${field}`);

interface Step {
  readonly type: GraphQLObjectType;
  readonly field: GraphQLField<unknown, unknown>;
  /** The type of the record that a field of an interface is asked for. */
  readonly record?: GraphQLObjectType;
}

const schema = createSchema();
const IDS: Readonly<Record<string, string>> = { Deposit: '1', Transaction: 'P10', Allocation: 'P100', Designation: '3', Donor: '7' };
const NODES = Object.keys(IDS);

const COUNTS = ['lines', 'donors'];
/** A summary below a file has the figures of one at the root. */
const isReference = ({ type }: Step): boolean => type.name === 'ReportFile';

/** All ways from the query to a scalar that pass no type twice. */
function pathsFrom(type: GraphQLObjectType, path: readonly Step[] = []): Step[][] {
  return Object.values(type.getFields()).flatMap((field) => {
    if (path.length === 0 && OTHER_QUERIES.includes(field.name)) return [];
    const next = getNamedType(field.type);
    // A file compares nothing.
    if (path.some(isReference) && ['compared', 'change'].includes(field.name)) return [];
    // Every valid provision may know its kind, logged in or not.
    if (type.name === 'Provision' && field.name === 'kind') return [];
    const steps = [...path, { type, field }];
    if (isInterfaceType(next)) {
      const ways = NODES.flatMap((name) => {
        const record = schema.getType(name) as GraphQLObjectType;
        return pathsFrom(record, [...path, { type, field, record }]);
      });
      // A record leads on as the one at the root does, so that its lists' own values are enough of it, and its own values of a list.
      const most = isListType(getNullableType(field.type)) ? 1 : 3;
      return ways.filter((way) => way.length <= steps.length + most);
    }
    if (!isObjectType(next)) return [steps];
    if (path.some((step) => step.type === next)) return [];
    const ways = pathsFrom(next, steps);
    // All totals are of one type. Those of one part of a summary and of its groups are enough, with the donors of the others.
    const isWhole = field.name === 'all' && ['DepositSummary', 'SummaryGroup'].includes(type.name) && !path.some(isReference);
    if (next.name === 'SummaryTotals' && !isWhole)
      return ways.filter((way) => way.length === steps.length + 1 && COUNTS.includes(way.at(-1)!.field.name));
    // A record of a line leads on as one at the root does, in pages alone.
    return type.name === 'DepositDetail' ? ways.filter((way) => way.length === steps.length + 1) : ways;
  });
}

/** The path as a selection, in three manners: plain, with every field renamed, or with each step in a fragment. */
const WRITINGS: readonly ((path: readonly Step[]) => string)[] = [
  (path) => path.reduceRight((below, step) => `{ ${call(step)} ${ofRecord(step, below)} }`, ''),
  (path) => path.reduceRight((below, step, depth) => `{ x${depth}: ${call(step)} ${ofRecord(step, below)} }`, ''),
  (path) => {
    const fragments = path.map(({ type }, depth) => {
      const below = depth + 1 < path.length ? `{ ...F${depth + 1} }` : '';
      return `fragment F${depth} on ${type.name} { ... on ${type.name} { ${call(path[depth]!)} ${below} } }`;
    });
    return `query { ...F0 } ${fragments.join(' ')}`;
  },
];
const ofRecord = ({ record }: Step, below: string): string => (record ? `{ ... on ${record.name} ${below} }` : below);
const call = ({ type, field, record }: Step): string => {
  // One group leaves others for `rest`.
  const length = type.name === 'DepositSummary' ? 1 : 2;
  const short = field.args.some(({ name }) => name === 'first') ? [`first: ${length}`] : [];
  const id = record && JSON.stringify(Buffer.from(`${record.name}:${IDS[record.name]!}`).toString('base64url'));
  const own = id === undefined ? [] : [field.name === 'node' ? `id: ${id}` : `ids: [${id}]`];
  const args = [...(ARGUMENTS[`${type.name}.${field.name}`] ?? []), ...own, ...short];
  return `${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}`;
};

const paths = pathsFrom(schema.getQueryType()!);

interface Body {
  readonly data?: unknown;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

async function fault({ headers, level }: Actor, path: readonly Step[], query: string): Promise<string | undefined> {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });
  const text = await response.text();
  const { data, errors } = JSON.parse(text) as Body;
  const codes = [...new Set(errors?.map(({ extensions }) => extensions.code))];
  const personalPath = path.some(({ type, field, record }) => record?.name === 'Donor' || isPersonal(type.name, field.name));
  const isGranted = level === 'donors' || (level === 'member' && !personalPath);
  // The v2 report first asks a server without the privilege for a session.
  const missing =
    path[0]!.field.name === 'depositDetails' && headers.Cookie === undefined && headers.Authorization === undefined
      ? 'NOT_LOGGED_IN'
      : 'PRIVILEGE_NOT_FOUND';
  const expected = isGranted ? [] : [level === 'member' ? missing : level];
  if (text.includes(`${CANARY}-theirs`) || text.includes('Fund of theirs')) return `another organization's data: ${text}`;
  if (expected.length > 0 && text.includes(CANARY)) return `personal data: ${text}`;
  if (JSON.stringify(codes) !== JSON.stringify(expected)) return `${codes.join()} instead of ${expected.join()}: ${text}`;
  const hasValue = /:(?!null|\[|\{)|\["/.test(JSON.stringify(data ?? null));
  // A granted field must have a value, or the test would prove nothing. Some fields may be null.
  if (expected.length === 0 && !hasValue && !MAY_BE_NULL.includes(path.at(-1)!.field.name)) return `nothing at all: ${text}`;
  if (expected.length > 0 && hasValue) return `data beside the error: ${text}`;
  return undefined;
}
/** The values of a list of records are this many steps away. */
const LONG_WAY = 4;
/** Group keys are null unless the query groups by them. */
const MAY_BE_NULL = [
  ...['week', 'month', 'quarter', 'year', 'depositId', 'depositDate', 'depositStatus', 'status', 'accountType', 'paymentType'],
  ...['donorId', 'donorFirstName', 'donorLastName', 'city', 'state', 'percentage'],
];

test('a caller has many ways through the schema', () => {
  expect(paths.length).toBeGreaterThan(300);
  const reached = new Set(paths.flatMap((path) => path.map(({ type, field }) => `${type.name}.${field.name}`)));
  for (const name of ['Donor.email', 'Allocation.memo', 'DepositDetail.zip', 'DepositSummary.digest', 'SummaryAmounts.amount']) {
    expect(reached.has(name)).toBe(true);
  }
});

test.each([
  ['with the privilege of the report', ({ level }: Actor) => level === 'donors'],
  ['without that privilege', ({ level }: Actor) => level === 'member'],
  ['who is refused', isRefused],
])('nobody %s reads what was not granted, on any way through the schema', async (_who, isAsked) => {
  const faults: string[] = [];
  // Each actor tries each way in one of the manners. Long ways are shared by three actors, and actors who get nothing at all try a third too.
  const cells = actors
    .filter(isAsked)
    .flatMap((actor, row) =>
      paths
        .map((path, column) => ({ actor, path, query: WRITINGS[(row + column) % WRITINGS.length]!(path) }))
        .filter(({ path }, column) => (!isRefused(actor) && path.length <= LONG_WAY) || (row + column) % 3 === 0),
    );
  const work = async (): Promise<void> => {
    for (let cell = cells.pop(); cell; cell = cells.pop()) {
      const found = await fault(cell.actor, cell.path, cell.query);
      if (found !== undefined) faults.push(`${cell.actor.name}: ${cell.query}: ${found}`);
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
