import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { BookCopy } from '../support/book-copy';
import { succeed } from '../support/command';
import { createOrganization, importLines, type TestOrganization } from '../support/gateway';
import { startTarget, type Finding, type Target } from './attack';
import { anyGift, BASELINE, changesSince, createFileReader, monthOf, pick, type FileReader } from './followed-books';

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

const counts = { requests: 0, changes: 0, crashes: 0, refused: 0, pruned: 0, imports: 0, prunes: 0, failures: 0 };

/** A copy that dies at times, and then knows no more than it has noted. */
class Follower {
  private readonly copy = new BookCopy();

  constructor(private readonly reader: FileReader) {}

  get place(): string | undefined {
    return this.copy.place;
  }

  get text(): string {
    return this.copy.text.join('\n');
  }

  /** Asks once, and dies of some answers. */
  async turn(waitSeconds: number): Promise<void> {
    const dies = Math.random() < CRASHES;
    const isCut = dies && Math.random() < 0.5;
    counts.requests++;
    const answer = await this.reader.get(this.place === undefined ? BASELINE : changesSince(this.place, waitSeconds), isCut);
    if (answer?.status === 429) {
      counts.refused++;
      return sleep(answer.retryAfterMs);
    }
    if (answer?.status === 410) {
      counts.pruned++;
      this.copy.place = undefined;
      return;
    }
    if (dies || answer?.status !== 200) {
      if (dies) counts.crashes++;
      else counts.failures++;
      return;
    }
    if (this.place === undefined) this.copy.begin(answer.rows, answer.place!);
    else counts.changes += this.copy.take(answer.rows);
  }
}

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
  const reader = createFileReader(target.serve.url, organization, CONNECTIONS);
  try {
    await importLines(
      target.services,
      organization,
      Array.from({ length: LINES }, (_, number) => anyGift(number)),
    );
    const followers = Array.from({ length: FOLLOWERS }, () => new Follower(reader));
    const state = { isChanging: true, newest: undefined as string | undefined, deadline: Infinity };
    const following = followers.map(async (follower) => {
      while ((state.isChanging || follower.place !== state.newest) && performance.now() < state.deadline)
        await follower.turn(state.isChanging ? 1 : 0);
    });
    await changeBooks(target, organization);
    let books = await reader.get(BASELINE);
    while (books?.status !== 200) {
      await sleep(books?.retryAfterMs ?? 0);
      books = await reader.get(BASELINE);
    }
    const changed = performance.now();
    Object.assign(state, { isChanging: false, newest: books.place, deadline: changed + MAX_CONVERGING_MS });
    await Promise.all(following);
    const seconds = (performance.now() - changed) / 1000;
    const text = [...books.rows].sort().join('\n');
    const others = followers.filter((follower) => follower.place !== state.newest || follower.text !== text).length;
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
