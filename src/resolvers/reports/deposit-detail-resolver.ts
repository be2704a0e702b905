import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, Info, Query, Resolver } from 'type-graphql';
import { toReportPeriod, toNarrowedLineSet, toLineSet, type DepositDetailService } from '../../domain/reports/deposit-detail-service';
import type { BookService } from '../../domain/books/book-service';
import { InputError } from '../../errors';
import type { DepositSummaryService } from '../../domain/reports/deposit-summary-service';
import { entityEdges, isEdge } from '../../formats/entity-edges';
import type { LineValues } from '../../line/line-fields';
import type { RowStream } from '../../rows/row-stream';
import { toAsOf } from '../request/as-of-types';
import { PageArgs } from '../request/connection-types';
import {
  DepositDetail,
  DepositDetailConnection,
  DepositDetailsArgs,
  LineListArgs,
  type DepositDetailConnectionSource,
} from './deposit-detail-types';
import { lookAhead, selectedNodeFields } from '../request/look-ahead';
import type { RequestContext } from '../request/request-context';

const REPORT_ORDER = { field: 'DATE', direction: 'ASC' } as const;

@Resolver()
export class DepositDetailResolver {
  constructor(
    private readonly details: DepositDetailService,
    private readonly summaries: DepositSummaryService,
    private readonly bookService: BookService,
  ) {}

  /** Returns a stream whose lines have not been read yet. Each door renders them by its own template. */
  @Query(() => [DepositDetail], {
    description:
      "The deposit report: one line for each allocation, in the order of deposit date, deposit ID, transaction ID and allocation ID. The answer holds the whole list, without pages, and is sent while the database reads it. Lines hold donors' personal data. Needs the privilege of the report, `deposit_detail_designation_detail_with_contact_info`.",
  })
  async depositDetails(
    @Args() { asOf, ...args }: DepositDetailsArgs,
    @Ctx() { access, books, entities }: RequestContext,
    @Info() info?: GraphQLResolveInfo,
  ): Promise<RowStream<LineValues>> {
    const { organization } = await access.authorizeReport();
    // Lines that are not streamed lead to their records, and whoever may read lines may read donors.
    entities.enter({ organizationId: organization.id, mayReadDonors: true });
    const lineSet = toLineSet(organization.id, toReportPeriod(args));
    if (asOf) assertNoRecords(selectedNodeFields(info!));
    return this.details.report(await this.bookService.inState(lineSet, toAsOf(asOf), books), books);
  }

  @Query(() => DepositDetailConnection, {
    description: "Lines of the deposit report, page by page. Lines hold donors' personal data. Needs the privilege of the report.",
  })
  async depositDetailsConnection(
    @Args() { orderBy, ...which }: LineListArgs,
    @Args() page: PageArgs,
    @Ctx() { access, books, entities, sealed, lines: count }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<DepositDetailConnectionSource> {
    const { organization, mayReadDonors } = await access.authorizeDonors();
    const narrowed = toNarrowedLineSet(organization.id, which);
    const selected = selectedNodeFields(info);
    if (which.asOf) assertNoRecords(selected);
    const lineSet = await this.bookService.inState(narrowed, toAsOf(which.asOf), books);
    const order = orderBy ?? REPORT_ORDER;
    // Lines that follow each other in an index are a short statement, which needs no lane of the queue. Those of a past state do not.
    const isShort =
      order.field === 'DATE' && lineSet.dateBasis === 'DEPOSIT_DATE' && which.pending !== 'ONLY' && !which.filter && !which.asOf;
    const fields = selected.map((name) => {
      const edge = `DepositDetail.${name}`;
      return isEdge(edge) ? entityEdges[edge].by : name;
    });
    const lines = await this.details.page({ lineSet, order, fields }, page, { books, sealed, isShort });
    count.add(lines.nodes.length);
    const graph = entities.enter({ organizationId: organization.id, mayReadDonors });
    await graph.readAhead(lines.nodes, lookAhead(info)());
    return {
      ...lines,
      summarize: (grouping) => this.summaries.summarize({ lineSet, startDate: which.startDate, ...grouping, mayReadDonors }, books),
    };
  }
}

/** Records are of the newest state alone. Throws INVALID_PARAMETERS where lines of a past one shall lead to them. */
function assertNoRecords(selected: readonly string[]): void {
  const record = selected.find((name) => isEdge(`DepositDetail.${name}`));
  if (record !== undefined) throw new InputError(`asOf: lines of a past state lead to no records: leave ${record} out`, 'asOf');
}
