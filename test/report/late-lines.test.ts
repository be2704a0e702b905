import { runCommand } from '../support/command';
import { createOrganization, graphql, importLines, v2Line, type GraphqlAnswer, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();

type Fields = Readonly<Record<string, unknown>>;
/** A gift of one line. Its ids end in the same number. */
const gift = (number: number, month: string, fields: Fields = {}) =>
  v2Line({
    ...{ deposit_id: `D${number}`, transaction_id: `T${number}`, allocation_id: `A${number}`, donor_id: number },
    ...{ deposit_date: `2024-${month}-10`, deposit_status: 'posted', ...fields },
  });
const MORE = { amount: '110.50', net_amount: '110.00' };
const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const ADDRESS = 'start_date=2024-01-01&end_date=2024-12-31&pending=WITH';

const ask = ({ apiProvision }: TestOrganization, query: string): Promise<GraphqlAnswer> =>
  graphql(gateway.url, query, { provision: apiProvision });
const getFile = ({ apiProvision }: TestOrganization, path: string): Promise<Response> =>
  fetch(gateway.url + path, { headers: { Provision: apiProvision } });
const importInto = (organization: TestOrganization, lines: readonly object[]) =>
  importLines(gateway.services, organization, lines, { acceptsLate: true });
const calendar = (organization: TestOrganization) => ({ id: organization.id, timeZone: 'UTC', fiscalYearStart: 1 });
const close = async (organization: TestOrganization, through: string): Promise<number> =>
  (await gateway.services.periods.close(calendar(organization), through, undefined, { name: 'ada' })).version;
const reopen = (organization: TestOrganization, through: string) =>
  gateway.services.periods.reopen(organization.id, through, 'Corrections', { name: 'ada' });

/** The late lines as every door tells them, which must agree. */
async function readLate(organization: TestOrganization, asOf?: number): Promise<string[]> {
  const state = asOf === undefined ? '' : `, asOf: { version: ${asOf} }`;
  const page = `depositDetailsConnection(${RANGE}, pending: WITH, first: 50`;
  const { body } = await ask(
    organization,
    `{ lines: depositDetails(${RANGE}, includePending: true${state}) { allocationId late }
      page: ${page}${state}) { nodes { allocationId late } }
      byName: ${page}, orderBy: { field: DONOR_NAME }${state}) { nodes { allocationId late } }
      late: ${page}, filter: { late: true }${state}) { totalCount nodes { allocationId late } }
      others: ${page}, filter: { late: false }${state}) { nodes { allocationId late } }
      depositSummary(${RANGE}, pending: WITH, filter: { late: true }${state}) { all { lines } } }`,
  );
  expect(body.errors).toBeUndefined();
  interface Line {
    readonly allocationId: string;
    readonly late: boolean;
  }
  const { lines, page: paged, byName, late, others, depositSummary: summary } = body.data as Record<string, unknown>;
  const lateOf = (list: unknown): string[] => (list as Line[]).flatMap((line) => (line.late ? [line.allocationId] : []));
  const found = lateOf(lines);
  const nodesOf = (list: unknown): Line[] => (list as { nodes: Line[] }).nodes;
  expect([lateOf(nodesOf(paged)), lateOf(nodesOf(byName)).sort()]).toEqual([found, [...found].sort()]);
  expect(late).toEqual({ totalCount: found.length, nodes: found.map((allocationId) => ({ allocationId, late: true })) });
  expect(nodesOf(others)).toEqual((lines as Line[]).filter((line) => !line.late));
  expect(summary).toEqual({ all: { lines: found.length } });
  const inState = asOf === undefined ? '' : `&as_of=${asOf}`;
  const file = async (more: string): Promise<string> =>
    (await getFile(organization, `/export/deposit-details.csv?${ADDRESS}${inState}&columns=allocation_id,late${more}`)).text();
  const toCsv = (list: Line[]): string => list.map((line) => `"${line.allocationId}",${line.late}\r\n`).join('');
  expect(await file('')).toBe(`allocation_id,late\r\n${toCsv(lines as Line[])}`);
  expect(await file('&late=true')).toBe(`allocation_id,late\r\n${toCsv(nodesOf(late))}`);
  return found;
}

const closedThroughOf = async (organization: TestOrganization, path: string): Promise<string | null> => {
  const response = await getFile(organization, path);
  await response.text();
  expect(response.status).toBe(200);
  return response.headers.get('x-closed-through');
};

test('a line is late when its money has changed since the close of its date, in every state by the closes of that state', async () => {
  const organization = await createOrganization(gateway.services);
  await importInto(organization, [gift(1, '08'), gift(2, '09'), gift(3, '10'), gift(4, '11')]);
  const late = new Map<number, string[]>([[1, []]]);
  const next = async (found: string[]): Promise<void> => {
    const [newest] = await gateway.services.books.newestVersions(organization.id, 1);
    expect([newest!.number, await readLate(organization)]).toEqual([late.size + 1, found]);
    late.set(newest!.number, found);
  };
  await close(organization, '2024-09-30');
  await next([]);
  // New names, and money of open dates.
  await importInto(organization, [gift(1, '08', { donor_last_name: 'King' }), gift(3, '10', MORE)]);
  await next([]);
  await importInto(organization, [gift(2, '09', MORE)]);
  await next(['A2']);
  // The name of a late line changes, and it stays late. Another one comes to a closed date.
  await importInto(organization, [gift(2, '09', { ...MORE, designation: 'Hope' }), gift(5, '08', { designation: 'Hope' })]);
  await next(['A5', 'A2']);
  // The second close covers October alone: what was late stays late.
  await close(organization, '2024-10-31');
  await next(['A5', 'A2']);
  await importInto(organization, [gift(3, '10', { designation: 'Hope' }), gift(4, '09', { designation: 'Hope' })]);
  await next(['A5', 'A2', 'A4', 'A3']);
  await reopen(organization, '2024-10-31');
  await next(['A5', 'A2', 'A4']);
  await close(organization, '2024-10-31');
  await next(['A5', 'A2', 'A4']);
  await reopen(organization, '2024-09-30');
  await next([]);
  await close(organization, '2024-11-30');
  await next([]);
  for (const [version, found] of late) expect([version, await readLate(organization, version)]).toEqual([version, found]);
});

test('the report of a closed month stays as it was closed, byte for byte, whatever happens', async () => {
  const [organization, other] = [await createOrganization(gateway.services), await createOrganization(gateway.services)];
  const books = [gift(1, '09'), gift(2, '10'), gift(3, '10', { deposit_status: 'pending' })];
  for (const each of [organization, other]) await importInto(each, books);
  const version = await close(organization, '2024-10-31');
  const files = [
    `/export/deposit-details.ndjson?${ADDRESS}&columns=all`,
    `/export/deposit-details.csv?${ADDRESS}&columns=all,late&totals=headers`,
    `/export/deposit-summary.csv?${ADDRESS}&group_by=MONTH`,
  ].map((path) => `${path}&as_of=${version}`);
  const read = async (): Promise<unknown[]> => {
    const { body } = await ask(
      organization,
      `{ depositDetails(startDate: "2024-10-01", endDate: "2024-10-31", asOf: { version: ${version} }) { allocationId amount donorLastName late }
        depositSummary(startDate: "2024-10-01", endDate: "2024-10-31", asOf: { version: ${version} }) { digest all { lines } } 
        closedThrough(asOf: { version: ${version} })
        periodCloses { nodes { version months { startDate lines transactionAmount digest } } } }`,
    );
    expect(body.errors).toBeUndefined();
    const { periodCloses, ...rest } = body.data as { periodCloses: { nodes: { version: number }[] } };
    const kept: unknown[] = [rest, periodCloses.nodes.filter((each) => each.version === version)];
    for (const path of files) {
      const response = await getFile(organization, path);
      const names = ['etag', 'x-data-version', 'x-closed-through', 'x-export-digest'];
      kept.push([await response.text(), names.map((name) => response.headers.get(name))]);
    }
    return kept;
  };
  const before = await read();
  const [{ depositSummary }, [closed]] = before as [{ depositSummary: { digest: string } }, { months: { digest: string }[] }[]];
  expect(closed!.months.map((month) => month.digest).at(-1)).toBe(depositSummary.digest);
  const steps = [
    () => importInto(other, [gift(2, '10', MORE)]),
    () => importInto(organization, [gift(2, '10', { donor_last_name: 'King' })]),
    () => importInto(organization, [gift(2, '10', MORE), gift(4, '10'), gift(3, '12', { deposit_status: 'posted' })]),
    () => close(organization, '2024-11-30'),
    () => reopen(organization, '2024-10-31'),
    () => importInto(organization, [gift(1, '10', MORE)]),
  ];
  for (const step of steps) {
    await step();
    expect(await read()).toEqual(before);
  }
});

test('a file says through which date the books of its state are closed', async () => {
  const organization = await createOrganization(gateway.services);
  await importInto(organization, [gift(1, '09')]);
  const [lines, summary] = [`/export/deposit-details.ndjson?${ADDRESS}`, `/export/deposit-summary.csv?${ADDRESS}`] as const;
  expect([await closedThroughOf(organization, lines), await closedThroughOf(organization, summary)]).toEqual([null, null]);
  for (const through of ['2024-09-30', '2024-10-31']) await close(organization, through);
  await reopen(organization, '2024-10-31');
  const found: (string | null)[] = [];
  for (const version of [1, 2, 3, 4]) found.push(await closedThroughOf(organization, `${summary}&as_of=${version}`));
  expect(found).toEqual([null, '2024-09-30', '2024-10-31', '2024-09-30']);
  expect([await closedThroughOf(organization, lines), await closedThroughOf(organization, `${lines}&totals=headers`)]).toEqual(
    Array(2).fill('2024-09-30'),
  );
  const trailers = await getFile(organization, lines);
  expect([trailers.headers.get('trailer')?.includes('X-Closed-Through'), await trailers.text()]).toEqual([true, expect.any(String)]);
});

test('v2 and the usual columns have no late lines, changes refuse the filter, and no import takes the column', async () => {
  const organization = await createOrganization(gateway.services);
  await importInto(organization, [gift(1, '09')]);
  const columnsOf = async (columns: string): Promise<string> =>
    (await (await getFile(organization, `/export/deposit-details.csv?${ADDRESS}${columns}`)).text()).split('\r\n')[0]!;
  for (const columns of ['', '&columns=all', '&columns=v2']) expect(await columnsOf(columns)).not.toContain('late');
  const { body } = await ask(organization, `{ depositChanges(from: { version: 1 }, ${RANGE}, filter: { late: true }) { totalCount } }`);
  expect(body.errors![0]!.message).toBe('late: a line is late in one state, and changes have two');
  await importInto(organization, [gift(1, '09', MORE)]);
  const changes = await ask(
    organization,
    `{ depositChanges(from: { version: 1 }, ${RANGE}) { nodes { before { late } after { late } } } }`,
  );
  expect(changes.body).toEqual({ data: { depositChanges: { nodes: [{ before: { late: null }, after: { late: null } }] } } });
  const words = ['import', '-', '--format', 'ndjson', '--organization', organization.name];
  const taken = await runCommand({ DATABASE_URL: gateway.database.url }, words, `${JSON.stringify(gift(1, '09', { late: true }))}\n`);
  expect([taken.status, taken.stderr]).toEqual([1, 'line 1: late is not a field of a deposit line\nNothing was imported: 1 fault\n']);
});
