import { Arg, Ctx, Field, GraphQLISODateTime, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import { sessionTokenOf } from '../domain/access-service';
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

@ObjectType({ description: 'A session that was opened without a cookie.' })
export class OpenedSession {
  @Field(() => String, {
    description: 'Goes into the header `Authorization: Bearer TOKEN` of every request. It is a secret, and told this once.',
  })
  token!: string;

  @Field(() => GraphQLISODateTime, { description: 'When the session ends without a request; each request moves it.' })
  idleExpiresAt!: Date;

  @Field(() => GraphQLISODateTime, { description: 'When the session ends at the latest.' })
  expiresAt!: Date;

  @Field(() => Viewer, { description: 'Who has logged in.' })
  viewer!: Viewer;
}

@Resolver()
export class ViewerResolver {
  constructor(private readonly sessions: SessionService) {}

  @Query(() => Viewer, { description: 'Who is logged in. Fails with NOT_LOGGED_IN where nobody is.' })
  async viewer(@Ctx() { access }: RequestContext): Promise<Viewer> {
    const { organization, user } = await access.authorizeUser();
    return { username: user.username, organization: organization.name, privileges: user.privileges, sessionExpiresAt: user.expiresAt };
  }

  @Mutation(() => Viewer, {
    description:
      "Logs in a user of the provision's organization, for this provision alone: the answer sets the session cookie. An earlier session of the cookie ends.",
  })
  async login(
    @Arg('username', () => String, { description: 'The name of the user.' }) username: string,
    @Arg('password', () => String, { description: "The user's password." }) password: string,
    @Ctx() context: RequestContext,
  ): Promise<Viewer> {
    const { token, expiresAt, viewer } = await this.open(username, password, context.access.credentials.cookieToken, context);
    context.sessionCookie.set(token, expiresAt);
    return viewer;
  }

  @Mutation(() => OpenedSession, {
    description:
      'Logs in as `login` does, for apps and servers that keep no cookies: the answer holds the token and sets no cookie. An earlier session of the header `Authorization` ends.',
  })
  async openSession(
    @Arg('username', () => String, { description: 'The name of the user.' }) username: string,
    @Arg('password', () => String, { description: "The user's password." }) password: string,
    @Ctx() context: RequestContext,
  ): Promise<OpenedSession> {
    return this.open(username, password, context.access.credentials.bearerToken, context);
  }

  @Mutation(() => Boolean, {
    description: 'Ends the session, and clears its cookie where it came by one. True also where nobody was logged in.',
  })
  async logout(@Ctx() { access, sessionCookie }: RequestContext): Promise<boolean> {
    await access.authorizeProvision();
    await this.sessions.logout(sessionTokenOf(access.credentials));
    if (access.credentials.bearerToken === undefined) sessionCookie.clear();
    return true;
  }

  private async open(
    username: string,
    password: string,
    earlierToken: string | undefined,
    { access, address }: RequestContext,
  ): Promise<OpenedSession> {
    const provision = await access.authorizeProvision();
    const session = await this.sessions.login(provision, { username, password, address, earlierToken });
    const { token, idleExpiresAt, expiresAt, privileges } = session;
    const viewer = { username: session.username, organization: provision.organization.name, privileges, sessionExpiresAt: expiresAt };
    return { token, idleExpiresAt, expiresAt, viewer };
  }
}
