import { createHash } from 'node:crypto';
import { Agent, request, type IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { succeed } from '../support/command';
import { createOrganization, importLines, v2Line, type TestOrganization } from '../support/gateway';
import { startTarget, type Finding, type Target } from './attack';

/** The copies that follow, and the connections that they share. */
const FOLLOWERS = 1000;
const CONNECTIONS = 100;
/** The time in which the books change, and that in which all copies must then be as the books are. */
const CHANGING_MS = 60_000;
const MAX_CONVERGING_MS = 60_000;
const IMPORT_EVERY_MS = 300;
const PRUNE_EVERY_MS = 10_000;
/** Followers come round after some seconds, so that a prune with this much left overtakes some of them. */
const KEPT_MS = 4000;
/** The share of answers that a follower dies of: with the connection cut in the answer, or before it has noted what it read. */
const CRASHES = 0.2;
const LINES = 60;

const BASELINE = '/export/deposit-details.ndjson?start_date=0001-01-01&end_date=9999-12-31&pending=WITH&columns=all';

interface Change {
  readonly before: { readonly allocation_id: string } | null;
  readonly after: { readonly allocation_id: string } | null;
  readonly next?: string;
}

/** An answer that was read to its end. */
interface Answer {
  readonly status: number;
  readonly retryAfterMs: number;
  readonly place: string | undefined;
  readonly rows: readonly string[];
}

const counts = { requests: 0, changes: 0, crashes: 0, refused: 0, pruned: 0, imports: 0, prunes: 0, failures: 0 };

/** A copy of the lines, and the place up to which it has noted them. */
class Follower {
  private lines = new Map<string, string>();
  place: string | undefined;

  constructor(private readonly get: (path: string, isCut: boolean) => Promise<Answer | undefined>) {}

  /** Asks once, and dies of some answers. */
  async turn(waitSeconds: number): Promise<void> {
    const dies = Math.random() < CRASHES;
    const isCut = dies && Math.random() < 0.5;
    const path = this.place === undefined ? BASELINE : `/export/deposit-changes.ndjson?since=${this.place}&wait=${waitSeconds}`;
    const answer = await this.get(path, isCut);
    if (answer?.status === 429) {
      counts.refused++;
      return sleep(answer.retryAfterMs);
    }
    if (answer?.status === 410) {
      counts.pruned++;
      this.place = undefined;
      return;
    }
    if (dies || answer?.status !== 200) {
      if (dies) counts.crashes++;
      else counts.failures++;
      return;
    }
    this.note(answer);
  }

  get digest(): string {
    return digestOf([...this.lines.values()]);
  }

  private note({ rows, place }: Answer): void {
    if (this.place === undefined) {
      this.lines = new Map(rows.map((row) => [(JSON.parse(row) as { allocation_id: string }).allocation_id, row]));
      this.place = place;
      return;
    }
    const changes = rows.map((row) => JSON.parse(row) as Change);
    const { next } = changes.pop()!;
    for (const { before } of changes) if (before) this.lines.delete(before.allocation_id);
    for (const { after } of changes) if (after) this.lines.set(after.allocation_id, JSON.stringify(after));
    counts.changes += changes.length;
    this.place = next!;
  }
}

const digestOf = (rows: readonly string[]): string =>
  createHash('sha256')
    .update([...rows].sort().join('\n'))
    .digest('hex');

/** A reader over a bounded number of connections. It gives undefined for an answer that was cut, by itself or by the gateway. */
function createReader(url: string, { apiProvision }: TestOrganization) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const get = (path: string, isCut: boolean): Promise<Answer | undefined> =>
    new Promise((resolve) => {
      counts.requests++;
      const asked = request(url + path, { agent, headers: { Provision: apiProvision } }, (response: IncomingMessage) => {
        const pieces: Buffer[] = [];
        if (isCut) response.destroy();
        response
          .on('data', (piece: Buffer) => pieces.push(piece))
          .on('error', () => resolve(undefined))
          .on('close', () => {
            if (!response.complete) return resolve(undefined);
            const { headers } = response;
            resolve({
              status: response.statusCode!,
              retryAfterMs: 1000 * Number(headers['retry-after'] ?? 1),
              place: headers['x-export-place'] as string | undefined,
              rows: Buffer.concat(pieces).toString().split('\n').slice(0, -1),
            });
          });
      });
      asked.on('error', () => resolve(undefined)).end();
    });
  return { get, close: () => agent.destroy() };
}

const pick = (count: number): number => Math.floor(Math.random() * count);
const monthOf = (number: number): string => String(1 + (number % 12)).padStart(2, '0');

/** A gift with other money, another donor or another fund each time. Gifts of one month lie in one deposit. */
const anyGift = (number: number): Record<string, unknown> => {
  const amount = `${1 + pick(500)}.00`;
  return v2Line({
    ...{ deposit_id: `D${number % 12}`, transaction_id: `T${number}`, allocation_id: `A${number}` },
    ...{ deposit_date: `2024-${monthOf(number)}-10`, donor_id: 1 + (number % 7), city: ['Bern', 'Lyon', 'Rome'][(number % 7) % 3] },
    ...{ amount, fee_amount: '0.00', net_amount: amount, designation_id: 1 + pick(3), designation: 'Fund' },
  });
};

/** Changes the books by imports, of which some take gifts away, and prunes their history at times. */
async function changeBooks({ services, database }: Target, organization: TestOrganization): Promise<void> {
  const end = performance.now() + CHANGING_MS;
  let nextPrune = performance.now() + PRUNE_EVERY_MS;
  while (performance.now() < end) {
    const month = pick(12);
    const ofMonth = Array.from({ length: LINES / 12 }, (_, at) => anyGift(month + 12 * at)).filter(() => Math.random() < 0.8);
    const isWhole = ofMonth.length > 0 && Math.random() < 0.3;
    const day = `2024-${monthOf(month)}-10`;
    const lines = isWhole ? ofMonth : [...new Set(Array.from({ length: 1 + pick(4) }, () => pick(LINES)))].map(anyGift);
    await importLines(
      services,
      organization,
      lines,
      isWhole ? { complete: { periods: [{ startDate: day, endDate: day }], pending: 'WITH' }, maxRemoved: LINES } : {},
    );
    counts.imports++;
    if (performance.now() > nextPrune) {
      nextPrune += PRUNE_EVERY_MS;
      const before = new Date(Date.now() - KEPT_MS).toISOString();
      await succeed({ DATABASE_URL: database.url }, ['history', 'prune', '--organization', organization.name, '--before', before]);
      counts.prunes++;
    }
    await sleep(IMPORT_EVERY_MS);
  }
}

/** A thousand copies that crash follow books that change and whose history is pruned: each must end as the books are, byte for byte. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget({ PROVISION_ATTEMPTS: '100000' });
  const organization = await createOrganization(target.services);
  const reader = createReader(target.serve.url, organization);
  try {
    await importLines(
      target.services,
      organization,
      Array.from({ length: LINES }, (_, number) => anyGift(number)),
    );
    const followers = Array.from({ length: FOLLOWERS }, () => new Follower(reader.get));
    const state = { isChanging: true, newest: undefined as string | undefined, deadline: Infinity };
    const following = followers.map(async (follower) => {
      while ((state.isChanging || follower.place !== state.newest) && performance.now() < state.deadline)
        await follower.turn(state.isChanging ? 1 : 0);
    });
    await changeBooks(target, organization);
    let books = await reader.get(BASELINE, false);
    while (books?.status !== 200) {
      await sleep(books?.retryAfterMs ?? 0);
      books = await reader.get(BASELINE, false);
    }
    const changed = performance.now();
    Object.assign(state, { isChanging: false, newest: books.place, deadline: changed + MAX_CONVERGING_MS });
    await Promise.all(following);
    const seconds = (performance.now() - changed) / 1000;
    const digest = digestOf(books.rows);
    const others = followers.filter((follower) => follower.place !== state.newest || follower.digest !== digest).length;
    const { requests, changes, crashes, refused, pruned, imports, prunes, failures } = counts;
    return [
      {
        name: `${FOLLOWERS} copies over ${CONNECTIONS} connections, of which some crash, follow ${imports} imports and ${prunes} prunes: copies that end as other lines than the books`,
        figure: `${others} (goal 0); ${requests} requests, ${changes} changes, ${crashes} crashes, ${refused} told 429, ${pruned} told 410`,
        holds: others === 0 && crashes > 0 && pruned > 0 && prunes > 0,
      },
      {
        name: 'seconds until all had the last change',
        figure: `${seconds.toFixed(1)} (goal 60)`,
        holds: seconds < MAX_CONVERGING_MS / 1000,
      },
      { name: 'answers that failed', figure: `${failures} (goal 0)`, holds: failures === 0 },
    ];
  } finally {
    reader.close();
    await target.stop();
  }
}
