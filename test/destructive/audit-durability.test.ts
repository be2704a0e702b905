import fc from 'fast-check';
import { Client } from 'pg';
import { readAudit, whileAuditIsHeld } from '../support/audit-reader';
import { runCommand, startServe } from '../support/command';
import { startDatabaseProxy } from '../support/database-proxy';
import { createOrganization, graphql, importLines, startGateway, v2Line, withGateway, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const gateway = openGateway();
const V2 = '/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2024-01-01&end_date=2024-01-31';
const DONORS = '{ donors(first: 1) { nodes { lastName } } }';

async function createRead(lines: readonly object[] = [v2Line()]): Promise<TestOrganization> {
  const organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, lines);
  await gateway.services.provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
  return organization;
}

const get = (url: string, { apiProvision }: TestOrganization, path = V2) => fetch(url + path, { headers: { Provision: apiProvision } });
const verify = async ({ name }: TestOrganization) =>
  (await runCommand({ DATABASE_URL: gateway.database.url }, ['audit', 'verify', '--organization', name])).status;

test('a caller who was answered by a gateway that is killed at once has a row', async () => {
  for (let round = 0; round < 3; round++) {
    const organization = await createRead();
    const serve = await startServe({ DATABASE_URL: gateway.database.url, LOG_LEVEL: 'info' });
    expect(await (await get(serve.url, organization)).text()).toContain('Lovelace');
    const { body } = await graphql(serve.url, DONORS, { provision: organization.apiProvision });
    await serve.end('SIGKILL');
    expect(body.data).toEqual({ donors: { nodes: [{ lastName: 'Lovelace' }] } });
    const entries = await readAudit(gateway, organization, '{ kinds: [READ] }');
    expect(entries).toMatchObject([
      { door: 'V2', outcome: null, reads: null },
      { door: 'GRAPHQL', outcome: null, reads: null },
    ]);
    expect(await verify(organization)).toBe(0);
  }
});

/** The lines of a gateway's log with a message, without their time and process. */
const logged = (lines: readonly string[], message: string) =>
  lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === message)
    .map(({ organization, rows, code, sqlState }) => ({ organization, rows, code, sqlState }));

const FILE = '/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-01-31';

/**
 * Has the database refuse rows of an organization with a state, while a test runs. A sequence counts the tries, as it is not rolled back.
 * `condition` tells which rows.
 */
async function refusing(
  { id }: TestOrganization,
  {
    state,
    condition,
    times,
    seconds,
  }: { readonly state: string; readonly condition: string; readonly times?: number; readonly seconds?: number },
  use: (countTries: () => Promise<number>) => Promise<void>,
): Promise<void> {
  const { client } = gateway.database;
  await client.query(
    `CREATE SEQUENCE tries MINVALUE 0 START 0;
    SELECT nextval('tries');
    CREATE FUNCTION refuse_rows() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      IF nextval('public.tries') <= ${times ?? 'pow(2, 31)'} THEN
        PERFORM pg_sleep(${seconds ?? 0}); RAISE EXCEPTION 'no' USING ERRCODE = '${state}'; END IF;
      RETURN NEW; END $$;
    CREATE TRIGGER refuse_rows BEFORE INSERT ON audit_record FOR EACH ROW
      WHEN (NEW.organization_id = ${id} AND ${condition}) EXECUTE FUNCTION refuse_rows()`,
  );
  try {
    await use(async () => Number((await client.query<{ last: string }>('SELECT last_value AS last FROM tries')).rows[0]!.last));
  } finally {
    await client.query('DROP FUNCTION refuse_rows CASCADE; DROP SEQUENCE tries');
  }
}

test('a caller is answered while the database refuses a row that nobody waits for, and an operator is told when that row is lost', async () => {
  const organization = await createRead();
  const refused = { organization: organization.id, rows: 1, code: 'DATA_SOURCE_QUERY_FAILED', sqlState: 'P0001' };
  await refusing(organization, { state: 'P0001', condition: `NEW.kind = 'file' AND NEW.part = 'ended'` }, async (countTries) => {
    await withGateway({ DATABASE_URL: gateway.database.url }, async ({ url, logLines }) => {
      expect(await (await get(url, organization, FILE)).text()).toContain('Lovelace');
      await until(() => logged(logLines, 'audit rows wait for the database').length > 0);
      // Each reading of other days has a row of its own.
      let day = 10;
      await until(async () => {
        expect((await get(url, organization, V2.replace('31', String(day)))).status).toBe(200);
        day = day === 31 ? 10 : day + 1;
        return logged(logLines, 'audit rows were lost').length > 0;
      });
      expect(logged(logLines, 'audit rows wait for the database')).toEqual([refused]);
      expect(logged(logLines, 'audit rows were lost')).toEqual([refused]);
      expect(await countTries()).toBe(5);
    });
  });
  const entries = await readAudit(gateway, organization);
  expect(entries.filter(({ kind }) => kind === 'FILE')).toMatchObject([{ outcome: null }]);
  expect(await verify(organization)).toBe(0);
});

test('an operator is told once of rows that nobody waits for while the database takes none, and again when they are lost', async () => {
  const organization = await createRead();
  const { client } = gateway.database;
  const refused = { organization: organization.id, rows: 1, code: 'NO_DATA_SOURCE_CONNECTION', sqlState: '53100' };
  await refusing(organization, { state: '53100', condition: `NEW.part = 'ended'` }, async (countTries) => {
    const own = await startGateway({ DATABASE_URL: gateway.database.url });
    try {
      expect(await (await get(own.url, organization, FILE)).text()).toContain('Lovelace');
      // A row that the database refuses for good is lost by then.
      await until(async () => (await countTries()) > 6);
      expect(logged(own.logLines, 'audit rows wait for the database')).toEqual([refused]);
      await client.query('ALTER TABLE audit_record DISABLE TRIGGER refuse_rows');
      const outcomes = async () => (await readAudit(gateway, organization, '{ kinds: [FILE] }')).map(({ outcome }) => outcome);
      await until(async () => (await outcomes()).join() === 'WHOLE');
      await client.query('ALTER TABLE audit_record ENABLE TRIGGER refuse_rows');
      await (await get(own.url, organization, FILE)).text();
      await until(() => logged(own.logLines, 'audit rows wait for the database').length === 2);
      expect(logged(own.logLines, 'audit rows were lost')).toEqual([]);
    } finally {
      await own.stop();
    }
    expect(logged(own.logLines, 'audit rows were lost')).toEqual([refused]);
  });
  expect(await verify(organization)).toBe(0);
});

test('a row whose writing the database could not confirm is written once, and is not lost', async () => {
  const organization = await createRead();
  const proxy = await startDatabaseProxy(gateway.database.url);
  const own = await startGateway({ DATABASE_URL: proxy.url, DATABASE_ANSWER_MILLISECONDS: '1000' });
  try {
    proxy.freezeAt('"part":"ended"');
    expect(await (await get(own.url, organization, FILE)).text()).toContain('Lovelace');
    const select = `SELECT FROM audit_record WHERE organization_id = $1 AND part = 'ended'`;
    await until(async () => (await gateway.database.client.query(select, [organization.id])).rowCount === 1);
    proxy.freezeAt('nobody sends this');
    await until(() => logged(own.logLines, 'audit rows wait for the database').length === 1);
    // Its row tells the gateway the new end of the chain.
    await until(async () => (await get(own.url, organization)).status === 200);
  } finally {
    await own.stop();
    await proxy.close();
  }
  expect(logged(own.logLines, 'audit rows were lost')).toEqual([]);
  expect(await verify(organization)).toBe(0);
});

const waitsForLock = async (): Promise<boolean> =>
  (await gateway.database.client.query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).rowCount! > 0;

test('a reader who is refused at a full queue has one entry for equal readings, without bytes or a version of the books', async () => {
  const organization = await createRead();
  const holder = new Client({ connectionString: gateway.database.url });
  await holder.connect();
  const own = await startGateway({ DATABASE_URL: gateway.database.url, REPORT_CONCURRENCY: '1', REPORT_QUEUE: '0' });
  try {
    await holder.query('BEGIN; LOCK TABLE deposit_line');
    const first = get(own.url, organization);
    await until(waitsForLock);
    const others = V2.replace('31', '30');
    for (let again = 0; again < 3; again++) expect((await get(own.url, organization, others)).status).toBe(429);
    const summary = FILE.replace('details', 'summary');
    for (const file of [FILE, `${FILE}&totals=headers`, summary]) expect((await get(own.url, organization, file)).status).toBe(429);
    await holder.query('COMMIT');
    expect((await first).status).toBe(200);
    expect((await get(own.url, organization, others)).status).toBe(200);
  } finally {
    await holder.end();
    await own.stop();
  }
  const entries = await readAudit(gateway, organization, '{ kinds: [READ, FILE] }');
  expect(entries.filter(({ door }) => door !== 'GRAPHQL')).toMatchObject([
    { outcome: 'WHOLE', reads: 1 },
    { outcome: 'BROKEN', reads: 4, dataVersion: 1 },
    ...Array<object>(3).fill({ kind: 'FILE', outcome: 'BROKEN', reads: 1, bytes: 0, dataVersion: null }),
  ]);
});

test('a reader who leaves before the first byte of a file without rows has an entry without bytes', async () => {
  const organization = await createRead([]);
  const own = await startGateway({ DATABASE_URL: gateway.database.url, DATABASE_ANSWER_MILLISECONDS: '60000' });
  const left = new AbortController();
  try {
    await whileAuditIsHeld(gateway.database.url, organization, async () => {
      const asked = fetch(own.url + FILE, { headers: { Provision: organization.apiProvision }, signal: left.signal });
      await until(waitsForLock);
      // The rows have been read by then.
      const asking = Date.now();
      await until(() => Date.now() - asking > 500);
      left.abort();
      await expect(asked).rejects.toThrow();
      await until(() => own.logLines.some((line) => line.includes('request broken off')));
    });
  } finally {
    await own.stop();
  }
  expect(await readAudit(gateway, organization, '{ kinds: [FILE] }')).toMatchObject([{ outcome: 'BROKEN', bytes: 0 }]);
});

test('callers whose rows share a statement with one that the database refuses for good are answered', async () => {
  const organization = await createRead();
  const holder = new Client({ connectionString: gateway.database.url });
  await holder.connect();
  try {
    await refusing(organization, { state: '53100', condition: `NEW.kind = 'file' AND NEW.part = 'ended'` }, async (countTries) => {
      await withGateway({ DATABASE_URL: gateway.database.url }, async ({ url }) => {
        await (await get(url, organization, FILE)).text();
        await until(async () => (await countTries()) > 0);
        await holder.query('BEGIN');
        await holder.query('SELECT FROM audit_chain WHERE organization_id = $1 FOR UPDATE', [organization.id]);
        await gateway.database.client.query(`CREATE OR REPLACE FUNCTION refuse_rows() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN RAISE EXCEPTION 'no'; END $$`);
        const readings = Array.from({ length: 15 }, (_, at) => get(url, organization, V2.replace('31', String(at + 10))));
        // The row of the file joins those of the readings after a second.
        const held = Date.now();
        await until(() => Date.now() - held > 1500);
        await holder.query('COMMIT');
        expect((await Promise.all(readings)).map(({ status }) => status)).toEqual(readings.map(() => 200));
      });
    });
  } finally {
    await holder.end();
  }
  expect(await verify(organization)).toBe(0);
});

test('a reader whose gateway stops while the database fails has whole entries when it takes rows again', async () => {
  const organization = await createRead();
  const slow = { state: '53100', condition: `NEW.kind = 'file' AND NEW.part = 'ended'`, times: 1, seconds: 1 };
  await refusing(organization, slow, async (countTries) => {
    const own = await startGateway({ DATABASE_URL: gateway.database.url });
    try {
      expect((await get(own.url, organization)).status).toBe(200);
      await (await get(own.url, organization, FILE)).text();
      await until(async () => (await countTries()) > 0);
    } finally {
      await own.stop();
    }
    expect(logged(own.logLines, 'audit rows were lost')).toEqual([]);
  });
  const entries = await readAudit(gateway, organization, '{ kinds: [READ, FILE] }');
  expect(entries.filter(({ door }) => door !== 'GRAPHQL')).toMatchObject([{ outcome: 'WHOLE' }, { outcome: 'WHOLE' }]);
  expect(await verify(organization)).toBe(0);
});

test('a reader whose gateway stops has a whole entry, though the database refuses a row that waits beside its own for good', async () => {
  const organization = await createRead();
  await refusing(organization, { state: '53100', condition: `NEW.kind = 'file' AND NEW.part = 'ended'` }, async (countTries) => {
    const own = await startGateway({ DATABASE_URL: gateway.database.url });
    try {
      for (const format of ['csv', 'json', 'ndjson']) await (await get(own.url, organization, FILE.replace('csv', format))).text();
      await until(async () => (await countTries()) > 0);
      await gateway.database.client.query(`CREATE OR REPLACE FUNCTION refuse_rows() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF NEW.operation LIKE '%.json' THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END $$`);
    } finally {
      await own.stop();
    }
    expect(logged(own.logLines, 'audit rows were lost')).toMatchObject([{ rows: 1, sqlState: 'P0001' }]);
  });
  const entries = await readAudit(gateway, organization, '{ kinds: [FILE] }');
  expect(entries.map(({ format, outcome }) => [format, outcome])).toEqual([
    ['csv', 'WHOLE'],
    ['json', null],
    ['ndjson', 'WHOLE'],
  ]);
});

test.each(['53100', '55P03'])('a caller whose row meets a state that passes, %s, may try again', async (state) => {
  const organization = await createRead();
  await refusing(organization, { state, condition: 'true', times: 1 }, async () => {
    const refused = await get(gateway.url, organization);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([500, '1']);
    expect((await get(gateway.url, organization)).status).toBe(200);
  });
  expect(await verify(organization)).toBe(0);
});

test.each(['40P01', '40001'])('a caller whose row is undone because of another transaction, %s, is answered', async (state) => {
  const organization = await createRead();
  await refusing(organization, { state, condition: 'true', times: 3 }, async (countTries) => {
    expect((await get(gateway.url, organization)).status).toBe(200);
    expect(await countTries()).toBeGreaterThan(3);
  });
  expect(await verify(organization)).toBe(0);
});

test('no row has a text of donors, a value of a condition, a name that was guessed, a token or a whole provision', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', minLength: 5, maxLength: 20 }).filter((text) => !text.includes('\0') && text.trim() === text),
      async (text) => {
        const canary = `kanarienvogel ${text}`;
        const organization = await createRead([
          v2Line({ ...{ donor_last_name: canary, address1: canary, email_address: canary, main_memo: canary }, designation_memo: canary }),
        ]);
        const { apiProvision: provision, webProvision } = organization;
        const parameter = encodeURIComponent(canary);
        for (const door of ['deposit-details.csv', 'deposit-summary.csv']) {
          await (
            await get(gateway.url, organization, `/export/${door}?start_date=2024-01-01&end_date=2024-01-31&donor_name=${parameter}`)
          ).text();
        }
        const literal = JSON.stringify(canary);
        const queries = [
          `query Lines { depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { donorLastName mainMemo } }`,
          'query Named($name: String) { depositDetailsConnection(filter: { donorName: $name }) { nodes { zip } } donors(search: $name) { nodes { city } } }',
          `query Inline { donors(search: ${literal}) { nodes { city } } }`,
          'query Nodes($name: String!) { deposit(depositId: $name) { depositId } nodes(ids: [$name]) { id } }',
          'mutation Login($name: String!) { login(input: { username: $name, password: $name }) { viewer { username } } }',
        ];
        for (const query of queries) await graphql(gateway.url, query, { provision, variables: { name: canary }, bearer: 'x'.repeat(43) });
        for (const query of queries) await graphql(gateway.url, query, { provision, variables: { name: canary } });
        const { rows } = await gateway.database.client.query<{ row: string }>(
          'SELECT audit_record::text AS row FROM audit_record WHERE organization_id = $1',
          [organization.id],
        );
        const all = rows.map(({ row }) => row).join('\n');
        expect(all).toContain('donorName');
        for (const secret of ['kanarienvogel', provision, webProvision, 'x'.repeat(43)]) expect(all).not.toContain(secret);
        expect(await gateway.services.audit.verify(organization.id)).toMatchObject({ fault: null });
      },
    ),
    { numRuns: 10 },
  );
});

test('a provision of any label has rows whose chain holds', async () => {
  const organization = await createRead();
  const provision = organization.apiProvision;
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary', maxLength: 300 }).filter((label) => label.isWellFormed() && !label.includes('\0')),
      async (label) => {
        // Releases before took any text for a label.
        await gateway.database.client.query(`UPDATE provision SET label = $1 WHERE organization_id = $2 AND kind = 'API'`, [
          label,
          organization.id,
        ]);
        expect((await graphql(gateway.url, DONORS, { provision })).body.errors).toBeUndefined();
        expect(await gateway.services.audit.verify(organization.id)).toMatchObject({ fault: null });
      },
    ),
    { numRuns: 20 },
  );
});
