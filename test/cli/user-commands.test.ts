import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { done, failed, misused, runCommand, succeed, type CommandResult } from '../support/command';
import { databaseSettings } from '../support/database';
import { graphql, importLines, login, PASSWORD, createOrganization, v2Line, type TestOrganization } from '../support/gateway';
import { MAIN } from '../support/gateway-package';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const gateway = openGateway();
const SESSION = '/api/v2/authenticated_test_session';
const OTHER = 'another long password';

const run = (words: string[], input?: string | Buffer): Promise<CommandResult> =>
  runCommand({ DATABASE_URL: gateway.database.url }, words, input);
const json = async <Result>(words: string[], input?: string): Promise<Result> =>
  JSON.parse(await succeed({ DATABASE_URL: gateway.database.url }, [...words, '--json'], input)) as Result;
const named = ({ name }: TestOrganization, username = 'ada'): string[] => ['--organization', name, '--username', username];

/** An organization of a test's own, with the session of its user. */
async function open() {
  const organization = await createOrganization(gateway.services);
  const headers = { Provision: organization.webProvision, Cookie: await login(gateway.url, organization.webProvision) };
  const ask = async (): Promise<number> => (await fetch(gateway.url + SESSION, { headers })).status;
  return { organization, headers, ask };
}
const mayLogIn = async ({ webProvision }: TestOrganization, password = PASSWORD): Promise<boolean> =>
  login(gateway.url, webProvision, 'ada', password).then(
    () => true,
    () => false,
  );

describe('an operator of a user', () => {
  test('replaces the password from standard input, and ends the sessions', async () => {
    const { organization, ask } = await open();
    expect(await run(['user', 'password', ...named(organization)], `${OTHER}\n`)).toEqual(
      done(`Replaced the password of user "ada" of "${organization.name}"; ended sessions: 1`),
    );
    expect([await ask(), await mayLogIn(organization), await mayLogIn(organization, OTHER)]).toEqual([422, false, true]);
    expect(await run(['user', 'password', ...named(organization)], 'short')).toEqual(failed('The password needs at least 12 characters'));
    expect(await run(['user', 'password', ...named(organization, 'bob')], OTHER)).toEqual(
      failed(`There is no user "bob" in "${organization.name}"`),
    );
    expect(await json(['user', 'password', ...named(organization)], PASSWORD)).toEqual({
      ...{ organization: organization.name, username: 'ada', endedSessions: 1 },
    });
  });

  test('gives no password and no name that is not UTF-8, which would be stored as another one', async () => {
    const { organization } = await open();
    const latin1 = Buffer.from('l\xe9g\xe8re et tr\xe8s longue\n', 'latin1');
    expect(await run(['user', 'password', ...named(organization)], latin1)).toEqual(failed('The password is not UTF-8 at byte 2'));
    const cut = Buffer.concat([Buffer.from(PASSWORD), Buffer.of(0xc3)]);
    expect(await run(['user', 'password', ...named(organization)], cut)).toEqual(failed('The password is not UTF-8 at byte 29'));
    expect(await mayLogIn(organization)).toBe(true);
    // Node puts this character in the place of bytes of an argument that are not UTF-8.
    const name = 'Andr\uFFFD';
    expect(await run(['user', 'disable', ...named(organization, name)])).toEqual(
      misused('Argument 7 is not UTF-8: a name would be stored as another one'),
    );
    const words = ['user', 'password', ...named(organization)];
    expect((await run(words, Buffer.from(`${'é'.repeat(12)}\r\nrest \xe9`))).status).toBe(0);
    expect(await mayLogIn(organization, 'é'.repeat(12))).toBe(true);
  });

  test('disables one and enables it again: its earlier sessions stay ended', async () => {
    const { organization, ask } = await open();
    expect(await run(['user', 'disable', ...named(organization)])).toEqual(done(`Disabled user "ada" of "${organization.name}"`));
    expect([await ask(), await json(['session', 'list', ...named(organization)])]).toEqual([401, []]);
    // The time at which access ended stays.
    expect(await run(['user', 'disable', ...named(organization)])).toEqual(
      failed(`User "ada" of "${organization.name}" is disabled already`),
    );
    expect(await run(['user', 'enable', ...named(organization)])).toEqual(done(`Enabled user "ada" of "${organization.name}"`));
    expect([await ask(), await mayLogIn(organization)]).toEqual([422, true]);
    expect(await run(['user', 'enable', ...named(organization)])).toEqual(failed(`User "ada" of "${organization.name}" is not disabled`));
  });

  test('deletes one, and may create another of that name', async () => {
    const { organization, ask } = await open();
    expect(await json(['user', 'delete', ...named(organization)])).toEqual({
      ...{ organization: organization.name, username: 'ada', deleted: true },
    });
    expect([await ask(), await mayLogIn(organization)]).toEqual([422, false]);
    expect((await run(['user', 'create', ...named(organization)], OTHER)).status).toBe(0);
    expect(await mayLogIn(organization, OTHER)).toBe(true);
  });

  test('revokes a privilege by either word', async () => {
    const { organization, ask } = await open();
    expect((await run(['user', 'revoke', ...named(organization), 'authenticated_test_session'])).status).toBe(0);
    expect(await ask()).toBe(422);
  });
});

describe('an operator of sessions', () => {
  test('lists them and ends one, all of a user, or all', async () => {
    const { organization, ask, headers } = await open();
    const { users } = gateway.services;
    await users.create({ organization: organization.name, username: 'bob', password: PASSWORD, grants: [] });
    await login(gateway.url, organization.webProvision, 'bob');
    interface Listed {
      session: string;
      username: string;
      provision: string;
    }
    const list = (...words: string[]) => json<Listed[]>(['session', 'list', '--organization', organization.name, ...words]);
    const provision = organization.webProvision.slice(0, 8);
    expect(await list()).toMatchObject([
      { username: 'bob', provision },
      { username: 'ada', provision },
    ]);
    const [adas] = await list('--username', 'ada');
    for (const end of ["last_seen_at = now() - interval '31 minutes'", 'last_seen_at = now(), expires_at = now()']) {
      await gateway.database.client.query(
        `UPDATE session SET ${end} FROM "user" u WHERE u.id = user_id AND username = 'bob' AND u.organization_id = $1`,
        [organization.id],
      );
      expect(await list()).toMatchObject([{ username: 'ada' }]);
    }
    const { stdout } = await run(['session', 'list', '--organization', organization.name]);
    expect(stdout).toMatch(/^SESSION +USERNAME +PROVISION +OPENED +LAST SEEN +EXPIRES\n/);
    expect(stdout + JSON.stringify(adas)).not.toContain(headers.Cookie.split('=')[1]);

    const end = (...words: string[]) => run(['session', 'end', '--organization', organization.name, ...words]);
    expect(await end(adas!.session)).toEqual(done(`Ended sessions of "${organization.name}": 1`));
    expect(await ask()).toBe(422);
    expect(await end(adas!.session)).toEqual(failed(`There is no session ${adas!.session} in "${organization.name}"`));
    expect(await end('--username', 'bob')).toEqual(done(`Ended sessions of "${organization.name}": 1`));
    await login(gateway.url, organization.webProvision);
    expect(await end('--all')).toEqual(done(`Ended sessions of "${organization.name}": 1`));
    expect(await list()).toEqual([]);
    expect(await end()).toEqual(misused('Name a session, or a user by --username, or take --all'));
  });
});

describe('an operator of an organization', () => {
  test('renames it, and its provisions and sessions go on', async () => {
    const { organization, ask } = await open();
    const name = `Renamed ${randomUUID()}`;
    expect(await run(['organization', 'rename', organization.name, name])).toEqual(done(`Renamed "${organization.name}" to "${name}"`));
    expect(await ask()).toBe(200);
    expect(await run(['organization', 'rename', organization.name, name])).toEqual(
      failed(`There is no organization "${organization.name}"`),
    );
    const { organization: other } = await open();
    expect(await run(['organization', 'rename', other.name, name])).toEqual(failed(`There is an organization "${name}" already`));
  });

  test('deletes it with all that belongs to it once the name is confirmed, and nothing of another', async () => {
    const { organization, headers, ask } = await open();
    const { organization: other, ask: askOther } = await open();
    for (const each of [organization, other]) await importLines(gateway.services, each, [v2Line()]);
    await fetch(`${gateway.url}/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31`, { headers });
    const words = ['organization', 'delete', organization.name];
    expect((await run(words)).status).toBe(2);
    expect(await run([...words, '--confirm', other.name])).toEqual(
      failed(`"${other.name}" does not confirm the name "${organization.name}": nothing was deleted`),
    );
    expect(await ask()).toBe(200);
    const deleted = await run([...words, '--confirm', organization.name]);
    const text = `Deleted organization "${organization.name}": 1 transactions, 2 provisions, 1 users; the last anchor of its audit was `;
    // The anchor is of the row that says who deleted it, and the rows before it are those that can be counted.
    expect([deleted.status, deleted.stderr, deleted.stdout.slice(0, text.length)]).toEqual([0, '', text]);
    expect(deleted.stdout.slice(text.length)).toMatch(/^[1-9][0-9]*:[0-9a-f]{64}\n$/);
    expect([await ask(), await askOther()]).toEqual([422, 200]);
    const { client } = gateway.database;
    const { rows } = await client.query<{ table: string }>(
      `SELECT quote_ident(table_name) AS table FROM information_schema.columns
       WHERE table_schema = 'public' AND column_name = 'organization_id'`,
    );
    expect(rows.length).toBeGreaterThan(10);
    for (const { table } of rows)
      expect([table, (await client.query(`SELECT FROM ${table} WHERE organization_id = $1`, [organization.id])).rowCount]).toEqual([
        table,
        0,
      ]);
    const { body } = await graphql(gateway.url, '{ depositSummary { all { lines } } }', { provision: other.apiProvision });
    expect(body).toEqual({ data: { depositSummary: { all: { lines: 1 } } } });
  });
});

test('an operator at a terminal gives a password twice, which is not shown', async () => {
  const organization = await createOrganization(gateway.services);
  const type = async (...passwords: string[]): Promise<string> => {
    const words = [MAIN, 'user', 'password', ...named(organization)];
    const command = [process.execPath, ...words].map((word) => `'${word}'`).join(' ');
    const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      env: { PATH: process.env.PATH, SHELL: '/bin/sh', ...databaseSettings(), DATABASE_URL: gateway.database.url },
    });
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (shown += piece));
    const closed = once(child, 'close');
    for (const [index, password] of passwords.entries()) {
      await until(() => shown.includes(['Password: ', 'Password again: '][index]!));
      child.stdin.write(`${password}\r`);
    }
    await closed;
    return shown;
  };
  const wrong = await type(OTHER, `${OTHER}!`);
  expect(wrong).toContain('The two passwords differ');
  const right = await type(OTHER, OTHER);
  expect(right).toContain('Replaced the password of user "ada"');
  expect(await mayLogIn(organization, OTHER)).toBe(true);
  expect(wrong + right).not.toContain(OTHER);
});
