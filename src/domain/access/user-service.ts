import { isIP } from 'node:net';
import type { OpenSession, SessionStore } from '../../data/access/session-store';
import type { UserKey, UserRow, UserStore } from '../../data/access/user-store';
import { OperatorError } from '../../errors';
import { applyChange, assertUserMayHold, COMMANDS, withDefaults, type GrantChange } from './grant-changes';
import type { LoginGuard } from './login-guard';
import { assertName } from './operator-names';
import type { OrganizationService } from './organization-service';
import { hashPassword, MIN_PASSWORD_LENGTH } from './passwords';
import { isMailAddress } from '../../values/mail-addresses';
import type { Privilege } from '../../values/privileges';
import type { RightsAudit } from '../audit/rights-audit';

export interface UserRequest {
  readonly organization: string;
  readonly username: string;
  readonly password: string;
  readonly grants: readonly string[];
}

/** An open session with the name by which operators end it: the start of its token's SHA-256, from which nobody gets the token. */
export interface NamedSession extends OpenSession {
  readonly id: string;
}

interface UserParts {
  readonly organizations: OrganizationService;
  readonly users: UserStore;
  readonly sessions: SessionStore;
  readonly logins: LoginGuard;
  readonly rights: RightsAudit;
}

const SESSION_NAME_LENGTH = 12;

/** Manages the users of organizations and their sessions, for operators. Its methods throw OperatorErrors. */
export class UserService {
  private readonly organizations: OrganizationService;
  private readonly users: UserStore;
  private readonly sessions: SessionStore;
  private readonly logins: LoginGuard;
  private readonly rights: RightsAudit;

  constructor(parts: UserParts) {
    ({ organizations: this.organizations, users: this.users, sessions: this.sessions, logins: this.logins, rights: this.rights } = parts);
  }

  async get(organization: string, username: string): Promise<UserRow & UserKey> {
    const { id: organizationId } = await this.organizations.get(organization);
    const user = await this.users.find(organizationId, username);
    if (!user) throw new OperatorError(`There is no user "${username}" in "${organization}"`);
    return { ...user, organizationId };
  }

  /** Creates a user and returns the privileges that the user has. */
  async create({ organization, username, password, grants }: UserRequest): Promise<Privilege[]> {
    assertName('user', username);
    const granted = withDefaults(grants);
    assertUserMayHold(granted);
    assertPassword(password);
    const { id: organizationId } = await this.organizations.get(organization);
    if (await this.users.find(organizationId, username))
      throw new OperatorError(`There is a user "${username}" in "${organization}" already`);
    await this.rights.note(organizationId, 'user create', `user ${username}`, granted.join(' '));
    await this.users.insert({ organizationId, username, passwordHash: await hashPassword(password), privileges: granted });
    return granted;
  }

  /** Changes a user's privileges in all sessions, from the next request on. Returns all privileges that the user has now. */
  async changeGrants(organization: string, username: string, change: GrantChange): Promise<Privilege[]> {
    let user = await this.get(organization, username);
    let privileges = applyChange(user.privileges, change);
    assertUserMayHold(privileges);
    await this.rights.note(user.organizationId, `user ${COMMANDS[change.verb]}`, `user ${username}`, change.privileges.join(' '));
    // Another change may have come between.
    while (!(await this.users.updatePrivileges(user, privileges))) {
      user = await this.get(organization, username);
      privileges = applyChange(user.privileges, change);
    }
    return privileges;
  }

  /** Replaces a user's password, and ends the user's sessions. Returns their number. */
  async setPassword(organization: string, username: string, password: string): Promise<number> {
    assertPassword(password);
    const user = await this.get(organization, username);
    await this.rights.note(user.organizationId, 'user password', `user ${username}`);
    return this.users.updatePassword(user, await hashPassword(password));
  }

  /** Says where reports are mailed to a user; null ends that. */
  async setEmail(organization: string, username: string, email: string | null): Promise<void> {
    if (email !== null && !isMailAddress(email)) throw new OperatorError('The address must be one like ada@example.org');
    const user = await this.get(organization, username);
    await this.rights.note(user.organizationId, 'user email', `user ${username}`, email === null ? 'no address' : 'another address');
    await this.users.updateEmail(user, email);
  }

  /**
   * Disables a user. From the next request on, all sessions of the user are answered with status 401. Answers under way end within seconds.
   */
  async disable(organization: string, username: string): Promise<void> {
    const user = await this.get(organization, username);
    if (user.disabledAt) throw new OperatorError(`User "${username}" of "${organization}" is disabled already`);
    await this.rights.note(user.organizationId, 'user disable', `user ${username}`);
    await this.users.disable(user);
  }

  /** Enables a user again, who has to log in anew. */
  async enable(organization: string, username: string): Promise<void> {
    const user = await this.get(organization, username);
    if (!user.disabledAt) throw new OperatorError(`User "${username}" of "${organization}" is not disabled`);
    await this.rights.note(user.organizationId, 'user enable', `user ${username}`);
    await this.users.enable(user);
  }

  /** Deletes a user with all sessions. The name stays in the audit. */
  async delete(organization: string, username: string): Promise<void> {
    const user = await this.get(organization, username);
    await this.rights.note(user.organizationId, 'user delete', `user ${username}`);
    await this.users.delete(user);
  }

  async list(organization: string): Promise<UserRow[]> {
    return this.users.list((await this.organizations.get(organization)).id);
  }

  /** The open sessions of an organization, or of one of its users, the newest first. */
  async listSessions(organization: string, username?: string): Promise<NamedSession[]> {
    const sessions = await this.sessions.list(await this.getSessionOwner(organization, username));
    return sessions.map((session) => ({ ...session, id: session.tokenHash.toString('hex').slice(0, SESSION_NAME_LENGTH) }));
  }

  /** Ends the session of a name, which `listSessions` tells. */
  async endSession(organization: string, id: string): Promise<void> {
    const found = (await this.listSessions(organization)).find((session) => session.id === id.toLowerCase());
    if (!found) throw new OperatorError(`There is no session ${id} in "${organization}"`);
    await this.rights.note((await this.organizations.get(organization)).id, 'session end', `user ${found.username}`, `session ${found.id}`);
    await this.sessions.delete(found.tokenHash);
  }

  /** Ends all sessions of an organization, or of one of its users. Returns their number. */
  async endSessions(organization: string, username?: string): Promise<number> {
    const owner = await this.getSessionOwner(organization, username);
    await this.rights.note(owner.organizationId, 'session end', username === undefined ? undefined : `user ${username}`, 'all sessions');
    return this.sessions.deleteAll(owner);
  }

  private async getSessionOwner(organization: string, username: string | undefined) {
    if (username === undefined) return { organizationId: (await this.organizations.get(organization)).id };
    const { organizationId, id: userId } = await this.get(organization, username);
    return { organizationId, userId };
  }

  /**
   * Forgets the failed logins of a user. With an address, the user can log in from there even while others guess the password elsewhere.
   */
  async unlock(organization: string, username: string, address?: string): Promise<void> {
    if (address !== undefined && isIP(address) === 0) throw new OperatorError(`"${address}" is not an IP address`);
    const user = await this.get(organization, username);
    await this.rights.note(user.organizationId, 'login unlock', `user ${username}`);
    await this.logins.unlock(user, address);
  }
}

function assertPassword(password: string): void {
  if (password.length < MIN_PASSWORD_LENGTH) throw new OperatorError(`The password needs at least ${MIN_PASSWORD_LENGTH} characters`);
}
