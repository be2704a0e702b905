import type { GraphQLResolveInfo } from 'graphql';
import { GraphQLSafeInt } from 'graphql-scalars';
import { Arg, Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { EntityParameters } from '../../domain/reports/entity-filter';
import type { Page, PageParameters } from '../../domain/paging/keyset-page';
import { AllocationConnection, AllocationListArgs } from './allocation-types';
import { PageArgs } from '../request/connection-types';
import { Designation, DesignationConnection, DesignationListArgs } from './designation-types';
import { memberEntities } from '../request/entity-access';
import { lookAhead, toFigureParameters } from '../request/look-ahead';
import { LinePeriodArgs, PeriodArgs } from '../request/period-types';
import { orRefuse, type RequestContext } from '../request/request-context';
import { SummaryTotals } from './summary-figure-types';

@Resolver(() => Designation)
export class DesignationResolver {
  @Query(() => Designation, {
    nullable: true,
    description:
      'The designation (fund) with this ID; null when the organization has none. For every logged-in user and every API provision.',
  })
  async designation(
    @Arg('designationId', () => GraphQLSafeInt, { description: "ID of the designation in the books, as the report's lines have it." })
    designationId: number,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return (await memberEntities(context)).find('designation', designationId, lookAhead(info));
  }

  @Query(() => DesignationConnection, {
    description:
      "The organization's designations (funds), by their IDs in the books unless `orderBy` says otherwise. The list is of the newest state of the books. For every logged-in user and every API provision.",
  })
  async designations(
    @Args(() => DesignationListArgs) which: EntityParameters,
    @Args(() => PageArgs) page: PageParameters,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Page<Designation>> {
    return (await memberEntities(context)).list('designation', { ...which, ...page }, lookAhead(info));
  }

  @FieldResolver(() => SummaryTotals, {
    description:
      'Totals of the lines of the designation in a period. `byAllocation` is the money of the designation; the other sums have the whole of split gifts.',
  })
  totals(
    @Root() designation: Designation,
    @Args(() => LinePeriodArgs) period: LinePeriodArgs,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return orRefuse(context, info, () =>
      context.entities.graph.figuresOf('Designation.totals', designation, toFigureParameters(period, info)),
    );
  }

  @FieldResolver(() => AllocationConnection, {
    description: 'The allocations to this designation, by their IDs in the books unless `orderBy` says otherwise.',
  })
  allocations(
    @Root() designation: Designation,
    @Args(() => PeriodArgs) period: EntityParameters,
    @Args(() => AllocationListArgs) which: EntityParameters,
    @Args(() => PageArgs) page: PageParameters,
    @Ctx() { entities }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return entities.graph.follow('Designation.allocations', designation, { ...period, ...which, ...page }, lookAhead(info));
  }
}
