import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { EntityParameters } from '../../domain/reports/entity-filter';
import type { Page, PageParameters } from '../../domain/paging/keyset-page';
import { PageArgs } from '../request/connection-types';
import { Deposit, DepositConnection, DepositListArgs } from './deposit-types';
import { memberEntities } from '../request/entity-access';
import { lookAhead, toFigureParameters } from '../request/look-ahead';
import { orRefuse, type RequestContext } from '../request/request-context';
import { SummaryTotals } from './summary-figure-types';
import { TransactionConnection, TransactionListArgs } from './transaction-types';

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
    description:
      "The organization's deposits, by date unless `orderBy` says otherwise. The list is of the newest state of the books. For every logged-in user and every API provision.",
  })
  async deposits(
    @Args(() => DepositListArgs) which: EntityParameters,
    @Args(() => PageArgs) page: PageParameters,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Page<Deposit>> {
    return (await memberEntities(context)).list('deposit', { ...which, ...page }, lookAhead(info));
  }

  @FieldResolver(() => SummaryTotals, {
    description: 'Totals of the lines of the deposit. `byTransaction` is the money that the bank got: each gift once.',
  })
  totals(@Root() deposit: Deposit, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo) {
    return orRefuse(context, info, () => context.entities.graph.figuresOf('Deposit.totals', deposit, toFigureParameters({}, info)));
  }

  @FieldResolver(() => TransactionConnection, {
    description: 'The transactions (gifts) of the deposit, by their IDs in the books unless `orderBy` says otherwise.',
  })
  transactions(
    @Root() deposit: Deposit,
    @Args(() => TransactionListArgs) which: EntityParameters,
    @Args(() => PageArgs) page: PageParameters,
    @Ctx() { entities }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return entities.graph.follow('Deposit.transactions', deposit, { ...which, ...page }, lookAhead(info));
  }
}
