import { createHash, randomBytes } from 'node:crypto';
import type { SessionStore } from '../../data/access/session-store';
import type { UserStore } from '../../data/access/user-store';
import { AppError } from '../../errors';
import { subscriberOf } from '../../values/addresses';
import type { AuditCaller, AuditOperation, AuditService } from '../audit/audit-service';
import { hashProof, hashToken, toLinkProof } from './credentials';
import type { LoginGuard } from './login-guard';
import { isPassword } from './passwords';
import type { SystemAccess } from './request-caller';

export interface LoginRequest {
  readonly username: string;
  readonly password: string;
  /** The address that the login came from. */
  readonly address: string;
  /** The caller as the audit names it. */
  readonly caller: AuditCaller;
  /** The tokens of the sessions that the new one replaces. These sessions end. */
  readonly earlierTokens: readonly string[];
}

export interface NewSession {
  /** 256 random bits in base64url. Only their SHA-256 is stored. */
  readonly token: string;
  /** The time at which the session ends if no request comes. */
  readonly idleExpiresAt: Date;
  readonly expiresAt: Date;
  readonly username: string;
  readonly privileges: readonly string[];
}

interface SessionServiceOptions {
  readonly sessionHours: number;
  readonly sessionIdleMinutes: number;
}

const TOKEN_BYTES = 32;
const MS_PER_MINUTE = 60_000;
const MS_PER_HOUR = 3_600_000;

export class SessionService {
  constructor(
    private readonly users: UserStore,
    private readonly sessions: SessionStore,
    private readonly guard: LoginGuard,
    private readonly audit: Pick<AuditService, 'record' | 'noteOften'>,
    private readonly options: SessionServiceOptions,
  ) {}

  /**
   * Opens a session under the provision of the access. Throws TOO_MANY_LOGIN_ATTEMPTS, or LOGIN_FAILED, also for a disabled user. The audit
   * names a user that there is, and no other text that was tried as a name: it may be a password.
   */
  async login(access: SystemAccess, request: LoginRequest): Promise<NewSession> {
    const organizationId = access.organization.id;
    const operation = toOperation('login', request.address);
    // No user name holds a NUL, and PostgreSQL's text cannot hold one.
    const findUser = async () => (request.username.includes('\0') ? null : this.users.find(organizationId, request.username));
    let caller = { ...request.caller, username: null as string | null };
    const fail = async (): Promise<never> => {
      await this.audit.noteOften(caller, operation, { kind: 'login_failed' });
      throw new AppError('LOGIN_FAILED');
    };
    const check = async () => {
      const found = await findUser();
      caller = { ...caller, username: found?.username ?? null };
      if (!(await isPassword(request.password, found?.passwordHash)) || !found || found.disabledAt) return undefined;
      await this.audit.record(caller, operation, { kind: 'login' });
      return found;
    };
    const user = await this.guard
      .check({ organizationId, username: request.username, address: request.address }, check)
      .catch(async (refusal: unknown) => {
        if (!(refusal instanceof AppError) || refusal.code !== 'TOO_MANY_LOGIN_ATTEMPTS') throw refusal;
        const username = (await findUser())?.username ?? null;
        const lockout = toOperation('login', subscriberOf(request.address));
        await this.audit.noteOften({ ...request.caller, username }, lockout, { kind: 'lockout' });
        throw refusal;
      });
    if (!user) return fail();

    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const now = Date.now();
    const expiresAt = new Date(now + this.options.sessionHours * MS_PER_HOUR);
    const idleExpiresAt = new Date(Math.min(now + this.options.sessionIdleMinutes * MS_PER_MINUTE, expiresAt.getTime()));
    const session = {
      tokenHash: createHash('sha256').update(token).digest(),
      linkHash: hashProof(toLinkProof(token)),
      organizationId,
      userId: user.id,
      provisionId: access.provisionId,
      expiresAt,
    };
    if (!(await this.sessions.open(session, user.passwordHash))) return fail();
    await this.logout(request.earlierTokens, request.caller, request.address);
    return { token, idleExpiresAt, expiresAt, username: user.username, privileges: user.privileges };
  }

  /** Ends the sessions of tokens, whichever provision they are of. True when there was one. */
  async logout(tokens: readonly string[], caller: AuditCaller, address: string): Promise<boolean> {
    let hasEnded = false;
    for (const token of tokens) hasEnded = (await this.end(token, caller, address)) || hasEnded;
    return hasEnded;
  }

  private async end(token: string, caller: AuditCaller, address: string): Promise<boolean> {
    const tokenHash = hashToken(token);
    const owner = tokenHash && (await this.sessions.findOwner(tokenHash));
    if (!owner) return false;
    // A caller with a user's name came by the session's provision, perhaps by another UUID of it than the newest.
    await this.audit.record(caller.username === null ? owner : caller, toOperation('logout', address), { kind: 'logout' });
    return this.sessions.delete(tokenHash);
  }
}

const toOperation = (name: string, address: string): AuditOperation => ({ door: 'graphql', name, hash: null, address });
