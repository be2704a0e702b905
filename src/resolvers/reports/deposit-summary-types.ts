import { Args, Ctx, Field, ObjectType } from 'type-graphql';
import type { LineSet } from '../../data/books/line-set';
import type { DigestName } from '../../domain/reports/control-totals';
import type * as domain from '../../domain/reports/deposit-summary-service';
import { findAsked, findExtras } from '../../domain/reports/deposit-summary-service';
import type * as figures from '../../domain/reports/summary-figures';
import type { RequestContext } from '../request/request-context';
import { figureDescriptions, SummaryChange, SummaryParts, SummaryTotals } from '../books/summary-figure-types';
import { GroupPageArgs, SummaryGroupConnection } from './summary-group-types';

/** The beginning of the paths of the values of groups, and of the rest of the groups. */
const GROUPS = 'groups.';
const REST = 'groups.rest.';
const DIGESTS = ['digest', 'moneyDigest'] as const satisfies readonly DigestName[];

/** The totals and the digests are read only when a query selects them, and both digests at once where it selects both. */
@ObjectType({ description: 'Control totals of a set of lines. All values come from one state of the data.' })
export class DepositSummary {
  private readonly totals: () => Promise<figures.SummaryFigures>;
  private readonly digests: () => ReturnType<domain.DepositSummary['digests']>;

  /** `selected` are the paths of the values that the operation asks for. */
  constructor(
    private readonly summary: domain.DepositSummary,
    private readonly selected: readonly string[],
  ) {
    this.digests = () => summary.digests(DIGESTS.filter((name) => selected.includes(name)));
    this.totals = () => summary.totals(findExtras(selected.filter((path) => !path.startsWith(GROUPS))));
  }

  get lineSet(): LineSet {
    return this.summary.lineSet;
  }

  @Field(() => SummaryTotals, { description: figureDescriptions.all })
  async all(): Promise<SummaryTotals> {
    return (await this.totals()).all;
  }

  @Field(() => SummaryTotals, { description: figureDescriptions.posted })
  async posted(): Promise<SummaryTotals> {
    return (await this.totals()).posted;
  }

  @Field(() => SummaryTotals, { description: figureDescriptions.pending })
  async pending(): Promise<SummaryTotals> {
    return (await this.totals()).pending;
  }

  @Field(() => SummaryParts, { nullable: true, description: figureDescriptions.compared })
  async compared(): Promise<SummaryParts | null> {
    return (await this.totals()).compared;
  }

  @Field(() => SummaryChange, { nullable: true, description: figureDescriptions.change })
  async change(): Promise<SummaryChange | null> {
    return (await this.totals()).change;
  }

  @Field(() => SummaryGroupConnection, {
    description: "Totals of each group, page by page, in the order of the groups' values. The list is empty without `groupBy`.",
  })
  async groups(
    @Args() { orderBy, ...page }: GroupPageArgs,
    @Ctx() { access, sealed }: RequestContext,
  ): Promise<Omit<domain.GroupPage, 'rest'> & Pick<SummaryGroupConnection, 'rest'>> {
    const { field, direction } = orderBy ?? { field: 'KEY', direction: 'ASC' };
    if (field === 'DONORS') await access.authorizeDonors();
    const order = { field, isDescending: direction === 'DESC' };
    const paths = this.selected.filter((path) => path.startsWith(GROUPS));
    const isOfRest = (path: string): boolean => path.startsWith(REST);
    const found = await this.summary.groups(
      findAsked(
        paths.filter((path) => !isOfRest(path)),
        this.summary.groupBy,
      ),
      order,
      page,
      sealed,
    );
    return { ...found, rest: () => found.rest(findExtras(paths.filter(isOfRest))) };
  }

  @Field(() => String, {
    nullable: true,
    description:
      'SHA-256 in hex of the lines in the order of the report, each as its v2 JSON object followed by a line feed (LF). `deposit-gateway export --format ndjson --columns v2 | sha256sum` prints the same for the same lines. Needs the privilege of the report.',
  })
  async digest(@Ctx() { access }: RequestContext): Promise<string> {
    await access.authorizeDonors();
    return (await this.digests()).digest!;
  }

  @Field(() => String, {
    nullable: true,
    description:
      'SHA-256 in hex of the money of the lines: of the CSV file of their ids, dates, amounts, shares, funds and statuses, in the order of the report. `deposit-gateway export --format csv --columns money | sha256sum` prints the same for the same lines. It does not change when a name, an address or a memo does.',
  })
  async moneyDigest(): Promise<string> {
    return (await this.digests()).moneyDigest!;
  }
}
