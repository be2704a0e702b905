import type { GraphQLResolveInfo } from 'graphql';
import { GraphQLSafeInt } from 'graphql-scalars';
import { Arg, Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { EntityParameters } from '../../domain/reports/entity-filter';
import type { Page, PageParameters } from '../../domain/paging/keyset-page';
import { PageArgs } from '../request/connection-types';
import { Donor, DonorConnection, DonorListArgs } from './donor-types';
import { donorEntities } from '../request/entity-access';
import { lookAhead, toFigureParameters } from '../request/look-ahead';
import { LinePeriodArgs, PeriodArgs } from '../request/period-types';
import { orRefuse, type RequestContext } from '../request/request-context';
import { SummaryTotals } from './summary-figure-types';
import { TransactionConnection, TransactionListArgs } from './transaction-types';

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
    description:
      "The organization's donors, by their names unless `orderBy` says otherwise. The list is of the newest state of the books. Needs the privilege of the report.",
  })
  async donors(
    @Args(() => DonorListArgs) which: EntityParameters,
    @Args(() => PageArgs) page: PageParameters,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Page<Donor>> {
    return (await donorEntities(context)).list('donor', { ...which, ...page }, lookAhead(info));
  }

  @FieldResolver(() => SummaryTotals, { description: 'Totals of the lines of the donor in a period.' })
  totals(
    @Root() donor: Donor,
    @Args(() => LinePeriodArgs) period: LinePeriodArgs,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return orRefuse(context, info, () => context.entities.graph.figuresOf('Donor.totals', donor, toFigureParameters(period, info)));
  }

  @FieldResolver(() => TransactionConnection, {
    description: 'The transactions (gifts) of the donor, by their dates unless `orderBy` says otherwise.',
  })
  transactions(
    @Root() donor: Donor,
    @Args(() => PeriodArgs) period: EntityParameters,
    @Args(() => TransactionListArgs) which: EntityParameters,
    @Args(() => PageArgs) page: PageParameters,
    @Ctx() { entities }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return entities.graph.follow('Donor.transactions', donor, { ...period, ...which, ...page }, lookAhead(info));
  }
}
