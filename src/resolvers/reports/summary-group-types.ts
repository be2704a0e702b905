import { GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { GroupOrderField, Period } from '../../data/reports/deposit-summary-store';
import type * as domain from '../../domain/reports/deposit-summary-service';
import type { GroupBy, GroupKey } from '../../formats/line-groups';
import type { LocalDate } from '../../values/dates';
import { createConnectionType, PageArgs } from '../request/connection-types';
import { depositStatusEnum } from '../books/deposit-types';
import { createOrderType } from '../request/order-types';
import { LocalDateScalar } from '../request/scalars';
import { GroupConditionsInput } from './group-condition-types';
import { SummaryFigures } from '../books/summary-figure-types';

const simple = { simpleResolvers: true } as const;

const groupByEnum = {
  DAY: 'DAY',
  WEEK: 'WEEK',
  MONTH: 'MONTH',
  QUARTER: 'QUARTER',
  YEAR: 'YEAR',
  DEPOSIT: 'DEPOSIT',
  TRANSACTION: 'TRANSACTION',
  DEPOSIT_STATUS: 'DEPOSIT_STATUS',
  DESIGNATION: 'DESIGNATION',
  STATUS: 'STATUS',
  ACCOUNT_TYPE: 'ACCOUNT_TYPE',
  PAYMENT_TYPE: 'PAYMENT_TYPE',
  DONOR: 'DONOR',
  CITY: 'CITY',
  STATE: 'STATE',
} as const satisfies { [By in GroupBy]: By };
registerEnumType(groupByEnum, {
  name: 'GroupBy',
  description: 'A value that the lines of a group have in common.',
  valuesConfig: {
    DAY: { description: 'Date of the deposit or of the transaction, as `dateBasis` says. So are the parts of time below.' },
    WEEK: { description: 'Week of the date, named by its Monday (ISO 8601), such as 2026-01-05.' },
    MONTH: { description: 'Month of the date, named by its first day, such as 2026-01-01.' },
    QUARTER: { description: 'Quarter of the date, named by its first day; `fiscalYearStart` says with which month a year begins.' },
    YEAR: { description: 'Year of the date, named by its first day; `fiscalYearStart` says with which month it begins.' },
    DEPOSIT: { description: 'Deposit.' },
    TRANSACTION: { description: 'Transaction (gift).' },
    DEPOSIT_STATUS: { description: 'Status of the deposit: posted deposits come before pending ones.' },
    DESIGNATION: { description: 'Designation (fund) of the allocation.' },
    STATUS: { description: 'Status of the transaction, such as "Complete".' },
    ACCOUNT_TYPE: { description: 'Type of account, such as "Checking".' },
    PAYMENT_TYPE: { description: 'Type of payment, such as "ACH".' },
    DONOR: { description: 'Donor; 0 stands for gifts without a donor. Needs the privilege of the report.' },
    CITY: { description: "City of the donor's address. Needs the privilege of the report." },
    STATE: { description: "State of the donor's address. Needs the privilege of the report." },
  },
});

const SummaryGroupOrder = createOrderType<GroupOrderField>('SummaryGroup', {
  items: 'groups',
  tie: 'the values that make them',
  valuesConfig: {
    KEY: { description: 'The values that make the groups, in the order of `groupBy`.' },
    LINES: { description: 'Number of lines.' },
    TRANSACTIONS: { description: 'Number of transactions.' },
    SPLIT_TRANSACTIONS: { description: 'Number of split transactions.' },
    DEPOSITS: { description: 'Number of deposits.' },
    DONORS: { description: 'Number of donors. Needs the privilege of the report.' },
    LINE_AMOUNT: { description: '`byLine.amount`.' },
    LINE_FEE_AMOUNT: { description: '`byLine.feeAmount`.' },
    LINE_NET_AMOUNT: { description: '`byLine.netAmount`.' },
    TRANSACTION_AMOUNT: { description: '`byTransaction.amount`.' },
    TRANSACTION_FEE_AMOUNT: { description: '`byTransaction.feeAmount`.' },
    TRANSACTION_NET_AMOUNT: { description: '`byTransaction.netAmount`.' },
    ALLOCATION_AMOUNT: { description: '`byAllocation.amount`. A group whose shares are all unknown comes last.' },
  },
});

/** The arguments of a page of groups. */
@ArgsType()
export class GroupPageArgs extends PageArgs {
  @Field(() => SummaryGroupOrder, {
    nullable: true,
    description: "Order of the groups by figures of the part `all`; that of the groups' values when it is not given.",
  })
  orderBy?: { readonly field: GroupOrderField; readonly direction: 'ASC' | 'DESC' } | null;
}

@InputType({ description: 'A period of the dates that `dateBasis` chooses. Both ends are included.' })
export class PeriodInput implements Period {
  @Field(() => LocalDateScalar, { description: 'First date of the period, such as `"2025-01-01"`.' })
  startDate!: LocalDate;

  @Field(() => LocalDateScalar, { description: 'Last date of the period, such as `"2025-12-31"`.' })
  endDate!: LocalDate;
}

/** The arguments that choose the groups of a summary. */
@ArgsType()
export class SummaryArgs implements domain.Grouping {
  @Field(() => [groupByEnum], {
    defaultValue: [],
    description: 'Values that the lines of a group have in common. Several make one group for each combination.',
  })
  groupBy!: GroupBy[];

  @Field(() => Int, {
    defaultValue: 1,
    description: 'The month with which quarters and years begin, 1 to 12, such as 7 for a fiscal year from July.',
  })
  fiscalYearStart!: number;

  @Field(() => PeriodInput, {
    nullable: true,
    description:
      'Another period, whose figures stand in `compared` and whose differences in `change`. Its months, quarters and years are compared with those at the same distance from the beginning of the period; so are days where both periods begin on the same day of a month, and weeks by whole weeks.',
  })
  compareWith?: PeriodInput | null;

  @Field(() => GroupConditionsInput, {
    nullable: true,
    description:
      'Conditions that choose groups by their figures; needs `groupBy`. `groups`, their number and `rest` are then those of the chosen groups, and `all`, `posted`, `pending`, `compared` and `change` those of their lines, in which each gift counts once. `digest`, `moneyDigest` and `dataVersion` are of all lines of the period.',
  })
  having?: GroupConditionsInput | null;
}

@ObjectType({
  ...simple,
  description: 'The values that the lines of a group have in common. A field is null when `groupBy` does not name it.',
})
export class SummaryGroupKey implements GroupKey {
  @Field(() => LocalDateScalar, { nullable: true, description: 'Date of the deposits or of the transactions, with `groupBy: [DAY]`.' })
  day?: LocalDate;

  @Field(() => LocalDateScalar, { nullable: true, description: 'Monday of the week, with `groupBy: [WEEK]`.' })
  week?: LocalDate;

  @Field(() => LocalDateScalar, { nullable: true, description: 'First day of the month, with `groupBy: [MONTH]`.' })
  month?: LocalDate;

  @Field(() => LocalDateScalar, { nullable: true, description: 'First day of the quarter, with `groupBy: [QUARTER]`.' })
  quarter?: LocalDate;

  @Field(() => LocalDateScalar, { nullable: true, description: 'First day of the year, with `groupBy: [YEAR]`.' })
  year?: LocalDate;

  @Field(() => String, { nullable: true, description: 'ID of the deposit, with `groupBy: [DEPOSIT]`.' })
  depositId?: string;

  @Field(() => LocalDateScalar, { nullable: true, description: 'Date of the deposit, with `groupBy: [DEPOSIT]`.' })
  depositDate?: LocalDate;

  @Field(() => String, { nullable: true, description: 'ID of the transaction, with `groupBy: [TRANSACTION]`.' })
  transactionId?: string;

  @Field(() => LocalDateScalar, { nullable: true, description: 'Date of the transaction, with `groupBy: [TRANSACTION]`.' })
  transactionDate?: LocalDate;

  @Field(() => depositStatusEnum, { nullable: true, description: 'Status of the deposits, with `groupBy: [DEPOSIT_STATUS]`.' })
  depositStatus?: keyof typeof depositStatusEnum;

  @Field(() => GraphQLSafeInt, { nullable: true, description: 'ID of the designation, with `groupBy: [DESIGNATION]`.' })
  designationId?: number;

  @Field(() => String, { nullable: true, description: 'Name of the designation, with `groupBy: [DESIGNATION]`.' })
  designation?: string;

  @Field(() => String, { nullable: true, description: 'Status of the transactions, with `groupBy: [STATUS]`; may be empty.' })
  status?: string;

  @Field(() => String, { nullable: true, description: 'Type of account, with `groupBy: [ACCOUNT_TYPE]`; may be empty.' })
  accountType?: string;

  @Field(() => String, { nullable: true, description: 'Type of payment, with `groupBy: [PAYMENT_TYPE]`; may be empty.' })
  paymentType?: string;

  @Field(() => GraphQLSafeInt, {
    nullable: true,
    description: 'ID of the donor, with `groupBy: [DONOR]`; 0 for gifts without a donor. Grouping by it needs the privilege of the report.',
  })
  donorId?: number;

  @Field(() => String, {
    nullable: true,
    description: 'First name of the donor, with `groupBy: [DONOR]`; may be empty. Grouping by it needs the privilege of the report.',
  })
  donorFirstName?: string;

  @Field(() => String, {
    nullable: true,
    description: 'Last name of the donor, with `groupBy: [DONOR]`; may be empty. Grouping by it needs the privilege of the report.',
  })
  donorLastName?: string;

  @Field(() => String, {
    nullable: true,
    description:
      "First line of the donor's address in the state of the books, with `groupBy: [DONOR]`; may be empty. Grouping by it needs the privilege of the report.",
  })
  address1?: string;

  @Field(() => String, {
    nullable: true,
    description:
      "Second line of the donor's address, with `groupBy: [DONOR]`; may be empty. Grouping by it needs the privilege of the report.",
  })
  address2?: string;

  @Field(() => String, {
    nullable: true,
    description:
      "Third line of the donor's address, with `groupBy: [DONOR]`; may be empty. Grouping by it needs the privilege of the report.",
  })
  address3?: string;

  @Field(() => String, {
    nullable: true,
    description:
      "City of the donors' addresses, with `groupBy: [CITY]` or `[DONOR]`; may be empty. Grouping by it needs the privilege of the report.",
  })
  city?: string;

  @Field(() => String, {
    nullable: true,
    description:
      "State of the donors' addresses, with `groupBy: [STATE]` or `[DONOR]`; may be empty. Grouping by it needs the privilege of the report.",
  })
  state?: string;

  @Field(() => String, {
    nullable: true,
    description:
      "Zip code of the donor's address, with `groupBy: [DONOR]`; may be empty. Grouping by it needs the privilege of the report.",
  })
  zip?: string;

  @Field(() => String, {
    nullable: true,
    description: 'Phone number of the donor, with `groupBy: [DONOR]`; may be empty. Grouping by it needs the privilege of the report.',
  })
  phone?: string;

  @Field(() => String, {
    nullable: true,
    description: 'Email address of the donor, with `groupBy: [DONOR]`; may be empty. Grouping by it needs the privilege of the report.',
  })
  emailAddress?: string;
}

@ObjectType({ ...simple, description: 'Totals of a group of lines.' })
class SummaryGroup extends SummaryFigures implements domain.PlacedGroup {
  /** The number of all groups. */
  readonly groups!: number;

  @Field(() => SummaryGroupKey, { description: 'The values that the lines of the group have in common.' })
  key!: SummaryGroupKey;
}

@ObjectType({ ...simple, description: 'Totals of all groups that a page does not show, taken together: each gift counts once.' })
export class SummaryRest extends SummaryFigures implements domain.SummaryRest {
  @Field(() => GraphQLSafeInt, { description: 'Number of the groups that the page does not show.' })
  groups!: number;
}

@ObjectType({ description: 'A page of groups.' })
export class SummaryGroupConnection extends createConnectionType(SummaryGroup, 'groups') {
  @Field(() => SummaryRest, {
    nullable: true,
    simple: true,
    description:
      'Totals of all groups that the page does not show, as one; null when it shows all. With `first: 5` and an order by a figure, these are the others beside the top five.',
  })
  readonly rest!: () => Promise<SummaryRest | null>;
}

// The build fails here when a column of the group key has no field in SummaryGroupKey.
({}) satisfies { [Field in Exclude<keyof GroupKey, keyof SummaryGroupKey>]: never };
