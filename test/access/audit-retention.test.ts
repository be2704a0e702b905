import { readAudit } from '../support/audit-reader';
import { runCommand, startServe } from '../support/command';
import { createOrganization, importLines, v2Line, withGateway, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const gateway = openGateway();
const V2 = '/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2024-01-01&end_date=2024-01-31';
const RETENTION = { AUDIT_RETENTION_DAYS: '30' };

async function createRead(): Promise<TestOrganization> {
  const organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, [v2Line()]);
  await gateway.services.provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
  return organization;
}

const get = (url: string, { apiProvision }: TestOrganization, path = V2) => fetch(url + path, { headers: { Provision: apiProvision } });
const verify = async ({ name }: TestOrganization) =>
  (await runCommand({ DATABASE_URL: gateway.database.url }, ['audit', 'verify', '--organization', name])).status;
const age = ({ id }: TestOrganization, first: number, last: number) =>
  gateway.database.client.query(
    `UPDATE audit_record SET at = now() - interval '31 days' WHERE organization_id = $1 AND number BETWEEN $2 AND $3`,
    [id, first, last],
  );
const numbers = async (organization: TestOrganization) => (await readAudit(gateway, organization)).map(({ number }) => number);

/** The lines of a gateway's log about rows that were not deleted. */
const failures = (lines: readonly string[]) =>
  lines.map((line) => JSON.parse(line) as { msg: string }).filter(({ msg }) => msg === 'old audit rows were not deleted');

test('an operator keeps rows for some days, and the chain goes on from the last one that was deleted', async () => {
  const organization = await createRead();
  for (const day of [1, 2]) await (await get(gateway.url, organization, V2.replace('-31', `-0${day}`))).text();
  const { client } = gateway.database;
  const { rows } = await client.query<{ hash: string }>('SELECT hash FROM audit_record WHERE organization_id = $1 AND number = 5', [
    organization.id,
  ]);
  await age(organization, 1, 5);
  await withGateway({ ...RETENTION, DATABASE_URL: gateway.database.url }, async () => {
    await until(async () => (await readAudit(gateway, organization)).every(({ number }) => number > 5));
  });
  const entries = await readAudit(gateway, organization);
  expect(entries.at(-1)).toMatchObject({ kind: 'ANCHOR', door: 'GATEWAY', detail: `5:${rows[0]!.hash}` });
  expect(await verify(organization)).toBe(0);
  const noted = await runCommand({ DATABASE_URL: gateway.database.url }, [
    ...['audit', 'verify', '--organization', organization.name, '--anchor', `3:${'a'.repeat(64)}`],
  ]);
  expect([noted.status, noted.stderr]).toEqual([1, 'Row 3 was deleted by age: the rows up to 5 are no more. Note a newer anchor\n']);
  // An old anchor hides no change of the rows that are left.
  await client.query(`UPDATE audit_record SET username = 'eve' WHERE organization_id = $1 AND number = 7`, [organization.id]);
  const changed = await runCommand({ DATABASE_URL: gateway.database.url }, [
    ...['audit', 'verify', '--organization', organization.name, '--anchor', `3:${'a'.repeat(64)}`],
  ]);
  expect([changed.status, changed.stderr]).toEqual([1, expect.stringContaining('row 7 was changed')]);
});

test('an operator is told of an organization whose old rows cannot be deleted, and those of the others are', async () => {
  const [failing, other] = [await createRead(), await createRead()];
  const { client } = gateway.database;
  // The organizations come by name.
  await gateway.services.organizations.rename(failing.name, 'A first one');
  await client.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
    CREATE TRIGGER refuse BEFORE DELETE ON audit_record FOR EACH ROW WHEN (OLD.organization_id = ${failing.id}) EXECUTE FUNCTION refuse()`,
  );
  try {
    await client.query(`UPDATE audit_record SET at = now() - interval '31 days' WHERE number = 1`);
    await withGateway({ ...RETENTION, DATABASE_URL: gateway.database.url }, async ({ logLines }) => {
      await until(async () => (await readAudit(gateway, other)).every(({ number }) => number > 1));
      expect(failures(logLines)).toMatchObject([{ organization: failing.id, code: 'DATA_SOURCE_QUERY_FAILED' }]);
    });
    expect((await readAudit(gateway, failing))[0]).toMatchObject({ number: 1 });
  } finally {
    await client.query('DROP FUNCTION refuse CASCADE');
  }
});

/** Deletions of rows that wait while a test uses them. */
interface HeldDeletions {
  count(): Promise<number>;
  release(): Promise<unknown>;
}

async function holdingDeletions({ id }: TestOrganization, use: (held: HeldDeletions) => Promise<void>): Promise<void> {
  const { client } = gateway.database;
  await client.query(
    `SELECT pg_advisory_lock(${id});
    CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${id}); RETURN OLD; END $$;
    CREATE TRIGGER hold BEFORE DELETE ON audit_record FOR EACH ROW WHEN (OLD.organization_id = ${id}) EXECUTE FUNCTION hold()`,
  );
  const waiting = `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  const release = () => client.query('SELECT pg_advisory_unlock_all()');
  try {
    await use({ count: async () => (await client.query<{ count: number }>(waiting)).rows[0]!.count, release });
  } finally {
    await release();
    await client.query('DROP FUNCTION hold CASCADE');
  }
}

test('an operator has old rows deleted however long that takes, and callers are answered meanwhile', async () => {
  const organization = await createRead();
  await age(organization, 1, 3);
  const settings = { ...RETENTION, DATABASE_URL: gateway.database.url, DATABASE_ANSWER_MILLISECONDS: '2000' };
  await holdingDeletions(organization, async (held) => {
    await withGateway(settings, async ({ logLines }) => {
      await until(async () => (await held.count()) === 1);
      const begun = Date.now();
      expect((await get(gateway.url, organization)).status).toBe(200);
      expect(await held.count()).toBe(1);
      await until(() => Date.now() - begun > 2000);
      await held.release();
      await until(async () => failures(logLines).length > 0 || Math.min(...(await numbers(organization))) > 3);
      expect(failures(logLines)).toEqual([]);
    });
  });
  expect(await verify(organization)).toBe(0);
});

test('an operator who has two gateways delete at once finds the chain whole', async () => {
  const organization = await createRead();
  await age(organization, 1, 2);
  const settings = { ...RETENTION, DATABASE_URL: gateway.database.url };
  await holdingDeletions(organization, async (held) => {
    await withGateway(settings, async (first) => {
      await until(async () => (await held.count()) === 1);
      await age(organization, 3, 4);
      await withGateway(settings, async (second) => {
        await until(async () => (await held.count()) === 2);
        await held.release();
        await until(async () => Math.min(...(await numbers(organization))) > 4);
        expect([...failures(first.logLines), ...failures(second.logLines)]).toEqual([]);
      });
    });
  });
  expect(await verify(organization)).toBe(0);
});

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'an operator who ends a gateway by %s while it deletes loses no row before the next start',
  async (signal) => {
    const organization = await createRead();
    await age(organization, 1, 3);
    const all = await numbers(organization);
    await holdingDeletions(organization, async (held) => {
      const serve = await startServe({ ...RETENTION, DATABASE_URL: gateway.database.url });
      await until(async () => (await held.count()) === 1);
      await serve.end(signal);
      await held.release();
      await until(async () => (await held.count()) === 0);
      expect(await numbers(organization)).toEqual(expect.arrayContaining(all));
    });
    await withGateway({ ...RETENTION, DATABASE_URL: gateway.database.url }, async () => {
      await until(async () => Math.min(...(await numbers(organization))) > 3);
    });
    expect(await verify(organization)).toBe(0);
  },
);
