import { ArgsType, Field, registerEnumType } from 'type-graphql';
import type { DateBasis, PendingChoice } from '../../formats/line-conditions';
import type { LocalDate } from '../../values/dates';
import { periodNames, toPeriodEnum, type PeriodName } from '../../values/periods';
import { pendingEnum } from './line-filter-types';
import { LocalDateScalar } from './scalars';

const dateBasisEnum = {
  DEPOSIT_DATE: 'DEPOSIT_DATE',
  TRANSACTION_DATE: 'TRANSACTION_DATE',
} as const satisfies { [Basis in DateBasis]: Basis };
registerEnumType(dateBasisEnum, {
  name: 'DateBasis',
  description: 'The date of a line that a period goes by.',
  valuesConfig: {
    DEPOSIT_DATE: { description: 'Date of the deposit, on which the money reached the bank account.' },
    TRANSACTION_DATE: { description: 'Date of the transaction (gift), which receipts and year-end letters of donors go by.' },
  },
});

const periodTexts: Readonly<Record<PeriodName, string>> = {
  today: 'The day.',
  yesterday: 'The day before.',
  'this-week': 'The week from Monday to Sunday.',
  'last-week': 'The week before.',
  'this-month': 'The month.',
  'last-month': 'The month before.',
  'this-quarter': 'The quarter of the calendar year.',
  'last-quarter': 'The quarter before.',
  'this-year': 'The calendar year.',
  'last-year': 'The calendar year before.',
  'last-12-months': 'The month and the eleven months before it.',
  'week-to-date': 'The week up to the day.',
  'month-to-date': 'The month up to the day.',
  'quarter-to-date': 'The quarter up to the day.',
  'year-to-date': 'The calendar year up to the day.',
  'this-fiscal-year': 'The fiscal year, which begins with the month that the organization has set.',
  'last-fiscal-year': 'The fiscal year before.',
  'fiscal-year-to-date': 'The fiscal year up to the day.',
  'all-time': 'Every date.',
};
export const namedPeriodEnum = Object.fromEntries(periodNames.map((name) => [toPeriodEnum(name), name]));
registerEnumType(namedPeriodEnum, {
  name: 'NamedPeriod',
  description:
    "A period that has other dates as time goes on. It is counted from the day in the organization's time zone, `viewer.timeZone`.",
  valuesConfig: Object.fromEntries(periodNames.map((name) => [toPeriodEnum(name), { description: periodTexts[name] }])),
});

/** The arguments that choose the deposits of a list. */
@ArgsType()
export class PeriodArgs {
  @Field(() => LocalDateScalar, {
    nullable: true,
    description:
      'First deposit date of the period, such as `"2026-01-01"`; included. Without it the period begins with the earliest deposit.',
  })
  startDate?: LocalDate | null;

  @Field(() => LocalDateScalar, {
    nullable: true,
    description: 'Last deposit date of the period, such as `"2026-01-31"`; included. Without it the period ends with the latest deposit.',
  })
  endDate?: LocalDate | null;

  @Field(() => pendingEnum, {
    defaultValue: 'WITHOUT',
    description: 'Chooses posted deposits, pending deposits or both. By default posted deposits alone.',
  })
  pending!: PendingChoice;
}

/** The arguments that choose the lines of totals. */
@ArgsType()
export class LinePeriodArgs extends PeriodArgs {
  @Field(() => LocalDateScalar, {
    nullable: true,
    description:
      'First date of the period, such as `"2026-01-01"`; included. It is a deposit date unless `dateBasis` says otherwise. Without it the period begins with the earliest line.',
  })
  override startDate?: LocalDate | null;

  @Field(() => LocalDateScalar, {
    nullable: true,
    description:
      'Last date of the period, such as `"2026-01-31"`; included. It is a deposit date unless `dateBasis` says otherwise. Without it the period ends with the latest line.',
  })
  override endDate?: LocalDate | null;

  @Field(() => dateBasisEnum, {
    defaultValue: 'DEPOSIT_DATE',
    description:
      'Date that `startDate` and `endDate` bound, and that groups of days, weeks, months, quarters and years are of. With `TRANSACTION_DATE` a gift counts on the day on which it was given, whenever it was deposited.',
  })
  dateBasis!: DateBasis;
}
