import { Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';
import type { RequestContext } from './request-context';

@ObjectType({ description: 'Tells that the credentials of a request are accepted.' })
export class AuthenticationTest {
  @Field(() => String, { description: 'States which kind of request was authenticated.' })
  message!: string;

  @Field(() => String, { description: 'The value of the header `Provision`, as it was sent.' })
  provision!: string;
}

/** The two authentication tests (contract sections 4.1 and 4.2). */
@Resolver()
export class AuthenticationResolver {
  @Query(() => AuthenticationTest, { description: 'Checks the credentials of a system request: the header `Provision` alone.' })
  async authenticatedTestSystem(@Ctx() { access }: RequestContext): Promise<AuthenticationTest> {
    const { provision } = await access.authorizeSystem('authenticated_test_system');
    return { message: 'System request authenticated', provision };
  }

  @Query(() => AuthenticationTest, { description: 'Checks the credentials of a session request: the header `Provision` and a login.' })
  async authenticatedTestSession(@Ctx() { access }: RequestContext): Promise<AuthenticationTest> {
    const { provision } = await access.authorizeSession('authenticated_test_session');
    return { message: 'Session request authenticated', provision };
  }
}
