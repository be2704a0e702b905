import type { GraphQLResolveInfo } from 'graphql';
import { Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';
import { Allocation } from '../books/allocation-types';
import { DepositDetail } from './deposit-detail-types';
import { Deposit } from '../books/deposit-types';
import { Designation } from '../books/designation-types';
import { Donor } from '../books/donor-types';
import { lookAhead } from '../request/look-ahead';
import type { RequestContext } from '../request/request-context';
import { Transaction } from '../books/transaction-types';

const STREAMED =
  'In the streamed list `depositDetails` it has the values that the line itself has, and leads to no lists: ask `depositDetailsConnection` for them.';

/** The records that a line leads to. In a streamed list the line's own columns are written instead. */
@Resolver(() => DepositDetail)
export class LineRecordResolver {
  @FieldResolver(() => Deposit, { description: `The deposit of the line. ${STREAMED}` })
  deposit(@Root() line: DepositDetail, @Ctx() { entities }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return entities.graph.follow('DepositDetail.deposit', line, {}, lookAhead(info));
  }

  @FieldResolver(() => Transaction, { description: `The transaction (gift) of the line. ${STREAMED}` })
  transaction(@Root() line: DepositDetail, @Ctx() { entities }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return entities.graph.follow('DepositDetail.transaction', line, {}, lookAhead(info));
  }

  @FieldResolver(() => Allocation, { description: `The allocation that the line is of. ${STREAMED}` })
  allocation(@Root() line: DepositDetail, @Ctx() { entities }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return entities.graph.follow('DepositDetail.allocation', line, {}, lookAhead(info));
  }

  @FieldResolver(() => Donor, { nullable: true, description: `The donor of the gift; null when it has none. ${STREAMED}` })
  donor(@Root() line: DepositDetail, @Ctx() { entities }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return entities.graph.follow('DepositDetail.donor', line, {}, lookAhead(info));
  }

  @FieldResolver(() => Designation, {
    description: `The designation (fund) that the allocation goes to. The field \`designation\` is its name. ${STREAMED}`,
  })
  fund(@Root() line: DepositDetail, @Ctx() { entities }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return entities.graph.follow('DepositDetail.fund', line, {}, lookAhead(info));
  }
}
