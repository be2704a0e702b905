import { getNamedType, GraphQLObjectType, type GraphQLResolveInfo } from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields';
import { Arg, Args, Ctx, Info, Query, Resolver } from 'type-graphql';
import {
  toReportPeriod,
  toNarrowSelection,
  toSelection,
  type DepositDetailLine,
  type DepositDetailService,
} from '../domain/deposit-detail-service';
import { selectForTotals, type DepositSummaryService } from '../domain/deposit-summary-service';
import type { RowStream } from '../row-stream';
import { PageArgs } from './connection-types';
import {
  DepositDetail,
  DepositDetailConnection,
  DepositDetailOrder,
  DepositDetailsArgs,
  LineSelectionArgs,
  type DepositDetailConnectionSource,
} from './deposit-detail-types';
import { DepositSummary, groupBys, type GroupBy } from './deposit-summary-types';
import type { RequestContext } from './request-context';

const REPORT_ORDER = { field: 'DATE', direction: 'ASC' } as const;

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
    @Args() lines: LineSelectionArgs,
    @Arg('orderBy', () => DepositDetailOrder, {
      nullable: true,
      description: 'The order of the lines; that of the report where none is given.',
    })
    orderBy: DepositDetailOrder | null,
    @Args() page: PageArgs,
    @Ctx() { access, snapshot }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<DepositDetailConnectionSource> {
    const { organization, mayReadDonors } = await access.assertDonors();
    const selection = toNarrowSelection(organization.id, lines);
    const order = orderBy ?? REPORT_ORDER;
    // A page alone is one statement, and short where it is the next lines of an index. Whatever else is asked for must be of the same state.
    const isNewest = order.field === 'DATE' && !lines.filter && isAlone(info) && !selects(info, ['totalCount', 'summary']);
    return {
      ...(await this.reports.page(selection, order, page, { snapshot, isNewest })),
      summarize: (groupBy) => this.summaries.summarize({ selection, groupBy, mayReadDonors }, snapshot),
    };
  }

  @Query(() => DepositSummary, {
    description:
      'Control totals of lines of the deposit report. For every member of the organization, but for what needs the privilege of the report.',
  })
  async depositSummary(
    @Args() lines: LineSelectionArgs,
    @Arg('groupBy', () => [groupBys], {
      defaultValue: [],
      description: 'What the groups have in common; several make a group of each combination.',
    })
    groupBy: GroupBy[],
    @Ctx() { access, snapshot }: RequestContext,
  ): Promise<DepositSummary> {
    const member = await access.assertMember();
    const selection = await selectForTotals(access, member, lines);
    return new DepositSummary(this.summaries.summarize({ selection, groupBy, mayReadDonors: member.mayReadDonors }, snapshot));
  }
}

/** Whether the operation asks for nothing else at its root. */
function isAlone({ schema, fragments, variableValues, operation, parentType }: GraphQLResolveInfo): boolean {
  return collectFields(schema, fragments, variableValues, parentType, operation.selectionSet).size === 1;
}

/** Whether a field's selection asks for one of these. */
function selects({ schema, fragments, variableValues, fieldNodes, returnType }: GraphQLResolveInfo, names: readonly string[]): boolean {
  const type = getNamedType(returnType);
  if (!(type instanceof GraphQLObjectType)) return false;
  const selected = collectSubfields(schema, fragments, variableValues, type, fieldNodes);
  return [...selected.values()].some((nodes) => names.includes(nodes[0]!.name.value));
}
