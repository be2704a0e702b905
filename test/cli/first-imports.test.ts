import { randomUUID } from 'node:crypto';
import { readConfig } from '../../src/config';
import { OperatorError } from '../../src/errors';
import type { RawLine } from '../../src/formats/import-line';
import { createServices } from '../../src/services';
import { databaseSettings } from '../support/database';
import { createOrganization, importLines, v2Line, type TestOrganization } from '../support/gateway';
import { testOnOneNode } from '../support/limited-tests';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();
const PASSWORD = 'plain';
const NO_DONOR = {
  ...{ donor_id: 0, donor_first_name: '', donor_last_name: '', address1: '', city: '', state: '', zip: '', phone: '' },
  email_address: '',
};
/** Gifts of shared deposits, donors and funds, in two and four shares; one has no donor. */
const LINES = Array.from({ length: 60 }, (_, index) => {
  const gift = index >> 1;
  return v2Line({
    ...{ deposit_id: `D${gift % 7}`, transaction_id: `T${gift % 25}`, allocation_id: `A${index}`, designation_id: index % 5 },
    ...{ designation: `Fund ${index % 5}`, deposit_date: `2024-01-0${1 + (gift % 7)}`, donor_id: 1 + ((gift % 25) % 6) },
    ...(gift % 25 === 24 ? NO_DONOR : {}),
  });
}).map((line, _, lines) => ({ ...lines.find((other) => other.transaction_id === line.transaction_id)!, ...pickShare(line) }));

function pickShare({ allocation_id, designation_id, designation }: ReturnType<typeof v2Line>): object {
  return { allocation_id, designation_id, designation };
}

/** Imports the lines as a role, into an organization of its own unless one is given, and returns the organization. */
async function importAs(username: string | undefined, lines: readonly object[], into?: TestOrganization): Promise<TestOrganization> {
  const { pathname } = new URL(gateway.database.url);
  // A pooler does not know the other role.
  const url = new URL(username === undefined ? gateway.database.url : process.env.TEST_SERVER_URL!);
  if (username !== undefined) Object.assign(url, { pathname, username, password: PASSWORD });
  const organization = into ?? (await createOrganization(gateway.services));
  const services = createServices(readConfig({ ...databaseSettings() }), { connectionString: url.href });
  try {
    await importLines(services, organization, lines);
    return organization;
  } finally {
    await services.close();
  }
}

/** Imports the lines as a role that may write the books and is no superuser, like the owner of a database of one's own. */
async function importAsOther(
  lines: readonly object[],
  { maySkipTriggers = false, into }: { maySkipTriggers?: boolean; into?: TestOrganization } = {},
): Promise<TestOrganization> {
  const { client } = gateway.database;
  const role = `other_${randomUUID().slice(0, 8)}`;
  await client.query(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'; GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
  if (maySkipTriggers) await client.query(`GRANT SET ON PARAMETER session_replication_role TO ${role}`);
  try {
    return await importAs(role, lines, into);
  } finally {
    await client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
}

const ROWS = (organizationId: number): string => `
  SELECT kind, rows FROM (
    SELECT 'line' AS kind, COALESCE(jsonb_agg(to_jsonb(l) - 'organization_id' - 'since' - 'money_since' - 'erased_version' ORDER BY allocation_id), '[]') AS rows
      FROM deposit_line l WHERE organization_id = ${organizationId} AND until = ${Number.MAX_SAFE_INTEGER}
    UNION ALL SELECT 'deposit', jsonb_agg(to_jsonb(x) - 'organization_id' ORDER BY id) FROM deposit x WHERE organization_id = ${organizationId}
    UNION ALL SELECT 'donor', jsonb_agg(to_jsonb(x) - 'organization_id' ORDER BY id) FROM donor x WHERE organization_id = ${organizationId}
    UNION ALL SELECT 'gift', jsonb_agg(to_jsonb(x) - 'organization_id' ORDER BY id) FROM transaction x WHERE organization_id = ${organizationId}
    UNION ALL SELECT 'share', jsonb_agg(to_jsonb(x) - 'organization_id' ORDER BY id) FROM allocation x WHERE organization_id = ${organizationId}
    UNION ALL SELECT 'fund', jsonb_agg(to_jsonb(x) - 'organization_id' ORDER BY id) FROM designation x WHERE organization_id = ${organizationId}
  ) AS books ORDER BY kind`;

/** The foreign keys of an organization that lead nowhere, as a constraint that is made anew would find them. */
const ORPHANS = (organizationId: number): string => `
  SELECT (SELECT count(*)::int FROM transaction t LEFT JOIN deposit d ON d.organization_id = t.organization_id AND d.id = t.deposit_id
      WHERE t.organization_id = ${organizationId} AND d.id IS NULL) AS deposits,
    (SELECT count(*)::int FROM transaction t LEFT JOIN donor d ON d.organization_id = t.organization_id AND d.id = t.donor_id
      WHERE t.organization_id = ${organizationId} AND t.donor_id IS NOT NULL AND d.id IS NULL) AS donors,
    (SELECT count(*)::int FROM allocation a LEFT JOIN transaction t ON t.organization_id = a.organization_id AND t.id = a.transaction_id
      WHERE a.organization_id = ${organizationId} AND t.id IS NULL) AS gifts,
    (SELECT count(*)::int FROM allocation a LEFT JOIN designation d ON d.organization_id = a.organization_id AND d.id = a.designation_id
      WHERE a.organization_id = ${organizationId} AND d.id IS NULL) AS funds`;

test('an operator gets the same books from a first file as a superuser, as another role with its right or without, and line by line', async () => {
  const { client } = gateway.database;
  const first = await importAs(undefined, LINES);
  const plain = await importAsOther(LINES);
  const granted = await importAsOther(LINES, { maySkipTriggers: true });
  // Each line after the first is merged into books that are there.
  const merged = await importAs(undefined, LINES.slice(0, 1));
  for (const line of LINES.slice(1)) await importAs(undefined, [line], merged);
  const { rows: expected } = await client.query<{ rows: object[] }>(ROWS(merged.id));
  expect(expected.map(({ rows }) => rows.length)).toEqual([7, 6, 5, 25, 60, 60]);
  for (const { id } of [first, plain, granted]) {
    expect((await client.query(ROWS(id))).rows).toEqual(expected);
    expect((await client.query(ORPHANS(id))).rows).toEqual([{ deposits: 0, donors: 0, gifts: 0, funds: 0 }]);
    expect(await gateway.services.books.check(id)).toMatchObject({ differences: 0, totalsAgree: true, versionsAreWhole: true });
  }
});

test('an operator whose SQL breaks a foreign key after a first import is refused', async () => {
  const { client } = gateway.database;
  const { id } = await importAs(undefined, LINES);
  await expect(client.query(`UPDATE allocation SET designation_id = 99 WHERE organization_id = ${id}`)).rejects.toThrow('foreign key');
  await expect(client.query(`DELETE FROM designation WHERE organization_id = ${id}`)).rejects.toThrow('foreign key');
});

testOnOneNode('an operator whose first file is not written whole is refused by its foreign keys, and nothing is imported', async () => {
  const { client } = gateway.database;
  const organization = await createOrganization(gateway.services);
  for (const { table, name, orphans } of [
    { table: 'donor', name: 'transaction_organization_id_donor_id_fkey', orphans: 24 },
    { table: 'deposit', name: 'transaction_organization_id_deposit_id_fkey', orphans: 25 },
    { table: 'transaction', name: 'allocation_organization_id_transaction_id_fkey', orphans: 60 },
  ]) {
    await client.query(`CREATE RULE loss AS ON INSERT TO ${table} DO INSTEAD NOTHING; ALTER TABLE ${table} ENABLE ALWAYS RULE loss`);
    try {
      const refusal = `Rows that lead nowhere by the foreign key ${name}: ${orphans}`;
      await expect(importAs(undefined, LINES, organization)).rejects.toThrow(refusal);
    } finally {
      await client.query(`DROP RULE loss ON ${table}`);
    }
    expect((await client.query<{ rows: object[] | null }>(ROWS(organization.id))).rows.flatMap(({ rows }) => rows ?? [])).toEqual([]);
  }
});

testOnOneNode(
  'an operator has foreign keys checked at once with the right to skip triggers, and looked up one by one without it',
  async () => {
    const { client } = gateway.database;
    const into = await createOrganization(gateway.services);
    await client.query('CREATE RULE loss AS ON INSERT TO donor DO INSTEAD NOTHING; ALTER TABLE donor ENABLE ALWAYS RULE loss');
    try {
      await expect(importAsOther(LINES, { into, maySkipTriggers: true })).rejects.toThrow('Rows that lead nowhere by the foreign key');
      await expect(importAsOther(LINES, { into })).rejects.toMatchObject({
        cause: { message: expect.stringMatching('violates foreign key') as string },
      });
    } finally {
      await client.query('DROP RULE loss ON donor');
    }
    expect((await client.query<{ rows: object[] | null }>(ROWS(into.id))).rows.flatMap(({ rows }) => rows ?? [])).toEqual([]);
  },
);

test('an operator whose SQL has emptied the books gets the totals of the next file alone', async () => {
  const { client } = gateway.database;
  const organization = await importAs(undefined, LINES);
  const { id } = organization;
  for (const table of ['allocation', 'transaction', 'deposit', 'donor', 'designation', 'deposit_line']) {
    await client.query(`DELETE FROM ${table} WHERE organization_id = ${id}`);
  }
  await importAs(undefined, LINES.slice(0, 4), organization);
  expect(await gateway.services.books.check(id)).toMatchObject({ lines: 4, differences: 0, totalsAgree: true, versionsAreWhole: true });
});

testOnOneNode('an operator has the triggers of all tables again as soon as a first file has filled the books', async () => {
  const { client } = gateway.database;
  await client.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'triggers run'; END $$;
    CREATE TRIGGER refusal BEFORE INSERT ON data_version FOR EACH ROW EXECUTE FUNCTION refuse()`);
  try {
    await expect(importAs(undefined, LINES)).rejects.toMatchObject({ cause: { message: 'triggers run' } });
  } finally {
    await client.query('DROP TRIGGER refusal ON data_version; DROP FUNCTION refuse');
  }
});

test('an operator whose organization is deleted while a file is read is told so, and nothing is left of it', async () => {
  const { client } = gateway.database;
  const { organizations, imports } = gateway.services;
  const { id, name } = await createOrganization(gateway.services);
  async function* lines(): AsyncGenerator<readonly RawLine[]> {
    yield LINES.map((values, index) => ({ line: index + 1, values }));
    await organizations.delete(name, name);
  }
  await expect(imports.importLines(id, lines(), { source: () => ({ cause: 'import' }) })).rejects.toThrow(
    new OperatorError('The organization was deleted meanwhile: nothing was changed'),
  );
  const { rows } = await client.query(
    `SELECT FROM donor WHERE organization_id = $1 UNION ALL SELECT FROM data_version WHERE organization_id = $1`,
    [id],
  );
  expect(rows).toEqual([]);
});
