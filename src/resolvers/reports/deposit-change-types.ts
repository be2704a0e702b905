import type { GraphQLResolveInfo } from 'graphql';
import { GraphQLSafeInt } from 'graphql-scalars';
import { Args, ArgsType, Field, Info, ObjectType, registerEnumType } from 'type-graphql';
import type * as domain from '../../domain/reports/deposit-change-service';
import type * as summaries from '../../domain/reports/deposit-summary-service';
import type { Page, PageParameters } from '../../domain/paging/keyset-page';
import type { ChangeClass } from '../../values/change-classes';
import type { Money } from '../../values/money';
import { SummaryAmounts } from '../books/summary-figure-types';
import { AsOfInput, FROM_STATE, TO_STATE } from '../request/as-of-types';
import { createConnectionType, PageArgs } from '../request/connection-types';
import { DepositDetailFilter } from '../request/line-filter-types';
import { selectedPaths } from '../request/look-ahead';
import { LinePeriodArgs } from '../request/period-types';
import { DecimalScalar } from '../request/scalars';
import { DepositDetail } from './deposit-detail-types';
import { DepositSummary } from './deposit-summary-types';
import { SummaryArgs } from './summary-group-types';

const simple = { simpleResolvers: true } as const;

const changeClassEnum = {
  MONEY: 'MONEY',
  ADDED: 'ADDED',
  REMOVED: 'REMOVED',
  MOVED: 'MOVED',
  REKEYED: 'REKEYED',
  ERASED: 'ERASED',
  RELABELLED: 'RELABELLED',
} as const satisfies { [Class in ChangeClass]: Class };
registerEnumType(changeClassEnum, {
  name: 'ChangeClass',
  description: 'Kind of a net change of a line between two states of the books.',
  valuesConfig: {
    MONEY: { description: 'The amount, the fee or the share is another one.' },
    ADDED: { description: 'The line is new.' },
    REMOVED: { description: 'The line is gone.' },
    MOVED: {
      description:
        'The money is the same, and its date, deposit, status, gift, donor or fund is another one, or only one of the two lines fits the filter.',
    },
    REKEYED: {
      description:
        'The gift or the allocation has another ID, and its deposit, fund and money are the same. A line that is gone and one that is new make one change. It adds nothing to the figures.',
    },
    ERASED: {
      description:
        'An erasure after the first state emptied texts of the line there: names, contact or memos. A copy takes `after` in its place. It adds nothing to the figures.',
    },
    RELABELLED: { description: 'Names, addresses, titles, types or memos are others. It adds nothing to the figures.' },
  },
});

/** The arguments that choose two states and the lines of a report. */
@ArgsType()
export class ChangeArgs extends LinePeriodArgs {
  @Field(() => AsOfInput, FROM_STATE)
  from!: AsOfInput;

  @Field(() => AsOfInput, TO_STATE)
  to?: AsOfInput | null;

  @Field(() => DepositDetailFilter, {
    nullable: true,
    description: 'Conditions that narrow the lines of the period. A line whose state before or after fits them has changed.',
  })
  filter?: DepositDetailFilter | null;

  @Field(() => [changeClassEnum], { nullable: true, description: 'Classes of the changes of the list; all without it. Totals are of all.' })
  class?: ChangeClass[] | null;
}

@ObjectType({ ...simple, description: "What changes add to the sum of the allocations' own shares." })
export class AllocationEffect {
  @Field(() => DecimalScalar, { description: 'What they add to the sum of the known and inferred shares.' })
  amount!: Money;

  @Field(() => GraphQLSafeInt, { description: 'What they add to the number of unknown shares.' })
  unknown!: number;
}

@ObjectType({
  ...simple,
  description:
    'What changes add to the figures of the lines; negative where they take away. The figures before, and the effects of all classes, add up to the figures after.',
})
export class ChangeEffect implements domain.ChangeEffect {
  @Field(() => GraphQLSafeInt, { description: 'What they add to the number of lines.' })
  lines!: number;

  @Field(() => GraphQLSafeInt, {
    description:
      'What they add to the number of transactions (gifts). A gift of several changed lines counts at one of them: the first, by the order of the classes.',
  })
  transactions!: number;

  @Field(() => GraphQLSafeInt, { description: 'What they add to the number of deposits, counted as gifts are.' })
  deposits!: number;

  @Field(() => SummaryAmounts, { description: 'What they add to the sums over the lines.' })
  byLine!: SummaryAmounts;

  @Field(() => SummaryAmounts, { description: 'What they add to the sums over the transactions, each counted once.' })
  byTransaction!: SummaryAmounts;

  @Field(() => AllocationEffect, { description: 'What they add to the sums over the allocations.' })
  byAllocation!: AllocationEffect;
}

@ObjectType({
  ...simple,
  description:
    "The net change of a line between two states, however many versions lie between them. A line that came back to what it was has not changed. Lines hold donors' personal data and need the privilege of the report.",
})
class DepositChange implements domain.DepositChange {
  @Field(() => changeClassEnum, { description: 'Class of the change: the first that fits.' })
  class!: ChangeClass;

  @Field(() => DepositDetail, {
    nullable: true,
    description: 'The line in the state of `from`; null where there was none. It leads to no records.',
  })
  before!: DepositDetail | null;

  @Field(() => DepositDetail, {
    nullable: true,
    description: 'The line in the state of `to`; null where there is none. It leads to no records.',
  })
  after!: DepositDetail | null;

  @Field(() => [String], {
    description: 'Names of the fields that differ, such as `["amount", "netAmount"]`; empty where one of the two lines is missing.',
  })
  columns!: readonly string[];

  @Field(() => Boolean, {
    description:
      'True when `before` lies in the period and fits the filter. When it does not, the line has come in from elsewhere or is new.',
  })
  wasInside!: boolean;

  @Field(() => Boolean, {
    description: 'True when `after` lies in the period and fits the filter. When it does not, the line has left or is gone.',
  })
  isInside!: boolean;

  @Field(() => ChangeEffect, { description: 'What the change adds to the figures of the period.' })
  effect!: ChangeEffect;
}

@ObjectType({ ...simple, description: 'The changes of a class together.' })
class ChangeClassTotals implements domain.ClassTotals {
  @Field(() => changeClassEnum, { description: 'The class.' })
  class!: ChangeClass;

  @Field(() => GraphQLSafeInt, { description: 'Number of the changes.' })
  changes!: number;

  @Field(() => ChangeEffect, { description: 'What they add to the figures of the period.' })
  effect!: ChangeEffect;
}

@ObjectType({ ...simple, description: 'The changes in a designation (fund). A line that went from one fund to another counts in both.' })
class ChangeDesignation implements domain.FundTotals {
  @Field(() => GraphQLSafeInt, { description: 'ID of the designation (fund).' })
  designationId!: number;

  @Field(() => String, { description: 'Name of the designation (fund).' })
  designation!: string;

  @Field(() => [ChangeClassTotals], {
    description:
      'Totals of each class that has changes in the fund. Their effects are on the figures that groups by DESIGNATION have: a gift counts once in each fund that has a share of it.',
  })
  classes!: readonly domain.ClassTotals[];
}

@ObjectType({ description: 'A page of designations (funds) that have changes.' })
class ChangeDesignationConnection extends createConnectionType(ChangeDesignation, 'designations') {}

/** The source of the connection's fields. Totals are read only when a query selects them. */
export interface DepositChangeConnectionSource extends Page<domain.DepositChange> {
  readonly classes: () => Promise<readonly domain.ClassTotals[]>;
  readonly funds: (page: PageParameters) => Promise<Page<domain.FundTotals>>;
  readonly summarize: (side: 'before' | 'after', grouping: summaries.Grouping) => summaries.DepositSummary;
}

@ObjectType({ description: 'A page of changes.' })
export class DepositChangeConnection extends createConnectionType(DepositChange, 'changes') {
  readonly summarize!: DepositChangeConnectionSource['summarize'];
  readonly funds!: DepositChangeConnectionSource['funds'];

  @Field(() => [ChangeClassTotals], {
    simple: true,
    description: 'Totals of each class that has changes, of all pages and classes, in the order of the classes.',
  })
  readonly classes!: DepositChangeConnectionSource['classes'];

  @Field(() => ChangeDesignationConnection, {
    description: 'The designations (funds) that have changes, of all pages and classes, in the order of their IDs.',
  })
  designations(@Args() page: PageArgs): Promise<Page<domain.FundTotals>> {
    return this.funds(page);
  }

  @Field(() => DepositSummary, { description: 'Control totals of the lines in the state of `from`.' })
  summaryBefore(@Args() grouping: SummaryArgs, @Info() info: GraphQLResolveInfo): DepositSummary {
    return new DepositSummary(this.summarize('before', grouping), selectedPaths(info));
  }

  @Field(() => DepositSummary, {
    description: 'Control totals of the lines in the state of `to`: those before, and the effects of all classes.',
  })
  summaryAfter(@Args() grouping: SummaryArgs, @Info() info: GraphQLResolveInfo): DepositSummary {
    return new DepositSummary(this.summarize('after', grouping), selectedPaths(info));
  }
}
