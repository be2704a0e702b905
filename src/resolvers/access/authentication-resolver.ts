import { Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../request/request-context';

@ObjectType({ description: 'The answer to a request whose credentials were accepted.' })
export class AuthenticationTest {
  @Field(() => String, { description: 'Kind of the request: "System request authenticated" or "Session request authenticated".' })
  message!: string;

  @Field(() => String, { description: 'The value of the header `Provision`, as the request sent it.' })
  provision!: string;
}

/** The two authentication tests (contract sections 4.1 and 4.2). */
@Resolver()
export class AuthenticationResolver {
  @Query(() => AuthenticationTest, {
    description:
      'Checks the credentials of a system request: the header `Provision` alone. Needs the privilege `authenticated_test_system`, which every new provision has.',
  })
  async authenticatedTestSystem(@Ctx() { access }: RequestContext): Promise<AuthenticationTest> {
    const { provision } = await access.authorizeSystem('authenticated_test_system');
    return { message: 'System request authenticated', provision };
  }

  @Query(() => AuthenticationTest, {
    description:
      'Checks the credentials of a session request: the header `Provision` and the session of a logged-in user. Needs the privilege `authenticated_test_session`, which every new user has.',
  })
  async authenticatedTestSession(@Ctx() { access }: RequestContext): Promise<AuthenticationTest> {
    const { provision } = await access.authorizeSession('authenticated_test_session');
    return { message: 'Session request authenticated', provision };
  }
}
