/** The most funds of a budget: so many fit into the body of a request, which has 100 kB. */
export const MAX_BUDGET_FUNDS = 1000;
