import { getNamedType, GraphQLObjectType, type GraphQLResolveInfo } from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields';
import { Args, Ctx, Info, Query, Resolver } from 'type-graphql';
import {
  toReportPeriod,
  toSelection,
  type DepositDetailLine,
  type DepositDetailService,
  type LineSelection,
} from '../domain/deposit-detail-service';
import type { DepositSummaryService } from '../domain/deposit-summary-service';
import { tellsDonors, toLineFilter } from '../domain/line-filter';
import type { RowStream } from '../row-stream';
import {
  DepositDetail,
  DepositDetailConnection,
  DepositDetailConnectionArgs,
  DepositDetailsArgs,
  DepositSummaryArgs,
  type DepositDetailConnectionSource,
  type LineSelectionArgs,
} from './deposit-detail-types';
import { DepositSummary } from './deposit-summary-types';
import type { RequestContext } from './request-context';

@Resolver()
export class DepositDetailResolver {
  constructor(
    private readonly reports: DepositDetailService,
    private readonly summaries: DepositSummaryService,
  ) {}

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
    return this.reports.report(toSelection(organization.id, toReportPeriod(args)), snapshot);
  }

  @Query(() => DepositDetailConnection, {
    description: "Lines of the deposit report page by page. Holds donors' personal data: needs the privilege of the report.",
  })
  async depositDetailsConnection(
    @Args() args: DepositDetailConnectionArgs,
    @Ctx() { access, snapshot }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<DepositDetailConnectionSource> {
    const { organization } = await access.assertDonors();
    const selection = toNarrowSelection(organization.id, args);
    const order = { field: args.orderBy?.field ?? 'DATE', direction: args.orderBy?.direction ?? 'ASC' } as const;
    // A page alone is one statement; with totals all of them must be of one state.
    const state = selects(info, ['totalCount', 'summary']) ? snapshot : undefined;
    return {
      page: await this.reports.page(selection, order, args, state),
      count: () => this.reports.count(selection, snapshot),
      summarize: (groupBy) => this.summaries.summarize(selection, groupBy, snapshot),
    };
  }

  @Query(() => DepositSummary, {
    description:
      'Control totals of lines of the deposit report. For every member of the organization, but for what needs the privilege of the report.',
  })
  async depositSummary(@Args() args: DepositSummaryArgs, @Ctx() { access, snapshot }: RequestContext): Promise<DepositSummary> {
    const { organization } = await access.assertMember();
    const selection = toNarrowSelection(organization.id, args);
    if (tellsDonors(selection.filter)) await access.assertDonors();
    return new DepositSummary(this.summaries.summarize(selection, args.groupBy, snapshot));
  }
}

function toNarrowSelection(organizationId: number, { filter, ...period }: LineSelectionArgs): LineSelection {
  const { pending, ...dates } = toReportPeriod(period);
  return toSelection(organizationId, { ...dates, pending: filter?.pending ?? pending }, toLineFilter(filter));
}

/** Whether a field's selection asks for one of these. */
function selects({ schema, fragments, variableValues, fieldNodes, returnType }: GraphQLResolveInfo, names: readonly string[]): boolean {
  const type = getNamedType(returnType);
  if (!(type instanceof GraphQLObjectType)) return false;
  const selected = collectSubfields(schema, fragments, variableValues, type, fieldNodes);
  return [...selected.values()].some((nodes) => names.includes(nodes[0]!.name.value));
}
