import { createHash } from 'node:crypto';
import type { KnownAddressStore } from '../../data/access/known-address-store';
import type { LoginAttemptStore, LoginLimit } from '../../data/access/login-attempt-store';
import { subscriberOf } from '../../values/addresses';

/** A user name, which may not exist, and the address from which somebody tries it. */
export interface LoginCaller {
  readonly organizationId: number;
  readonly username: string;
  readonly address: string;
}

/** A login that may be tried. It counts as failed until `succeed` is called. */
export interface LoginAttempt {
  succeed(userId: number): Promise<void>;
}

/** The limits of a user and of an address allow this many times the attempts of a user at one address. */
const SHARED_FACTOR = 10;

/**
 * Limits the guessing of passwords without a way for guessers to shut users out. A user at a known address, one that the user has logged in
 * from, has a limit that nobody at another address can use up. Attempts from other addresses count against three limits: of the user at
 * that address, of the address within the organization, and of the user.
 */
export class LoginGuard {
  private readonly known: LoginLimit;
  private readonly userAtAddress: LoginLimit;
  private readonly address: LoginLimit;
  private readonly user: LoginLimit;

  constructor(
    private readonly addresses: KnownAddressStore,
    attempts: LoginAttemptStore,
    loginAttempts: number,
  ) {
    this.known = attempts.limit('known-address', loginAttempts);
    this.userAtAddress = attempts.limit('user-address', loginAttempts);
    this.address = attempts.limit('organization-address', loginAttempts * SHARED_FACTOR);
    this.user = attempts.limit('user', loginAttempts * SHARED_FACTOR);
  }

  /**
   * Counts an attempt before the password is checked, so that many attempts at once gain nothing. Throws TOO_MANY_LOGIN_ATTEMPTS when a
   * limit is used up.
   */
  async startAttempt(caller: LoginCaller): Promise<LoginAttempt> {
    const { organizationId, username } = caller;
    const keys = toKeys(caller);
    // No user name holds a NUL, and PostgreSQL's text cannot hold one.
    const isKnown = !username.includes('\0') && (await this.addresses.isKnown(organizationId, username, keys.addressHash));
    const counted = isKnown
      ? [{ limit: this.known, key: keys.userAtAddress }]
      : [
          { limit: this.userAtAddress, key: keys.userAtAddress },
          { limit: this.address, key: keys.address },
          { limit: this.user, key: keys.user },
        ];
    // The count of a user at an address comes before that of the address, so that a client that tries one user again and again does not use
    // up the address. Without this check, each name that a locked-out address invents would get a count.
    if (!isKnown) await this.address.assertLeft(keys.address);
    for (const { limit, key } of counted) await limit.count(key);
    return {
      succeed: async (userId) => {
        for (const { limit, key } of counted) await limit.takeBack(key);
        await this.addresses.remember(organizationId, userId, keys.addressHash);
      },
    };
  }

  /** Forgets the failures that count against a user. An address that is given becomes known, so others cannot shut the user out there. */
  async unlock(user: { organizationId: number; id: number; username: string }, address: string | undefined): Promise<void> {
    const keys = toKeys({ ...user, address: address ?? '' });
    for (const limit of [this.known, this.userAtAddress, this.user]) await limit.clear(keys.user);
    if (address === undefined) return;
    await this.address.clear(keys.address);
    await this.addresses.remember(user.organizationId, user.id, keys.addressHash);
  }
}

/** The keys of the counters. They are hashes, so that the counters hold no personal data. All keys of a user begin with `user`. */
function toKeys({ organizationId, username, address }: LoginCaller) {
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
