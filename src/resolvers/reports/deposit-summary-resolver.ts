import type { GraphQLResolveInfo } from 'graphql';
import { GraphQLSafeInt } from 'graphql-scalars';
import { Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { BookService } from '../../domain/books/book-service';
import { authorizeTotals, type DepositSummaryService } from '../../domain/reports/deposit-summary-service';
import { DataVersion } from '../books/data-version-types';
import { toAsOf } from '../request/as-of-types';
import { LineArgs } from './deposit-detail-types';
import { DepositSummary } from './deposit-summary-types';
import { selectedPaths } from '../request/look-ahead';
import { NEEDS_REPORT, refuse, type RequestContext } from '../request/request-context';
import { SummaryTotals } from '../books/summary-figure-types';
import { SummaryArgs } from './summary-group-types';

@Resolver(() => DepositSummary)
export class DepositSummaryResolver {
  constructor(
    private readonly summaries: DepositSummaryService,
    private readonly bookService: BookService,
  ) {}

  @Query(() => DepositSummary, {
    description:
      'Control totals of lines of the deposit report: counts, exact sums and digests. For every logged-in user and every API provision; conditions on donors and their number, `donors` and `digest` need the privilege of the report.',
  })
  async depositSummary(
    @Args() lines: LineArgs,
    @Args() grouping: SummaryArgs,
    @Ctx() { access, books }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<DepositSummary> {
    const member = await access.authorizeMember();
    const narrowed = await authorizeTotals(access, member, lines, grouping);
    const lineSet = await this.bookService.inState(narrowed, toAsOf(lines.asOf), books);
    const { mayReadDonors } = member;
    const { groupBy, fiscalYearStart, compareWith, having } = grouping;
    const asked = { startDate: lines.startDate, groupBy, fiscalYearStart, compareWith, having };
    const summary = this.summaries.summarize({ lineSet, ...asked, mayReadDonors }, books);
    return new DepositSummary(summary, selectedPaths(info));
  }

  @FieldResolver(() => DataVersion, {
    nullable: true,
    description:
      "Version of the books whose lines the totals are of: that of `asOf`, and the newest one without it. Null before the organization's first import.",
  })
  dataVersion(@Root() { lineSet }: DepositSummary, @Ctx() { books }: RequestContext): Promise<DataVersion | null> {
    return this.bookService.versionOf(lineSet, books);
  }
}

@Resolver(() => SummaryTotals)
export class SummaryTotalsResolver {
  @FieldResolver(() => GraphQLSafeInt, {
    nullable: true,
    description: `Number of different donors. Gifts without a donor are not counted. ${NEEDS_REPORT}`,
  })
  donors(@Root() { donors }: SummaryTotals, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): number | null {
    return context.access.openDonorData() ? donors : refuse(context, info);
  }
}
