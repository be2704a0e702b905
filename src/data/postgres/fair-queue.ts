import { AppError } from '../../errors';

interface FairQueueOptions {
  /** Lanes, all of them one organization's if nobody else asks. */
  readonly width: number;
  /** Extra lanes, each for an organization that holds none. */
  readonly guests: number;
  /** Waiting places of all organizations together. */
  readonly maxWaiting: number;
  /** Milliseconds that one may wait. */
  readonly maxWaitMs: number;
}

/** On whose account the gateway works. */
export interface Caller {
  readonly organizationId: number;
  /** The user or the provision within the organization. */
  readonly credential: string;
}

/** A line that was full is worth another try after so long. */
const RETRY_AFTER_SECONDS = 5;

/** An organization's or a credential's part of the queue. */
interface Share {
  inside: number;
  waiting: number;
  /** The turn in which it was last let in; the older goes first among equals. */
  lastTurn: number;
}

interface OrganizationShare extends Share {
  readonly credentials: Map<string, CredentialShare>;
}

interface CredentialShare extends Share {
  readonly line: Waiter[];
}

interface Waiter {
  readonly letIn: () => void;
  readonly turnAway: (reason: Error) => void;
}

/**
 * Lets so many reports be read at once. Lanes and waiting places are shared between organizations, and within
 * one between its credentials: the next lane goes to the share that holds the fewest, and a full line turns away the newest of the longest.
 * An organization that holds no lane may have one beyond the width, so that others who read slowly cannot shut it out.
 * A report that is turned away gets TOO_MANY_REQUESTS and a time to come back.
 */
export class FairQueue {
  private readonly organizations = new Map<number, OrganizationShare>();
  private inside = 0;
  private waiting = 0;
  private turn = 0;

  constructor(private readonly options: FairQueueOptions) {}

  /** Resolves inside; `leave` must follow. Rejects with the signal's reason when it aborts first. */
  async enter(caller: Caller, signal: AbortSignal): Promise<void> {
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
        const line = this.shareOf(caller).credential.line;
        line.splice(line.indexOf(waiter), 1);
        this.count(caller, 'waiting', -1);
        waiter.turnAway(reason);
      };
      const onAbort = (): void => stepOut(signal.reason as Error);
      const timer = setTimeout(() => stepOut(turnedAway(`The report waited ${maxWaitMs} ms for its turn`)), maxWaitMs);
      signal.addEventListener('abort', onAbort);
      this.shareOf(caller).credential.line.push(waiter);
      this.count(caller, 'waiting', 1);
      this.admit();
      if (this.waiting > maxWaiting) this.shorten(caller);
    });
  }

  leave(caller: Caller): void {
    this.count(caller, 'inside', -1);
    this.admit();
  }

  /** True while exactly one report is read. */
  get isQuiet(): boolean {
    return this.inside === 1;
  }

  /** Whether one more of anybody would be let in at once. */
  get hasRoom(): boolean {
    return this.inside < this.options.width;
  }

  /** Lets in all who may. */
  private admit(): void {
    for (;;) {
      const next = fairest([...this.organizations].filter(([, organization]) => organization.waiting > 0 && this.mayEnter(organization)));
      if (!next) return;
      const [organizationId, { credentials }] = next;
      const [credential, { line }] = fairest([...credentials].filter(([, { waiting }]) => waiting > 0))!;
      const caller = { organizationId, credential };
      const { letIn } = line.shift()!;
      this.turn++;
      for (const share of Object.values(this.shareOf(caller))) share.lastTurn = this.turn;
      this.count(caller, 'inside', 1);
      this.count(caller, 'waiting', -1);
      letIn();
    }
  }

  private mayEnter({ inside }: Share): boolean {
    return this.inside < this.options.width || (inside === 0 && this.inside < this.options.width + this.options.guests);
  }

  /** Turns away the newest of the longest line; the newcomer's own line counts as the longest among equals. */
  private shorten(newcomer: Caller): void {
    const [organizationId, { credentials }] = longest(this.organizations, newcomer.organizationId);
    const [credential, { line }] = longest(credentials, newcomer.credential);
    const { turnAway } = line.pop()!;
    this.count({ organizationId, credential }, 'waiting', -1);
    turnAway(turnedAway(`${this.options.maxWaiting} reports are waiting already`));
  }

  private shareOf({ organizationId, credential }: Caller): { organization: OrganizationShare; credential: CredentialShare } {
    const none = { inside: 0, waiting: 0, lastTurn: 0 };
    const organization = this.organizations.get(organizationId) ?? { ...none, credentials: new Map<string, CredentialShare>() };
    const share = organization.credentials.get(credential) ?? { ...none, line: [] };
    this.organizations.set(organizationId, organization);
    organization.credentials.set(credential, share);
    return { organization, credential: share };
  }

  private count(caller: Caller, what: 'inside' | 'waiting', change: 1 | -1): void {
    const { organization, credential } = this.shareOf(caller);
    this[what] += change;
    organization[what] += change;
    credential[what] += change;
    // Nothing is kept of those who have neither a lane nor a place.
    if (credential.inside + credential.waiting === 0) organization.credentials.delete(caller.credential);
    if (organization.inside + organization.waiting === 0) this.organizations.delete(caller.organizationId);
  }
}

/** The share that holds the fewest lanes; among equals the one that has waited longest for one. */
function fairest<Key, Of extends Share>(shares: readonly (readonly [Key, Of])[]): readonly [Key, Of] | undefined {
  return shares.toSorted(([, one], [, other]) => one.inside - other.inside || one.lastTurn - other.lastTurn)[0];
}

function longest<Key, Of extends Share>(shares: ReadonlyMap<Key, Of>, first: Key): readonly [Key, Of] {
  return [...shares].toSorted(
    ([key, one], [otherKey, other]) => other.waiting - one.waiting || Number(otherKey === first) - Number(key === first),
  )[0]!;
}

/** In the log, what tells a busy gateway from a lost database. */
class TurnedAway extends Error {
  override readonly name = 'TurnedAway';
}

const turnedAway = (why: string): AppError =>
  new AppError('TOO_MANY_REQUESTS', { cause: new TurnedAway(why), retryAfterSeconds: RETRY_AFTER_SECONDS });
