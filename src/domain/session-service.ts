import { createHash, randomBytes } from 'node:crypto';
import type { LoginAttemptStore, LoginLimit } from '../data/login-attempt-store';
import type { SessionStore } from '../data/session-store';
import type { UserStore } from '../data/user-store';
import { AppError } from '../errors';
import { isPassword } from '../passwords';
import { hashToken, type SystemAccess } from './access-service';

export interface LoginRequest {
  readonly username: string;
  readonly password: string;
  /** The address that the login came from. */
  readonly address: string;
  /** The session that the client came with; it ends with this login. */
  readonly earlierToken: string | undefined;
}

export interface OpenedSession {
  /** 256 random bits in base64url; stored as its SHA-256 only. */
  readonly token: string;
  readonly expiresAt: Date;
  readonly username: string;
  readonly privileges: readonly string[];
}

interface SessionServiceOptions {
  readonly sessionHours: number;
  /** Failed logins allowed in 15 minutes for one user from one address; ten times as many for the user, and for the address. */
  readonly loginAttempts: number;
}

const TOKEN_BYTES = 32;
const MS_PER_HOUR = 3_600_000;

export class SessionService {
  private readonly limits: readonly { limit: LoginLimit; key: (user: string, address: string) => string }[];

  constructor(
    private readonly users: UserStore,
    private readonly sessions: SessionStore,
    attempts: LoginAttemptStore,
    private readonly options: SessionServiceOptions,
  ) {
    this.limits = [
      { limit: attempts.limit('user-address', options.loginAttempts), key: (user, address) => digest(`${user} ${address}`) },
      { limit: attempts.limit('user', options.loginAttempts * 10), key: digest },
      { limit: attempts.limit('address', options.loginAttempts * 10), key: (_user, address) => digest(address) },
    ];
  }

  /** Opens a session under the provision of the access. Throws LOGIN_FAILED, also for a disabled user, or TOO_MANY_LOGIN_ATTEMPTS. */
  async login(access: SystemAccess, request: LoginRequest): Promise<OpenedSession> {
    const organizationId = access.organization.id;
    const attempts = this.limits.map(({ limit, key }) => ({ limit, key: key(`${organizationId} ${request.username}`, request.address) }));
    for (const { limit, key } of attempts) await limit.count(key);

    // No name holds a NUL, and PostgreSQL's text cannot.
    const user = request.username.includes('\0') ? null : await this.users.find(organizationId, request.username);
    if (!(await isPassword(request.password, user?.passwordHash)) || !user || user.disabledAt) throw new AppError('LOGIN_FAILED');
    for (const { limit, key } of attempts) await limit.takeBack(key);

    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const expiresAt = new Date(Date.now() + this.options.sessionHours * MS_PER_HOUR);
    await this.sessions.replace(
      {
        tokenHash: createHash('sha256').update(token).digest(),
        organizationId,
        userId: user.id,
        provisionId: access.provisionId,
        expiresAt,
      },
      request.earlierToken === undefined ? undefined : hashToken(request.earlierToken),
    );
    return { token, expiresAt, username: user.username, privileges: user.privileges };
  }

  /** Ends the session of a token, if there is one. */
  async logout(token: string | undefined): Promise<void> {
    const tokenHash = token === undefined ? undefined : hashToken(token);
    if (tokenHash) await this.sessions.delete(tokenHash);
  }
}

/** Names and addresses are kept as digests: the counters hold no personal data. */
const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');
