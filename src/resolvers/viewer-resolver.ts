import { Arg, Ctx, Field, GraphQLISODateTime, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import type { SessionRow } from '../data/access-store';
import { sessionTokenOf } from '../domain/access-service';
import type { SessionService } from '../domain/session-service';
import type { RequestContext } from './request-context';

@ObjectType({ description: 'The logged-in user.' })
export class Viewer {
  @Field(() => String, { description: 'Name that the user logs in with, such as `"ada"`.' })
  username!: string;

  @Field(() => String, { description: "Name of the user's organization." })
  organization!: string;

  @Field(() => [String], {
    description:
      'Privileges that the user was granted. `deposit_detail_designation_detail_with_contact_info` is the privilege of the report.',
  })
  privileges!: readonly string[];

  @Field(() => GraphQLISODateTime, {
    description: 'Time at which the session ends when no request comes before, to the minute. Each request moves it, this one too.',
  })
  sessionIdleExpiresAt!: Date;

  @Field(() => GraphQLISODateTime, { description: 'Time at which the session ends at the latest. No request moves it.' })
  sessionExpiresAt!: Date;
}

@ObjectType({ description: 'A session without a cookie, with the token that stands for it.' })
export class OpenedSession {
  @Field(() => String, {
    description:
      'Token for the header `Authorization: Bearer TOKEN` of every request. It is a secret, and this answer is the only one that holds it.',
  })
  token!: string;

  @Field(() => GraphQLISODateTime, { description: 'Time at which the session ends when no request comes before. Each request moves it.' })
  idleExpiresAt!: Date;

  @Field(() => GraphQLISODateTime, { description: 'Time at which the session ends at the latest.' })
  expiresAt!: Date;

  @Field(() => Viewer, { description: 'The user who has logged in.' })
  viewer!: Viewer;
}

@Resolver()
export class ViewerResolver {
  constructor(private readonly sessions: SessionService) {}

  @Query(() => Viewer, {
    nullable: true,
    description: 'The logged-in user; null when nobody is logged in, or when the session has ended. Needs no privilege.',
  })
  async viewer(@Ctx() { access }: RequestContext): Promise<Viewer | null> {
    const session = await access.findUser();
    if (!session) return null;
    const { organization, user } = session;
    return toViewer(organization, user);
  }

  @Mutation(() => Viewer, {
    description:
      "Logs in a user of the provision's organization and sets the session cookie. The session is valid for this provision alone. An earlier session of the cookie ends. Needs no privilege. Fails with LOGIN_FAILED, and with TOO_MANY_LOGIN_ATTEMPTS after many failures.",
  })
  async login(
    @Arg('username', () => String, { description: 'Name of the user, such as `ada`.' }) username: string,
    @Arg('password', () => String, { description: 'Password of the user.' }) password: string,
    @Ctx() context: RequestContext,
  ): Promise<Viewer> {
    const { token, expiresAt, viewer } = await this.open(username, password, context.access.credentials.cookieToken, context);
    context.sessionCookie.set(token, expiresAt);
    return viewer;
  }

  @Mutation(() => OpenedSession, {
    description:
      'Logs in as `login` does, for apps and servers that keep no cookies: the answer holds a token and sets no cookie. An earlier session of the header `Authorization` ends. Needs no privilege.',
  })
  async openSession(
    @Arg('username', () => String, { description: 'Name of the user, such as `ada`.' }) username: string,
    @Arg('password', () => String, { description: 'Password of the user.' }) password: string,
    @Ctx() context: RequestContext,
  ): Promise<OpenedSession> {
    return this.open(username, password, context.access.credentials.bearerToken, context);
  }

  @Mutation(() => Boolean, {
    description:
      'Ends the session, and clears the session cookie when the session came by it. Answers true, also when nobody was logged in. Needs no privilege.',
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
    const { token, idleExpiresAt, expiresAt } = session;
    return { token, idleExpiresAt, expiresAt, viewer: toViewer(provision.organization, session) };
  }
}

type Session = Pick<SessionRow, 'username' | 'privileges' | 'idleExpiresAt' | 'expiresAt'>;

const toViewer = (organization: { readonly name: string }, { username, privileges, idleExpiresAt, expiresAt }: Session): Viewer => ({
  ...{ username, organization: organization.name, privileges },
  ...{ sessionIdleExpiresAt: idleExpiresAt, sessionExpiresAt: expiresAt },
});
