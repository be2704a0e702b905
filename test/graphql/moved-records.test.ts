import { createOrganization, graphql, importLines, login, PASSWORD, v2Line, withGateway, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();

interface List {
  readonly nodes: readonly Readonly<Record<string, unknown>>[];
  readonly pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
}
type Line = Readonly<Record<string, unknown>>;

/** The lists that are ordered by something that an import can change, each with the value by which its records are told apart. */
const LISTS: Readonly<Record<string, { readonly field: string; readonly id: string; readonly order: string }>> = {
  'donors by name': { field: 'donors', id: 'lastName', order: 'NAME' },
  'designations by name': { field: 'designations', id: 'name', order: 'NAME' },
  'deposits by amount': { field: 'deposits', id: 'depositId', order: 'AMOUNT' },
  'gifts by amount': { field: 'transactions', id: 'transactionId', order: 'AMOUNT' },
  "lines by the donor's name": { field: 'depositDetailsConnection', id: 'donorLastName', order: 'DONOR_NAME' },
  'lines by amount': { field: 'depositDetailsConnection', id: 'allocationId', order: 'AMOUNT' },
  'lines by designation': { field: 'depositDetailsConnection', id: 'designation', order: 'DESIGNATION' },
};

const NAMES = ['Adams', 'Baker', 'Carter', 'Davis', 'Evans', 'Foster', 'Green', 'Hill'];
/** The line of the record that is called `name`, whose values all say where it stands. */
function line(at: number, name = NAMES[at - 1]!, amount = at * 10): Line {
  const money = { amount: `${amount}.00`, fee_amount: '0.00', net_amount: `${amount}.00` };
  const ids = { deposit_id: `D${at}`, transaction_id: `T${at}`, allocation_id: `A${at}` };
  return v2Line({ ...ids, ...money, donor_id: at, donor_first_name: '', donor_last_name: name, designation_id: at, designation: name });
}
const BOOK = NAMES.map((_name, index) => line(index + 1));

async function openBook(lines: readonly Line[] = BOOK): Promise<TestOrganization> {
  const organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, lines);
  return organization;
}
const write = (organization: TestOrganization, ...lines: readonly Line[]) => importLines(gateway.services, organization, lines);

const send = ({ apiProvision: provision }: TestOrganization, query: string) => graphql(gateway.url, query, { provision });
const toQuery = (name: string, page: string, direction = 'ASC'): string => {
  const { field, id, order } = LISTS[name]!;
  return `{ list: ${field}(${page}, orderBy: { field: ${order}, direction: ${direction} }) { nodes { ${id} }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
};
async function read(organization: TestOrganization, query: string): Promise<List> {
  const { body } = await send(organization, query);
  expect(body.errors).toBeUndefined();
  return body.data!.list as List;
}
const valuesOf = (name: string, { nodes }: List) => nodes.map((node) => node[LISTS[name]!.id]);
/** The values of the records at these places in a list. */
const valuesAt = (name: string, ...places: readonly number[]) =>
  places.map((at) => {
    const { id } = LISTS[name]!;
    return /Name|name|designation/.test(id) ? NAMES[at - 1] : `${id[0]!.toUpperCase()}${at}`;
  });

describe.each(Object.keys(LISTS))('a list of %s', (name) => {
  const page = (organization: TestOrganization, bounds: string, direction?: string) => read(organization, toQuery(name, bounds, direction));

  test('goes on where the last page ended when its last record moves to the end', async () => {
    const organization = await openBook();
    const first = await page(organization, 'first: 3');
    expect(valuesOf(name, first)).toEqual(valuesAt(name, 1, 2, 3));
    await write(organization, line(3, 'Zimmer', 900));
    const next = await page(organization, `first: 3, after: "${first.pageInfo.endCursor}"`);
    expect([valuesOf(name, next), next.pageInfo.hasNextPage]).toEqual([valuesAt(name, 4, 5, 6), true]);
  });

  test('gives nothing twice when the last record of a page moves to the beginning', async () => {
    const organization = await openBook();
    const first = await page(organization, 'first: 6');
    await write(organization, line(6, 'Aaron', 1));
    const next = await page(organization, `first: 6, after: "${first.pageInfo.endCursor}"`);
    expect([valuesOf(name, next), next.pageInfo.hasNextPage]).toEqual([valuesAt(name, 7, 8), false]);
  });

  test('goes on in the other directions and by other bounds too', async () => {
    const organization = await openBook();
    const [backwards, down, downwards] = [
      await page(organization, 'last: 3'),
      await page(organization, 'first: 3', 'DESC'),
      await page(organization, 'last: 3', 'DESC'),
    ];
    const from = await page(organization, 'first: 2');
    // All three places are those of records that move, and the fourth stays.
    await write(organization, line(6, 'Aaron', 1), line(3, 'Zimmer', 900));
    expect(valuesOf(name, await page(organization, `last: 2, before: "${backwards.pageInfo.startCursor}"`))).toEqual(valuesAt(name, 4, 5));
    expect(valuesOf(name, await page(organization, `first: 2, after: "${down.pageInfo.endCursor}"`, 'DESC'))).toEqual(valuesAt(name, 5, 4));
    expect(valuesOf(name, await page(organization, `last: 2, before: "${downwards.pageInfo.startCursor}"`, 'DESC'))).toEqual(
      valuesAt(name, 5, 4),
    );
    const between = `after: "${from.pageInfo.endCursor}", before: "${backwards.pageInfo.startCursor}"`;
    expect(valuesOf(name, await page(organization, `first: 9, ${between}`))).toEqual(valuesAt(name, 4, 5));
  });

  test('goes on when the record is gone', async () => {
    const organization = await openBook();
    const first = await page(organization, 'first: 3');
    const { client } = gateway.database;
    for (const [table, id] of [
      ['allocation', 'A3'],
      ['transaction', 'T3'],
      ['deposit', 'D3'],
      ['donor', 3],
      ['designation', 3],
    ]) {
      await client.query(`DELETE FROM "${table}" WHERE organization_id = $1 AND id = $2`, [organization.id, id]);
    }
    await gateway.services.books.repair(organization.id);
    const next = await page(organization, `first: 2, after: "${first.pageInfo.endCursor}"`);
    expect([valuesOf(name, next), next.pageInfo.hasNextPage]).toEqual([valuesAt(name, 4, 5), true]);
    const last = await page(organization, `last: 2, before: "${first.pageInfo.endCursor}"`);
    expect(valuesOf(name, last)).toEqual(valuesAt(name, 1, 2));
  });
});

test('a list goes on when import --replace removes the lines of its place, and when their ids change', async () => {
  const organization = await openBook();
  const name = "lines by the donor's name";
  const first = await read(organization, toQuery(name, 'first: 3'));
  const others = BOOK.filter((_line, index) => index !== 2);
  await importLines(gateway.services, organization, others, {
    complete: { periods: [{ startDate: '2024-01-02', endDate: '2024-01-02' }], pending: 'WITH' },
  });
  const after = `first: 3, after: "${first.pageInfo.endCursor}"`;
  expect(valuesOf(name, await read(organization, toQuery(name, after)))).toEqual(['Davis', 'Evans', 'Foster']);
  await write(organization, { ...line(3), deposit_id: 'N3', transaction_id: 'N3', allocation_id: 'N3' });
  // A line of the same name with a greater id follows the place.
  expect(valuesOf(name, await read(organization, toQuery(name, after)))).toEqual(['Carter', 'Davis', 'Evans']);
});

test('a list goes on within records of one name, and past a name that was only written anew', async () => {
  const names = ['Muller', 'Müller', 'MULLER', 'muller', 'Mueller'];
  const organization = await openBook(names.map((name, index) => line(index + 1, name)));
  const list = (page: string) => read(organization, `{ list: donors(${page}) { nodes { donorId } pageInfo { endCursor hasNextPage } } }`);
  const first = await list('first: 3');
  expect(first.nodes.map(({ donorId }) => donorId)).toEqual([5, 1, 2]);
  await write(organization, line(2, 'MÜLLER'));
  const next = await list(`first: 3, after: "${first.pageInfo.endCursor}"`);
  expect(next.nodes.map(({ donorId }) => donorId)).toEqual([3, 4]);
});

test('a list goes on at names that are long, empty or of any characters', async () => {
  const names = ['', '\u0001\t"\\', '\u{1F600} Ünïcode', 'ß'.repeat(240), '終'.repeat(160), 'x'.repeat(500), `${'x'.repeat(120)} y`, ';--'];
  const organization = await openBook(names.map((name, index) => line(index + 1, name)));
  for (const name of ['donors by name', 'designations by name', "lines by the donor's name", 'lines by designation']) {
    for (const direction of ['ASC', 'DESC']) {
      const whole = valuesOf(name, await read(organization, toQuery(name, 'first: 20', direction)));
      const found: unknown[] = [];
      for (let after = '', hasNext = true; hasNext;) {
        const page = await read(organization, toQuery(name, `first: 1${after}`, direction));
        found.push(...valuesOf(name, page));
        [after, hasNext] = [`, after: "${page.pageInfo.endCursor}"`, page.pageInfo.hasNextPage];
      }
      expect({ name, direction, found }).toEqual({ name, direction, found: whole });
      expect(new Set(whole)).toEqual(new Set(names));
    }
  }
});

describe('the groups of a summary', () => {
  const ask = async (organization: TestOrganization, by: string, page: string): Promise<List> => {
    const { body } = await send(
      organization,
      `{ depositSummary(groupBy: [${by}]) { groups(${page}) { nodes { key { designationId donorId city } } totalCount
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`,
    );
    expect(body.errors).toBeUndefined();
    return (body.data!.depositSummary as { groups: List }).groups;
  };
  const keysOf = ({ nodes }: List, field: string) => nodes.map(({ key }) => (key as Line)[field]);

  test.each([
    ['DESIGNATION', 'designationId'],
    ['DONOR', 'donorId'],
  ])('by %s go on at their figure when the books change', async (by, field) => {
    for (const [direction, first, next, back] of [
      ['ASC', [1, 2, 3], [4, 5, 6], [1, 2]],
      ['DESC', [8, 7, 6], [5, 4, 3], [8, 7]],
    ] as const) {
      const organization = await openBook();
      const order = `orderBy: { field: TRANSACTION_AMOUNT, direction: ${direction} }`;
      const page = await ask(organization, by, `first: 3, ${order}`);
      expect(keysOf(page, field)).toEqual(first);
      // The last group of the page gets another figure, and another group comes.
      await write(organization, line(first[2], undefined, direction === 'ASC' ? 900 : 1), line(99, 'New', 5));
      const after = await ask(organization, by, `first: 3, ${order}, after: "${page.pageInfo.endCursor}"`);
      expect(keysOf(after, field)).toEqual(next);
      const before = await ask(organization, by, `last: 2, ${order}, before: "${page.pageInfo.endCursor}"`);
      expect(keysOf(before, field)).toEqual(back);
    }
  });

  test('go on by their values when groups before them come and go', async () => {
    const organization = await openBook(NAMES.map((city, index) => ({ ...line(index + 1), city })));
    const first = await ask(organization, 'CITY', 'first: 3');
    expect(keysOf(first, 'city')).toEqual(['Adams', 'Baker', 'Carter']);
    const move = (at: number, city: string) => ({ ...line(at), city });
    await write(organization, move(1, 'Zimmer'), move(2, 'Zimmer'));
    expect(keysOf(await ask(organization, 'CITY', `first: 2, after: "${first.pageInfo.endCursor}"`), 'city')).toEqual(['Davis', 'Evans']);
    expect(keysOf(await ask(organization, 'CITY', `last: 2, before: "${first.pageInfo.endCursor}"`), 'city')).toEqual([]);
  });
});

describe('a cursor of a list by names', () => {
  const textsOf = (cursor: string): string =>
    [cursor, cursor.slice(16), ...cursor.slice(16).split('.')].map((text) => Buffer.from(text, 'base64url').toString('latin1')).join(' ');
  const LIST = 'donors by name';
  const endOf = async (organization: TestOrganization, query: string) => (await read(organization, query)).pageInfo.endCursor!;
  const faultsOf = async (organization: TestOrganization, query: string) =>
    (await send(organization, query)).body.errors?.map(({ message, extensions }) => [message, extensions.code]);
  const NOT_OURS = [['after is not a cursor of this query', 'BAD_USER_INPUT']];
  const EXPIRED = [['after is a cursor that has expired; begin again', 'BAD_USER_INPUT']];

  test('tells nothing of donors, and is the same for the same question', async () => {
    const organization = await openBook();
    const queries = [
      toQuery(LIST, 'first: 3'),
      toQuery("lines by the donor's name", 'first: 3'),
      ...['DONOR', 'CITY', 'STATE'].map(
        (by) => `{ summary: depositSummary(groupBy: [${by}]) { list: groups(first: 1) { pageInfo { endCursor } } } }`,
      ),
    ];
    for (const query of queries) {
      const { body } = await send(organization, query);
      const again = await send(organization, query);
      expect(again.body).toEqual(body);
      const data = (body.data!.summary ?? body.data) as { list: List };
      expect(textsOf(data.list.pageInfo.endCursor!)).not.toMatch(/carter|london|adams|"3"/i);
    }
    const short = await endOf(organization, toQuery(LIST, 'first: 1'));
    expect((await endOf(organization, toQuery(LIST, 'first: 8'))).length).toBe(short.length);
  });

  test('is good for its own list alone, and no other is taken', async () => {
    const [organization, other] = [await openBook(), await openBook()];
    const cursor = await endOf(organization, toQuery(LIST, 'first: 3'));
    const search = `{ list: donors(first: 3, search: "a") { pageInfo { endCursor } nodes { donorId } } }`;
    const after = (query: string, text: string) => query.replace(/first: \d/, `first: 3, after: "${text}"`);
    expect(await faultsOf(organization, after(toQuery(LIST, 'first: 3'), cursor))).toBeUndefined();
    for (const query of [
      toQuery(LIST, 'first: 3', 'DESC'),
      search,
      toQuery("lines by the donor's name", 'first: 3'),
      toQuery('designations by name', 'first: 3'),
      '{ list: donors(first: 3, orderBy: { field: ID }) { nodes { donorId } } }',
    ]) {
      expect({ query, faults: await faultsOf(organization, after(query, cursor)) }).toEqual({ query, faults: NOT_OURS });
    }
    expect(await faultsOf(other, after(toQuery(LIST, 'first: 3'), cursor))).toEqual(NOT_OURS);
    const changed = ['', 'x', cursor.slice(0, -1), cursor.slice(1), `${cursor}A`, `${cursor}=`, cursor.slice(0, 16), '0'.repeat(60_000)];
    for (let at = 0; at < cursor.length; at += 7)
      changed.push(cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1));
    for (const text of changed) {
      expect({ text, faults: await faultsOf(organization, after(toQuery(LIST, 'first: 3'), text)) }).toEqual({ text, faults: NOT_OURS });
    }
  });

  test('is good at every gateway of the database, for a week and more, and then says that it has expired', async () => {
    const organization = await openBook();
    const { client } = gateway.database;
    const first = toQuery(LIST, 'first: 3');
    // The answer is kept from the second time on.
    const [cursor] = [await endOf(organization, first), await endOf(organization, first), await endOf(organization, first)];
    const next = first.replace('first: 3', `first: 3, after: "${cursor}"`);
    const page = await read(organization, next);
    const clock = performance.now();
    const later = jest.spyOn(performance, 'now');
    try {
      await withGateway({ DATABASE_URL: gateway.database.url }, async ({ url }) => {
        for (const query of [first, next]) {
          const { body: there } = await graphql(url, query, { provision: organization.apiProvision });
          expect(there).toEqual((await send(organization, query)).body);
        }
      });
      await client.query(`UPDATE link_key SET created_at = now() - interval '7 days 23 hours'`);
      later.mockImplementation(() => clock + 61_000);
      expect((await read(organization, next)).nodes).toEqual(page.nodes);
      const renewed = await endOf(organization, first);
      expect(renewed).not.toBe(cursor);
      await client.query(`UPDATE link_key SET created_at = created_at - interval '1 hour'`);
      later.mockImplementation(() => clock + 122_000);
      // A question that was answered before is still answered.
      expect(await faultsOf(organization, next.replace('first: 3', 'first: 2'))).toEqual(EXPIRED);
      expect(await endOf(organization, first)).toBe(renewed);
      // An operator's deletion ends all of them, and no kept answer brings them back.
      await client.query('DELETE FROM link_key');
      later.mockImplementation(() => clock + 183_000);
      const again = await endOf(organization, first);
      expect(await faultsOf(organization, next.replace(cursor, renewed))).toEqual(EXPIRED);
      expect((await read(organization, next.replace(cursor, again))).nodes).toEqual(page.nodes);
    } finally {
      jest.restoreAllMocks();
    }
  });

  test('is refused to users who may not read donors, as every other', async () => {
    const organization = await openBook();
    const cursor = await endOf(organization, toQuery(LIST, 'first: 3'));
    await gateway.services.users.create({ organization: organization.name, username: 'clerk', password: PASSWORD, grants: [] });
    const cookie = await login(gateway.url, organization.webProvision, 'clerk');
    const { body } = await graphql(gateway.url, toQuery(LIST, `first: 3, after: "${cursor}"`), {
      provision: organization.webProvision,
      cookie,
    });
    expect(body.errors).toMatchObject([{ extensions: { code: 'PRIVILEGE_NOT_FOUND' } }]);
  });
});
