import { OTHER_AGENTS, type UsageStore, type V2Use } from '../../data/access/usage-store';
import { toAppError, type AppError } from '../../errors';

/** A request to v2 whose provision was valid, when its answer has ended. */
export interface V2Request extends Pick<V2Use, 'provisionId' | 'path' | 'userAgent' | 'lines'> {
  readonly isError: boolean;
  /** Milliseconds of the Unix time. */
  readonly at: number;
}

/** Counts that could not be written. */
export interface UnwrittenUsage {
  readonly requests: number;
  /** False for counts that are tried again with those of the next seconds. */
  readonly isLost: boolean;
  readonly error: AppError;
}

type Counted = { -readonly [Name in keyof V2Use]: V2Use[Name] };

/** A process that is killed loses the counts of this time, and of one statement, at most. */
const FLUSH_MS = 5000;
const MS_PER_DAY = 86_400_000;
/** The most counts of a provision that wait in memory. The store bounds the user agents of a day; these bound the memory until then. */
const MAX_WAITING = 100;
/** A caller may send kilobytes as its name. This is long enough for what is cut out of it below. */
const MAX_KEPT_LENGTH = 500;
const MAX_AGENT_LENGTH = 200;
/** The forms of credentials: a UUID with or without dashes, and the token of a session. A caller may have put its own into its name. */
const CREDENTIAL = /[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|[\w-]{43,}/gi;

/** Counts v2 requests in memory, and writes the counts every few seconds, so that no request waits for them. */
export class UsageCounter {
  /** The counts that wait to be written, by provision. */
  private waiting = new Map<number, Map<string, Counted>>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<AppError | undefined> = Promise.resolve(undefined);
  private isFailing = false;

  constructor(
    private readonly store: Pick<UsageStore, 'add'>,
    /** Called once for each outage, and for what is given up at the end. */
    private readonly onUnwritten: (unwritten: UnwrittenUsage) => void = () => undefined,
  ) {}

  /** Counts a request. */
  count({ provisionId, path, userAgent, isError, lines, at }: V2Request): void {
    const day = Math.floor(at / MS_PER_DAY);
    const counted = this.find(provisionId, day, path, toKept(userAgent));
    addTo(counted, 1, isError ? 1 : 0, lines, at);
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Writes all counts. Gives up those that the database does not take. */
  async close(): Promise<void> {
    // A request is counted in the turn of the event loop after its answer has closed.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const error = await this.flush();
    clearTimeout(this.timer);
    const requests = this.takeAll().reduce((sum, use) => sum + use.requests, 0);
    if (error && requests > 0) this.onUnwritten({ requests, isLost: true, error });
  }

  /** The counts of a user agent that wait, or those of the others when too many do. */
  private find(provisionId: number, day: number, path: string, userAgent: string): Counted {
    let uses = this.waiting.get(provisionId);
    if (!uses) this.waiting.set(provisionId, (uses = new Map<string, Counted>()));
    const key = `${day} ${path} ${userAgent}`;
    const found = uses.get(key);
    if (found) return found;
    if (uses.size >= MAX_WAITING && userAgent !== OTHER_AGENTS) return this.find(provisionId, day, path, OTHER_AGENTS);
    const counted = { provisionId, day, path, userAgent, requests: 0, errors: 0, lines: 0, lastUsedAt: 0 };
    uses.set(key, counted);
    return counted;
  }

  private takeAll(): Counted[] {
    const uses = [...this.waiting.values()].flatMap((each) => [...each.values()]);
    this.waiting = new Map();
    return uses;
  }

  /** Writes what waits, after the statement that is under way. Resolves to the error when that failed. */
  private flush(): Promise<AppError | undefined> {
    return (this.writing = this.writing.then(() => this.write()));
  }

  private async write(): Promise<AppError | undefined> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const uses = this.takeAll();
    if (uses.length === 0) return undefined;
    try {
      await this.store.add(uses.map((use) => ({ ...use, userAgent: toAgentName(use.userAgent) })));
      this.isFailing = false;
      return undefined;
    } catch (thrown) {
      const error = toAppError(thrown);
      for (const { provisionId, day, path, userAgent, requests, errors, lines, lastUsedAt } of uses)
        addTo(this.find(provisionId, day, path, userAgent), requests, errors, lines, lastUsedAt);
      this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
      if (!this.isFailing) this.onUnwritten({ requests: uses.reduce((sum, { requests }) => sum + requests, 0), isLost: false, error });
      this.isFailing = true;
      return error;
    }
  }
}

function addTo(counted: Counted, requests: number, errors: number, lines: number, lastUsedAt: number): void {
  counted.requests += requests;
  counted.errors += errors;
  counted.lines += lines;
  counted.lastUsedAt = Math.max(counted.lastUsedAt, lastUsedAt);
}

/**
 * The part of a user agent that is kept in memory. The end of a longer one may be a part of a credential, which has no credential's form any
 * more. The lookbehind keeps the search linear.
 */
const toKept = (text: string): string =>
  text.length > MAX_KEPT_LENGTH ? text.slice(0, MAX_KEPT_LENGTH).replace(/(?<![\w-])[\w-]+$/, '') : text;

/** The name of a user agent as it is stored: printable ASCII, bounded, and without what may be a credential. */
const toAgentName = (text: string): string =>
  text
    .replace(CREDENTIAL, '*')
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, MAX_AGENT_LENGTH)
    .trim();
