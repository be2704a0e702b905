import { AppError } from '../../errors';
import type { Caller, QueueFigures, ReportQueue } from './report-queue';

interface FairQueueOptions {
  /** The number of lanes. One organization may hold all of them while no other asks. */
  readonly width: number;
  /** The number of extra lanes, each for an organization that holds no lane. */
  readonly guests: number;
  /** The number of waiting places of all organizations together. */
  readonly maxWaiting: number;
  /** The longest wait for a lane, in milliseconds. */
  readonly maxWaitMs: number;
}

/** The time after which a report that was turned away should try again. */
const RETRY_AFTER_SECONDS = 5;

/** The part of the queue that belongs to an organization or a credential. */
interface Standing {
  inside: number;
  waiting: number;
  /** The number of the turn in which it last got a lane. Among equals, the older turn goes first. */
  lastAdmission: number;
}

interface OrganizationStanding extends Standing {
  readonly credentials: Map<string, CredentialStanding>;
}

interface CredentialStanding extends Standing {
  readonly waiters: Waiter[];
}

interface Waiter {
  readonly letIn: () => void;
  readonly turnAway: (reason: Error) => void;
}

/**
 * Limits how many reports are read at once. A report is read in a lane, and takes a waiting place until it gets one. Organizations share
 * both fairly, and so do the credentials within an organization. A free lane goes to the organization that holds the fewest, and within it
 * to the credential that holds the fewest. When too many reports wait, the newest of the longest line is turned away with TOO_MANY_REQUESTS
 * and a time to come back. An organization that holds no lane may get an extra one, so that slow readers elsewhere cannot shut it out.
 */
export class FairQueue implements ReportQueue {
  private readonly organizations = new Map<number, OrganizationStanding>();
  private inside = 0;
  private waiting = 0;
  private admissions = 0;
  private readonly turnedAway = { full: 0, late: 0 };
  private readonly watchers: ((isQuiet: boolean) => void)[] = [];

  constructor(private readonly options: FairQueueOptions) {}

  async enter(caller: Caller, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const { maxWaiting, maxWaitMs } = this.options;
    await new Promise<void>((resolve, reject) => {
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        then();
      };
      const waiter: Waiter = { letIn: () => settle(resolve), turnAway: (reason) => settle(() => reject(reason)) };
      const stepOut = (reason: Error): void => {
        const { waiters } = this.standingOf(caller).credential;
        waiters.splice(waiters.indexOf(waiter), 1);
        this.count(caller, 'waiting', -1);
        waiter.turnAway(reason);
      };
      const onAbort = (): void => stepOut(signal.reason as Error);
      const timer = setTimeout(() => {
        this.turnedAway.late++;
        stepOut(turnedAway(`The report waited ${maxWaitMs} ms for its turn`));
      }, maxWaitMs);
      signal.addEventListener('abort', onAbort);
      this.standingOf(caller).credential.waiters.push(waiter);
      this.count(caller, 'waiting', 1);
      this.admit();
      if (this.waiting > maxWaiting) this.shorten(caller);
    });
    return () => this.leave(caller);
  }

  async enterBeside(caller: Caller, signal: AbortSignal): Promise<(() => void) | undefined> {
    signal.throwIfAborted();
    if (!this.isQuiet || !this.hasSecondLanes) return undefined;
    this.takeLane(caller);
    return () => this.leave(caller);
  }

  /** Calls the function with `isQuiet` now and whenever a lane was taken or given back. */
  watch(watcher: (isQuiet: boolean) => void): () => void {
    this.watchers.push(watcher);
    watcher(this.isQuiet);
    return () => void this.watchers.splice(this.watchers.indexOf(watcher), 1);
  }

  get figures(): QueueFigures {
    return { taken: this.inside, waiting: this.waiting, turnedAway: this.turnedAway };
  }

  get isQuiet(): boolean {
    return this.inside === 1;
  }

  get hasSecondLanes(): boolean {
    return this.options.width > 1;
  }

  /** Gives free lanes to waiting reports until no report may have one. */
  private admit(): void {
    for (;;) {
      const next = fairest([...this.organizations].filter(([, organization]) => organization.waiting > 0 && this.mayEnter(organization)));
      if (!next) return;
      const [organizationId, { credentials }] = next;
      const [credential, { waiters }] = fairest([...credentials].filter(([, { waiting }]) => waiting > 0))!;
      const caller = { organizationId, credential };
      const { letIn } = waiters.shift()!;
      this.takeLane(caller);
      this.count(caller, 'waiting', -1);
      letIn();
    }
  }

  private takeLane(caller: Caller): void {
    this.admissions++;
    for (const standing of Object.values(this.standingOf(caller))) standing.lastAdmission = this.admissions;
    this.count(caller, 'inside', 1);
  }

  private leave(caller: Caller): void {
    this.count(caller, 'inside', -1);
    this.admit();
  }

  private mayEnter({ inside }: Standing): boolean {
    return this.inside < this.options.width || (inside === 0 && this.inside < this.options.width + this.options.guests);
  }

  /** Turns away the newest report of the longest line. Among lines of the same length, the newcomer's own counts as the longest. */
  private shorten(newcomer: Caller): void {
    const [organizationId, { credentials }] = longest(this.organizations, newcomer.organizationId);
    const [credential, { waiters }] = longest(credentials, newcomer.credential);
    const { turnAway } = waiters.pop()!;
    this.count({ organizationId, credential }, 'waiting', -1);
    this.turnedAway.full++;
    turnAway(turnedAway(`${this.options.maxWaiting} reports are waiting already`));
  }

  private standingOf({ organizationId, credential }: Caller): { organization: OrganizationStanding; credential: CredentialStanding } {
    const none = { inside: 0, waiting: 0, lastAdmission: 0 };
    const organization = this.organizations.get(organizationId) ?? { ...none, credentials: new Map<string, CredentialStanding>() };
    const standing = organization.credentials.get(credential) ?? { ...none, waiters: [] };
    this.organizations.set(organizationId, organization);
    organization.credentials.set(credential, standing);
    return { organization, credential: standing };
  }

  private count(caller: Caller, what: 'inside' | 'waiting', change: 1 | -1): void {
    const { organization, credential } = this.standingOf(caller);
    this[what] += change;
    organization[what] += change;
    credential[what] += change;
    if (what === 'inside') for (const watcher of this.watchers) watcher(this.isQuiet);
    // A standing without a lane and a waiting place is deleted, so that the maps do not grow.
    if (credential.inside + credential.waiting === 0) organization.credentials.delete(caller.credential);
    if (organization.inside + organization.waiting === 0) this.organizations.delete(caller.organizationId);
  }
}

/** The standing that holds the fewest lanes; among equals, the one that got its last lane the longest time ago. */
function fairest<Key, Of extends Standing>(standings: readonly (readonly [Key, Of])[]): readonly [Key, Of] | undefined {
  return standings.toSorted(([, one], [, other]) => one.inside - other.inside || one.lastAdmission - other.lastAdmission)[0];
}

function longest<Key, Of extends Standing>(standings: ReadonlyMap<Key, Of>, first: Key): readonly [Key, Of] {
  return [...standings].toSorted(
    ([key, one], [otherKey, other]) => other.waiting - one.waiting || Number(otherKey === first) - Number(key === first),
  )[0]!;
}

/** The cause that is logged for a report that was turned away. Its name tells a busy gateway from a lost database. */
class TurnedAway extends Error {
  override readonly name = 'TurnedAway';
}

const turnedAway = (why: string): AppError =>
  new AppError('TOO_MANY_REQUESTS', { cause: new TurnedAway(why), retryAfterSeconds: RETRY_AFTER_SECONDS });
