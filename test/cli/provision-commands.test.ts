import { randomUUID } from 'node:crypto';
import { done, failed, misused, runCommand, runProcess, succeed, type CommandResult } from '../support/command';
import { graphql, login } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway({ loggedIn: true });
const { organization } = gateway;
const REPORT = 'deposit_detail_designation_detail_with_contact_info';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\n$/;
const DAY_MS = 86_400_000;

interface Listed {
  readonly number: number;
  readonly provision: string;
  readonly expiresAt: string | null;
  readonly replaced: { readonly provision: string; readonly expiresAt: string }[];
}

const run = (...words: string[]): Promise<CommandResult> => runCommand({ DATABASE_URL: gateway.database.url }, words);
const json = async <Result>(...words: string[]): Promise<Result> =>
  JSON.parse(await succeed({ DATABASE_URL: gateway.database.url }, [...words, '--json'])) as Result;
const create = (kind: 'API' | 'WEB' = 'API'): Promise<string> =>
  gateway.services.provisions.create({ organization: organization.name, kind, label: '', grants: [] });
const first = (uuid: string): string => uuid.slice(0, 8);
const find = async (uuid: string): Promise<Listed> =>
  (await json<Listed[]>('provision', 'list')).find(({ provision }) => provision === first(uuid))!;
const isGood = async (provision: string): Promise<boolean> =>
  (await fetch(`${gateway.url}/api/v2/authenticated_test_system`, { headers: { Provision: provision } })).status === 200;

describe('an operator of a provision', () => {
  test('names it by its number, its first characters or its UUID, and never sees the whole UUID again', async () => {
    const provision = await create();
    const { number } = await find(provision);
    for (const name of [String(number), first(provision), first(provision).toUpperCase(), provision, provision.toUpperCase()])
      expect(await run('provision', 'label', name, `as ${name.length}`)).toEqual(
        done(`Provision ${number} (${first(provision)}…) is "as ${name.length}"`),
      );
    expect((await run('provision', 'list', '--json')).stdout).not.toContain(provision);
    expect(await run('provision', 'label', 'ffffffff', 'x')).toEqual(failed('There is no provision ffffffff'));
    expect(await run('provision', 'label', provision, 'two\nlines')).toEqual(
      failed('The label must be at most 200 characters, with no control characters'),
    );
  });

  test('is asked for the number where several begin alike', async () => {
    const [one, other] = [await create(), await create()];
    await gateway.database.client.query('UPDATE provision_key SET first_characters = $1 WHERE first_characters = ANY($2)', [
      'abcdef01',
      [first(one), first(other)],
    ]);
    const { status, stderr } = await run('provision', 'revoke', 'abcdef01');
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^Several provisions begin with abcdef01: name one by its number, \d+ or \d+\n$/),
    ]);
    expect([await isGood(one), await isGood(other)]).toEqual([true, true]);
  });

  test('creates one with bounds, and finds them in the list', async () => {
    const save = 'mutation ($input: SaveReportInput!) { saveReport(input: $input) { replaced } }';
    const query = '{ depositSummary { all { lines } } }';
    const report = { provision: organization.webProvision, cookie: gateway.cookie, variables: { input: { name: 'totals', query } } };
    expect((await graphql(gateway.url, save, report)).body.errors).toBeUndefined();
    const words = ['provision', 'create', '--organization', organization.name, '--kind'];
    const bounds = ['--expires', '2100-01-31', '--address', '198.51.100.0/24', '--address', '::1', '--report', 'totals'];
    const created = await json<{ provision: string }>(...words, 'api', ...bounds);
    const told = { expiresAt: '2100-01-31T00:00:00.000Z', addresses: ['198.51.100.0/24', '::1'], reports: ['totals'] };
    expect(created).toMatchObject(told);
    expect(await find(created.provision)).toMatchObject(told);
    expect((await run('provision', 'list')).stdout).toMatch(
      new RegExp(`${first(created.provision)} .* 2100-01-31 .* 198\\.51\\.100\\.0/24 ::1 /reports/totals `),
    );
    const wrong = (...more: string[]) => run(...words, ...more);
    expect(await wrong('web', '--report', 'totals')).toEqual(
      failed('A WEB provision is public: only an API provision is bound to reports'),
    );
    expect(await wrong('api', '--report', 'missing')).toEqual(failed('There is no saved report "missing"'));
    expect(await wrong('api', '--address', '10.0.0.0/33')).toEqual(
      failed('"10.0.0.0/33" is neither an IP address nor a network such as 198.51.100.0/24'),
    );
    expect(await wrong('api', '--expires', '2001-01-31')).toEqual(
      failed('2001-01-31 is over: `provision revoke` ends a provision at once'),
    );
    expect((await wrong('api', '--expires', '2100-02-30')).stderr).toMatch(/^"2100-02-30" is no expiry: expected a date such as /);
  });

  test('lets one expire, or never, and binds it to addresses and frees it, at once', async () => {
    const provision = await create();
    const { number } = await find(provision);
    const name = `Provision ${number} (${first(provision)}…)`;
    const { expiresAt } = await json<Listed>('provision', 'expire', provision, '90d');
    const days = (Date.parse(expiresAt!) - Date.now()) / DAY_MS;
    expect([days > 89, days <= 90]).toEqual([true, true]);
    expect(await run('provision', 'expire', provision, '2100-01-31T17:00+01:00')).toEqual(done(`${name} expires 2100-01-31T16:00:00.000Z`));
    expect(await run('provision', 'expire', provision, 'never')).toEqual(done(`${name} expires never`));
    expect(await run('provision', 'addresses', provision, '--address', '198.51.100.7')).toEqual(done(`${name} is good at 198.51.100.7`));
    expect(await isGood(provision)).toBe(false);
    expect(await run('provision', 'addresses', provision)).toEqual(done(`${name} is good at 198.51.100.7`));
    expect(await run('provision', 'addresses', provision, '--any')).toEqual(done(`${name} is good at any address`));
    expect(await isGood(provision)).toBe(true);
    expect(await run('provision', 'reports', provision)).toEqual(done(`${name} is not bound to reports`));
    expect(await run('provision', 'addresses', provision, '--any', '--address', '::1')).toEqual(
      misused('--any cannot be used with --address <network>'),
    );
  });

  test('rotates one by the clock of the database, which tells when an earlier UUID ends, however wrong that of the machine is', async () => {
    const provision = await create();
    const clock = `Date = class extends Date { constructor(...given) { super(...(given.length ? given : [Date.now()])); }
      static now() { return super.now() + ${2 * DAY_MS}; } };`;
    const environment = {
      DATABASE_URL: gateway.database.url,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clock)}`,
    };
    const { status, stdout } = await runProcess(environment, ['provision', 'rotate', provision, '--overlap', '2h', '--json']);
    expect(status).toBe(0);
    const told = JSON.parse(stdout) as { provision: string; earlierExpiresAt: string };
    const { replaced } = await find(told.provision);
    expect(replaced).toEqual([{ provision: first(provision), expiresAt: told.earlierExpiresAt }]);
    expect((Date.parse(told.earlierExpiresAt) - Date.now()) / DAY_MS).toBeLessThanOrEqual(2 / 24);
  });

  test('rotates one: both UUIDs are good until the overlap ends', async () => {
    const provision = await create('WEB');
    const cookie = await login(gateway.url, provision);
    const { status, stdout, stderr } = await run('provision', 'rotate', provision, '--overlap', '2h');
    expect([status, stdout, stderr]).toEqual([0, expect.stringMatching(UUID), '']);
    const newer = stdout.trim();
    expect([await isGood(provision), await isGood(newer)]).toEqual([true, true]);
    const { replaced } = await find(newer);
    expect(replaced).toEqual([{ provision: first(provision), expiresAt: expect.any(String) as string }]);
    expect((Date.parse(replaced[0]!.expiresAt) - Date.now()) / DAY_MS).toBeLessThanOrEqual(2 / 24);
    const newest = await json<{ provision: string; number: number }>('provision', 'rotate', newer, '--overlap', '0');
    expect([await isGood(provision), await isGood(newer), await isGood(newest.provision)]).toEqual([false, false, true]);
    const { body } = await graphql(gateway.url, '{ viewer { username } }', { provision: newest.provision, cookie });
    expect(body).toEqual({ data: { viewer: { username: 'ada' } } });
    expect(await run('provision', 'rotate', newest.provision, '--overlap', 'soon')).toEqual(
      failed('"soon" is no span: expected days, hours or minutes such as 7d, 12h or 30m, or 0'),
    );
    // The number is good, whichever UUID is.
    const number = String(newest.number);
    expect((await run('provision', 'revoke', number)).status).toBe(0);
    for (const change of [
      ['rotate', number],
      ['expire', number, '30d'],
      ['grant', number, REPORT],
      ['addresses', number, '--address', '10.0.0.0/8'],
    ])
      expect((await run('provision', ...change)).stderr).toMatch(/^Provision \d+ \(\w{8}…\) is revoked\n$/);
    expect(await isGood(newest.provision)).toBe(false);
  });

  test('rotates one that expires before the overlap ends, and is told when the earlier UUID ends with it', async () => {
    const provision = await create();
    expect((await run('provision', 'expire', provision, '1h')).status).toBe(0);
    const { earlierExpiresAt } = await json<{ earlierExpiresAt: string }>('provision', 'rotate', provision, '--overlap', '30d');
    expect((Date.parse(earlierExpiresAt) - Date.now()) / DAY_MS).toBeLessThanOrEqual(1 / 24);
  });

  test('gets JSON for what fails and for wrong usage too', async () => {
    const fail = async (...words: string[]) => {
      const { status, stdout, stderr } = await run(...words, '--json');
      return [status, stdout, JSON.parse(stderr) as unknown];
    };
    expect(await fail('provision', 'revoke', 'x')).toEqual([1, '', { error: 'There is no provision x' }]);
    expect(await fail('provision', 'grant', randomUUID(), 'everything')).toEqual([
      1,
      '',
      { error: expect.stringMatching(/^There is no provision \w{8}…$/) as string },
    ]);
    expect(await fail('provision', 'revoke')).toEqual([2, '', { error: "missing required argument 'provision'" }]);
    expect(await fail('nothing')).toEqual([2, '', { error: "unknown command 'nothing'" }]);
    expect(await fail('provision')).toEqual([2, '', { error: expect.stringMatching(/^Usage: deposit-gateway provision /) as string }]);
    const nowhere = { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing', DATABASE_CONNECT_MILLISECONDS: '1000' };
    const { status, stderr } = await runCommand(nowhere, ['provision', 'list', '--json']);
    expect([status, JSON.parse(stderr)]).toEqual([1, { error: expect.any(String) as string, code: 'NO_DATA_SOURCE_CONNECTION' }]);
    expect((await run('provision', 'grant', '--help')).stdout).toContain(REPORT);
  });
});
