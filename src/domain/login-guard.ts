import { createHash } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import type { KnownAddressStore } from '../data/known-address-store';
import type { LoginAttemptStore, LoginLimit } from '../data/login-attempt-store';
import { OperatorError } from '../errors';

/** A user name, existing or not, and where somebody tries it from. */
export interface LoginCaller {
  readonly organizationId: number;
  readonly username: string;
  readonly address: string;
}

/** A login that may be tried; it counts as failed until it is said to have succeeded. */
export interface LoginAttempt {
  succeed(userId: number): Promise<void>;
}

/** Users and addresses have this many times the attempts of a user at one address. */
const SHARED_FACTOR = 10;
/** The network that one subscriber is given (RFC 6177 section 2); within it, a machine changes its address daily (RFC 8981). */
const IPV6_NETWORK_GROUPS = 4;

/**
 * Bounds the guessing of passwords without giving guessers a way to shut users out. An address that a user has logged in from has
 * a limit of its own with that user, which nobody elsewhere uses up. All others share limits: of the user, and of the address within
 * one organization.
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

  /** Throws TOO_MANY_LOGIN_ATTEMPTS. Attempts are counted before the password is looked at, so that many at once gain nothing. */
  async begin(caller: LoginCaller): Promise<LoginAttempt> {
    const { organizationId, username } = caller;
    const keys = toKeys(caller);
    // No name holds a NUL, and PostgreSQL's text cannot.
    const isKnown = !username.includes('\0') && (await this.addresses.isKnown(organizationId, username, keys.addressHash));
    const counted = isKnown
      ? [{ limit: this.known, key: keys.userAtAddress }]
      : [
          { limit: this.userAtAddress, key: keys.userAtAddress },
          { limit: this.address, key: keys.address },
          { limit: this.user, key: keys.user },
        ];
    for (const { limit, key } of counted) await limit.count(key);
    return {
      succeed: async (userId) => {
        for (const { limit, key } of counted) await limit.takeBack(key);
        await this.addresses.remember(organizationId, userId, keys.addressHash);
      },
    };
  }

  /** Forgets the failures counted against a user. From an address that is given, the user then gets in whatever others do. */
  async unlock(user: { organizationId: number; id: number; username: string }, address: string | undefined): Promise<void> {
    if (address !== undefined && isIP(address) === 0) throw new OperatorError(`"${address}" is not an IP address`);
    const keys = toKeys({ ...user, address: address ?? '' });
    for (const limit of [this.known, this.userAtAddress, this.user]) await limit.clear(keys.user);
    if (address === undefined) return;
    await this.address.clear(keys.address);
    await this.addresses.remember(user.organizationId, user.id, keys.addressHash);
  }
}

/** Names and addresses are kept as digests: the counters hold no personal data. The keys of a user begin alike. */
function toKeys({ organizationId, username, address }: LoginCaller) {
  const network = toNetwork(address);
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

/** An IPv4 address, or the network of an IPv6 one. */
function toNetwork(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (isIP(address) !== 6) return address;
  // The URL standard writes every IPv6 address in one way; what :: stands for is filled in.
  const [head = '', tail] = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1).split('::');
  const groups = (part: string): string[] => part.split(':').filter((group) => group !== '');
  const after = groups(tail ?? '');
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - groups(head).length - after.length }, () => '0');
  return [...groups(head), ...zeros, ...after].slice(0, IPV6_NETWORK_GROUPS).join(':');
}
