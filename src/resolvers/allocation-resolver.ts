import type { GraphQLResolveInfo } from 'graphql';
import { Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';
import { globalIdOf } from '../formats/global-id';
import { Allocation } from './allocation-types';
import { Designation } from './designation-types';
import { lookAhead } from './look-ahead';
import { NEEDS_REPORT, refuse, type RequestContext } from './request-context';
import { Transaction } from './transaction-types';

@Resolver(() => Allocation)
export class AllocationResolver {
  @FieldResolver(() => Transaction, { description: 'The transaction (gift) that this allocation is a share of.' })
  transaction(@Root() allocation: Allocation, @Ctx() { entities }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return entities.graph.follow('Allocation.transaction', allocation, {}, lookAhead(info));
  }

  @FieldResolver(() => Designation, { description: 'The designation (fund) that this allocation goes to.' })
  designation(@Root() { designationId, designationName }: Allocation): Designation {
    return { id: globalIdOf.designation, designationId, name: designationName };
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: `Memo of the allocation; may be empty. \`designationMemo\` of the report's lines. ${NEEDS_REPORT}`,
  })
  memo(@Root() { memo }: Allocation, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): string | null {
    return context.access.mayReadDonors ? memo : refuse(context, info);
  }
}
