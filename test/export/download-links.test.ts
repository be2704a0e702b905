import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { createApp } from '../../src/app';
import { readConfig } from '../../src/config';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { databaseSettings, rolesOf } from '../support/database';
import { createOrganization, graphql, login, openSession, PASSWORD, v2Line, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const gateway = openGateway({ settings: { CORS_ORIGINS: 'https://app.example.org' }, lines: [v2Line()], loggedIn: true });
const { organization } = gateway;
const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const LINES = `{ depositDetails(${RANGE}) { amount donorLastName } }`;
const TOTALS = `{ depositSummary(${RANGE}) { all { lines } } }`;
const CSV = 'amount,donor_last_name\r\n"10.50","Lovelace"\r\n';
const query = (text: string, values?: readonly unknown[]) => gateway.database.client.query(text, values as never);

type Credentials = NonNullable<Parameters<typeof graphql>[2]>;
const asAda = (): Credentials => ({ provision: organization.webProvision, cookie: gateway.cookie });

/** The link to the file of a query, as GraphQL gives it. */
async function linkTo(file: string, as: Credentials, format = 'CSV'): Promise<string> {
  const text = `query ($query: String!) { reportFile(query: $query) { downloadUrl(format: ${format}) } }`;
  const { body } = await graphql(gateway.url, text, { ...as, variables: { query: file } });
  expect(body.errors).toBeUndefined();
  return (body.data!.reportFile as { downloadUrl: string }).downloadUrl;
}

async function follow(link: string, { url = gateway.url, ...init }: RequestInit & { url?: string } = {}) {
  const response = await fetch(url + link, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const refusal = (status: number, error: string) => ({ status, text: JSON.stringify({ errors: [{ error, status }] }) });

/** A user of their own, logged in. */
async function newUser(username: string, grants: string[] = [REPORT_PRIVILEGE]): Promise<Credentials> {
  await gateway.services.users.create({ organization: organization.name, username, password: PASSWORD, grants });
  return { provision: organization.webProvision, bearer: await openSession(gateway.url, organization.webProvision, username) };
}

describe('a link to a file', () => {
  test('gives the file to whoever has it, with the name and the headers of a download, and without a cookie', async () => {
    const link = await linkTo(LINES, asAda());
    expect(link).toMatch(
      /^\/export\/deposit-details\.csv\?start_date=2024-01-01&end_date=2024-12-31&.*&expires=\d{10}&caller=s\.[\w-]{43}&signature=[\w-]{43}$/,
    );
    const { status, headers, text } = await follow(link);
    expect([status, text]).toEqual([200, CSV]);
    expect(headers.get('content-disposition')).toBe('attachment; filename="deposit-details-2024-01-01-2024-12-31.csv"');
    expect(['referrer-policy', 'cache-control', 'x-content-type-options', 'set-cookie'].map((name) => headers.get(name))).toEqual([
      ...['no-referrer', 'no-store', 'nosniff'],
      null,
    ]);
    const head = await follow(link, { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
  });

  test('is there for a summary, and for a saved report, in each format', async () => {
    expect((await follow(await linkTo(TOTALS, asAda(), 'NDJSON'))).text).toContain('"lines":1');
    const { body } = await graphql(
      gateway.url,
      'mutation ($input: SaveReportInput!) { saveReport(input: $input) { report { csv: downloadUrl json: downloadUrl(format: JSON) } } }',
      { ...asAda(), variables: { input: { name: 'all', query: LINES } } },
    );
    const { report } = body.data!.saveReport as { report: { csv: string; json: string } };
    expect((await follow(report.csv)).text).toBe(CSV);
    expect(JSON.parse((await follow(report.json)).text)).toEqual({ response: [{ amount: '10.50', donor_last_name: 'Lovelace' }] });
  });

  test('is recorded in the audit under the name of the person, or under the provision of a server', async () => {
    const start = (provision: string) => provision.slice(0, 8);
    const bea = await newUser('bea');
    await follow(await linkTo(LINES, bea));
    await follow(await linkTo(LINES, { provision: organization.apiProvision }));
    // A user on a server's provision is a person too.
    const cookie = await login(gateway.url, organization.apiProvision, 'bea');
    await follow(await linkTo(LINES, { provision: organization.apiProvision, cookie }));
    const files = () =>
      query(`SELECT begun.username, begun.provision_start, ended.outcome
        FROM audit_record AS begun LEFT JOIN audit_record AS ended
          ON ended.organization_id = begun.organization_id AND ended.entry = begun.entry AND ended.part = 'ended'
        WHERE begun.kind = 'file' AND begun.part = 'started' ORDER BY begun.number DESC LIMIT 3`);
    // The row of an end is written after the last byte has left.
    await until(async () => (await files()).rows.every(({ outcome }) => outcome !== null));
    const { rows } = await files();
    expect(rows).toEqual([
      { username: 'bea', provision_start: start(organization.apiProvision), outcome: 'whole' },
      { username: null, provision_start: start(organization.apiProvision), outcome: 'whole' },
      { username: 'bea', provision_start: start(organization.webProvision), outcome: 'whole' },
    ]);
  });

  test('holds no secret, and is in no line of the log', async () => {
    const session = await newUser('cleo');
    const [mine, servers] = [await linkTo(LINES, session), await linkTo(LINES, { provision: organization.apiProvision })];
    const id = (await follow(mine)).headers.get('x-request-id')!;
    await follow(servers);
    const broken = (await follow(`${mine.slice(0, -1)}${mine.endsWith('A') ? 'E' : 'A'}`)).headers.get('x-request-id')!;
    for (const each of [id, broken]) await until(() => gateway.logLines.some((line) => line.includes(each)));
    const signature = (link: string) => link.slice(-43, -1);
    const log = gateway.logLines.join('');
    for (const text of [signature(mine), signature(servers), 'caller=', 'start_date=']) expect(log).not.toContain(text);
    for (const secret of [session.bearer!, organization.apiProvision, organization.webProvision]) {
      expect(mine + servers + log).not.toContain(secret);
      expect(mine + servers).not.toContain(createHash('sha256').update(secret).digest('base64url'));
    }
  });
});

test('a provision and that of a link are found among many without looking at each', async () => {
  const { database } = gateway;
  const scanned = async () => {
    const { rows } = await query(
      `SELECT sum(seq_tup_read)::int AS rows FROM pg_stat_user_tables WHERE relname IN ('provision', 'provision_key')`,
    );
    return (rows[0] as { rows: number }).rows;
  };
  const connections = async () => {
    const { rows } = await query('SELECT pid FROM pg_stat_activity WHERE datname = current_database()');
    return rows.map(({ pid }) => pid as number);
  };
  await query(
    `WITH many AS (INSERT INTO provision (organization_id, kind) SELECT $1, 'API' FROM generate_series(1, 50000) RETURNING id)
     INSERT INTO provision_key (uuid_hash, link_hash, provision_id, first_characters)
     SELECT sha256(convert_to('a' || id, 'UTF8')), sha256(convert_to('b' || id, 'UTF8')), id, '' FROM many`,
    [organization.id],
  );
  await query('ANALYZE provision, provision_key');
  await query('SELECT pg_stat_force_next_flush()');
  const link = await linkTo(LINES, { provision: organization.apiProvision });
  const [before, known] = [await scanned(), await connections()];
  // PostgreSQL counts the rows that a connection has read when it ends.
  await withGateway({ DATABASE_URL: database.url }, async ({ url }) => {
    expect((await follow(link, { url })).text).toBe(CSV);
    const headers = { Provision: organization.apiProvision };
    expect((await fetch(`${url}/api/v2/authenticated_test_system`, { headers })).status).toBe(200);
  });
  await until(async () => (await connections()).every((pid) => known.includes(pid)));
  expect((await scanned()) - before).toBeLessThan(50_000);
});

describe('a link ends', () => {
  test('when its time is over', async () => {
    const link = await linkTo(LINES, asAda());
    const expires = Number(/expires=(\d+)/.exec(link)![1]);
    const seconds = expires - Date.now() / 1000;
    expect([seconds > 4 * 60, seconds <= 5 * 60]).toEqual([true, true]);
    const now = jest.spyOn(Date, 'now').mockReturnValue(expires * 1000);
    try {
      expect(await follow(link)).toMatchObject(refusal(403, 'The link is not valid: it has expired'));
    } finally {
      now.mockRestore();
    }
    expect((await follow(link)).status).toBe(200);
  });

  test('with the logout of its user', async () => {
    const dan = await newUser('dan');
    const link = await linkTo(LINES, dan);
    expect((await follow(link)).status).toBe(200);
    await graphql(gateway.url, 'mutation { logout { ended } }', dan);
    expect(await follow(link)).toMatchObject(refusal(422, 'Not logged in'));
  });

  test('with the logout of a user on a server, though the server may read the report itself', async () => {
    const as = { provision: organization.apiProvision, bearer: await openSession(gateway.url, organization.apiProvision) };
    const [link, totals] = [await linkTo(LINES, as), await linkTo(TOTALS, as)];
    await query(
      `UPDATE session SET last_seen_at = now() - interval '31 minutes' FROM provision_key k
       WHERE k.provision_id = session.provision_id AND k.first_characters = left($1, 8)`,
      [organization.apiProvision],
    );
    for (const each of [link, totals]) expect(await follow(each)).toMatchObject(refusal(422, 'Not logged in'));
    await graphql(gateway.url, 'mutation { logout { ended } }', as);
    for (const each of [link, totals]) expect(await follow(each)).toMatchObject(refusal(422, 'Not logged in'));
  });

  test('with the account of its user, and with the privilege', async () => {
    const [eve, fay] = [await newUser('eve'), await newUser('fay')];
    const [gone, poorer, totals] = [await linkTo(LINES, eve), await linkTo(LINES, fay), await linkTo(TOTALS, fay)];
    await gateway.services.users.disable(organization.name, 'eve');
    await gateway.services.users.changeGrants(organization.name, 'fay', { verb: 'revoke', privileges: [REPORT_PRIVILEGE] });
    expect(await follow(gone)).toMatchObject(refusal(401, 'Unauthorized'));
    expect(await follow(poorer)).toMatchObject(refusal(422, 'Privilege to perform the action was not found'));
    expect((await follow(totals)).status).toBe(200);
  });

  test('with the provision of a server', async () => {
    const provision = await gateway.services.provisions.create({
      ...{ organization: organization.name, kind: 'API', label: '' },
      grants: [REPORT_PRIVILEGE],
    });
    const link = await linkTo(LINES, { provision });
    expect((await follow(link)).status).toBe(200);
    await gateway.services.provisions.revoke(provision);
    expect(await follow(link)).toMatchObject(refusal(422, 'Invalid provision'));
  });

  test('under maintenance', async () => {
    const link = await linkTo(LINES, asAda());
    await gateway.services.organizations.setMaintenance(organization.name, true);
    expect(await follow(link)).toMatchObject(refusal(422, 'Under maintenance'));
    await gateway.services.organizations.setMaintenance(organization.name, false);
  });
});

describe('a link that was changed', () => {
  const WRONG = refusal(403, 'The link is not valid: its signature is wrong');

  test('opens nothing', async () => {
    const clerk = await newUser('gil', []);
    const [link, lesser] = [await linkTo(LINES, asAda()), await linkTo(TOTALS, clerk)];
    const end = (text: string) => /&caller=.*$/.exec(text)![0];
    const changed = [
      link.replace('2024-12-31', '2025-12-31'),
      link.replace('.csv', '.json'),
      link.replace('deposit-details', 'deposit-summary'),
      link.replace(/expires=(\d+)/, (_all, seconds) => `expires=${Number(seconds) + 600}`),
      link.replace('?', '?include_pending=true&'),
      link.replace('start_date', 'start%5Fdate'),
      link.replace(/caller=s/, 'caller=p'),
      // Another caller, with and without that caller's own signature.
      link.replace(/caller=[^&]+/, /caller=[^&]+/.exec(lesser)![0]),
      link.replace(/&caller=.*$/, end(lesser)),
      link.replace(/signature=.*$/, `signature=${'A'.repeat(43)}`),
    ];
    for (const each of changed) expect([each, await follow(each)]).toMatchObject([each, WRONG]);
    // No link at all: the door then asks for credentials.
    for (const each of [`${link}&columns=all`, link.slice(0, -1), `${link}%20`, `${link}&signature=${'A'.repeat(43)}`])
      expect([each, (await follow(each)).status >= 400]).toEqual([each, true]);
  });

  test('opens no other door, and no other method', async () => {
    const [, end] = /^[^?]*\?.*(&expires=.*)$/.exec(await linkTo(LINES, asAda()))!;
    const path = '/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2024-01-01&end_date=2024-12-31';
    expect(await follow(`${path}${end!}`)).toMatchObject(refusal(422, 'Provision header missing'));
    expect((await follow(`/graphql?query=%7Bviewer%7Busername%7D%7D${end!}`)).text).not.toContain('"username"');
    expect((await follow(await linkTo(LINES, asAda()), { method: 'POST' })).status).toBe(405);
  });

  test('counts alone: what else comes along neither helps nor harms', async () => {
    const clerk = await newUser('hal', []);
    const [mine, theirs] = [await linkTo(LINES, asAda()), await linkTo(TOTALS, clerk)];
    const nobody = {
      Provision: '00000000-0000-4000-8000-000000000000',
      Cookie: `deposit-gateway-session=${'x'.repeat(43)}`,
      Authorization: 'Bearer x',
    };
    expect((await follow(mine, { headers: nobody })).text).toBe(CSV);
    const ada = { Provision: organization.webProvision, Cookie: gateway.cookie };
    const both = await follow(theirs, { headers: ada });
    expect([both.status, both.headers.get('x-export-digest')]).toEqual([200, null]);
    expect(await follow(theirs.replace('group_by', 'by'), { headers: ada })).toMatchObject({ status: 200 });
    // A page of another site may send its visitor to the file, but cannot read it.
    const elsewhere = await follow(mine, { headers: { Origin: 'https://evil.example' } });
    expect([elsewhere.headers.get('access-control-allow-origin'), elsewhere.headers.get('cross-origin-resource-policy')]).toEqual([
      null,
      'same-origin',
    ]);
  });
});

describe('the key of links', () => {
  test('is the same in every process, is replaced daily, and is forgotten when an operator deletes it', async () => {
    const config = readConfig({ ...databaseSettings(), PORT: '0', DATABASE_URL: gateway.database.url, DRAIN_MILLISECONDS: '0' });
    const second = await createApp(config, rolesOf(gateway.database.url), pino({ level: 'silent' }));
    try {
      const url = `http://127.0.0.1:${(await second.listen()).port}`;
      const first = await linkTo(LINES, asAda());
      expect((await follow(first, { url })).text).toBe(CSV);
      expect((await query('SELECT FROM link_key')).rowCount).toBe(1);
      await query(`UPDATE link_key SET created_at = created_at - interval '24 hours'`);
      const clock = performance.now();
      const later = jest.spyOn(performance, 'now').mockImplementation(() => clock + 61_000);
      const next = await linkTo(LINES, asAda());
      expect((await query('SELECT FROM link_key')).rowCount).toBe(2);
      // The links of the day before are still good for their minutes.
      expect([(await follow(first)).status, (await follow(next)).status, (await follow(next, { url })).status]).toEqual([200, 200, 200]);
      // A key is kept for cursors for long after it has signed its last link.
      await query(`UPDATE link_key SET created_at = created_at - interval '2 hours'`);
      later.mockImplementation(() => clock + 122_000);
      expect([(await follow(first)).status, (await follow(next)).status]).toEqual([403, 200]);
      expect((await query('SELECT FROM link_key')).rowCount).toBe(2);
      await query('DELETE FROM link_key');
      later.mockImplementation(() => clock + 183_000);
      for (const link of [first, next]) expect((await follow(link)).status).toBe(403);
      expect((await follow(await linkTo(LINES, asAda()))).status).toBe(200);
    } finally {
      jest.restoreAllMocks();
      await second.stop(0);
    }
  });

  test('is made once for requests that come together', async () => {
    await withGateway({}, async ({ url, database, services }) => {
      const { apiProvision: provision } = await createOrganization(services);
      const variables = { query: LINES };
      const text = 'query ($query: String!) { reportFile(query: $query) { downloadUrl } }';
      const answers = await Promise.all(Array.from({ length: 12 }, () => graphql(url, text, { provision, variables })));
      expect(answers.map(({ body }) => body.errors)).toEqual(answers.map(() => undefined));
      expect((await database.client.query('SELECT FROM link_key')).rowCount).toBe(1);
    });
  });

  test('makes no link for a session or a provision to somebody who reads the database', async () => {
    const links = [await linkTo(LINES, asAda()), await linkTo(LINES, { provision: organization.apiProvision })];
    const { rows } = await query(
      'SELECT token_hash AS hash, link_hash FROM session UNION ALL SELECT uuid_hash AS hash, link_hash FROM provision_key',
    );
    const kept = rows.flatMap((row) => Object.values(row as Record<string, Buffer | null>).map((value) => value?.toString('base64url')));
    const carried = links.map((link) => /caller=[sp]\.([\w-]{43})/.exec(link)![1]);
    expect(kept.filter((value) => carried.includes(value))).toEqual([]);
  });
});
