import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, GraphQLISODateTime, InputType, Int, ObjectType } from 'type-graphql';
import type { FundAmount } from '../../data/reports/fund-budget-store';
import type * as domain from '../../domain/reports/fund-budget-service';
import { DecimalScalar, LocalDateScalar } from '../request/scalars';

const TO_DATE =
  'Part of the budget up to `through`: a twelfth for each month that is over, and for a month that is not by its days. Rounded to cents.';

@ObjectType({ simpleResolvers: true, description: 'The amount that a fund is to receive in a fiscal year.' })
export class BudgetedFund {
  @Field(() => GraphQLSafeInt, { description: 'Number of the designation (fund).' })
  designationId!: number;

  @Field(() => String, {
    nullable: true,
    description: 'Name of the designation in the newest books; null where they have none of this number.',
  })
  designation!: string | null;

  @Field(() => DecimalScalar, { description: 'Budget of the whole year.' })
  amount!: string;

  @Field(() => DecimalScalar, { description: TO_DATE })
  toDate!: string;
}

@ObjectType({
  simpleResolvers: true,
  description: 'The budget of the funds in a fiscal year. A saving is never changed; the newest one of a year is in force.',
})
export class FundBudget implements domain.FundBudget {
  @Field(() => LocalDateScalar, { description: 'First day of the fiscal year.' })
  startDate!: string;

  @Field(() => Int, { description: 'Number of the saving, counted from 1 in each fiscal year.' })
  number!: number;

  @Field(() => GraphQLISODateTime, { description: 'Time of the saving.' })
  savedAt!: Date;

  @Field(() => String, { nullable: true, description: 'User who saved it; the label of the provision where nobody was logged in.' })
  savedBy!: string | null;

  @Field(() => DecimalScalar, { description: 'Budget of the whole year of all funds.' })
  amount!: string;

  @Field(() => DecimalScalar, { description: 'Sum of `toDate` of all funds.' })
  toDate!: string;

  @Field(() => [BudgetedFund], { description: 'Budgets of the funds, by the numbers of the funds, at most 1000.' })
  funds!: readonly BudgetedFund[];
}

@InputType({ description: 'The budget of a fund.' })
export class FundAmountInput implements FundAmount {
  @Field(() => GraphQLSafeInt, { description: 'Number of the designation (fund). It need not be there yet.' })
  designationId!: number;

  @Field(() => DecimalScalar, { description: 'Budget of the whole year, such as `"12000.00"`; not less than zero.' })
  amount!: string;
}

@InputType({ description: 'The budget of a fiscal year.' })
export class SaveFundBudgetInput {
  @Field(() => LocalDateScalar, { description: 'First day of the fiscal year, which is the first of a month.' })
  startDate!: string;

  @Field(() => [FundAmountInput], { description: 'Budgets of all funds that have one, each fund once, at most 1000.' })
  funds!: readonly FundAmountInput[];

  @Field(() => Int, {
    nullable: true,
    description: 'The `number` of the budget that is to be replaced; null where none was saved. One that was saved since is not replaced.',
  })
  replaces?: number | null;
}

@ObjectType({ simpleResolvers: true, description: 'The budget that was saved.' })
export class SaveFundBudgetPayload {
  @Field(() => FundBudget, { description: 'The budget, which is in force now, up to the last day of the year.' })
  budget!: FundBudget;
}
