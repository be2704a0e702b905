import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { FundBudgetService } from '../../domain/reports/fund-budget-service';
import { AppError } from '../../errors';
import { toChanger, type RequestContext } from '../request/request-context';
import { LocalDateScalar } from '../request/scalars';
import { FundBudget, SaveFundBudgetInput, SaveFundBudgetPayload } from './fund-budget-types';

@Resolver(() => FundBudget)
export class FundBudgetResolver {
  constructor(private readonly service: FundBudgetService) {}

  @Query(() => FundBudget, {
    nullable: true,
    description:
      'What the funds are to receive in a fiscal year, and the part of it up to a day; null where no budget of the year was saved. Needs the privilege of the report.',
  })
  async fundBudget(
    @Arg('startDate', () => LocalDateScalar, { description: 'First day of the fiscal year, such as `"2026-07-01"`.' }) startDate: string,
    @Arg('through', () => LocalDateScalar, { description: 'Last day of the part, which is in the fiscal year.' }) through: string,
    @Ctx() { access }: RequestContext,
  ): Promise<FundBudget | null> {
    const { organization, mayReadDonors } = await access.authorizeMember();
    // A budget is no personal data, so that its reading is not audited.
    if (!mayReadDonors) throw new AppError('PRIVILEGE_NOT_FOUND');
    return this.service.find(organization.id, startDate, through);
  }

  @Mutation(() => SaveFundBudgetPayload, {
    description:
      'Saves the budget of a fiscal year in place of the one in force. Fails with BUDGET_CONFLICT, which says who saved another and when, unless `replaces` is the number in force. Needs a logged-in user or an API provision with the privilege `close_periods`.',
  })
  async saveFundBudget(
    @Arg('input', () => SaveFundBudgetInput, { description: 'The budget to save.' }) input: SaveFundBudgetInput,
    @Ctx() context: RequestContext,
  ): Promise<SaveFundBudgetPayload> {
    const { organization } = await context.access.authorizeClosing();
    const { replaces = null, ...budget } = input;
    return { budget: await this.service.save(organization.id, { ...budget, replaces }, await toChanger(context)) };
  }
}
