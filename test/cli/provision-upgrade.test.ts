import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { REPORT_PRIVILEGE } from '../../src/domain/privileges';
import { done, runCommand } from '../support/command';
import { createEarlierDatabase, type EarlierDatabase } from '../support/earlier-database';
import { withGateway } from '../support/gateway';

const REPORT = `/api/v2/${REPORT_PRIVILEGE}?start_date=2024-01-01&end_date=2024-12-31`;
const FILE = '/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31';
const sha256 = (content: Buffer | string): Buffer => createHash('sha256').update(content).digest();

let database: EarlierDatabase;

beforeAll(async () => {
  database = await createEarlierDatabase('20261122170000_audit_chain');
});
afterAll(() => database.drop());

test('an operator updates a database with provisions, and every provision, session, link and receipt stays good', async () => {
  const { client, url, missing } = database;
  const [api, web, revoked, gone] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const token = randomBytes(32).toString('base64url');
  const linkHash = sha256(createHmac('sha256', token).update('link').digest());
  const linkKey = randomBytes(32);
  const receipt = randomUUID();
  const odd = 'a"b\\c/\b\f\n\r\t\u0001\u007f\u2028é李🌻</script>';
  await client.query(`INSERT INTO organization (name) VALUES ('Hope')`);
  await client.query(
    `INSERT INTO provision (id, organization_id, kind, label, privileges, revoked_at) VALUES
     ($1, 1, 'API', 'nightly', $4, NULL), ($2, 1, 'WEB', 'page', '{authenticated_test_system}', NULL), ($3, 1, 'API', 'old', $4, now())`,
    [api, web, revoked, ['authenticated_test_system', REPORT_PRIVILEGE]],
  );
  await client.query(`INSERT INTO "user" (organization_id, username, password_hash, privileges) VALUES (1, 'ada', '', $1)`, [
    ['authenticated_test_session', REPORT_PRIVILEGE],
  ]);
  await client.query(
    `INSERT INTO session (token_hash, link_hash, organization_id, user_id, provision_id, expires_at)
     VALUES ($1, $2, 1, 1, $3, now() + interval '1 hour')`,
    [sha256(token), linkHash, web],
  );
  await client.query('INSERT INTO link_key (key) VALUES ($1)', [linkKey]);
  await client.query(
    `INSERT INTO export_record (id, organization_id, provision_id, report, format, start_date, end_date, pending, conditions, finished_at, outcome, file_sha256)
     SELECT id::uuid, 1, provision::uuid, 'deposit-summary', 'csv', '2024-01-01', '2024-12-31', 'WITHOUT', '{}', now(), 'whole', 'f00'
     FROM unnest($1::text[], $2::text[]) AS entry (id, provision)`,
    [
      [receipt, randomUUID(), randomUUID()],
      [api, gone, null],
    ],
  );
  await client.query(
    `INSERT INTO export_record (id, organization_id, provision_id, username, report, format, start_date, end_date, pending, conditions,
       started_at, finished_at, outcome, bytes, lines, file_sha256, digest, data_version)
     VALUES (gen_random_uuid(), 1, $1, $2, 'deposit-details', 'csv', '2024-01-01', '2024-12-31', 'WITH', '{donor_name,group_by=MONTH}',
       '2024-11-20T10:00:00.123456Z', '2024-11-20T10:00:01Z', 'whole', 12, 12, repeat('a', 64), repeat('b', 64), 1)`,
    [web, odd],
  );

  expect(await runCommand({ DATABASE_URL: url }, ['migrate', '--json'])).toEqual(done(JSON.stringify({ applied: missing })));

  await withGateway({ DATABASE_URL: url }, async (gateway) => {
    const get = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
      const response = await fetch(gateway.url + path, { headers });
      return [response.status, await response.text()];
    };
    const tested = (kind: string, provision: string) => [
      200,
      `{"data":{"message":"${kind} request authenticated","provision":"${provision}"}}`,
    ];
    const emptyReport = [200, '{"response":[]}'];
    for (const Provision of [api, api.toUpperCase()]) {
      expect(await get('/api/v2/authenticated_test_system', { Provision })).toEqual(tested('System', Provision));
      expect(await get(REPORT, { Provision })).toEqual(emptyReport);
    }
    const session = { Provision: web, Cookie: `deposit-gateway-session=${token}` };
    expect(await get('/api/v2/authenticated_test_session', session)).toEqual(tested('Session', web));
    expect(await get(REPORT, session)).toEqual(emptyReport);
    expect((await get('/api/v2/authenticated_test_system', { Provision: revoked }))[0]).toBe(422);

    // Links of the release before carry the proof of a session, and the SHA-256 of a provision's bytes.
    const expires = Math.floor(Date.now() / 1000) + 60;
    const linkOf = (caller: string): string => {
      const text = `${FILE}&expires=${expires}&caller=${caller}`;
      return `${text}&signature=${createHmac('sha256', linkKey).update(text).digest('base64url')}`;
    };
    const proofs = [
      `s.${createHmac('sha256', token).update('link').digest('base64url')}`,
      `p.${sha256(Buffer.from(api.replaceAll('-', ''), 'hex')).toString('base64url')}`,
    ];
    for (const proof of proofs) expect((await get(linkOf(proof)))[0]).toBe(200);

    const [status, text] = await get(`/export/receipts/${receipt}`, { Provision: api });
    expect([status, JSON.parse(String(text))]).toEqual([200, expect.objectContaining({ provision: api.slice(0, 8), fileSha256: 'f00' })]);
  });

  // Nothing of a UUID but its first characters is left, and numbers go on.
  const { rows } = await client.query(
    `SELECT (SELECT string_agg(p::text, '') FROM provision p) || (SELECT string_agg(k::text, '') FROM provision_key k)
     || (SELECT string_agg(s::text, '') FROM session s) || (SELECT string_agg(a::text, '') FROM audit_record a) AS dump`,
  );
  for (const uuid of [api, web, revoked, gone]) expect((rows[0] as { dump: string }).dump).not.toContain(uuid.slice(9));
  const list = JSON.parse((await runCommand({ DATABASE_URL: url }, ['provision', 'list', '--json'])).stdout) as {
    number: number;
    label: string;
  }[];
  const shown = [api, web, revoked].map((uuid, index) => ({ provision: uuid.slice(0, 8), label: ['nightly', 'page', 'old'][index] }));
  const byLabel = (a: { label?: string | undefined }, b: { label?: string | undefined }): number => a.label!.localeCompare(b.label!);
  expect(list.sort(byLabel)).toMatchObject(shown.sort(byLabel));
  expect(list.map(({ number }) => number).sort()).toEqual([1, 2, 3]);
  const words = ['provision', 'create', '--organization', 'Hope', '--kind', 'web'];
  expect((await runCommand({ DATABASE_URL: url }, words)).status).toBe(0);

  // The audit begins with the exports of before, whole. The files that the links led to are in it too.
  const audit = ['audit', '--organization', 'Hope', '--json'];
  const files = JSON.parse((await runCommand({ DATABASE_URL: url }, [...audit, '--kind', 'file'])).stdout) as {
    provision: string | null;
  }[];
  const audited = [...[api, web, web, api, gone].map((uuid) => uuid.slice(0, 8)), null];
  expect(files.map(({ provision }) => provision).sort()).toEqual(audited.sort());
  expect(files.at(-1)).toMatchObject({
    ...{ username: odd, provision: web.slice(0, 8), door: 'file', outcome: 'whole', lines: 12, tellsDonors: true },
    ...{ conditions: ['donor_name', 'group_by=MONTH'], startedAt: '2024-11-20T10:00:00.123Z', finishedAt: '2024-11-20T10:00:01.000Z' },
  });
  const verify = ['audit', 'verify', '--organization', 'Hope'];
  expect((await runCommand({ DATABASE_URL: url }, verify)).status).toBe(0);
  await client.query('UPDATE audit_record SET lines = 13 WHERE lines = 12');
  expect((await runCommand({ DATABASE_URL: url }, verify)).stderr).toBe('Hope: row 2 was changed\n');
});
