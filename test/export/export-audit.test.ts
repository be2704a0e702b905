import { userInfo } from 'node:os';
import { Client } from 'pg';
import { runCommand, startServe } from '../support/command';
import { depositBook } from '../support/deposit-book';
import { createExportReader, sha256, type Receipt } from '../support/export-reader';
import { PASSWORD, createOrganization, importLines, login, v2Line, type TestOrganization } from '../support/gateway';
import { ask } from '../support/http-client';
import { fillReport } from '../support/long-report';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const LINES = [
  ...depositBook(60),
  v2Line({
    ...{ deposit_id: 'D99', transaction_id: 'T99', allocation_id: 'A99', donor_id: 999, donor_last_name: 'Łukasiewicz' },
    ...{ designation_id: 77, designation: 'Wells' },
  }),
];

const gateway = openGateway({ lines: LINES });
const { organization } = gateway;
let other: TestOrganization;

beforeAll(async () => {
  other = await createOrganization(gateway.services);
});

const { get, download, receiptOf } = createExportReader(gateway);

describe('the account of exports', () => {
  test('tells who took what, and holds nothing of donors', async () => {
    const own = await createOrganization(gateway.services);
    await importLines(gateway.services, own, LINES);
    const cookie = await login(gateway.url, own.webProvision);
    const as = { Provision: own.webProvision, Cookie: cookie };
    const { headers, trailers, body } = await download('deposit-details.csv', '&donor_name=%C5%81ukasiewicz', as);
    const receipt = await receiptOf(String(headers['x-export-id']), as);
    expect(receipt).toMatchObject({
      ...{ username: 'ada', outcome: 'whole', lines: 1, bytes: body.length, fileSha256: sha256(body) },
      ...{ digest: trailers['x-export-digest'], conditions: ['donor_name'] },
    });
    const environment = { DATABASE_URL: gateway.database.url };
    await runCommand(environment, [
      'export',
      '--organization',
      own.name,
      '--start',
      '2024-01-01',
      '--end',
      '2024-12-31',
      '--format',
      'csv',
    ]);
    const { stdout } = await runCommand(environment, ['--json', 'audit', '--organization', own.name, '--kind', 'file']);
    const [cli, first, ...rest] = JSON.parse(stdout) as Receipt[];
    expect(rest).toEqual([]);
    expect(cli).toMatchObject({ username: userInfo().username, provision: null, outcome: 'whole', format: 'csv', startDate: '2024-01-01' });
    const ofYear = (await download('deposit-details.csv', '&pending=WITHOUT', as)).trailers;
    expect([String(cli!.lines), cli!.digest]).toEqual([ofYear['x-export-lines'], ofYear['x-export-digest']]);
    expect(first).toMatchObject({ username: 'ada', conditions: ['donor_name'], digest: receipt.digest });
    expect(stdout).not.toContain('ukasiewicz');
    expect(first!.provision).toBe(own.webProvision.slice(0, 8));
    const table = await runCommand(environment, ['audit', '--organization', own.name, '--kind', 'file', '--limit', '2']);
    expect(table.stdout).toMatch(
      /^AT +WHO +FROM +KIND +DOOR +WHAT +RANGE +READS +OUTCOME +LINES +DIGEST\n\S+ +ada +127\.0\.0\.1 +file +file +export\/deposit-details\.csv .*\n\S+ +\S+ \(command line\) +file +command +export +2024-01-01\/2024-12-31 +1 +whole +\d+ +[0-9a-f]{64}\n$/,
    );
    // Another organization has no such export.
    expect((await get(`/export/receipts/${String(headers['x-export-id'])}`, { Provision: other.apiProvision })).status).toBe(404);
    expect((await get('/export/receipts/nonsense')).status).toBe(404);
  });

  test('never tells an API provision, which is a secret', async () => {
    const { headers } = await download('deposit-details.csv');
    const id = String(headers['x-export-id']);
    expect(await receiptOf(id)).toMatchObject({ username: null, provision: organization.apiProvision.slice(0, 8) });
    const { stdout } = await runCommand({ DATABASE_URL: gateway.database.url }, ['--json', 'audit', '--organization', organization.name]);
    for (const told of [stdout, (await get(`/export/receipts/${id}`)).body.toString()]) {
      expect(told).toContain(id);
      expect(told).not.toContain(organization.apiProvision);
    }
  });

  test('tells who may not read donors nothing of them', async () => {
    const as = { Provision: organization.webProvision, Cookie: await login(gateway.url, organization.webProvision) };
    await gateway.services.users.create({ organization: organization.name, username: 'kay', password: PASSWORD, grants: [] });
    const kay = { Provision: organization.webProvision, Cookie: await login(gateway.url, organization.webProvision, 'kay') };
    const taken = async (query: string): Promise<string> => {
      const { headers } = await download('deposit-summary.csv', query, as);
      const id = String(headers['x-export-id']);
      expect((await receiptOf(id, as)).digest).toBe(headers['x-export-digest']);
      return id;
    };
    // Kay knows all of such a file but its numbers of donors, and could try numbers until the hash fits.
    const known = await taken('&columns=lines,donors');
    expect(await receiptOf(known, kay)).toMatchObject({ outcome: 'whole', digest: null, fileSha256: null, bytes: null });
    const { headers, body } = await download('deposit-summary.csv', '&columns=lines,donors', kay);
    const own = { digest: null, fileSha256: sha256(body), bytes: body.length };
    expect(await receiptOf(String(headers['x-export-id']), kay)).toMatchObject({ outcome: 'whole', ...own });
    expect((await receiptOf(known, as)).fileSha256).toMatch(/^[0-9a-f]{64}$/);
    for (const id of [await taken('&donor_id=1'), String((await download('deposit-details.csv', '', as)).headers['x-export-id'])]) {
      const { status, body } = await get(`/export/receipts/${id}`, kay);
      expect([status, body.toString()]).toEqual([422, expect.stringContaining('Privilege to perform the action was not found')]);
    }
  });

  test('tells of an export that broke off, and nothing of lines that the file has not', async () => {
    const own = await createOrganization(gateway.services);
    await fillReport(gateway.database.client, own.id, 5000, `repeat('m', 2500)`);
    const left = new AbortController();
    const path = '/export/deposit-details.csv?start_date=2020-01-01&end_date=2029-12-31';
    const response = await ask(gateway.url + path, { headers: { Provision: own.apiProvision }, signal: left.signal });
    const id = String(response.headers['x-export-id']);
    response.once('error', () => undefined);
    response.once('data', () => left.abort());
    expect(await receiptOf(id, { Provision: own.apiProvision })).toMatchObject({ outcome: 'broken', lines: null, digest: null });
  });
});

describe('a file that is cut by a stop', () => {
  const FILE = '/export/deposit-details.csv?start_date=2020-01-01&end_date=2029-12-31';
  const outcomesOf = async ({ id }: TestOrganization, part = 'ended'): Promise<(string | null)[]> => {
    const { rows } = await gateway.database.client.query<{ outcome: string | null }>(
      `SELECT outcome FROM audit_record WHERE organization_id = $1 AND kind = 'file' AND part = $2`,
      [id, part],
    );
    return rows.map(({ outcome }) => outcome);
  };
  let long: TestOrganization;
  beforeAll(async () => {
    long = await createOrganization(gateway.services);
    await fillReport(gateway.database.client, long.id, 15_000, `repeat('m', 2500)`);
  });

  test.each(['1', '2'])('has its end in the audit where its reader is slow, with WORKERS=%s', async (workers) => {
    const before = (await outcomesOf(long)).length;
    const settings = { DATABASE_URL: gateway.database.url, SHUTDOWN_GRACE_SECONDS: '1', WORKERS: workers };
    const own = await startServe(settings);
    const answer = await ask(own.url + FILE, { headers: { Provision: long.apiProvision } });
    expect(answer.statusCode).toBe(200);
    const ended = own.end('SIGTERM');
    answer.pause();
    await ended;
    answer.destroy();
    expect((await outcomesOf(long)).slice(before)).toEqual(['broken']);
  });

  test.each(['1', '2'])('has its end in the audit where it waits for the database, with WORKERS=%s', async (workers) => {
    const [before, begun] = [(await outcomesOf(other)).length, (await outcomesOf(other, 'started')).length];
    const settings = { DATABASE_URL: gateway.database.url, SHUTDOWN_GRACE_SECONDS: '1', WORKERS: workers };
    const own = await startServe(settings);
    const holder = new Client({ connectionString: gateway.database.url });
    await holder.connect();
    try {
      await holder.query('BEGIN; LOCK TABLE deposit_line');
      const asked = ask(own.url + FILE, { headers: { Provision: other.apiProvision } }).catch(() => undefined);
      await until(async () => (await outcomesOf(other, 'started')).length > begun);
      await own.end('SIGTERM');
      await asked;
      await holder.query('COMMIT');
    } finally {
      await holder.end();
    }
    expect((await outcomesOf(other)).slice(before)).toEqual(['broken']);
  });
});
