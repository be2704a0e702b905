import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import { AllocationConnection } from './allocation-types';
import { ShortPageArgs } from './connection-types';
import { Deposit } from './deposit-types';
import { Donor } from './donor-types';
import { memberEntities } from './entity-access';
import { lookAhead } from './look-ahead';
import { NEEDS_REPORT, refuse, type RequestContext } from './request-context';
import { Transaction } from './transaction-types';

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

  @FieldResolver(() => Deposit, { description: 'The deposit that the transaction is part of.' })
  deposit(@Root() transaction: Transaction, @Ctx() { entities }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return entities.graph.follow('Transaction.deposit', transaction, {}, lookAhead(info));
  }

  @FieldResolver(() => Donor, { nullable: true, description: `The donor; null when the gift has none. ${NEEDS_REPORT}` })
  donor(@Root() transaction: Transaction, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo) {
    if (!context.access.mayReadDonors) return refuse(context, info);
    return context.entities.graph.follow('Transaction.donor', transaction, {}, lookAhead(info));
  }

  @FieldResolver(() => String, { nullable: true, description: `Main memo of the transaction; may be empty. ${NEEDS_REPORT}` })
  mainMemo(@Root() { mainMemo }: Transaction, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): string | null {
    return context.access.mayReadDonors ? mainMemo : refuse(context, info);
  }

  @FieldResolver(() => AllocationConnection, {
    description: 'The allocations of the transaction in the order of their IDs. A gift that is not split has one.',
  })
  allocations(
    @Root() transaction: Transaction,
    @Args() page: ShortPageArgs,
    @Ctx() { entities }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return entities.graph.follow('Transaction.allocations', transaction, page, lookAhead(info));
  }
}
