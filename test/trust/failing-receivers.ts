import type { ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { BookCopy } from '../support/book-copy';
import { createOrganization, importLines, type TestOrganization } from '../support/gateway';
import { until } from '../support/until';
import { WebhookReceiver } from '../support/webhook-receiver';
import { percentile, startTarget, type Finding, type Target } from './attack';
import { anyGift, BASELINE, changesSince, createFileReader, pick, type FileReader } from './followed-books';

/** The hooks, and the organizations that have them. */
const HOOKS = 100;
const ORGANIZATIONS = 4;
const LINES = 24;
/** The time in which the books change, and that in which all copies must then be as the books are. */
const CHANGING_MS = 60_000;
const MAX_CONVERGING_MS = 60_000;
const ADVANCE_EVERY_MS = 400;
/** The time after which a hook that has failed is tried again here. Its own waits are minutes and hours. */
const HURRY_MS = 1500;
const MAX_DELAY_MS = 2000;

/** The ways of a receiver to fail. It hangs until the gateway gives it up. */
const FAILURES: readonly ((response: ServerResponse) => void)[] = [
  (response) => void response.writeHead(503).end(),
  (response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
  (response) => void response.destroy(),
  (response) => void response.writeHead(410).end(),
  () => undefined,
];
/** The share of messages that a failing receiver does not acknowledge. */
const FAILING = 0.7;

/** A receiver that copies the books of its organization whenever it is told that they have advanced. */
class CopyingReceiver {
  private readonly copy = new BookCopy();
  private copying: Promise<void> | undefined;
  /** The newest version that it has acknowledged, and when it was told of it first. */
  acknowledged = 0;
  readonly toldAt = new Map<number, number>();
  /** The messages that leave out a version of which the receiver was not told. */
  gaps = 0;
  failures = 0;

  constructor(
    readonly receiver: WebhookReceiver,
    private readonly reader: FileReader,
    readonly fails: boolean,
  ) {
    receiver.answer = (response, { body }) => {
      const { version, previous } = body.data as { version: number; previous: number };
      if (!this.toldAt.has(version)) this.toldAt.set(version, performance.now());
      if (this.isFailing && Math.random() < FAILING) {
        this.failures++;
        return FAILURES[pick(FAILURES.length)]!(response);
      }
      if (previous > this.acknowledged) this.gaps++;
      this.acknowledged = Math.max(this.acknowledged, version);
      response.writeHead(204).end();
      this.copying = (this.copying ?? Promise.resolve()).then(() => this.follow(version));
    };
    this.isFailing = fails;
  }
  isFailing: boolean;

  /** The rows of the copy, once all that it was told of is there. */
  async rows(): Promise<string> {
    await this.copying;
    return this.copy.text.join('\n');
  }

  private async follow(version: number): Promise<void> {
    while (this.copy.place === undefined || Number(this.copy.place.split('.')[0]) < version) {
      const answer = await this.reader.get(this.copy.place === undefined ? BASELINE : changesSince(this.copy.place, 0));
      if (answer?.status !== 200) await sleep(answer?.retryAfterMs ?? 0);
      else if (this.copy.place === undefined) this.copy.begin(answer.rows, answer.place!);
      else this.copy.take(answer.rows);
    }
  }
}

interface Books {
  readonly organization: TestOrganization;
  readonly reader: FileReader;
  readonly receivers: readonly CopyingReceiver[];
  /** The time at which each version was committed. */
  readonly committedAt: Map<number, number>;
}

async function createBooks({ services, serve }: Target): Promise<Books> {
  const organization = await createOrganization(services);
  const reader = createFileReader(serve.url, organization, HOOKS / ORGANIZATIONS);
  const receivers: CopyingReceiver[] = [];
  while (receivers.length < HOOKS / ORGANIZATIONS) {
    const receiver = await WebhookReceiver.start();
    receivers.push(new CopyingReceiver(receiver, reader, receivers.length % 2 === 1));
    await services.webhooks.create({ organization: organization.name, url: receiver.url, secret: receiver.secret });
  }
  return { organization, reader, receivers, committedAt: new Map() };
}

async function advance({ services }: Target, { organization, committedAt }: Books): Promise<void> {
  const { version } = await importLines(services, organization, [anyGift(pick(LINES))]);
  if (version) committedAt.set(version.number, performance.now());
}

/** Lets hooks that failed be tried again, and enables those that were disabled, as operators do. */
async function hurry({ database, services }: Target): Promise<void> {
  await database.client.query('UPDATE webhook SET next_attempt_at = now() WHERE failures > 0 AND holder IS NULL');
  for (const { id, disabledAt } of await services.webhooks.list()) if (disabledAt !== null) await services.webhooks.enable(id);
}

/** The milliseconds from each commit to the first message of it or of a later version, for receivers that do not fail. */
function delaysOf({ receivers, committedAt }: Books): { ms: number }[] {
  return receivers
    .filter(({ fails }) => !fails)
    .flatMap(({ toldAt }) =>
      [...committedAt].map(([version, committed]) => {
        const told = [...toldAt].filter(([of]) => of >= version).map(([, at]) => at);
        return { ms: Math.max(0, Math.min(...told) - committed) };
      }),
    );
}

async function countOthers({ reader, receivers }: Books): Promise<number> {
  const rows = (await reader.get(BASELINE))!.rows.toSorted().join('\n');
  const copies = await Promise.all(receivers.map((each) => each.rows()));
  return copies.filter((copy) => copy !== rows).length;
}

/** A hundred hooks, of whose receivers half fail in all ways: each must end with a copy of the books, and be told of each version in turn. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget({ WEBHOOK_PRIVATE_ADDRESSES: 'on', PROVISION_ATTEMPTS: '100000' });
  const all: Books[] = [];
  try {
    while (all.length < ORGANIZATIONS) all.push(await createBooks(target));
    const receivers = all.flatMap((books) => books.receivers);
    const end = performance.now() + CHANGING_MS;
    let nextHurry = performance.now() + HURRY_MS;
    while (performance.now() < end) {
      await Promise.all(all.map((books) => advance(target, books)));
      if (performance.now() > nextHurry) {
        nextHurry += HURRY_MS;
        await hurry(target);
      }
      await sleep(ADVANCE_EVERY_MS);
    }
    const changed = performance.now();
    for (const receiver of receivers) receiver.isFailing = false;
    const isTold = (): boolean =>
      all.every((books) => books.receivers.every(({ acknowledged }) => acknowledged === Math.max(...books.committedAt.keys())));
    while (!isTold() && performance.now() < changed + MAX_CONVERGING_MS) {
      await hurry(target);
      await sleep(ADVANCE_EVERY_MS);
    }
    const seconds = (performance.now() - changed) / 1000;
    const late = receivers.filter(({ toldAt }) => toldAt.size === 0).length;
    const others = late + (await Promise.all(all.map(countOthers))).reduce((sum, count) => sum + count, 0);
    await until(async () => (await target.services.webhooks.list()).every((hook) => hook.acknowledgedVersion === hook.newestVersion));
    const sum = (of: (each: CopyingReceiver) => number): number => receivers.reduce((total, each) => total + of(each), 0);
    const delay = percentile(all.flatMap(delaysOf), 99);
    const versions = all.reduce((total, { committedAt }) => total + committedAt.size, 0);
    return [
      {
        name: `${HOOKS} receivers, of which every second fails, are told of ${versions} versions: copies that end as other lines than the books`,
        figure: `${others} (goal 0); ${sum(({ receiver }) => receiver.messages.length)} messages, ${sum(({ failures }) => failures)} of them failed`,
        holds: others === 0 && receivers.every(({ fails, failures }) => fails === failures > 0),
      },
      {
        name: 'messages that leave out a version, are not signed or follow a redirect',
        figure: `${sum(({ gaps, receiver }) => gaps + receiver.faults.length + receiver.others.length)} (goal 0)`,
        holds: sum(({ gaps, receiver }) => gaps + receiver.faults.length + receiver.others.length) === 0,
      },
      {
        name: 'from a commit to the message, p99 of receivers that do not fail',
        figure: `${delay.toFixed(0)} ms (goal ${MAX_DELAY_MS})`,
        holds: delay <= MAX_DELAY_MS,
      },
      { name: 'seconds until all were told of the last version', figure: `${seconds.toFixed(1)} (goal 60)`, holds: isTold() },
    ];
  } finally {
    for (const { reader, receivers } of all) {
      reader.close();
      for (const { receiver } of receivers) await receiver.stop();
    }
    await target.stop();
  }
}
