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
  @Query(() => Donor, { nullable: true, description: 'The donor of this ID; null where there is none. Needs the privilege of the report.' })
  async donor(
    @Arg('id', () => GraphQLSafeInt, { description: 'ID of the donor.' }) id: number,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return (await donorEntities(context)).find('donor', id, lookAhead(info));
  }

  @Query(() => DonorConnection, { description: 'Donors by last name, first name and ID. Needs the privilege of the report.' })
  async donors(
    @Arg('search', () => String, { nullable: true, description: 'How the last name begins, or first and last name. Case does not count.' })
    search: string | null,
    @Args() page: PageArgs,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Page<Donor>> {
    return (await donorEntities(context)).donors(search, page, lookAhead(info));
  }

  @FieldResolver(() => TransactionConnection, { description: 'The transactions of the donor by date and ID.' })
  transactions(@Root() donor: Donor, @Args() page: PageArgs, @Ctx() { entities }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return entities.graph.follow('Donor.transactions', donor, page, lookAhead(info));
  }
}
