import { succeed } from '../support/command';
import { createTestDatabase } from '../support/database';
import { until } from '../support/until';
import { openWebhooks } from '../support/webhooks';

const webhooks = openWebhooks();
const UUID = /^[0-9a-f-]{36}$/;
beforeAll(async () => {
  await webhooks.serve();
});
const anyTime = (): string => expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

describe('a receiver', () => {
  test('is told at once that its hook lives, and then of a new data version, signed as Standard Webhooks say', async () => {
    const { receiver, organization, ...hook } = await webhooks.createLiveHook();
    expect(receiver.messages.map(({ body }) => body)).toEqual([
      { type: 'books.heartbeat', timestamp: anyTime(), data: { organization, version: 0, previous: 0, cause: null } },
    ]);
    await webhooks.advance(organization, 1);
    await until(() => receiver.messages.length === 2);
    const { rows } = await webhooks.files.query<{ at: Date }>(
      'SELECT recorded_at AS at FROM data_version JOIN organization ON id = organization_id WHERE name = $1',
      [organization],
    );
    const { id, body, headers } = receiver.last!;
    expect(body).toEqual({
      ...{ type: 'books.advanced', timestamp: rows[0]!.at.toISOString() },
      data: { organization, version: 1, previous: 0, cause: 'IMPORT' },
    });
    expect(id).toMatch(UUID);
    expect(id).not.toBe(receiver.messages[0]!.id);
    expect([headers['content-type'], headers['user-agent'], receiver.faults]).toEqual(['application/json', 'deposit-gateway', []]);
    await webhooks.untilAcknowledged(hook, 1);
    expect(await webhooks.stateOf(hook)).toMatchObject({ state: 'current', newestVersion: 1, failures: 0 });
  });

  test('that fails while books advance is told once, of the newest version since the one that it acknowledged', async () => {
    const { receiver, organization, ...hook } = await webhooks.createLiveHook();
    receiver.answer = (response) => void response.writeHead(500).end('{}');
    await webhooks.advance(organization, 1);
    await until(async () => (await webhooks.logOf(hook)).length === 2);
    for (const gift of [2, 3]) await webhooks.advance(organization, gift);
    receiver.answer = (response) => void response.writeHead(200).end('thanks');
    const failed = receiver.last!;
    await webhooks.hurry(hook);
    await webhooks.untilAcknowledged(hook, 3);
    const told = receiver.messages.slice(receiver.messages.indexOf(failed) + 1);
    expect(told.map(({ body }) => body.data)).toEqual([{ organization, version: 3, previous: 0, cause: 'IMPORT' }]);
    expect(told[0]!.id).not.toBe(failed.id);
    expect(await webhooks.logOf(hook)).toMatchObject([
      { messageId: told[0]!.id, attempt: 1, version: 3, previous: 0, status: 200, failure: null },
      { messageId: failed.id, attempt: 1, version: 1, previous: 0, status: 500, failure: null },
      { attempt: 1, version: 0, previous: 0, status: 204, failure: null },
    ]);
  });

  test('gets a message that it did not acknowledge again under the same id, signed anew', async () => {
    const { receiver, organization, ...hook } = await webhooks.createLiveHook();
    receiver.answer = (response) => void response.writeHead(503).end();
    await webhooks.advance(organization, 1);
    await until(() => receiver.messages.length === 2);
    receiver.answer = (response) => void response.writeHead(204).end();
    await webhooks.untilAcknowledged(hook, 1);
    const [first, second] = receiver.messages.slice(1);
    expect([second!.id, second!.body]).toEqual([first!.id, first!.body]);
    // The first wait is of five seconds, and a tenth less at most.
    expect(second!.timestamp - first!.timestamp).toBeGreaterThanOrEqual(4);
    expect(second!.signature).not.toBe(first!.signature);
    expect((await webhooks.logOf(hook)).map(({ attempt, status }) => [attempt, status])).toEqual([
      [2, 204],
      [1, 503],
      [1, 204],
    ]);
  });

  test('hears of its hook every day', async () => {
    const { receiver, ...hook } = await webhooks.createLiveHook();
    await webhooks.files.query(`UPDATE webhook SET heartbeat_at = now() - interval '24 hours' WHERE id = $1`, [hook.id]);
    await until(() => receiver.messages.length === 2);
    const [first, second] = receiver.messages;
    expect(second!.body.data).toEqual(first!.body.data);
    expect(second!.body.type).toBe('books.heartbeat');
    expect(second!.id).not.toBe(first!.id);
  });

  test('is told the newest version once when books were restored to one before the acknowledged', async () => {
    const { receiver, organization, ...hook } = await webhooks.createLiveHook();
    await webhooks.advance(organization, 1);
    await webhooks.untilAcknowledged(hook, 1);
    await webhooks.files.query('UPDATE webhook SET acknowledged_version = 14 WHERE id = $1', [hook.id]);
    await webhooks.untilAcknowledged(hook, 1);
    expect(receiver.last!.body).toMatchObject({ type: 'books.advanced', data: { version: 1, previous: 14 } });
    expect(receiver.messages).toHaveLength(3);
  });

  test('is to be told the newest version of a restored copy, whose number it may have acknowledged for other books', async () => {
    const { organization, ...hook } = await webhooks.createLiveHook();
    await webhooks.advance(organization, 1);
    await webhooks.untilAcknowledged(hook, 1);
    const backup = webhooks.files.path('told.backup');
    await webhooks.ask('backup', backup);
    const copy = await createTestDatabase();
    try {
      const environment = { DATABASE_URL: copy.url };
      expect(await succeed(environment, ['restore', backup])).toMatch(
        /\n\d+ webhooks are told that these are other books when this database is served: for a trial, `webhook delete` them first\n/,
      );
      const hooks = JSON.parse(await succeed(environment, ['--json', 'webhook', 'list'])) as { id: string }[];
      expect(hooks.find(({ id }) => id === hook.id)).toMatchObject({
        ...{ state: 'behind', newestVersion: 1, acknowledgedVersion: Number.MAX_SAFE_INTEGER },
      });
      expect(JSON.parse(await succeed(environment, ['--json', 'webhook', 'replay', hook.id]))).toMatchObject({
        acknowledgedVersion: Number.MAX_SAFE_INTEGER,
      });
    } finally {
      await copy.drop();
    }
  });

  test('is told of restored books that have no version', async () => {
    const { receiver, ...hook } = await webhooks.createLiveHook();
    await webhooks.files.query(`UPDATE webhook SET acknowledged_version = ${Number.MAX_SAFE_INTEGER} WHERE id = $1`, [hook.id]);
    await webhooks.untilAcknowledged(hook, 0);
    expect(receiver.last!.body).toMatchObject({
      ...{ type: 'books.advanced', timestamp: anyTime(), data: { version: 0, previous: Number.MAX_SAFE_INTEGER } },
    });
  });

  test('is told again what an operator replays', async () => {
    const { receiver, organization, ...hook } = await webhooks.createLiveHook();
    for (const gift of [1, 2, 3]) await webhooks.advance(organization, gift);
    await webhooks.untilAcknowledged(hook, 3);
    const { id } = receiver.last!;
    expect(await webhooks.ask('webhook', 'replay', hook.id)).toMatchObject({ acknowledgedVersion: 2, newestVersion: 3, state: 'behind' });
    await webhooks.untilAcknowledged(hook, 3);
    expect(receiver.last!.body.data).toMatchObject({ version: 3, previous: 2 });
    expect(receiver.last!.id).not.toBe(id);
    await webhooks.ask('webhook', 'replay', hook.id, '--from', '0');
    await webhooks.untilAcknowledged(hook, 3);
    expect(receiver.last!.body.data).toMatchObject({ version: 3, previous: 0 });
  });
});
