import { Arg, Ctx, Field, GraphQLISODateTime, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import type { SessionService } from '../domain/session-service';
import type { RequestContext } from './request-context';

@ObjectType({ description: 'The logged-in user.' })
export class Viewer {
  @Field(() => String, { description: 'The name the user logs in with.' })
  username!: string;

  @Field(() => String, { description: "The name of the user's organization." })
  organization!: string;

  @Field(() => [String], { description: 'The actions the user was granted.' })
  privileges!: readonly string[];

  @Field(() => GraphQLISODateTime, { description: 'When the session ends at the latest; without requests it ends earlier.' })
  sessionExpiresAt!: Date;
}

@Resolver()
export class ViewerResolver {
  constructor(private readonly sessions: SessionService) {}

  @Query(() => Viewer, { description: 'Who is logged in. Fails with NOT_LOGGED_IN where nobody is.' })
  async viewer(@Ctx() { access }: RequestContext): Promise<Viewer> {
    const { organization, user } = await access.assertLoggedIn();
    return { username: user.username, organization: organization.name, privileges: user.privileges, sessionExpiresAt: user.expiresAt };
  }

  @Mutation(() => Viewer, {
    description:
      "Logs in a user of the provision's organization, for this provision alone: the answer sets the session cookie. An earlier session ends.",
  })
  async login(
    @Arg('username', () => String, { description: 'The name of the user.' }) username: string,
    @Arg('password', () => String, { description: "The user's password." }) password: string,
    @Ctx() { access, address, sessionCookie }: RequestContext,
  ): Promise<Viewer> {
    const provision = await access.assertProvision();
    const earlierToken = access.credentials.sessionToken;
    const session = await this.sessions.login(provision, { username, password, address, earlierToken });
    sessionCookie.set(session.token, session.expiresAt);
    return {
      username: session.username,
      organization: provision.organization.name,
      privileges: session.privileges,
      sessionExpiresAt: session.expiresAt,
    };
  }

  @Mutation(() => Boolean, { description: 'Ends the session and clears its cookie. True also where nobody was logged in.' })
  async logout(@Ctx() { access, sessionCookie }: RequestContext): Promise<boolean> {
    await access.assertProvision();
    await this.sessions.logout(access.credentials.sessionToken);
    sessionCookie.clear();
    return true;
  }
}
