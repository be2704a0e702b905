import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { AllocationEntity } from '../../data/reports/entity-store';
import type { EntityParameters } from '../../domain/reports/entity-filter';
import type { Page, PageParameters } from '../../domain/paging/keyset-page';
import { globalIdOf } from '../../formats/entity-ids';
import { Allocation, AllocationConnection, AllocationListArgs } from './allocation-types';
import { PageArgs } from '../request/connection-types';
import { Designation } from './designation-types';
import { memberEntities } from '../request/entity-access';
import { lookAhead } from '../request/look-ahead';
import { PeriodArgs } from '../request/period-types';
import { NEEDS_REPORT, refuse, type RequestContext } from '../request/request-context';
import { Transaction } from './transaction-types';

@Resolver(() => Allocation)
export class AllocationResolver {
  @Query(() => AllocationConnection, {
    description:
      "The organization's allocations, by their IDs in the books unless `orderBy` says otherwise. The list is of the newest state of the books. For every logged-in user and every API provision.",
  })
  async allocations(
    @Args(() => PeriodArgs) period: EntityParameters,
    @Args(() => AllocationListArgs) which: EntityParameters,
    @Args(() => PageArgs) page: PageParameters,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Page<AllocationEntity>> {
    return (await memberEntities(context)).list('allocation', { ...period, ...which, ...page }, lookAhead(info));
  }

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
    return context.access.openDonorData() ? memo : refuse(context, info);
  }
}
