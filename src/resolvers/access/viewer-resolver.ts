import { Arg, Ctx, Field, GraphQLISODateTime, InputType, Int, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import type { SessionRow } from '../../data/access/access-store';
import { cookieTokensOf, sessionTokensOf } from '../../domain/access/credentials';
import type { SessionService } from '../../domain/access/session-service';
import type { OrganizationCalendar } from '../../values/periods';
import type { RequestContext } from '../request/request-context';

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

  @Field(() => Int, {
    description:
      "The month with which the organization's fiscal year begins, 1 to 12: a value for the argument `fiscalYearStart` of a summary.",
  })
  fiscalYearStart!: number;

  @Field(() => String, {
    description:
      'The time zone in which the organization\'s days begin, by its IANA name such as `"America/New_York"`. Named periods go by it.',
  })
  timeZone!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'The currency of the organization\'s amounts, by its ISO 4217 code such as `"EUR"`, to show them with; null when the organization has not said one. No amount is converted.',
  })
  currency!: string | null;

  @Field(() => GraphQLISODateTime, {
    description: 'Time at which the session ends when no request comes before, to the minute. Each request moves it, this one too.',
  })
  sessionIdleExpiresAt!: Date;

  @Field(() => GraphQLISODateTime, { description: 'Time at which the session ends at the latest. No request moves it.' })
  sessionExpiresAt!: Date;
}

@InputType({ description: 'The credentials of a login.' })
export class LoginInput {
  @Field(() => String, { description: 'Name of the user, such as `"ada"`.' })
  username!: string;

  @Field(() => String, { description: 'Password of the user.' })
  password!: string;
}

@ObjectType({ description: 'The change that a login has made.' })
export class LoginPayload {
  @Field(() => Viewer, { description: 'The user who has logged in.' })
  viewer!: Viewer;
}

@ObjectType({ description: 'A session without a cookie, with the token that stands for it.' })
export class OpenSessionPayload {
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

@ObjectType({ description: 'The change that a logout has made.' })
export class LogoutPayload {
  @Field(() => Boolean, { description: 'True when a session has ended; false when nobody was logged in.' })
  ended!: boolean;
}

const CREDENTIALS = { description: 'Name and password of the user.' } as const;

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

  @Mutation(() => LoginPayload, {
    description:
      "Logs in a user of the provision's organization and sets the session cookie. The session is valid for this provision alone. Earlier sessions of the cookie end. Needs no privilege. Fails with LOGIN_FAILED, and with TOO_MANY_LOGIN_ATTEMPTS after many failures.",
  })
  async login(@Arg('input', () => LoginInput, CREDENTIALS) input: LoginInput, @Ctx() context: RequestContext): Promise<LoginPayload> {
    const { token, expiresAt, viewer } = await this.open(input, cookieTokensOf(context.access.caller.credentials), context);
    context.sessionCookie.set(token, expiresAt);
    return { viewer };
  }

  @Mutation(() => OpenSessionPayload, {
    description:
      'Logs in as `login` does, for apps and servers that keep no cookies: the answer holds a token and sets no cookie. An earlier session of the header `Authorization` ends. Needs no privilege.',
  })
  async openSession(
    @Arg('input', () => LoginInput, CREDENTIALS) input: LoginInput,
    @Ctx() context: RequestContext,
  ): Promise<OpenSessionPayload> {
    const { bearerToken } = context.access.caller.credentials;
    return this.open(input, bearerToken === undefined ? [] : [bearerToken], context);
  }

  @Mutation(() => LogoutPayload, {
    description: 'Ends the session, and clears the session cookie when the session came by it. Needs no privilege.',
  })
  async logout(@Ctx() { access, address, sessionCookie }: RequestContext): Promise<LogoutPayload> {
    await access.authorizeProvision();
    const { caller } = access;
    // A second cookie that was good would leave somebody logged in.
    const ended = await this.sessions.logout(sessionTokensOf(caller.credentials), await caller.forAudit(), address);
    if (caller.credentials.bearerToken === undefined) sessionCookie.clear();
    return { ended };
  }

  private async open(
    { username, password }: LoginInput,
    earlierTokens: readonly string[],
    { access, address }: RequestContext,
  ): Promise<OpenSessionPayload> {
    const provision = await access.authorizeProvision();
    const session = await this.sessions.login(provision, {
      username,
      password,
      address,
      earlierTokens,
      caller: await access.caller.forAudit(),
    });
    const { token, idleExpiresAt, expiresAt } = session;
    return { token, idleExpiresAt, expiresAt, viewer: toViewer(provision.organization, session) };
  }
}

type Session = Pick<SessionRow, 'username' | 'privileges' | 'idleExpiresAt' | 'expiresAt'>;

const toViewer = (
  organization: OrganizationCalendar & { readonly name: string; readonly currency: string | null },
  { username, privileges, idleExpiresAt, expiresAt }: Session,
): Viewer => ({
  username,
  organization: organization.name,
  privileges,
  fiscalYearStart: organization.fiscalYearStart,
  timeZone: organization.timeZone,
  currency: organization.currency,
  sessionIdleExpiresAt: idleExpiresAt,
  sessionExpiresAt: expiresAt,
});
