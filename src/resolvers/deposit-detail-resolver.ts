import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, Info, Query, Resolver } from 'type-graphql';
import type { DepositDetailLine } from '../data/deposit-detail-store';
import { toReportPeriod, toNarrowedLineSet, toLineSet, type DepositDetailService } from '../domain/deposit-detail-service';
import type { DepositSummaryService } from '../domain/deposit-summary-service';
import type { RowStream } from '../rows/row-stream';
import { PageArgs } from './connection-types';
import {
  DepositDetail,
  DepositDetailConnection,
  DepositDetailsArgs,
  LineListArgs,
  type DepositDetailConnectionSource,
} from './deposit-detail-types';
import { selectedNodeFields } from './look-ahead';
import type { RequestContext } from './request-context';

const REPORT_ORDER = { field: 'DATE', direction: 'ASC' } as const;

@Resolver()
export class DepositDetailResolver {
  constructor(
    private readonly details: DepositDetailService,
    private readonly summaries: DepositSummaryService,
  ) {}

  /** Returns a stream whose lines have not been read yet. Each door renders them by its own template. */
  @Query(() => [DepositDetail], {
    description:
      "The deposit report: one line for each allocation, in the order of deposit date, deposit ID, transaction ID and allocation ID. The answer holds the whole list, without pages, and is sent while the database reads it. Lines hold donors' personal data. Needs the privilege of the report, `deposit_detail_designation_detail_with_contact_info`.",
  })
  async depositDetails(
    @Args() args: DepositDetailsArgs,
    @Ctx() { access, snapshot }: RequestContext,
  ): Promise<RowStream<DepositDetailLine>> {
    const { organization } = await access.authorizeReport();
    return this.details.report(toLineSet(organization.id, toReportPeriod(args)), snapshot);
  }

  @Query(() => DepositDetailConnection, {
    description: "Lines of the deposit report, page by page. Lines hold donors' personal data. Needs the privilege of the report.",
  })
  async depositDetailsConnection(
    @Args() { orderBy, ...lines }: LineListArgs,
    @Args() page: PageArgs,
    @Ctx() { access, snapshot, reader }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<DepositDetailConnectionSource> {
    const { organization, mayReadDonors } = await access.authorizeDonors();
    const lineSet = toNarrowedLineSet(organization.id, lines);
    const order = orderBy ?? REPORT_ORDER;
    // Lines that follow each other in an index are a short statement, which needs no lane of the queue.
    const isShort = order.field === 'DATE' && lines.pending !== 'ONLY' && !lines.filter;
    const fields = selectedNodeFields(info);
    return {
      ...(await this.details.page({ lineSet, order, fields }, page, { snapshot, reader, isShort })),
      summarize: (grouping) => this.summaries.summarize({ lineSet, ...grouping, mayReadDonors }, reader),
    };
  }
}
