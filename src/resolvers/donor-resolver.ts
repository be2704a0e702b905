import type { GraphQLResolveInfo } from 'graphql';
import { GraphQLSafeInt } from 'graphql-scalars';
import { Arg, Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { Page } from '../domain/keyset-page';
import { PageArgs } from './connection-types';
import { Donor, DonorConnection } from './donor-types';
import { donorEntities } from './entity-access';
import { lookAhead } from './look-ahead';
import { type RequestContext } from './request-context';
import { TransactionConnection } from './transaction-types';

@Resolver(() => Donor)
export class DonorResolver {
  @Query(() => Donor, {
    nullable: true,
    description: 'The donor with this ID; null when the organization has none. Needs the privilege of the report.',
  })
  async donor(
    @Arg('donorId', () => GraphQLSafeInt, { description: "ID of the donor in the books, as the report's lines have it." }) donorId: number,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return (await donorEntities(context)).find('donor', donorId, lookAhead(info));
  }

  @Query(() => DonorConnection, {
    description: "The organization's donors in the order of last name, first name and ID. Needs the privilege of the report.",
  })
  async donors(
    @Arg('search', () => String, {
      nullable: true,
      description:
        'Beginning of a word of the names, and the words that follow: `smi`, `ada smi` and `smith a` all find Ada Smith. Case and accents do not matter: `muller` finds Müller.',
    })
    search: string | null,
    @Args() page: PageArgs,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Page<Donor>> {
    return (await donorEntities(context)).donors(search, page, lookAhead(info));
  }

  @FieldResolver(() => TransactionConnection, { description: 'The transactions (gifts) of the donor in the order of date and ID.' })
  transactions(@Root() donor: Donor, @Args() page: PageArgs, @Ctx() { entities }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return entities.graph.follow('Donor.transactions', donor, page, lookAhead(info));
  }
}
