import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, Info, Query, Resolver } from 'type-graphql';
import type { BookService } from '../../domain/books/book-service';
import type { DepositChangeService } from '../../domain/reports/deposit-change-service';
import { toNarrowedLineSet } from '../../domain/reports/deposit-detail-service';
import type { DepositSummaryService } from '../../domain/reports/deposit-summary-service';
import { InputError } from '../../errors';
import { isEdge } from '../../formats/entity-edges';
import { toAsOf } from '../request/as-of-types';
import { PageArgs } from '../request/connection-types';
import { selectedNodeFields } from '../request/look-ahead';
import type { RequestContext } from '../request/request-context';
import { ChangeArgs, DepositChangeConnection, type DepositChangeConnectionSource } from './deposit-change-types';

@Resolver()
export class DepositChangeResolver {
  constructor(
    private readonly changes: DepositChangeService,
    private readonly summaries: DepositSummaryService,
    private readonly bookService: BookService,
  ) {}

  @Query(() => DepositChangeConnection, {
    description:
      "What changed in the lines of the deposit report between two states of the books: one net change for each line, in the order of the report, page by page. Lines hold donors' personal data. Needs the privilege of the report.",
  })
  async depositChanges(
    @Args() { from, to, class: classes, ...which }: ChangeArgs,
    @Args() page: PageArgs,
    @Ctx() { access, books, lines: count }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<DepositChangeConnectionSource> {
    const { organization, mayReadDonors } = await access.authorizeDonors();
    const lineSet = toNarrowedLineSet(organization.id, which);
    if (classes?.length === 0) throw new InputError('class is an empty list: leave it out for all classes', 'class');
    assertNoRecords(selectedNodeFields(info, ['before', 'after']));
    const set = await this.bookService.between(lineSet, { from: toAsOf(from)!, to: toAsOf(to) }, books);
    const changes = await this.changes.page(set, classes ?? undefined, page, books);
    count.add(changes.nodes.length);
    return {
      ...changes,
      classes: () => this.changes.totals(set, books),
      funds: (each) => this.changes.funds(set, each, books),
      summarize: (side, grouping) => {
        const state = { before: set.from, after: set.to }[side];
        return this.summaries.summarize({ lineSet: { ...lineSet, state }, startDate: which.startDate, ...grouping, mayReadDonors }, books);
      },
    };
  }
}

/** Records are of the newest state alone. Throws INVALID_PARAMETERS where a line shall lead to them. */
function assertNoRecords(fields: readonly string[]): void {
  const record = fields.find((name) => isEdge(`DepositDetail.${name}`));
  if (record !== undefined) throw new InputError(`Lines of a change lead to no records: leave ${record} out`);
}
