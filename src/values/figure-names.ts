/** The figures of a summary, by their names in files: the path of each in GraphQL. */
export const summaryCounts = {
  lines: 'lines',
  transactions: 'transactions',
  deposits: 'deposits',
  donors: 'donors',
  split_transactions: 'splitTransactions',
  known_allocations: 'byAllocation.known',
  inferred_allocations: 'byAllocation.inferred',
  unknown_allocations: 'byAllocation.unknown',
} as const;
export const summaryAmounts = {
  line_amount: 'byLine.amount',
  line_fee_amount: 'byLine.feeAmount',
  line_net_amount: 'byLine.netAmount',
  transaction_amount: 'byTransaction.amount',
  transaction_fee_amount: 'byTransaction.feeAmount',
  transaction_net_amount: 'byTransaction.netAmount',
} as const;
export const summaryShares = { allocation_amount: 'byAllocation.amount' } as const;
export const summaryGiftDates = { first_gift: 'firstGift', last_gift: 'lastGift' } as const;

/** The parts of a summary, by the path of each in GraphQL: the beginning of the names of its figures in files. */
export const summaryParts = { all: '', posted: 'posted_', pending: 'pending_', 'compared.all': 'compared_' } as const;
export type SummaryPart = keyof typeof summaryParts;
