import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../../src/services';
import { importLines, v2Line, type TestOrganization } from '../support/gateway';
import { read, READINGS, type ReadAnswer } from '../support/replicated-gateway';
import { percentile } from '../trust/attack';

const LINES = 50;
const TURNED_AWAY = 429;
const AUTHENTICATION = '/api/v2/authenticated_test_system';
/** One in five requests reads the books. */
const PATHS = Object.values(READINGS).flatMap((reading) => [...Array<string>(4).fill(AUTHENTICATION), reading]);

/** The least share of the requests that a load is answered whole; others may be turned away by a full waiting line. */
const MIN_WHOLE_SHARE = 0.9;

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

  /** The answers that came whole, from a time on, as a share of the requests that ended then; 0 where there was none. */
  wholeShare(since = 0): number {
    const ended = this.answers.filter(({ at }) => at >= since);
    return ended.length === 0 ? 0 : ended.filter(({ status }) => status === 200).length / ended.length;
  }

  /** True when enough of the requests that ended from a time on were answered whole. */
  isServed(since = 0): boolean {
    return this.wholeShare(since) >= MIN_WHOLE_SHARE;
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
    return `${this.answers.length} requests, ${inPercent(this.wholeShare())} answered whole, ${this.wrong.length} wrong, ${this.failed.length} failed${failures && ` (${failures}${example})`}, p99 ${at(99)}, longest ${at(100)}`;
  }
}

/** A share in words, with the least that a load needs. */
export const inPercent = (share: number): string => `${(share * 100).toFixed(1)} % (goal ${MIN_WHOLE_SHARE * 100} %)`;

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
    const marks = { donor_first_name: `Version ${next}`, amount: `${next}.01`, net_amount: `${next}.01`, fee_amount: '0.00' };
    const lines = Array.from({ length: LINES }, (_, n) =>
      v2Line({ ...marks, deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, donor_id: n + 1 }),
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
    const seen = versionsIn(answer.body);
    const isOfVersion = path === AUTHENTICATION ? seen.size === 0 : seen.size === 1 && seen.has(answer.version);
    const isWrong = answer.status === 200 && (!isOfVersion || answer.body.includes('"errors"') || !(answer.version >= least));
    return { ...answer, isWrong, ms: performance.now() - startedAt, at: Date.now() };
  }

  /** Learns whether an import that failed was written all the same. */
  private async recover(): Promise<void> {
    const [newest] = await this.services.books.newestVersions(this.organization.id, 1).catch(() => []);
    if (newest) this.acknowledged = Math.max(this.acknowledged, newest.number);
  }
}

/**
 * The versions of which an answer has a value. Every name and every amount of a version tells its number: an amount of a line ends with .01,
 * and the sum of all lines with .50.
 */
export function versionsIn(body: string): ReadonlySet<number> {
  const numbers = (pattern: RegExp, lines = 1): number[] => [...body.matchAll(pattern)].map(([, digits]) => Number(digits) / lines);
  return new Set([...numbers(/Version (\d+)/g), ...numbers(/\b(\d+)\.01\b/g), ...numbers(/\b(\d+)\.50\b/g, LINES)]);
}
