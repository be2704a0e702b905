import { createHash } from 'node:crypto';
import type { KnownAddressStore } from '../../data/access/known-address-store';
import type { CountedAttempt, LoginAttemptStore, LoginLimit } from '../../data/access/login-attempt-store';
import type { AppError } from '../../errors';
import { subscriberOf } from '../../values/addresses';

/** A user name, which may not exist, and the address from which somebody tries it. */
export interface LoginCaller {
  readonly organizationId: number;
  readonly username: string;
  readonly address: string;
}

/** The attempts of an address in this process. */
interface Attempts {
  /** Those under way, which resolve when they end. */
  readonly underWay: Set<Promise<unknown>>;
  /** The number of right passwords, each of which has given its counts back. */
  right: number;
}

/** The limits of a user and of an address allow this many times the attempts of a user at one address. */
const SHARED_FACTOR = 10;

/**
 * Limits the guessing of passwords without a way for guessers to shut users out. Attempts count against three limits: of the user at that
 * address, of the address within the organization, and of the user. At a known address, one that the user has logged in from, only the
 * first limit refuses, which nobody at another address can use up. Both kinds of address take the same statements, so that the time tells
 * nobody which users have logged in where.
 */
export class LoginGuard {
  private readonly userAtAddress: LoginLimit;
  private readonly address: LoginLimit;
  private readonly user: LoginLimit;
  /** The addresses with attempts under way, by their keys. */
  private readonly attempts = new Map<string, Attempts>();

  constructor(
    private readonly addresses: KnownAddressStore,
    attempts: LoginAttemptStore,
    loginAttempts: number,
  ) {
    this.userAtAddress = attempts.limit('user-address', loginAttempts);
    this.address = attempts.limit('organization-address', loginAttempts * SHARED_FACTOR);
    this.user = attempts.limit('user', loginAttempts * SHARED_FACTOR);
  }

  /**
   * Checks a password, where the limits allow it. An attempt counts as failed from before the check until it has found the user, so that
   * many attempts at once gain nothing. One that is refused waits for the attempts of its address that are under way: right passwords give
   * their counts back. Throws TOO_MANY_LOGIN_ATTEMPTS when a limit is used up.
   */
  async check<User extends { readonly id: number }>(
    caller: LoginCaller,
    findUser: () => Promise<User | undefined>,
  ): Promise<User | undefined> {
    const { organizationId, username } = caller;
    const keys = toKeys(caller);
    // No user name holds a NUL, and PostgreSQL's text cannot hold one.
    const isKnown = !username.includes('\0') && (await this.addresses.isKnown(organizationId, username, keys.addressHash));
    for (;;) {
      const attempts = this.attempts.get(keys.address) ?? { underWay: new Set(), right: 0 };
      this.attempts.set(keys.address, attempts);
      const { right } = attempts;
      const attempt = this.attempt(keys, isKnown, async (takeBack) => {
        const user = await findUser();
        if (!user) return undefined;
        await takeBack();
        attempts.right++;
        await this.addresses.remember(organizationId, user.id, keys.addressHash);
        return user;
      });
      const ended = attempt.catch(() => undefined);
      attempts.underWay.add(ended);
      try {
        const { user, refusal } = await attempt;
        if (!refusal) return user;
        attempts.underWay.delete(ended);
        // Those that come later are not waited for, so that a flood of attempts holds up nobody.
        await Promise.all(attempts.underWay);
        if (attempts.right === right) throw refusal;
      } finally {
        attempts.underWay.delete(ended);
        if (attempts.underWay.size === 0 && this.attempts.get(keys.address) === attempts) this.attempts.delete(keys.address);
      }
    }
  }

  /** Counts an attempt, and makes the check unless a limit refuses it. */
  private async attempt<User>(
    keys: LoginKeys,
    isKnown: boolean,
    check: (takeBack: () => Promise<void>) => Promise<User | undefined>,
  ): Promise<{ readonly user?: User | undefined; readonly refusal?: AppError }> {
    // Without this look, each name that a locked-out address invents would get a count.
    const lockout = await this.address.findRefusal(keys.address);
    if (lockout && !isKnown) return { refusal: lockout };
    const counted: CountedAttempt[] = [];
    const takeBack = async (): Promise<void> => {
      for (const each of counted) await each.takeBack();
    };
    // The count of a user at an address comes before that of the address, so that a client that tries one user again and again does not use
    // up the address.
    for (const [limit, key] of [
      [this.userAtAddress, keys.userAtAddress],
      [this.address, keys.address],
      [this.user, keys.user],
    ] as const) {
      const count = await limit.count(key);
      counted.push(count);
      const { refusal } = count;
      if (!refusal || (isKnown && limit !== this.userAtAddress)) continue;
      await takeBack();
      return { refusal };
    }
    return { user: await check(takeBack) };
  }

  /** Forgets the failures that count against a user. An address that is given becomes known, so others cannot shut the user out there. */
  async unlock(user: { organizationId: number; id: number; username: string }, address: string | undefined): Promise<void> {
    const keys = toKeys({ ...user, address: address ?? '' });
    for (const limit of [this.userAtAddress, this.user]) await limit.clear(keys.user);
    if (address === undefined) return;
    await this.address.clear(keys.address);
    await this.addresses.remember(user.organizationId, user.id, keys.addressHash);
  }
}

interface LoginKeys {
  readonly user: string;
  readonly addressHash: Buffer;
  readonly userAtAddress: string;
  readonly address: string;
}

/** The keys of the counters. They are hashes, so that the counters hold no personal data. All keys of a user begin with `user`. */
function toKeys({ organizationId, username, address }: LoginCaller): LoginKeys {
  const network = subscriberOf(address);
  const user = digest(`${organizationId} ${username}`).toString('base64url');
  const addressHash = digest(`${organizationId} ${username} ${network}`);
  return {
    user,
    addressHash,
    userAtAddress: `${user}.${addressHash.toString('base64url')}`,
    address: digest(`${organizationId} ${network}`).toString('base64url'),
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
