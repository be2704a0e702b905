import type { ServeProcess } from '../support/command';
import { readScrape, valueOf } from '../support/scrape-reader';
import { until } from '../support/until';
import { openWebhooks, type TestHook } from '../support/webhooks';

const webhooks = openWebhooks();
const PIECE = 65_536;
let gateway: ServeProcess;
beforeAll(async () => {
  gateway = await webhooks.serve({ ADMIN_PORT: '0' });
});

/** The log lines of a message that name a hook. */
const linesOf = ({ id }: Pick<TestHook, 'id'>, message: string): Record<string, unknown>[] =>
  gateway
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(id))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === message);
const lastOf = async (hook: Pick<TestHook, 'id'>): Promise<Record<string, unknown>> => (await webhooks.logOf(hook))[0]!;

describe('a hook', () => {
  test('whose receiver says that it is gone is disabled at once, until an operator enables it', async () => {
    const { receiver, organization, ...hook } = await webhooks.createLiveHook();
    receiver.answer = (response) => void response.writeHead(410).end();
    await webhooks.advance(organization, 1);
    await until(async () => (await webhooks.stateOf(hook)).state === 'disabled');
    expect(await webhooks.stateOf(hook)).toMatchObject({ disabledReason: 'status 410', acknowledgedVersion: 0 });
    await until(() => linesOf(hook, 'a webhook was disabled').length === 1);
    expect(linesOf(hook, 'a webhook was disabled')).toMatchObject([{ level: 50, reason: 'status 410' }]);
    receiver.answer = (response) => void response.writeHead(202).end();
    await webhooks.ask('webhook', 'enable', hook.id);
    await webhooks.untilAcknowledged(hook, 1);
    expect(await webhooks.stateOf(hook)).toMatchObject({ state: 'current', disabledAt: null, disabledReason: null });
  });

  test('that fails for three days is disabled, which is said once, and is told nothing more', async () => {
    const { receiver, organization, ...hook } = await webhooks.createLiveHook();
    receiver.answer = (response) => void response.writeHead(500).end();
    await webhooks.advance(organization, 1);
    const waits: number[] = [];
    for (let failures = 1; failures <= 9; failures++) {
      await until(async () => (await webhooks.stateOf(hook)).failures === failures);
      const { nextAttemptAt } = await webhooks.stateOf(hook);
      const { at } = await lastOf(hook);
      waits.push((Date.parse(String(nextAttemptAt)) - Date.parse(String(at))) / 1000);
      await webhooks.hurry(hook);
    }
    const days = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
    expect(waits.map((wait, at) => Math.abs(wait / days[at]! - 1) <= 0.1001)).toEqual(days.map(() => true));
    await until(async () => (await webhooks.stateOf(hook)).state === 'disabled');
    await until(() => linesOf(hook, 'a webhook was disabled').length > 0);
    expect([linesOf(hook, 'a webhook fails'), linesOf(hook, 'a webhook was disabled')]).toMatchObject([
      [{ level: 40, reason: 'status 500' }],
      [{ level: 50, reason: 'status 500' }],
    ]);
    await webhooks.hurry(hook);
    await webhooks.advance(organization, 2);
    const other = await webhooks.createLiveHook();
    await webhooks.advance(other.organization, 1);
    await webhooks.untilAcknowledged(other, 1);
    expect(receiver.messages.filter(({ body }) => body.type === 'books.advanced')).toHaveLength(10);
    await webhooks.ask('webhook', 'replay', hook.id);
    await until(() => receiver.last!.body.data.version === 2);
  });

  test('follows no redirect', async () => {
    const { receiver, organization, ...hook } = await webhooks.createLiveHook();
    receiver.answer = (response) => void response.writeHead(307, { location: '/elsewhere' }).end();
    await webhooks.advance(organization, 1);
    await until(async () => (await lastOf(hook)).status === 307);
    expect([receiver.others, (await webhooks.stateOf(hook)).acknowledgedVersion]).toEqual([[], 0]);
  });

  test('whose receiver answers without end is acknowledged, and no more than the beginning is read', async () => {
    const { receiver, organization, ...hook } = await webhooks.createLiveHook();
    let isCut = false;
    let sent = 0;
    receiver.answer = (response) => {
      response.writeHead(200).on('close', () => (isCut = true));
      const send = (): void => {
        if (isCut) return;
        sent++;
        response.write('x'.repeat(PIECE), () => setImmediate(send));
      };
      send();
    };
    await webhooks.advance(organization, 1);
    await webhooks.untilAcknowledged(hook, 1);
    await until(() => isCut);
    // The buffers of a connection hold some megabytes.
    expect(sent * PIECE).toBeLessThan(32_000_000);
  });

  test('whose receiver does not answer is given up after ten seconds, and delays neither imports nor others', async () => {
    const { receiver, organization, ...hook } = await webhooks.createLiveHook();
    const other = await webhooks.createLiveHook();
    receiver.answer = () => undefined;
    await webhooks.advance(organization, 1);
    await until(() => receiver.hanging === 1);
    await webhooks.advance(other.organization, 1);
    await webhooks.untilAcknowledged(other, 1);
    await until(async () => (await lastOf(hook)).failure === 'timeout');
    const { milliseconds } = await lastOf(hook);
    expect(milliseconds).toBeGreaterThanOrEqual(9900);
    expect(milliseconds).toBeLessThan(30_000);
    expect((await webhooks.stateOf(hook)).acknowledgedVersion).toBe(0);
  });
});

test('log, metrics, lists and audit tell of hooks without secrets, addresses of receivers and donors', async () => {
  const { receiver, organization, ...hook } = await webhooks.createLiveHook();
  receiver.answer = (response) => void response.writeHead(500).end('Lovelace');
  await webhooks.advance(organization, 1);
  await until(async () => (await lastOf(hook)).status === 500);
  const line = () => /^\{.*"msg":"listening for operators"\}$/m.exec(gateway.output())![0];
  const { url } = JSON.parse(line()) as { url: string };
  const { rows } = await webhooks.files.query<{ id: number }>('SELECT id FROM organization WHERE name = $1', [organization]);
  const labels = { organization: String(rows[0]!.id) };
  await until(async () => {
    const samples = await readScrape(url);
    const behind = valueOf(samples, 'gateway_webhooks', { ...labels, state: 'behind' });
    return behind === 1 && valueOf(samples, 'gateway_webhook_lag_seconds', labels)! > 0;
  });
  const samples = await readScrape(url);
  expect(valueOf(samples, 'gateway_webhook_deliveries_total', { outcome: 'failed' })).toBeGreaterThan(0);
  expect(valueOf(samples, 'gateway_webhook_deliveries_total', { outcome: 'acknowledged' })).toBeGreaterThan(0);
  const audit = await webhooks.ask<object[]>('audit', 'list', '--organization', organization);
  const key = Buffer.from(receiver.secret.replace('whsec_', ''), 'base64');
  const secrets = [receiver.secret, key.toString('base64'), key.toString('hex'), 'Lovelace', receiver.last!.signature];
  const seen = [gateway.output(), JSON.stringify(samples), JSON.stringify(audit), JSON.stringify(await webhooks.logOf(hook))];
  for (const text of [...seen, JSON.stringify(receiver.messages.map(({ body }) => body))])
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  for (const text of seen) expect(text).not.toContain('path-is-secret');
  expect(JSON.stringify(await webhooks.stateOf(hook))).not.toContain(key.toString('base64'));
  expect(JSON.stringify(audit)).toContain(`webhook ${hook.id}`);
});
