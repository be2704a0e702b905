/** The most funds of a budget: so many fit into the body of a request, which has 100 kB. */
export const MAX_BUDGET_FUNDS = 1000;

/** True for the first day of a fiscal year that may have a budget: one in the years 1900 to 9998. */
export const isBudgetYear = (startDate: string): boolean => startDate >= '1900' && startDate < '9999';
