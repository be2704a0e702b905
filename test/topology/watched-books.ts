import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../../src/services';
import { importLines, v2Line, type TestOrganization } from '../support/gateway';
import { donorAt, read, READINGS, type ReadAnswer } from '../support/replicated-gateway';
import { percentile } from '../trust/attack';

const LINES = 50;
const TURNED_AWAY = 429;
const AUTHENTICATION = '/api/v2/authenticated_test_system';
/** One in five requests reads the books. */
const PATHS = Object.values(READINGS).flatMap((reading) => [...Array<string>(4).fill(AUTHENTICATION), reading]);

/** The pace of the load, which a machine with other work may need lower. */
export const PER_SECOND = Number(process.env.REQUESTS_PER_SECOND ?? '200');

interface TimedAnswer extends ReadAnswer {
  readonly ms: number;
  /** The time at which the answer was whole, in milliseconds since 1970. */
  readonly at: number;
  /** True for an answer that is not whole of the version that it names, or of an older one than was acknowledged before the request. */
  readonly isWrong: boolean;
}

/** The outcome of a load. */
export class Load {
  constructor(readonly answers: readonly TimedAnswer[]) {}

  get wrong(): readonly TimedAnswer[] {
    return this.answers.filter(({ isWrong }) => isWrong);
  }

  get failed(): readonly TimedAnswer[] {
    return this.answers.filter(({ status }) => status !== 200);
  }

  /** Failed answers but for those that a full waiting line has turned away. */
  get lost(): readonly TimedAnswer[] {
    return this.failed.filter(({ status }) => status !== TURNED_AWAY);
  }

  /** Wrong and failed answers, and the longest times, in words. */
  describe(): string {
    const [first = this.lost[0]] = this.wrong;
    const example = first ? `, such as ${first.status} of version ${first.version}: ${first.body.slice(0, 100)}` : '';
    const statuses = [...new Set(this.failed.map(({ status }) => status))];
    const countOf = (wanted: number): number => this.failed.filter(({ status }) => status === wanted).length;
    const failures = statuses.map((status) => `${countOf(status)} by ${status === 0 ? 'a broken connection' : status}`).join(', ');
    const at = (percent: number): string => `${percentile(this.answers, percent).toFixed(0)} ms`;
    return `${this.answers.length} requests, ${this.wrong.length} wrong, ${this.failed.length} failed${failures && ` (${failures}${example})`}, p99 ${at(99)}, longest ${at(100)}`;
  }
}

/** An organization whose books an import changes again and again, while every answer is compared with the version that it names. */
export class WatchedBooks {
  /** The newest data version whose import has ended well. */
  acknowledged = 0;
  private isOver = false;

  constructor(
    private readonly services: Services,
    private readonly organization: TestOrganization,
  ) {}

  /** Imports the next state of the books. */
  async turn(): Promise<void> {
    const next = this.acknowledged + 1;
    const names = { donor_first_name: donorAt(next) };
    const lines = Array.from({ length: LINES }, (_, n) =>
      v2Line({ ...names, deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, donor_id: n + 1 }),
    );
    await importLines(this.services, this.organization, lines);
    this.acknowledged = next;
  }

  /** Imports every so often until `stop`. An import that fails is tried again. Resolves to the number of failures. */
  async keepTurning(everyMs: number): Promise<number> {
    let failures = 0;
    while (!this.isOver) {
      await this.turn().catch(async () => {
        failures++;
        await this.recover();
      });
      await sleep(everyMs);
    }
    return failures;
  }

  stop(): void {
    this.isOver = true;
  }

  /** Sends so many requests in a second, whether or not the answers before have come, to each gateway in turn. */
  async load(seconds: number, perSecond: number, urls: readonly string[]): Promise<Load> {
    const answers: Promise<TimedAnswer>[] = [];
    const startedAt = performance.now();
    for (let n = 0; n < seconds * perSecond; n++) {
      const due = startedAt + (n * 1000) / perSecond - performance.now();
      if (due > 0) await sleep(due);
      answers.push(this.ask(urls[n % urls.length]!, PATHS[n % PATHS.length]!));
    }
    return new Load(await Promise.all(answers));
  }

  private async ask(url: string, path: string): Promise<TimedAnswer> {
    const least = this.acknowledged;
    const startedAt = performance.now();
    const answer = await read(url, this.organization.apiProvision, path).catch((error: unknown) => ({
      ...{ status: 0, version: NaN, body: `${String(error)} ${String((error as Error).cause)}` },
    }));
    const donors = new Set(answer.body.match(/Ada|Grace/g));
    const isMixed = donors.size > 1 || (donors.size === 1 && !donors.has(donorAt(answer.version)));
    const isWrong = answer.status === 200 && (isMixed || answer.body.includes('"errors"') || !(answer.version >= least));
    return { ...answer, isWrong, ms: performance.now() - startedAt, at: Date.now() };
  }

  /** Learns whether an import that failed was written all the same. */
  private async recover(): Promise<void> {
    const [newest] = await this.services.books.newestVersions(this.organization.id, 1).catch(() => []);
    if (newest) this.acknowledged = Math.max(this.acknowledged, newest.number);
  }
}
