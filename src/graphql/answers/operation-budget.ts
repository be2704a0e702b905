import type { Budget, BudgetService } from '../../domain/access/budget-service';
import type { OperationCost } from '../documents/operation-cost';
import { operationLimits } from '../../resolvers/request/operation-limits';
import type { GraphqlContext } from './row-field';

interface Headers {
  set(name: string, value: string): unknown;
}

/** The name of the policy in the headers. It tells a client that its quota is of values, and not of requests. */
const POLICY = '"cost"';

/**
 * Takes an operation's cost from the budget of its provision, and tells what is left in the headers `RateLimit` and `RateLimit-Policy`
 * (draft-ietf-httpapi-ratelimit-headers-10). An operation that runs again is not paid again.
 * Mutations cost nothing, so that a user can always log out. A caller who has not logged in gets nothing and pays nothing: the provision of
 * an app is public, and strangers could use up its budget. Throws BUDGET_EXCEEDED.
 */
export async function spendBudget(
  context: GraphqlContext,
  { cost, isMutation }: OperationCost & { readonly isMutation: boolean },
  budgets: BudgetService,
  headers: Headers,
): Promise<void> {
  if (!budgets.isLimited || isMutation) return;
  const { provisionId } = await context.access.authorizeProvision();
  if (!(await context.access.isMember())) return;
  const budget = (context.outcome.budget ??= await budgets.spend(provisionId, cost));
  if (!budget) return;
  setHeaders(budget, headers);
  if (budget.refusal) throw budget.refusal;
}

function setHeaders({ limit, windowSeconds, remaining, resetSeconds }: Budget, headers: Headers): void {
  headers.set('ratelimit-policy', `${POLICY};q=${limit};w=${windowSeconds};qu="values"`);
  headers.set('ratelimit', `${POLICY};r=${remaining};t=${resetSeconds}`);
}

/** The request header that asks for the cost within the answer. */
export const COST_HEADER = 'x-graphql-cost';

/** The member of an answer's `extensions` that tells what its operation was counted to cost, and the most that one may cost. */
export const toCostExtension = ({ cost }: OperationCost): object => ({ cost: { requested: cost, limit: operationLimits.maxCost } });
