import { randomBytes } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { failed, runCommand, type CommandResult } from '../support/command';
import { until } from '../support/until';
import { openWebhooks } from '../support/webhooks';

const webhooks = openWebhooks();
const GOOD = `whsec_${randomBytes(24).toString('base64')}`;
const PRIVATE = 'which WEBHOOK_PRIVATE_ADDRESSES does not allow';
const PLAIN = 'The URL must begin with https://; WEBHOOK_PRIVATE_ADDRESSES allows http:// to private addresses';

async function create(url: string, { secret = GOOD, mode = 0o600, allows = 'off' } = {}): Promise<CommandResult> {
  const file = webhooks.files.path('secret');
  await writeFile(file, secret, { mode });
  await chmod(file, mode);
  const organization = await webhooks.files.createOrganization();
  const words = ['webhook', 'create', '--organization', organization, '--url', url, '--secret-file', file];
  return runCommand({ ...webhooks.files.environment, WEBHOOK_PRIVATE_ADDRESSES: allows }, words);
}

describe('an operator', () => {
  test.each([
    ...['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.0.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1', '255.255.255.255'],
    ...[
      '[::1]',
      '[::]',
      '[fe80::1]',
      '[fc00::1]',
      '[ff02::1]',
      '[::ffff:10.0.0.1]',
      '[::ffff:8.8.8.8]',
      '[64:ff9b::a00:1]',
      '[2002:a00:1::]',
    ],
    ...['2130706433', '0x7f.1', '127.1', 'localhost', 'LOCALHOST.', 'db.localhost'],
  ])('is refused a receiver at the private address %s', async (host) => {
    const { status, stderr } = await create(`https://${host}/hook`);
    expect([status, stderr]).toEqual([1, expect.stringMatching(new RegExp(`^\\S+ is a private address, ${PRIVATE}\n$`))]);
  });

  test.each([
    ['http://127.0.0.1/hook', PLAIN],
    ['http://[::ffff:10.0.0.1]/hook', PLAIN],
    ['http://books.example.org/hook', PLAIN],
    ['ftp://books.example.org', 'The URL must be one like https://books.example.org/hook'],
    ['books.example.org', 'The URL must be one like https://books.example.org/hook'],
    ['https://ada:secret@books.example.org', 'The URL must have no user and no password'],
    ['https://books.example.org/#here', 'The URL must have no fragment'],
  ])('is refused %s', async (url, message) => {
    expect(await create(url)).toEqual(failed(message));
  });

  test.each([
    ['https://8.8.8.8/hook', 'off'],
    ['https://[2606:4700::1111]/hook', 'off'],
    ['https://books.example.org:8443/hook?to=us', 'off'],
    ['http://10.0.0.7/hook', 'on'],
    ['http://localhost/hook', 'on'],
  ])('may name the receiver %s where private addresses are %s', async (url, allows) => {
    expect((await create(url, { allows })).status).toBe(0);
  });

  test('is refused http to the internet where private addresses are allowed', async () => {
    expect(await create('http://8.8.8.8/hook', { allows: 'on' })).toEqual(failed(PLAIN));
  });

  test.each([
    ['without its prefix', 'secret', 'The secret must be whsec_ and base64, such as whsec_$(openssl rand -base64 32)'],
    ['that is no base64', 'whsec_!!!!', 'The secret must be whsec_ and base64, such as whsec_$(openssl rand -base64 32)'],
    ['that is short', `whsec_${randomBytes(23).toString('base64')}`, 'The secret must have 24 to 64 random bytes in base64'],
    ['that is long', `whsec_${randomBytes(65).toString('base64')}`, 'The secret must have 24 to 64 random bytes in base64'],
    ['that is a placeholder', `whsec_${'A'.repeat(43)}=`, 'The secret must have 24 to 64 random bytes in base64'],
  ])('is refused a secret %s', async (_title, secret, message) => {
    expect(await create('https://books.example.org', { secret })).toEqual(failed(message));
  });

  test('is refused a secret that other accounts may read, and ids of no webhook', async () => {
    expect((await create('https://books.example.org', { mode: 0o644 })).stderr).toContain('chmod o=');
    const environment = webhooks.files.environment;
    for (const verb of ['log', 'replay', 'enable', 'delete'])
      expect(await runCommand(environment, ['webhook', verb, 'none'])).toEqual(
        failed('There is no webhook none: `webhook list` names them'),
      );
  });

  test('manages hooks: none is replayed without versions or enabled without need, and one is deleted with its log', async () => {
    const { id, organization } = await webhooks.createHook();
    expect(await runCommand(webhooks.files.environment, ['webhook', 'replay', id])).toEqual(
      failed(`"${organization}" has no data version yet`),
    );
    expect(await runCommand(webhooks.files.environment, ['webhook', 'enable', id])).toEqual(
      failed(`Webhook ${id} is neither disabled nor failing`),
    );
    await webhooks.advance(organization, 1);
    expect(await runCommand(webhooks.files.environment, ['webhook', 'replay', id, '--from', '1'])).toEqual(
      failed('The newest data version is 1: replay from an earlier one'),
    );
    expect(await webhooks.ask('webhook', 'delete', id)).toEqual({ id, organization, deleted: true });
    expect(await webhooks.ask('webhook', 'list', '--organization', organization)).toEqual([]);
    const audit = await webhooks.ask<{ operation: string; subject: string }[]>('audit', 'list', '--organization', organization);
    const changes = audit.filter(({ subject }) => subject === `webhook ${id}`).map(({ operation }) => operation);
    expect(changes.sort()).toEqual(['webhook create', 'webhook delete']);
  });
});

describe('a gateway that may not reach private addresses', () => {
  test('sends nothing to an address of loopback, nor to a name that leads to one', async () => {
    await webhooks.serve({ WEBHOOK_PRIVATE_ADDRESSES: 'off' });
    const { receiver, ...first } = await webhooks.createHook();
    const names = ['http://localhost', 'https://localhost', 'https://127.0.0.1', 'http://[::ffff:127.0.0.1]', 'https://[::1]'];
    const others = await Promise.all(names.map((name) => webhooks.createHook(first.organization, `${name}:${receiver.port}/elsewhere`)));
    for (const hook of [first, ...others]) {
      await until(async () => (await webhooks.logOf(hook)).length > 0);
      expect((await webhooks.logOf(hook))[0]).toMatchObject({ status: null, failure: 'address refused' });
    }
    expect([receiver.messages, receiver.faults, receiver.others]).toEqual([[], [], []]);
  });
});
