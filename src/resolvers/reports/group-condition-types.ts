import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, InputType } from 'type-graphql';
import type { FigureRangesInput, GroupConditionsInput as Conditions } from '../../formats/group-conditions';
import { DecimalRange, LocalDateRange } from '../request/line-filter-types';
import { NEEDS_REPORT } from '../request/request-context';

@InputType({ description: 'A range of numbers. Both ends are included; an end that is missing does not bound it.' })
class CountRange {
  @Field(() => GraphQLSafeInt, { nullable: true, description: 'Smallest number of the range, such as `1`.' })
  min?: number | null;

  @Field(() => GraphQLSafeInt, { nullable: true, description: 'Greatest number of the range, such as `0` for groups that have none.' })
  max?: number | null;
}

@InputType({
  description:
    'Ranges of the figures of groups, as their part `all` has them. A group must meet all ranges that are given. A range needs one of its ends.',
})
class FigureRanges implements FigureRangesInput {
  @Field(() => CountRange, { nullable: true, description: 'Number of lines.' })
  lines?: CountRange | null;

  @Field(() => CountRange, { nullable: true, description: 'Number of transactions (gifts).' })
  transactions?: CountRange | null;

  @Field(() => CountRange, { nullable: true, description: 'Number of split transactions.' })
  splitTransactions?: CountRange | null;

  @Field(() => CountRange, { nullable: true, description: 'Number of deposits.' })
  deposits?: CountRange | null;

  @Field(() => CountRange, { nullable: true, description: `Number of donors. ${NEEDS_REPORT}` })
  donors?: CountRange | null;

  @Field(() => DecimalRange, { nullable: true, description: '`byLine.amount`.' })
  lineAmount?: DecimalRange | null;

  @Field(() => DecimalRange, { nullable: true, description: '`byLine.feeAmount`.' })
  lineFeeAmount?: DecimalRange | null;

  @Field(() => DecimalRange, { nullable: true, description: '`byLine.netAmount`.' })
  lineNetAmount?: DecimalRange | null;

  @Field(() => DecimalRange, { nullable: true, description: '`byTransaction.amount`: the money that came in.' })
  transactionAmount?: DecimalRange | null;

  @Field(() => DecimalRange, { nullable: true, description: '`byTransaction.feeAmount`.' })
  transactionFeeAmount?: DecimalRange | null;

  @Field(() => DecimalRange, { nullable: true, description: '`byTransaction.netAmount`.' })
  transactionNetAmount?: DecimalRange | null;

  @Field(() => DecimalRange, {
    nullable: true,
    description: '`byAllocation.amount`. A group whose shares are all unknown lies in no range.',
  })
  allocationAmount?: DecimalRange | null;

  @Field(() => LocalDateRange, {
    nullable: true,
    description:
      '`firstGift`. With `endDate` and without `startDate`, `firstGift: { from: "2025-01-01" }` chooses the donors who gave for the first time since that day.',
  })
  firstGift?: LocalDateRange | null;

  @Field(() => LocalDateRange, {
    nullable: true,
    description: '`lastGift`. A group without lines in the period lies in no range of dates.',
  })
  lastGift?: LocalDateRange | null;
}

@InputType({ description: 'Conditions that choose groups by their figures. A group must meet all that are given.' })
export class GroupConditionsInput extends FigureRanges implements Conditions {
  @Field(() => FigureRanges, {
    nullable: true,
    description:
      "Ranges of the group's figures in the period of `compareWith`, which it needs. A group without lines there has the figures 0: `transactions: { max: 0 }` chooses groups that are new, and `min: 1` in it beside `max: 0` outside of it those that are there no more.",
  })
  compared?: FigureRanges | null;
}

// The build fails here when a figure has no field in FigureRanges.
({}) satisfies { [Figure in Exclude<keyof FigureRangesInput, keyof FigureRanges>]: never };
