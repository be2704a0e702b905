import { Ctx, Field, FieldResolver, ObjectType, Query, registerEnumType, Resolver, Root } from 'type-graphql';
import type { AccessProvision } from '../../data/access/access-store';
import type { RequestContext } from '../request/request-context';

const provisionKindEnum = { WEB: 'WEB', MOBILE: 'MOBILE', API: 'API' } as const;
registerEnumType(provisionKindEnum, {
  name: 'ProvisionKind',
  description: 'The kind of application that a provision was issued to.',
  valuesConfig: {
    WEB: { description: 'A website. Its provision is public, and reads data only with a logged-in user.' },
    MOBILE: { description: 'A mobile app. Its provision is public, and reads data only with a logged-in user.' },
    API: { description: 'A server or a script. Its provision is a secret, and reads data by itself.' },
  },
});

@ObjectType({ description: "An application's permission to call the gateway, which the header `Provision` carries." })
export class Provision {
  @Field(() => provisionKindEnum, { simple: true, description: 'Kind of the application.' })
  kind!: keyof typeof provisionKindEnum;
}

const FOR_MEMBERS = 'For every logged-in user and every API provision; null for others, with the error NOT_LOGGED_IN.';

@Resolver(() => Provision)
export class ProvisionResolver {
  @Query(() => Provision, { description: 'The provision of the request. Needs no privilege.' })
  async provision(@Ctx() { access }: RequestContext): Promise<Provision> {
    return access.provision();
  }

  @FieldResolver(() => String, { nullable: true, description: `Label that the operator gave the provision; may be empty. ${FOR_MEMBERS}` })
  async label(@Root() { label }: AccessProvision, @Ctx() { access }: RequestContext): Promise<string> {
    await access.authorizeMember();
    return label;
  }

  @FieldResolver(() => [String], {
    nullable: true,
    description: `Privileges that the provision was granted. They hold for requests without a session. ${FOR_MEMBERS}`,
  })
  async privileges(@Root() { privileges }: AccessProvision, @Ctx() { access }: RequestContext): Promise<readonly string[]> {
    await access.authorizeMember();
    return privileges;
  }
}
