import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { Page } from '../domain/keyset-page';
import { PageArgs } from './connection-types';
import { Deposit, DepositConnection, DepositsArgs } from './deposit-types';
import { memberEntities } from './entity-access';
import { lookAhead } from './look-ahead';
import { type RequestContext } from './request-context';
import { TransactionConnection } from './transaction-types';

@Resolver(() => Deposit)
export class DepositResolver {
  @Query(() => Deposit, {
    nullable: true,
    description: 'The deposit with this ID; null when the organization has none. For every logged-in user and every API provision.',
  })
  async deposit(
    @Arg('depositId', () => String, { description: "ID of the deposit in the books, as the report's lines have it." }) depositId: string,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return (await memberEntities(context)).find('deposit', depositId, lookAhead(info));
  }

  @Query(() => DepositConnection, {
    description: "The organization's deposits in the order of date and ID. For every logged-in user and every API provision.",
  })
  async deposits(
    @Args() which: DepositsArgs,
    @Args() page: PageArgs,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Page<Deposit>> {
    return (await memberEntities(context)).deposits(which, page, lookAhead(info));
  }

  @FieldResolver(() => TransactionConnection, { description: 'The transactions (gifts) of the deposit in the order of their IDs.' })
  transactions(@Root() deposit: Deposit, @Args() page: PageArgs, @Ctx() { entities }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return entities.graph.follow('Deposit.transactions', deposit, page, lookAhead(info));
  }
}
