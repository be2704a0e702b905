import { ArgsType, Field } from 'type-graphql';
import type { PendingChoice } from '../formats/line-conditions';
import type { LocalDate } from '../values/dates';
import { pendingEnum } from './line-filter-types';
import { LocalDateScalar } from './scalars';

/** The arguments that choose the deposits of a list or of totals. */
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
