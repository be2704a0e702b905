import { Arg, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { UserRow } from '../../data/access/user-store';
import type { NamedSession, UserService } from '../../domain/access/user-service';
import { OperatedSession, OperatedUser } from './operator-types';

const ORGANIZATION = { description: 'Name of the organization.' };
const USERNAME = { description: 'Name of the user.' };
const PASSWORD = { description: 'Password of at least twelve characters.' };
const PRIVILEGES = { description: 'Names of privileges.' };
const SESSION = { description: 'Session by its `id`.' };
const ADDRESS = {
  nullable: true,
  description: 'IP address from which the user can log in even while others guess the password elsewhere.',
};

/** The changes of users and their sessions, as the commands `user`, `session` and `login` have them. */
@Resolver()
export class UserOperations {
  constructor(private readonly users: UserService) {}

  @Query(() => [OperatedUser], { name: 'users', description: 'The users of an organization, by name.' })
  list(@Arg('organization', () => String, ORGANIZATION) organization: string): Promise<UserRow[]> {
    return this.users.list(organization);
  }

  @Query(() => [OperatedSession], { description: 'The open sessions of an organization, the newest first.' })
  sessions(@Arg('organization', () => String, ORGANIZATION) organization: string): Promise<NamedSession[]> {
    return this.users.listSessions(organization);
  }

  @Mutation(() => OperatedUser, { name: 'createUser', description: 'Creates a user, who may log in.' })
  async create(
    @Arg('organization', () => String, ORGANIZATION) organization: string,
    @Arg('username', () => String, USERNAME) username: string,
    @Arg('password', () => String, PASSWORD) password: string,
    @Arg('privileges', () => [String], { ...PRIVILEGES, defaultValue: [] }) grants: string[],
  ): Promise<UserRow> {
    await this.users.create({ organization, username, password, grants });
    return this.users.get(organization, username);
  }

  @Mutation(() => OperatedUser, { name: 'grantUser', description: 'Adds privileges to a user.' })
  grant(
    @Arg('organization', () => String, ORGANIZATION) organization: string,
    @Arg('username', () => String, USERNAME) username: string,
    @Arg('privileges', () => [String], PRIVILEGES) privileges: string[],
  ): Promise<UserRow> {
    return this.changeGrants(organization, username, 'grant', privileges);
  }

  @Mutation(() => OperatedUser, { name: 'revokeUserGrant', description: 'Takes privileges from a user.' })
  revokeGrant(
    @Arg('organization', () => String, ORGANIZATION) organization: string,
    @Arg('username', () => String, USERNAME) username: string,
    @Arg('privileges', () => [String], PRIVILEGES) privileges: string[],
  ): Promise<UserRow> {
    return this.changeGrants(organization, username, 'revoke', privileges);
  }

  @Mutation(() => Int, { description: "Replaces a user's password, and ends the user's sessions. Returns their number." })
  setPassword(
    @Arg('organization', () => String, ORGANIZATION) organization: string,
    @Arg('username', () => String, USERNAME) username: string,
    @Arg('password', () => String, PASSWORD) password: string,
  ): Promise<number> {
    return this.users.setPassword(organization, username, password);
  }

  @Mutation(() => OperatedUser, { name: 'disableUser', description: "Ends a user's sessions and answers under way." })
  async disable(
    @Arg('organization', () => String, ORGANIZATION) organization: string,
    @Arg('username', () => String, USERNAME) username: string,
  ): Promise<UserRow> {
    await this.users.disable(organization, username);
    return this.users.get(organization, username);
  }

  @Mutation(() => OperatedUser, { name: 'enableUser', description: 'Enables a user again, who has to log in anew.' })
  async enable(
    @Arg('organization', () => String, ORGANIZATION) organization: string,
    @Arg('username', () => String, USERNAME) username: string,
  ): Promise<UserRow> {
    await this.users.enable(organization, username);
    return this.users.get(organization, username);
  }

  @Mutation(() => OperatedUser, { name: 'deleteUser', description: 'Deletes a user and the sessions. The name stays in the audit.' })
  async delete(
    @Arg('organization', () => String, ORGANIZATION) organization: string,
    @Arg('username', () => String, USERNAME) username: string,
  ): Promise<UserRow> {
    const user = await this.users.get(organization, username);
    await this.users.delete(organization, username);
    return user;
  }

  @Mutation(() => OperatedUser, { description: 'Forgets the failed logins of a user, who may then log in again at once.' })
  async unlockLogin(
    @Arg('organization', () => String, ORGANIZATION) organization: string,
    @Arg('username', () => String, USERNAME) username: string,
    @Arg('address', () => String, ADDRESS) address: string | null | undefined,
  ): Promise<UserRow> {
    await this.users.unlock(organization, username, address ?? undefined);
    return this.users.get(organization, username);
  }

  @Mutation(() => Boolean, { description: 'Ends one session. Returns true.' })
  async endSession(
    @Arg('organization', () => String, ORGANIZATION) organization: string,
    @Arg('session', () => String, SESSION) session: string,
  ): Promise<boolean> {
    await this.users.endSession(organization, session);
    return true;
  }

  @Mutation(() => Int, { description: 'Ends all sessions of a user. Returns their number.' })
  endUserSessions(
    @Arg('organization', () => String, ORGANIZATION) organization: string,
    @Arg('username', () => String, USERNAME) username: string,
  ): Promise<number> {
    return this.users.endSessions(organization, username);
  }

  @Mutation(() => Int, { description: 'Ends all sessions of all users of an organization. Returns their number.' })
  endAllSessions(@Arg('organization', () => String, ORGANIZATION) organization: string): Promise<number> {
    return this.users.endSessions(organization);
  }

  private async changeGrants(organization: string, username: string, verb: 'grant' | 'revoke', privileges: string[]): Promise<UserRow> {
    await this.users.changeGrants(organization, username, { verb, privileges });
    return this.users.get(organization, username);
  }
}
