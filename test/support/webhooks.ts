import { openDepositFiles, toNdjson, type DepositFiles } from './deposit-files';
import { writeFile } from 'node:fs/promises';
import { startServe, succeed, type ServeProcess } from './command';
import { v2Line } from './gateway';
import { until } from './until';
import { WebhookReceiver } from './webhook-receiver';

/** A hook that a test has created, with its receiver and its organization. */
export interface TestHook {
  readonly id: string;
  readonly organization: string;
  readonly receiver: WebhookReceiver;
}

/** Gateways that deliver, and hooks of a test's own, in a database of the test file. */
export interface Webhooks {
  readonly files: DepositFiles;
  /** Runs a command with `--json` and returns what it printed. */
  readonly ask: <Result>(...words: string[]) => Promise<Result>;
  readonly serve: (settings?: Readonly<Record<string, string>>) => Promise<ServeProcess>;
  /** Creates an organization with a hook. */
  readonly createHook: (organization?: string, url?: string) => Promise<TestHook>;
  /** Creates a hook whose first heartbeat has been acknowledged. */
  readonly createLiveHook: () => Promise<TestHook>;
  /** Imports another gift of an organization, which makes a data version. */
  readonly advance: (organization: string, gift: number) => Promise<void>;
  /** Lets a hook be tried now. */
  readonly hurry: (hook: Pick<TestHook, 'id'>) => Promise<void>;
  readonly stateOf: (hook: Pick<TestHook, 'id'>) => Promise<Record<string, unknown>>;
  readonly logOf: (hook: Pick<TestHook, 'id'>) => Promise<Record<string, unknown>[]>;
  readonly untilAcknowledged: (hook: Pick<TestHook, 'id'>, version: number) => Promise<void>;
}

/** Opens the database before the tests of a file. After them it stops the gateways and receivers, and drops it. */
export function openWebhooks(): Webhooks {
  let files: DepositFiles;
  const gateways: ServeProcess[] = [];
  const receivers: WebhookReceiver[] = [];
  beforeAll(async () => {
    files = await openDepositFiles();
  });
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.end('SIGKILL')));
    await Promise.all(receivers.map((receiver) => receiver.stop()));
    await files.close();
  });
  const environment = (): Record<string, string> => ({ ...files.environment, WEBHOOK_PRIVATE_ADDRESSES: 'on' });
  const ask = async <Result>(...words: string[]): Promise<Result> =>
    JSON.parse(await succeed(environment(), ['--json', ...words])) as Result;
  const createHook: Webhooks['createHook'] = async (given, url) => {
    const receiver = await WebhookReceiver.start();
    receivers.push(receiver);
    const organization = given ?? (await files.createOrganization());
    const secretFile = files.path('secret');
    await writeFile(secretFile, `${receiver.secret}\n`, { mode: 0o600 });
    const words = ['--organization', organization, '--url', url ?? receiver.url, '--secret-file', secretFile];
    const { id } = await ask<{ id: string }>('webhook', 'create', ...words);
    return { id, organization, receiver };
  };
  const stateOf: Webhooks['stateOf'] = async ({ id }) =>
    (await ask<{ id: string }[]>('webhook', 'list')).find((each) => each.id === id) as unknown as Record<string, unknown>;
  return {
    get files() {
      return files;
    },
    ask,
    serve: async (settings) => {
      const gateway = await startServe({ ...environment(), LOG_LEVEL: 'info', ...settings });
      gateways.push(gateway);
      return gateway;
    },
    createHook,
    createLiveHook: async () => {
      const hook = await createHook();
      await until(async () => (await stateOf(hook)).heartbeatAt !== null);
      return hook;
    },
    advance: async (organization, gift) => {
      const line = v2Line({ transaction_id: `P${gift}`, allocation_id: `P${gift}-A` });
      const { status, stderr } = await files.import(organization, 'lines.ndjson', toNdjson([line]));
      expect([status, stderr]).toEqual([0, '']);
    },
    hurry: async ({ id }) => {
      await files.query('UPDATE webhook SET next_attempt_at = now() WHERE id = $1', [id]);
    },
    stateOf,
    logOf: ({ id }) => ask('webhook', 'log', id),
    untilAcknowledged: (hook, version) =>
      until(async () => {
        const { acknowledgedVersion, heartbeatAt } = await stateOf(hook);
        return acknowledgedVersion === version && heartbeatAt !== null;
      }),
  };
}
