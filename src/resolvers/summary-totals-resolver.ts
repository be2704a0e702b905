import type { GraphQLResolveInfo } from 'graphql';
import { GraphQLSafeInt } from 'graphql-scalars';
import { Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';
import { SummaryTotals } from './deposit-summary-types';
import { NEEDS_REPORT, refuse, type RequestContext } from './request-context';

@Resolver(() => SummaryTotals)
export class SummaryTotalsResolver {
  @FieldResolver(() => GraphQLSafeInt, { nullable: true, description: `How many donors that are known. ${NEEDS_REPORT}` })
  donors(@Root() { donors }: SummaryTotals, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): number | null {
    return donors ?? refuse(context, info);
  }
}
