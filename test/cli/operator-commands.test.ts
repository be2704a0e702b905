import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { done, failed, runCommand, succeed, type CommandResult, type Environment } from '../support/command';
import { graphql, login, PASSWORD } from '../support/gateway';
import { MAIN } from '../support/gateway-package';
import { ask } from '../support/http-client';
import { openGateway } from '../support/open-gateway';

const SYSTEM = '/api/v2/authenticated_test_system';
const SESSION = '/api/v2/authenticated_test_session';
const REPORT = 'deposit_detail_designation_detail_with_contact_info';
const EMPTY_REPORT = `/api/v2/${REPORT}?start_date=2024-01-01&end_date=2024-01-01`;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const gateway = openGateway();
let environment: Environment;

beforeAll(() => {
  environment = { DATABASE_URL: gateway.database.url };
});

const run = (words: string[], input?: string): Promise<CommandResult> => runCommand(environment, words, input);
const json = async (words: string[], input?: string): Promise<unknown> =>
  JSON.parse(await succeed(environment, [...words, '--json'], input));
const answer = async (path: string, headers: Record<string, string>): Promise<unknown> =>
  (await fetch(gateway.url + path, { headers })).json();
/** The part of a provision that people see. */
const first = (uuid: string): string => uuid.slice(0, 8);
const refusal = (status: number, error: string) => ({ errors: [{ error, status }] });

/** Creates an organization of a test's own without the commands. */
async function createOrganization(): Promise<string> {
  const { name } = await gateway.services.organizations.create(`Organization ${randomUUID()}`, []);
  return name;
}
const createProvision = (organization: string): Promise<string> =>
  gateway.services.provisions.create({ organization, kind: 'WEB', label: '', grants: [] });

describe('an operator of organizations', () => {
  test('creates one, finds it in the list and is refused a second of that name', async () => {
    const name = `Åsa’s ${randomUUID()}`;
    expect(await run(['organization', 'create', name])).toEqual(done(`Created organization "${name}"`));
    expect(await run(['organization', 'create', name])).toEqual(failed(`There is an organization "${name}" already`));
    const list = await json(['organization', 'list']);
    expect(list).toContainEqual({
      id: expect.any(Number) as number,
      name,
      hosts: [],
      underMaintenance: false,
      fiscalYearStart: 1,
      timeZone: 'UTC',
      currency: null,
    });
    const { stdout } = await run(['organization', 'list']);
    expect(stdout.split('\n')[0]).toMatch(/^NAME +HOSTS +MAINTENANCE +TIME ZONE +CURRENCY$/);
    expect(stdout).toMatch(new RegExp(`^${name} +off +UTC$`, 'm'));
  });

  test('creates one that is reached at certain hosts', async () => {
    const name = `Hosts ${randomUUID()}`;
    const hosts = ['--host', 'Give.Example.ORG:443', '--host', '127.0.0.1'];
    expect(await json(['organization', 'create', name, ...hosts])).toEqual({
      id: expect.any(Number) as number,
      name,
      hosts: ['give.example.org', '127.0.0.1'],
      currency: null,
    });
    const wrong = await run(['organization', 'create', randomUUID(), '--host', 'http://example.org']);
    expect(wrong).toEqual(failed('"http://example.org" is not a host name'));
  });

  test('changes the hosts of one, at once, and lets it be reached at any again', async () => {
    const organization = await createOrganization();
    const Provision = await createProvision(organization);
    const granted = { data: { message: 'System request authenticated', provision: Provision } };
    expect(await run(['organization', 'hosts', organization, '--host', 'Give.Example.ORG'])).toEqual(
      done(`"${organization}" is reached at give.example.org`),
    );
    expect(await answer(SYSTEM, { Provision })).toEqual(refusal(422, 'Incorrect host for provision'));
    expect(await json(['organization', 'hosts', organization, '--host', 'give.example.org', '--host', '127.0.0.1'])).toEqual({
      ...{ name: organization, hosts: ['give.example.org', '127.0.0.1'] },
    });
    expect(await answer(SYSTEM, { Provision })).toEqual(granted);
    expect(await run(['organization', 'hosts', organization])).toEqual(done(`"${organization}" is reached at give.example.org, 127.0.0.1`));
    expect(await run(['organization', 'hosts', organization, '--any'])).toEqual(done(`"${organization}" is reached at any host`));
    expect(await run(['organization', 'hosts', organization, '--host', 'a b'])).toEqual(failed('"a b" is not a host name'));
    expect(await run(['organization', 'hosts', 'Nobody', '--any'])).toEqual(failed('There is no organization "Nobody"'));
  });

  test('writes an IPv6 address as a host in any form, and is reached there', async () => {
    const organization = await createOrganization();
    const Provision = await createProvision(organization);
    const forms = ['::1', '[::1]', '[::1]:4000', '0:0:0:0:0:0:0:1', '[0:0::1]'];
    for (const form of forms) {
      expect((await gateway.services.organizations.setHosts(organization, [form])).map(String)).toEqual(['[::1]']);
    }
    const hosts = [...forms, '2001:DB8::1'].flatMap((host) => ['--host', host]);
    expect(await json(['organization', 'hosts', organization, ...hosts])).toEqual({
      name: organization,
      hosts: ['[::1]', '[2001:db8::1]'],
    });
    const statusAt = async (Host: string) => (await ask(gateway.url + SYSTEM, { headers: { Provision, Host } })).resume().statusCode;
    for (const Host of ['[::1]', '[::1]:4000', '[0:0:0:0:0:0:0:1]:4000', '[2001:DB8::1]', '[2001:db8:0:0::1]:443']) {
      expect([Host, await statusAt(Host)]).toEqual([Host, 200]);
    }
    for (const Host of ['[::2]', 'localhost', '127.0.0.1', '[::1].example.org', '[::1%eth0]', '::', '[1]']) {
      expect([Host, await statusAt(Host)]).toEqual([Host, 422]);
    }
  });

  test('is served at an address that was stored in another form', async () => {
    const organization = await createOrganization();
    const Provision = await createProvision(organization);
    await gateway.database.client.query(`UPDATE organization SET hosts = '{[0:0:0:0:0:0:0:1]}' WHERE name = $1`, [organization]);
    const answered = await ask(gateway.url + SYSTEM, { headers: { Provision, Host: '[::1]:4000' } });
    expect(answered.resume().statusCode).toBe(200);
  });

  test.each(['[::1', '[abc]', '1:2:3', 'fe80::1%eth0', ''])('is refused a host that no request has: "%s"', async (host) => {
    expect(await run(['organization', 'create', randomUUID(), '--host', host])).toEqual(failed(`"${host}" is not a host name`));
  });

  test.each([
    ['none', ''],
    ['a blank before it', ' Church'],
    ['a line end in it', 'Chur\nch'],
  ])('is refused a name that nobody could type: %s', async (_title, name) => {
    expect(await run(['organization', 'create', name])).toEqual(
      failed('The name of the organization must be 1 to 200 characters, with no blanks around it and no control characters'),
    );
  });

  test('says the currency of one, takes it back, and is refused a code that no currency has', async () => {
    const name = `Currency ${randomUUID()}`;
    expect(await json(['organization', 'create', name, '--currency', 'EUR'])).toMatchObject({ name, currency: 'EUR' });
    expect((await run(['organization', 'list'])).stdout).toMatch(new RegExp(`^${name} +off +UTC +EUR$`, 'm'));
    expect(await run(['organization', 'currency', name, 'CHF'])).toEqual(done(`The amounts of "${name}" are shown in CHF`));
    for (const code of ['XYW', 'eur', '']) {
      const refused = failed(`"${code}" is not the code of a currency: give its three letters of ISO 4217, such as "EUR" or "USD"`);
      expect(await run(['organization', 'currency', name, code])).toEqual(refused);
      expect(await run(['organization', 'create', `${name} 2`, '--currency', code])).toEqual(refused);
    }
    expect(await json(['organization', 'list'])).toContainEqual(expect.objectContaining({ name, currency: 'CHF' }));
    expect(await run(['organization', 'currency', name, 'none'])).toEqual(done(`The amounts of "${name}" are shown without a currency`));
    expect(await json(['organization', 'list'])).toContainEqual(expect.objectContaining({ name, currency: null }));
  });

  test('closes one for maintenance and opens it again, at once', async () => {
    const organization = await createOrganization();
    const Provision = await createProvision(organization);
    expect(await run(['organization', 'maintenance', organization, 'on'])).toEqual(done(`Maintenance of "${organization}" is on`));
    expect(await answer(SYSTEM, { Provision })).toEqual(refusal(422, 'Under maintenance'));
    expect(await json(['organization', 'maintenance', organization, 'off'])).toEqual({ name: organization, underMaintenance: false });
    expect(await json(['organization', 'fiscal-year', organization, '7'])).toEqual({ name: organization, fiscalYearStart: 7 });
    const zone = 'America/New_York';
    expect(await json(['organization', 'time-zone', organization, zone])).toEqual({ name: organization, timeZone: zone });
    expect(await json(['organization', 'list'])).toContainEqual(expect.objectContaining({ name: organization, timeZone: zone }));
    expect(await run(['organization', 'time-zone', organization, 'Mars/Base'])).toEqual(
      failed('"Mars/Base" is not a time zone: give its IANA name, such as "America/New_York" or "UTC"'),
    );
    expect(await answer(SYSTEM, { Provision })).toEqual({ data: { message: 'System request authenticated', provision: Provision } });
    expect(await run(['organization', 'maintenance', 'Nobody', 'on'])).toEqual(failed('There is no organization "Nobody"'));
  });
});

describe('an operator of provisions', () => {
  test('creates one that is a random UUID and works at once', async () => {
    const organization = await createOrganization();
    const { status, stdout, stderr } = await run(['provision', 'create', '--organization', organization, '--kind', 'web']);
    expect([status, stderr]).toEqual([0, '']);
    const Provision = stdout.trimEnd();
    expect(Provision).toMatch(UUID);
    expect(await answer(SYSTEM, { Provision })).toEqual({ data: { message: 'System request authenticated', provision: Provision } });
  });

  test('creates one with a label and a grant, and finds all of it in the list', async () => {
    const organization = await createOrganization();
    const words = ['provision', 'create', '--organization', organization, '--kind', 'api', '--label', 'nightly', '--grant', REPORT];
    const created = (await json(words)) as { provision: string };
    const unbound = { expiresAt: null, addresses: [], reports: [] };
    expect(created).toEqual({ provision: expect.stringMatching(UUID) as string, organization, kind: 'API', label: 'nightly', ...unbound });
    expect(await json(['provision', 'list'])).toContainEqual({
      ...{ number: expect.any(Number) as number, provision: first(created.provision), organization, kind: 'API', label: 'nightly' },
      privileges: ['authenticated_test_system', 'authenticated_test_session', REPORT],
      ...{ addresses: [], reports: [], replaced: [] },
      createdAt: expect.any(String) as string,
      ...{ lastUsedAt: null, expiresAt: null, revokedAt: null },
    });
    const { stdout } = await run(['provision', 'list']);
    expect(stdout.split('\n')[0]).toMatch(
      /^NUMBER +PROVISION +ORGANIZATION +KIND +LABEL +LAST USED +EXPIRES +REVOKED +BOUND TO +PRIVILEGES$/,
    );
    expect(stdout).not.toContain(created.provision);
    expect(stdout).toMatch(
      new RegExp(
        `^\\d+ +${first(created.provision)} +${organization} +API +nightly +authenticated_test_system authenticated_test_session ${REPORT}$`,
        'm',
      ),
    );
  });

  test.each(['web', 'mobile'])('is refused the report for a public one: %s', async (kind) => {
    const organization = await createOrganization();
    const result = await run(['provision', 'create', '--organization', organization, '--kind', kind, '--grant', REPORT]);
    expect(result).toEqual(failed(`A ${kind.toUpperCase()} provision is public: only an API provision can be granted ${REPORT}`));
    expect(await gateway.services.provisions.list()).not.toContainEqual(
      expect.objectContaining({ organization: expect.objectContaining({ name: organization }) as object }),
    );
  });

  test('is refused a privilege or an organization that is not there', async () => {
    const words = ['provision', 'create', '--kind', 'api', '--organization', 'Nobody'];
    expect(await run([...words, '--grant', 'everything'])).toEqual(
      failed(
        `There is no privilege "everything"; there are authenticated_test_system, authenticated_test_session, ${REPORT}, audit_records, close_periods, agent`,
      ),
    );
    expect(await run(words)).toEqual(failed('There is no organization "Nobody"'));
  });

  test('grants one the report and takes it back, at once, and cannot grant it to a public one', async () => {
    const organization = await createOrganization();
    const Provision = (await run(['provision', 'create', '--organization', organization, '--kind', 'api'])).stdout.trimEnd();
    const defaults = ['authenticated_test_system', 'authenticated_test_session'];
    expect(await run(['provision', 'grant', Provision, REPORT])).toEqual({
      ...{ status: 0, stderr: '' },
      stdout: expect.stringMatching(
        new RegExp(`^Provision \\d+ \\(${first(Provision)}…\\) has ${[...defaults, REPORT].join(' ')}\n$`),
      ) as string,
    });
    expect(await answer(EMPTY_REPORT, { Provision })).toEqual({ response: [] });
    expect(await json(['provision', 'revoke-grant', Provision, REPORT])).toMatchObject({
      ...{ provision: first(Provision), privileges: defaults },
    });
    expect(await answer(EMPTY_REPORT, { Provision })).toEqual(refusal(422, 'Not logged in'));
    expect(await run(['provision', 'grant', await createProvision(organization), REPORT])).toEqual(
      failed(`A WEB provision is public: only an API provision can be granted ${REPORT}`),
    );
    expect(await run(['provision', 'grant', 'x', REPORT])).toEqual(failed('There is no provision x'));
  });

  test('revokes one: the next request with it is refused, and it cannot be revoked twice', async () => {
    const Provision = await createProvision(await createOrganization());
    expect(await answer(SYSTEM, { Provision })).toEqual({ data: { message: 'System request authenticated', provision: Provision } });
    expect(await run(['provision', 'revoke', Provision])).toMatchObject({
      ...{ status: 0, stdout: expect.stringMatching(new RegExp(`^Revoked provision \\d+ \\(${first(Provision)}…\\)\n$`)) as string },
    });
    expect(await answer(SYSTEM, { Provision })).toEqual(refusal(422, 'Invalid provision'));
    expect(await run(['provision', 'revoke', Provision])).toMatchObject({
      ...{
        status: 1,
        stderr: expect.stringMatching(new RegExp(`^Provision \\d+ \\(${first(Provision)}…\\) is revoked already\n$`)) as string,
      },
    });
    expect(await run(['provision', 'revoke', 'x'])).toEqual(failed('There is no provision x'));
    // The whole of a UUID may be a secret that was mistyped.
    expect(await run(['provision', 'revoke', randomUUID()])).toMatchObject({
      ...{ status: 1, stderr: expect.stringMatching(/^There is no provision [0-9a-f]{8}…\n$/) as string },
    });
  });
});

describe('an operator of users', () => {
  const userWords = (verb: string, organization: string, username = 'ada'): string[] => [
    ...['user', verb, '--organization', organization, '--username', username],
  ];

  test('creates one whose password comes from standard input, and is refused a second of that name', async () => {
    const organization = await createOrganization();
    const result = await run(userWords('create', organization), `${PASSWORD}\r\nnot the password\n`);
    const use = 'who may log in and read deposits and totals, but neither reports nor donors';
    const hint = `deposit-gateway user grant --organization '${organization}' --username ada ${REPORT}`;
    expect(result).toEqual(done(`Created user "ada" in "${organization}", ${use}; to grant it: ${hint}`));
    const grace = await run([...userWords('create', organization, 'grace'), '--grant', REPORT], PASSWORD);
    expect(grace).toEqual(done(`Created user "grace" in "${organization}", who may log in and read everything, donors included`));
    const provision = await createProvision(organization);
    expect(await login(gateway.url, provision, 'ada', PASSWORD)).toMatch(/^deposit-gateway-session=/);
    expect(await run(userWords('create', organization), PASSWORD)).toEqual(failed(`There is a user "ada" in "${organization}" already`));
    expect(await json([...userWords('create', organization, 'bob'), '--grant', REPORT], PASSWORD)).toEqual({
      organization,
      username: 'bob',
    });
    const defaults = ['authenticated_test_system', 'authenticated_test_session'];
    const user = { createdAt: expect.any(String) as string, disabledAt: null, email: null };
    expect(await json(['user', 'list', '--organization', organization])).toEqual([
      { ...user, username: 'ada', privileges: defaults },
      { ...user, username: 'bob', privileges: [...defaults, REPORT] },
      { ...user, username: 'grace', privileges: [...defaults, REPORT] },
    ]);
  });

  test('is refused a password of less than twelve characters, none, and an organization that is not there', async () => {
    const organization = await createOrganization();
    for (const password of ['', 'elevenchars\n']) {
      expect(await run(userWords('create', organization), password)).toEqual(failed('The password needs at least 12 characters'));
    }
    expect(await run(userWords('create', 'Nobody'), PASSWORD)).toEqual(failed('There is no organization "Nobody"'));
    expect(await run(userWords('create', organization, 'ada '), PASSWORD)).toEqual(
      failed('The name of the user must be 1 to 200 characters, with no blanks around it and no control characters'),
    );
  });

  test('grants one the report and takes it back, at once in an open session', async () => {
    const organization = await createOrganization();
    await gateway.services.users.create({ organization, username: 'ada', password: PASSWORD, grants: [] });
    const Provision = await createProvision(organization);
    const Cookie = await login(gateway.url, Provision);
    const defaults = ['authenticated_test_system', 'authenticated_test_session'];
    const refused = refusal(422, 'Privilege to perform the action was not found');
    expect(await answer(EMPTY_REPORT, { Provision, Cookie })).toEqual(refused);
    expect(await run([...userWords('grant', organization), REPORT])).toEqual(
      done(`User "ada" of "${organization}" has ${[...defaults, REPORT].join(' ')}`),
    );
    expect(await answer(EMPTY_REPORT, { Provision, Cookie })).toEqual({ response: [] });
    expect(await json([...userWords('revoke-grant', organization), REPORT])).toEqual({
      ...{ organization, username: 'ada', privileges: defaults },
    });
    expect(await answer(EMPTY_REPORT, { Provision, Cookie })).toEqual(refused);
    expect(await run([...userWords('revoke-grant', organization), ...defaults])).toEqual(
      done(`User "ada" of "${organization}" has no privileges`),
    );
    expect(await run([...userWords('grant', organization), 'everything'])).toEqual(
      failed(
        `There is no privilege "everything"; there are authenticated_test_system, authenticated_test_session, ${REPORT}, audit_records, close_periods, agent`,
      ),
    );
    expect(await run([...userWords('grant', organization, 'bob'), REPORT])).toEqual(failed(`There is no user "bob" in "${organization}"`));
  });

  test('disables one, whose next request is answered 401', async () => {
    const organization = await createOrganization();
    await gateway.services.users.create({ organization, username: 'ada', password: PASSWORD, grants: [] });
    const Provision = await createProvision(organization);
    const Cookie = await login(gateway.url, Provision);
    expect(await answer(SESSION, { Provision, Cookie })).toEqual({
      data: { message: 'Session request authenticated', provision: Provision },
    });

    expect(await run(userWords('disable', organization))).toEqual(done(`Disabled user "ada" of "${organization}"`));
    const response = await fetch(gateway.url + SESSION, { headers: { Provision, Cookie } });
    expect([response.status, await response.json()]).toEqual([401, refusal(401, 'Unauthorized')]);
    const { body } = await graphql(
      gateway.url,
      `mutation { login(input: { username: "ada", password: "${PASSWORD}" }) { viewer { username } } }`,
      {
        provision: Provision,
      },
    );
    expect(body.errors?.map(({ message }) => message)).toEqual(['Username or password is not correct']);
    const { stdout } = await run(['user', 'list', '--organization', organization]);
    expect(stdout).toMatch(
      /^USERNAME +E-MAIL +DISABLED +PRIVILEGES\nada +\d{4}-\d\d-\d\d +authenticated_test_system authenticated_test_session\n$/,
    );
    expect(await run(userWords('disable', organization, 'bob'))).toEqual(failed(`There is no user "bob" in "${organization}"`));
  });
});

describe('an operator who uses a command wrongly ends with status 2 and is told why', () => {
  test.each<[string, string[]]>([
    ["error: unknown command 'nothing'", ['nothing']],
    ["error: unknown option '--nothing'", ['organization', 'list', '--nothing']],
    [
      "error: command-argument value 'maybe' is invalid for argument 'state'. Allowed choices are on, off.",
      ['organization', 'maintenance', 'Church', 'maybe'],
    ],
    ["error: option '--any' cannot be used with option '--host <name>'", ['organization', 'hosts', 'Church', '--any', '--host', 'a.org']],
    ["error: required option '--kind <kind>' not specified", ['provision', 'create', '--organization', 'Church']],
    ["error: option '--kind <kind>' argument 'pager' is invalid", ['provision', 'create', '--organization', 'Church', '--kind', 'pager']],
    [
      "error: required option '--format <format>' not specified",
      ['export', '--organization', 'C', '--start', '2024-01-01', '--end', '2024-01-01'],
    ],
    ['--passphrase-file needs --encrypt', ['backup', 'whole.backup', '--passphrase-file', 'passphrase']],
    ['Usage: deposit-gateway provision ', ['provision']],
    ['Usage: deposit-gateway ', []],
  ])('%s', async (reason, words) => {
    const { status, stdout, stderr } = await run(words);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr.slice(0, reason.length)).toBe(reason);
  });
});

/** The modules that `deposit-gateway` with these words has loaded at its end, as text. */
function loadedBy(...words: string[]): string {
  const code = `process.argv.splice(1, 0, ${JSON.stringify(MAIN)});
    process.on('exit', () => console.error(JSON.stringify(Object.keys(require.cache))));
    require(process.argv[1]);`;
  const { stderr } = spawnSync(process.execPath, ['-e', code, '--', ...words], { encoding: 'utf8' });
  return (JSON.parse(stderr) as string[]).map((file) => (file.endsWith('.js') ? readFileSync(file, 'utf8') : '')).join('');
}

test('a command loads neither a server nor the GraphQL schema before it runs, and the help of all no command', () => {
  const [gateway, express, schema, prisma] = ['keepAliveTimeout', 'x-powered-by', 'buildSchemaSync', 'PrismaClientKnownRequestError'];
  const marksIn = (text: string): string[] => [gateway, express, schema, prisma].filter((mark) => text.includes(mark));
  expect(marksIn(loadedBy('serve', '--help'))).toEqual([gateway, express, schema, prisma]);
  expect(marksIn(loadedBy('import', '--help'))).toEqual([prisma]);
  for (const words of [['--version'], ['--help']]) expect(loadedBy(...words).length).toBeLessThan(100_000);
});
