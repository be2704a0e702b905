import type { GraphQLResolveInfo } from 'graphql';
import { GraphQLSafeInt } from 'graphql-scalars';
import { Arg, Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import { authorizeTotals, type DepositSummaryService } from '../domain/deposit-summary-service';
import type { GroupBy } from '../formats/line-groups';
import { LineArgs } from './deposit-detail-types';
import { DepositSummary, groupByEnum, SummaryTotals } from './deposit-summary-types';
import { NEEDS_REPORT, refuse, type RequestContext } from './request-context';

@Resolver()
export class DepositSummaryResolver {
  constructor(private readonly summaries: DepositSummaryService) {}

  @Query(() => DepositSummary, {
    description:
      'Control totals of lines of the deposit report. For every member of the organization, but for what needs the privilege of the report.',
  })
  async depositSummary(
    @Args() lines: LineArgs,
    @Arg('groupBy', () => [groupByEnum], {
      defaultValue: [],
      description: 'What the groups have in common; several make a group of each combination.',
    })
    groupBy: GroupBy[],
    @Ctx() { access, snapshot }: RequestContext,
  ): Promise<DepositSummary> {
    const member = await access.authorizeMember();
    const lineSet = await authorizeTotals(access, member, lines);
    return new DepositSummary(this.summaries.summarize({ lineSet, groupBy, mayReadDonors: member.mayReadDonors }, snapshot));
  }
}

@Resolver(() => SummaryTotals)
export class SummaryTotalsResolver {
  @FieldResolver(() => GraphQLSafeInt, { nullable: true, description: `How many donors that are known. ${NEEDS_REPORT}` })
  donors(@Root() { donors }: SummaryTotals, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): number | null {
    return context.access.mayReadDonors ? donors : refuse(context, info);
  }
}
