import { readAudit } from '../support/audit-reader';
import { runCommand } from '../support/command';
import { createOrganization, graphql, importLines, login, PASSWORD, v2Line, withGateway, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const gateway = openGateway();
const V2 = '/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2024-01-01&end_date=';

async function createRead(days: number): Promise<TestOrganization> {
  const organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, [v2Line()]);
  await gateway.services.provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
  for (let day = 1; day <= days; day++) await read(organization, day);
  return organization;
}

/** Each day is a range of its own, and so an entry of its own. */
async function read({ apiProvision }: TestOrganization, day: number, url = gateway.url): Promise<void> {
  const response = await fetch(`${url}${V2}2024-01-${String(day).padStart(2, '0')}`, { headers: { Provision: apiProvision } });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"response"')]);
}

const audit = (...words: string[]) => runCommand({ DATABASE_URL: gateway.database.url }, ['audit', ...words]);
const verify = ({ name }: TestOrganization, ...words: string[]) => audit('verify', '--organization', name, ...words);
const change = (sql: string, { id }: TestOrganization) => gateway.database.client.query(sql.replaceAll('$1', String(id)));

describe('an operator who verifies the audit', () => {
  test('is told that every row is as it was written', async () => {
    const organization = await createRead(3);
    const { rows } = await gateway.database.client.query(
      'SELECT count(*)::int, max(number)::int FROM audit_record WHERE organization_id = $1',
      [organization.id],
    );
    const [{ count, max }] = rows as [{ count: number; max: number }];
    expect(count).toBe(max);
    const { status, stdout } = await verify(organization);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`^${organization.name}: ${count} rows are as they were written; the newest is ${count}:[0-9a-f]{64}\\n$`),
      ),
    ]);
  });

  test.each([
    ['a changed user', `UPDATE audit_record SET username = 'eve' WHERE organization_id = $1 AND number = 4`, 'row 4 was changed'],
    ['a changed time', `UPDATE audit_record SET at = at + interval '1 ms' WHERE organization_id = $1 AND number = 5`, 'row 5 was changed'],
    ['a changed range', `UPDATE audit_record SET end_date = '2024-01-01' WHERE organization_id = $1 AND number = 7`, 'row 7 was changed'],
    [
      'conditions that were taken away',
      `UPDATE audit_record SET conditions = '{x}' WHERE organization_id = $1 AND number = 7`,
      'row 7 was changed',
    ],
    ['a changed hash', `UPDATE audit_record SET hash = repeat('a', 64) WHERE organization_id = $1 AND number = 2`, 'row 2 was changed'],
    ['a row that was taken out', `DELETE FROM audit_record WHERE organization_id = $1 AND number = 3`, 'row 3 was taken out'],
    ['the first row taken out', `DELETE FROM audit_record WHERE organization_id = $1 AND number = 1`, 'row 1 was taken out'],
    ['the last row taken out', `DELETE FROM audit_record WHERE organization_id = $1 AND number = 8`, 'row 8 was taken out'],
    ['all rows taken out', `DELETE FROM audit_record WHERE organization_id = $1`, 'row 1 was taken out'],
    [
      'an added row at the end',
      `INSERT INTO audit_record SELECT organization_id, 9, gen_random_uuid(), part, at, kind, door, operation, operation_hash, username,
        provision_label, provision_start, address, report, format, start_date, end_date, pending, conditions, reads, lines, bytes, file_sha256,
        digest, money_digest, data_version, outcome, subject, detail, tells_donors, file_address, rendering, hash FROM audit_record WHERE organization_id = $1 AND number = 8`,
      'row 9 was added',
    ],
    [
      'an added row before the first',
      `INSERT INTO audit_record (organization_id, number, entry, part, at, kind, door, operation, conditions, hash)
        VALUES ($1, -3, gen_random_uuid(), 'only', now(), 'login', 'graphql', 'login', '{}', '')`,
      'row -3 was added',
    ],
    [
      'rows in another order',
      `UPDATE audit_record SET number = -number WHERE organization_id = $1 AND number IN (5, 6);
       UPDATE audit_record SET number = CASE number WHEN -5 THEN 6 ELSE 5 END WHERE organization_id = $1 AND number < 0`,
      'row 5 was changed',
    ],
    [
      'old rows taken out and the anchor moved',
      `UPDATE audit_chain SET anchor_number = 2, anchor_hash = (SELECT hash FROM audit_record WHERE organization_id = $1 AND number = 2)
        WHERE organization_id = $1; DELETE FROM audit_record WHERE organization_id = $1 AND number <= 2`,
      'row 2 was taken out',
    ],
  ])('is told of %s', async (_what, sql, fault) => {
    // The test above shows that such an audit is in order before it is changed.
    const organization = await createRead(3);
    await change(sql, organization);
    expect(await verify(organization)).toEqual({ status: 1, stdout: '', stderr: `${organization.name}: ${fault}\n` });
  });

  test('is told of rows that were taken out with the end of the chain, by an anchor kept elsewhere', async () => {
    const organization = await createRead(2);
    const { stdout: anchor } = await audit('anchor', '--organization', organization.name);
    expect(anchor).toMatch(/^7:[0-9a-f]{64}\n$/);
    await change(
      `DELETE FROM audit_record WHERE organization_id = $1 AND number = 7;
       UPDATE audit_chain SET number = 6, hash = (SELECT hash FROM audit_record WHERE organization_id = $1 AND number = 6) WHERE organization_id = $1`,
      organization,
    );
    expect((await verify(organization)).status).toBe(0);
    const { status, stderr } = await verify(organization, '--anchor', anchor.trim());
    expect([status, stderr]).toEqual([1, `${organization.name}: row 7 was taken out\n`]);
    // The row that takes its number is another one.
    await read(organization, 9);
    expect((await verify(organization, '--anchor', anchor.trim())).stderr).toBe(`${organization.name}: row 7 was changed\n`);
  });

  test('finds the whole chain after several gateways have written at once', async () => {
    const organization = await createRead(0);
    await withGateway({ DATABASE_URL: gateway.database.url }, async ({ url }) => {
      const days = Array.from({ length: 28 }, (_day, index) => index + 1);
      await Promise.all(days.map((day) => read(organization, day, day % 2 === 0 ? url : gateway.url)));
    });
    const reads = await readAudit(gateway, organization, '{ doors: [V2] }');
    expect(reads.map(({ endDate }) => endDate).sort()).toEqual(
      Array.from({ length: 28 }, (_day, index) => `2024-01-${String(index + 1).padStart(2, '0')}`),
    );
    expect((await verify(organization)).status).toBe(0);
  });
});

describe('a caller', () => {
  test('who reads the same again within a minute has one entry, whose end counts the readings', async () => {
    const organization = await createRead(0);
    const entries = () => readAudit(gateway, organization, '{ doors: [V2] }');
    await withGateway({ DATABASE_URL: gateway.database.url }, async ({ url }) => {
      for (let time = 0; time < 5; time++) await read(organization, 2, url);
      expect(await entries()).toMatchObject([{ reads: null, lines: null, outcome: null }]);
    });
    expect(await entries()).toMatchObject([{ reads: 5, lines: 5, outcome: 'WHOLE', dataVersion: 1, endDate: '2024-01-02' }]);
  });

  test('who fails to log in, logs in and out has rows of it, and the names that were guessed are in none', async () => {
    const organization = await createRead(0);
    const { webProvision: provision } = organization;
    const mutation = (username: string, password: string) =>
      graphql(gateway.url, `mutation { login(input: { username: "${username}", password: "${password}" }) { viewer { username } } }`, {
        provision,
      });
    for (const name of ['ada', 'ada', 'my secret password', 'ada']) await mutation(name, 'wrong');
    const cookie = await login(gateway.url, provision);
    await graphql(gateway.url, 'mutation { logout { ended } }', { provision, cookie });
    const events = await readAudit(gateway, organization, '{ kinds: [LOGIN, LOGIN_FAILED, LOGOUT] }');
    expect(events.map(({ kind, username }) => [kind, username])).toEqual([
      ['LOGIN_FAILED', 'ada'],
      ['LOGIN_FAILED', null],
      ['LOGIN', 'ada'],
      ['LOGOUT', 'ada'],
    ]);
    expect(JSON.stringify(events)).not.toContain('secret');
  });

  test('who ends the session of another provision has a row of its user, by logout and by the next login', async () => {
    const organization = await createRead(0);
    const { name, apiProvision, webProvision } = organization;
    const label = 'the other app';
    const provision = await gateway.services.provisions.create({ organization: name, kind: 'WEB', label, grants: [] });
    const start = webProvision.slice(0, 8);
    const cookie = await login(gateway.url, webProvision);
    const { body } = await graphql(gateway.url, 'mutation { logout { ended } }', { provision, cookie });
    expect(body.data).toEqual({ logout: { ended: true } });
    const other = await createRead(0);
    const earlier = await login(gateway.url, webProvision);
    const mutation = `mutation { login(input: { username: "ada", password: "${PASSWORD}" }) { viewer { username } } }`;
    expect((await graphql(gateway.url, mutation, { provision: other.webProvision, cookie: earlier })).body.errors).toBeUndefined();
    const gone = await graphql(gateway.url, '{ viewer { username } }', { provision: webProvision, cookie: earlier });
    expect(gone.body.data).toEqual({ viewer: null });
    const rows = async (of: TestOrganization) =>
      (await readAudit(gateway, of, '{ kinds: [LOGIN, LOGOUT] }')).map((row) => [row.kind, row.username, row.provision]);
    const row = (kind: string) => [kind, 'ada', start];
    expect(await rows(organization)).toEqual([row('LOGIN'), row('LOGOUT'), row('LOGIN'), row('LOGOUT')]);
    expect(await rows(other)).toEqual([['LOGIN', 'ada', other.webProvision.slice(0, 8)]]);
    expect(JSON.stringify(await readAudit(gateway, organization))).not.toContain(apiProvision);
  });

  test('who is locked out has a row of it', async () => {
    const organization = await createRead(0);
    const query = `mutation { login(input: { username: "ada", password: "wrong" }) { viewer { username } } }`;
    await until(async () => (await graphql(gateway.url, query, { provision: organization.webProvision })).status === 429);
    expect(await readAudit(gateway, organization, '{ kinds: [LOCKOUT] }')).toMatchObject([{ username: 'ada', door: 'GRAPHQL' }]);
  });

  test('who lacks a privilege has a row of the refusal, on every door', async () => {
    const organization = await createRead(0);
    await gateway.services.users.create({ organization: organization.name, username: 'kay', password: PASSWORD, grants: [] });
    const provision = organization.webProvision;
    const cookie = await login(gateway.url, provision, 'kay');
    const headers = { Provision: provision, Cookie: cookie };
    for (const path of [`${V2}2024-01-02`, '/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-01-02']) {
      expect((await fetch(gateway.url + path, { headers })).status).toBe(422);
    }
    await graphql(gateway.url, 'query Memo { transactions(first: 2) { nodes { mainMemo } } }', { provision, cookie });
    await graphql(gateway.url, 'query Audit { auditRecords { nodes { id } } }', { provision, cookie });
    const refusals = await readAudit(gateway, organization, '{ kinds: [REFUSAL] }');
    expect(refusals.map(({ username, door, operation }) => [username, door, operation])).toEqual([
      ['kay', 'V2', 'deposit_detail_designation_detail_with_contact_info'],
      ['kay', 'FILE', 'export/deposit-details.csv'],
      ['kay', 'GRAPHQL', 'Memo'],
      ['kay', 'GRAPHQL', 'Audit'],
    ]);
    expect(await readAudit(gateway, organization, '{ kinds: [READ, FILE] }')).toEqual([]);
  });
});

test('an operator who changes rights has rows of it, with what was changed', async () => {
  const organization = await createOrganization(gateway.services);
  const { name, apiProvision } = organization;
  const provision = organization.webProvision;
  const cookie = await login(gateway.url, provision);
  const newName = `${name} renamed`;
  const run = async (words: string[], input?: string) => {
    const { status, stdout } = await runCommand({ DATABASE_URL: gateway.database.url }, [...words, '--json'], input);
    expect([words, status]).toEqual([words, 0]);
    return JSON.parse(stdout) as unknown;
  };
  const user = (verb: string, ...words: string[]) => ['user', verb, ...words, '--organization', name, '--username', 'ada'];
  const save = 'mutation ($input: SaveReportInput!) { saveReport(input: $input) { replaced } }';
  const input = { name: 'totals', query: '{ depositSummary { all { lines } } }' };
  const saved = await graphql(gateway.url, save, { provision, cookie, variables: { input } });
  expect(saved.body.errors).toBeUndefined();
  await run(user('grant', 'audit_records'));
  await run(['login', 'unlock', '--organization', name, '--username', 'ada']);
  const [session] = (await run(['session', 'list', '--organization', name])) as { session: string }[];
  await run(['session', 'end', session!.session, '--organization', name]);
  await run(['session', 'end', '--organization', name, '--username', 'ada']);
  await run(['session', 'end', '--organization', name, '--all']);
  await run(user('password'), `${PASSWORD}\n`);
  await run(user('disable'));
  await run(user('enable'));
  await run(user('delete'));
  await run(['organization', 'hosts', name, '--any']);
  await run(['organization', 'maintenance', name, 'off']);
  await run(['organization', 'rename', name, newName]);
  await run(['provision', 'label', apiProvision, 'nightly']);
  await run(['provision', 'revoke-grant', apiProvision, 'audit_records']);
  await run(['provision', 'grant', apiProvision, 'audit_records']);
  await run(['provision', 'expire', apiProvision, '2999-01-01']);
  await run(['provision', 'addresses', apiProvision, '--address', '198.51.100.0/24']);
  await run(['provision', 'reports', apiProvision, '--report', 'totals']);
  const { provision: next } = (await run(['provision', 'rotate', apiProvision])) as { provision: string };
  await run(['provision', 'revoke', next]);
  const { stdout } = await audit('--json', '--organization', newName, '--kind', 'rights');
  const rows = (JSON.parse(stdout) as { operation: string; subject: string | null; detail: string | null }[]).reverse();
  const [start, nextStart] = [apiProvision, next].map((uuid) => uuid.slice(0, 8));
  const ofProvision = (verb: string, detail: unknown) => [`provision ${verb}`, `provision ${start}`, detail];
  expect(rows.slice(4).map(({ operation, subject, detail }) => [operation, subject, detail])).toEqual([
    ['report save', 'report totals', 'new'],
    ['user grant', 'user ada', 'audit_records'],
    ['login unlock', 'user ada', null],
    ['session end', 'user ada', `session ${session!.session}`],
    ['session end', 'user ada', 'all sessions'],
    ['session end', null, 'all sessions'],
    ...['password', 'disable', 'enable', 'delete'].map((verb) => [`user ${verb}`, 'user ada', null]),
    ['organization hosts', null, 'any host'],
    ['organization maintenance', null, 'off'],
    ['organization rename', null, `${name} to ${newName}`],
    ofProvision('label', 'nightly'),
    ofProvision('revoke-grant', 'audit_records'),
    ofProvision('grant', 'audit_records'),
    ofProvision('expire', '2999-01-01T00:00:00.000Z'),
    ofProvision('addresses', '198.51.100.0/24'),
    ofProvision('reports', 'totals'),
    ofProvision('rotate', expect.stringMatching(`^to ${nextStart}, the earlier until 2`)),
    ['provision revoke', `provision ${nextStart}`, null],
  ]);
  expect(rows.map(({ operation }) => operation).slice(0, 4)).toEqual([
    'organization create',
    'user create',
    'provision create',
    'provision create',
  ]);
  for (const uuid of [apiProvision, next]) expect(stdout).not.toContain(uuid);
});
