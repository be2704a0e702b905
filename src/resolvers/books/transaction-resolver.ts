import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { TransactionEntity } from '../../data/reports/entity-store';
import type { EntityParameters } from '../../domain/reports/entity-filter';
import type { Page, PageParameters } from '../../domain/paging/keyset-page';
import { AllocationConnection, AllocationListArgs } from './allocation-types';
import { PageArgs, ShortPageArgs } from '../request/connection-types';
import { Deposit } from './deposit-types';
import { Donor } from './donor-types';
import { memberEntities } from '../request/entity-access';
import { lookAhead, toFigureParameters } from '../request/look-ahead';
import { PeriodArgs } from '../request/period-types';
import { NEEDS_REPORT, refuse, orRefuse, type RequestContext } from '../request/request-context';
import { AllocationAmounts } from './summary-figure-types';
import { Transaction, TransactionConnection, TransactionListArgs } from './transaction-types';

@Resolver(() => Transaction)
export class TransactionResolver {
  @Query(() => Transaction, {
    nullable: true,
    description:
      'The transaction (gift) with this ID; null when the organization has none. For every logged-in user and every API provision.',
  })
  async transaction(
    @Arg('transactionId', () => String, { description: "ID of the transaction in the books, as the report's lines have it." })
    transactionId: string,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return (await memberEntities(context)).find('transaction', transactionId, lookAhead(info));
  }

  @Query(() => TransactionConnection, {
    description:
      "The organization's transactions (gifts), by their dates unless `orderBy` says otherwise. The list is of the newest state of the books. For every logged-in user and every API provision; a condition on donors needs the privilege of the report.",
  })
  async transactions(
    @Args(() => PeriodArgs) period: EntityParameters,
    @Args(() => TransactionListArgs) which: EntityParameters,
    @Args(() => PageArgs) page: PageParameters,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Page<TransactionEntity>> {
    return (await memberEntities(context)).list('transaction', { ...period, ...which, ...page }, lookAhead(info));
  }

  @FieldResolver(() => Deposit, { description: 'The deposit that the transaction is part of.' })
  deposit(@Root() transaction: Transaction, @Ctx() { entities }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return entities.graph.follow('Transaction.deposit', transaction, {}, lookAhead(info));
  }

  @FieldResolver(() => Donor, { nullable: true, description: `The donor; null when the gift has none. ${NEEDS_REPORT}` })
  donor(@Root() transaction: Transaction, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo) {
    if (!context.access.openDonorData()) return refuse(context, info);
    return orRefuse(context, info, () => context.entities.graph.follow('Transaction.donor', transaction, {}, lookAhead(info)));
  }

  @FieldResolver(() => String, { nullable: true, description: `Main memo of the transaction; may be empty. ${NEEDS_REPORT}` })
  mainMemo(@Root() { mainMemo }: Transaction, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): string | null {
    return context.access.openDonorData() ? mainMemo : refuse(context, info);
  }

  @FieldResolver(() => AllocationAmounts, { description: 'Sum of the shares of the transaction, whatever their number.' })
  allocationsTotal(@Root() transaction: Transaction, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo) {
    return orRefuse(context, info, () =>
      context.entities.graph.figuresOf('Transaction.allocationsTotal', transaction, toFigureParameters({}, info)),
    );
  }

  @FieldResolver(() => AllocationConnection, {
    description:
      'The allocations of the transaction, by their IDs in the books unless `orderBy` says otherwise. A gift that is not split has one.',
  })
  allocations(
    @Root() transaction: Transaction,
    @Args(() => AllocationListArgs) which: EntityParameters,
    @Args(() => ShortPageArgs) page: PageParameters,
    @Ctx() { entities }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return entities.graph.follow('Transaction.allocations', transaction, { ...which, ...page }, lookAhead(info));
  }
}
