import type { GraphQLResolveInfo } from 'graphql';
import { GraphQLSafeInt } from 'graphql-scalars';
import { Args, ArgsType, Field, Info, ObjectType } from 'type-graphql';
import type { LineOrder } from '../../data/reports/deposit-detail-store';
import type { ReportParameters } from '../../domain/reports/deposit-detail-service';
import type * as domain from '../../domain/reports/deposit-summary-service';
import type { Page } from '../../domain/paging/keyset-page';
import type { LATE, LineValues } from '../../line/line-fields';
import type { LocalDate } from '../../values/dates';
import type { Money } from '../../values/money';
import { AS_OF, AsOfInput } from '../request/as-of-types';
import { createConnectionType } from '../request/connection-types';
import { DepositSummary } from './deposit-summary-types';
import { depositStatusEnum } from '../books/deposit-types';
import { DepositDetailFilter } from '../request/line-filter-types';
import { selectedPaths } from '../request/look-ahead';
import { createOrderType } from '../request/order-types';
import { LinePeriodArgs } from '../request/period-types';
import { DecimalScalar, LocalDateScalar } from '../request/scalars';
import { SummaryArgs } from './summary-group-types';

@ArgsType()
export class DepositDetailsArgs implements ReportParameters {
  // The type is unknown, not text, because the v2 door passes on raw parameters: the domain checks them for every door.
  @Field(() => LocalDateScalar, {
    description: 'First deposit date of the period, such as `"2026-01-01"`. Lines of this date are included.',
  })
  startDate: unknown;

  @Field(() => LocalDateScalar, {
    description: 'Last deposit date of the period, such as `"2026-01-31"`. Lines of this date are included.',
  })
  endDate: unknown;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'True when pending deposits are included. Otherwise the lines are those of posted deposits alone.',
  })
  includePending: unknown;

  @Field(() => AsOfInput, AS_OF)
  asOf?: AsOfInput | null;
}

const LineOrderType = createOrderType<LineOrder['field']>('DepositDetail', {
  items: 'lines',
  tie: 'allocation ID',
  valuesConfig: {
    DATE: { description: 'Deposit date, then deposit ID, transaction ID and allocation ID: the order of the report.' },
    AMOUNT: { description: 'Amount of the whole transaction.' },
    DONOR_NAME: {
      description: 'Last name, then first name of the donor, without regard to case and accents. Lines of nobody have empty names.',
    },
    DESIGNATION: { description: 'Name of the designation (fund), without regard to case and accents.' },
  },
});

/** The arguments that choose lines: a period and conditions. */
@ArgsType()
export class LineArgs extends LinePeriodArgs {
  @Field(() => DepositDetailFilter, { nullable: true, description: 'Conditions that narrow the lines of the period.' })
  filter?: DepositDetailFilter | null;

  @Field(() => AsOfInput, AS_OF)
  asOf?: AsOfInput | null;
}

/** The arguments that choose lines and their order. */
@ArgsType()
export class LineListArgs extends LineArgs {
  @Field(() => LineOrderType, { nullable: true, description: 'Order of the lines; the order of the report when it is not given.' })
  orderBy?: LineOrder | null;
}

/** Each field is the column of the report's view with the same name in snake_case (contract section 2.1). */
@ObjectType({
  simpleResolvers: true,
  description:
    "A line of the deposit report: one allocation with its transaction (gift), deposit, designation (fund), and the donor's contact information. A gift that is split over several funds has several lines. Lines hold donors' personal data and need the privilege of the report.",
})
export class DepositDetail implements LineValues {
  @Field(() => String, { description: 'ID of the deposit, such as `"1043"`. All lines of a deposit repeat it.' })
  depositId!: string;

  @Field(() => LocalDateScalar, { description: 'Date of the transaction, such as `"2026-01-30"`.' })
  transactionDate!: LocalDate;

  @Field(() => LocalDateScalar, { description: 'Date of the deposit, such as `"2026-01-31"`.' })
  depositDate!: LocalDate;

  @Field(() => String, {
    description: 'ID of the transaction: text of the books, such as `"T1"`. All lines of a split gift repeat it.',
  })
  transactionId!: string;

  @Field(() => String, {
    description: 'ID of the allocation, such as `"A1"`. It is unique within the organization: no other line has it.',
  })
  allocationId!: string;

  @Field(() => GraphQLSafeInt, { description: 'ID of the donor; 0 when the gift has no donor.' })
  donorId!: number;

  @Field(() => String, { description: 'First name of the donor; empty when the gift has no donor.' })
  donorFirstName!: string;

  @Field(() => String, { description: 'Last name of the donor; empty when the gift has no donor.' })
  donorLastName!: string;

  @Field(() => String, { description: "First line of the donor's address; may be empty." })
  address1!: string;

  @Field(() => String, { description: "Second line of the donor's address; may be empty." })
  address2!: string;

  @Field(() => String, { description: "Third line of the donor's address; may be empty." })
  address3!: string;

  @Field(() => String, { description: "City of the donor's address; may be empty." })
  city!: string;

  @Field(() => String, { description: 'State of the donor\'s address, such as `"IL"`; may be empty.' })
  state!: string;

  @Field(() => String, { description: 'Zip code of the donor\'s address, such as `"62701"`; may be empty.' })
  zip!: string;

  @Field(() => String, { description: 'Phone number of the donor; may be empty.' })
  phone!: string;

  @Field(() => String, { description: 'Email address of the donor; may be empty.' })
  emailAddress!: string;

  @Field(() => DecimalScalar, {
    description: 'Amount of the whole transaction. All lines of a split gift repeat it: do not add lines up, ask for a summary.',
  })
  amount!: Money;

  @Field(() => DecimalScalar, { description: 'Fee of the whole transaction, such as `"2.50"`. All lines of a split gift repeat it.' })
  feeAmount!: Money;

  @Field(() => DecimalScalar, { description: 'Amount of the whole transaction minus its fee. All lines of a split gift repeat it.' })
  netAmount!: Money;

  @Field(() => String, { description: 'Status of the transaction as the books name it, such as `"Complete"`; may be empty.' })
  status!: string;

  @Field(() => String, { description: 'Type of account that the gift came from, such as `"Checking"`; may be empty.' })
  accountType!: string;

  @Field(() => String, { description: 'Type of payment, such as `"ACH"` or `"Check"`; may be empty.' })
  paymentType!: string;

  @Field(() => GraphQLSafeInt, { description: 'ID of the designation (fund).' })
  designationId!: number;

  @Field(() => String, { description: 'Name of the designation (fund), such as `"Building Fund"`.' })
  designation!: string;

  @Field(() => String, { description: 'Memo of the allocation to this designation; may be empty.' })
  designationMemo!: string;

  @Field(() => String, { description: 'Main memo of the transaction; may be empty.' })
  mainMemo!: string;

  @Field(() => DecimalScalar, {
    nullable: true,
    description:
      'The allocation\'s own share of the amount, such as `"40.00"` of a gift of 100.00: the share that the books state; otherwise the whole amount when the gift has no other allocation; otherwise null, because the share is unknown.',
  })
  allocationAmount!: Money | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'True when `allocationAmount` was inferred: the books state no share, and the gift has no other allocation. False when the books state it, null when it is unknown.',
  })
  allocationAmountInferred!: boolean | null;

  @Field(() => depositStatusEnum, { description: 'Status of the deposit: posted or pending.' })
  depositStatus!: keyof typeof depositStatusEnum;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'True when the money of the line has changed since the close that covers its deposit date: its amounts, dates, statuses, deposit, gift or fund, or that it exists. Always false where no close covers the date, and null in the lines of a change, which are of two states.',
  })
  late?: boolean | null;
}

// The build fails here when DepositDetail has a field that lines do not have.
({}) satisfies { [Field in Exclude<keyof DepositDetail, keyof LineValues | typeof LATE>]: never };

/** The source of the connection's fields. Each part, and each field of the lines, is read only when a query selects it. */
export interface DepositDetailConnectionSource extends Page<Partial<DepositDetail>> {
  summarize(grouping: domain.Grouping): domain.DepositSummary;
}

@ObjectType({ description: 'A page of lines of the deposit report.' })
export class DepositDetailConnection extends createConnectionType(DepositDetail, 'lines') {
  readonly summarize!: DepositDetailConnectionSource['summarize'];

  @Field(() => DepositSummary, { description: 'Control totals of the lines on all pages, from the same state of the data as the page.' })
  summary(@Args() grouping: SummaryArgs, @Info() info: GraphQLResolveInfo): DepositSummary {
    return new DepositSummary(this.summarize(grouping), selectedPaths(info));
  }
}
