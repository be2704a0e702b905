import { randomUUID } from 'node:crypto';
import { until } from '../support/until';
import { openWebhooks, type TestHook } from '../support/webhooks';

const webhooks = openWebhooks();
const versionsOf = ({ receiver }: TestHook): unknown[] => receiver.messages.map(({ body }) => body.data.version);

describe('a message arrives', () => {
  test('again under its id when its gateway is killed before it was acknowledged', async () => {
    const gateway = await webhooks.serve();
    const hook = await webhooks.createLiveHook();
    hook.receiver.answer = () => undefined;
    await webhooks.advance(hook.organization, 1);
    await until(() => hook.receiver.messages.length === 2);
    await gateway.end('SIGKILL');
    hook.receiver.answer = (response) => void response.writeHead(204).end();
    expect(await webhooks.stateOf(hook)).toMatchObject({ acknowledgedVersion: 0, failures: 0 });
    const next = await webhooks.serve();
    // The claim of the dead gateway ends by itself after half a minute.
    await webhooks.hurry(hook);
    await webhooks.untilAcknowledged(hook, 1);
    const [, first, second] = hook.receiver.messages;
    expect([second!.id, second!.body]).toEqual([first!.id, first!.body]);
    expect((await webhooks.logOf(hook))[0]).toMatchObject({ attempt: 2, status: 204 });
    expect(await next.end('SIGTERM')).toBe(0);
  });

  test('once, whichever of several gateways sends it', async () => {
    const gateways = await Promise.all([webhooks.serve(), webhooks.serve(), webhooks.serve({ WORKERS: '2' })]);
    const organization = await webhooks.files.createOrganization();
    const hooks: TestHook[] = [];
    for (let number = 0; number < 12; number++) hooks.push(await webhooks.createHook(organization));
    for (const hook of hooks) await webhooks.untilAcknowledged(hook, 0);
    // While the answers are held back, messages to another receiver show that gateways look again and again.
    const held: (() => void)[] = [];
    for (const { receiver } of hooks) receiver.answer = (response) => void held.push(() => void response.writeHead(204).end());
    await webhooks.advance(organization, 1);
    await until(() => held.length === hooks.length);
    const other = await webhooks.createLiveHook();
    for (let version = 1; version <= 4; version++) {
      await webhooks.advance(other.organization, version);
      await webhooks.untilAcknowledged(other, version);
    }
    for (const { receiver } of hooks) receiver.answer = (response) => void response.writeHead(204).end();
    for (const answer of held) answer();
    for (const hook of hooks) await webhooks.untilAcknowledged(hook, 1);
    for (let version = 2; version <= 5; version++) {
      await webhooks.advance(organization, version);
      for (const hook of hooks) await webhooks.untilAcknowledged(hook, version);
    }
    expect(hooks.map(versionsOf)).toEqual(hooks.map(() => [0, 1, 2, 3, 4, 5]));
    for (const gateway of gateways) expect(await gateway.end('SIGTERM')).toBe(0);
  });

  test('after all at each of a hundred receivers that fail and hang, and at once where another organization has its own', async () => {
    const gateway = await webhooks.serve();
    const organization = await webhooks.files.createOrganization();
    const failing = await webhooks.createHook(organization);
    const other = await webhooks.createLiveHook();
    await webhooks.untilAcknowledged(failing, 0);
    let isHealed = false;
    failing.receiver.answer = (response) => {
      if (isHealed) response.writeHead(204).end();
      else if (failing.receiver.messages.length % 4 > 0) response.writeHead(500).end();
    };
    // The others have the receiver and the secret of the first.
    await webhooks.files.query(
      `INSERT INTO webhook (id, organization_id, url, secret, acknowledged_version, heartbeat_at)
       SELECT gen_random_uuid(), organization_id, url, secret, 0, now() FROM webhook, generate_series(2, 100) WHERE id = $1`,
      [failing.id],
    );
    await webhooks.advance(organization, 1);
    await until(() => failing.receiver.messages.length > 40);
    await webhooks.advance(other.organization, 1);
    await webhooks.untilAcknowledged(other, 1);
    await webhooks.advance(organization, 2);
    isHealed = true;
    const behind = async (): Promise<number> => {
      const { rows } = await webhooks.files.query<{ count: number }>(
        `UPDATE webhook SET next_attempt_at = CASE WHEN holder IS NULL THEN now() ELSE next_attempt_at END FROM organization
         WHERE organization.id = organization_id AND name = $1 AND acknowledged_version < 2 RETURNING 1`,
        [organization],
      );
      return rows.length;
    };
    await until(async () => (await behind()) === 0);
    const { rows } = await webhooks.files.query<{ versions: string[] }>(
      `SELECT array_agg(version ORDER BY at) AS versions FROM webhook_delivery JOIN webhook ON webhook.id = webhook_id
       JOIN organization ON organization.id = organization_id WHERE name = $1 AND status = 204 AND version > 0 GROUP BY webhook.id`,
      [organization],
    );
    expect(rows).toEqual(Array.from({ length: 100 }, () => ({ versions: ['2'] })));
    expect(await gateway.end('SIGTERM')).toBe(0);
  });
});

test('an attempt that another gateway has taken over changes nothing when it ends', async () => {
  const gateway = await webhooks.serve();
  const hook = await webhooks.createLiveHook();
  let answer = (): void => undefined;
  hook.receiver.answer = (response) => {
    answer = () => void response.writeHead(204).end();
  };
  await webhooks.advance(hook.organization, 1);
  await until(() => hook.receiver.messages.length === 2);
  await webhooks.files.query(`UPDATE webhook SET holder = $2, next_attempt_at = now() + interval '1 hour' WHERE id = $1`, [
    ...[hook.id, randomUUID()],
  ]);
  answer();
  await until(() => hook.receiver.hanging === 0);
  expect(await gateway.end('SIGTERM')).toBe(0);
  expect(await webhooks.stateOf(hook)).toMatchObject({ acknowledgedVersion: 0 });
  expect(await webhooks.logOf(hook)).toHaveLength(1);
});
