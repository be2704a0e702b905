import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { toReportPeriod, type DepositDetailLine, type DepositDetailService } from '../domain/deposit-detail-service';
import type { RowStream } from '../row-stream';
import { DepositDetail, DepositDetailsArgs } from './deposit-detail-types';
import type { RequestContext } from './request-context';

@Resolver()
export class DepositDetailResolver {
  constructor(private readonly reports: DepositDetailService) {}

  /** Returns lines that are still to be read: each door renders them by its own template. */
  @Query(() => [DepositDetail], {
    description:
      "The deposit report: a line for each allocation, by deposit date, deposit, transaction and allocation. Holds donors' personal data.",
  })
  async depositDetails(
    @Args() args: DepositDetailsArgs,
    @Ctx() { access, snapshot }: RequestContext,
  ): Promise<RowStream<DepositDetailLine>> {
    const { organization } = await access.assertReport();
    return this.reports.report(organization.id, toReportPeriod(args), snapshot);
  }
}
