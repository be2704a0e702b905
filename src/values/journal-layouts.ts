/** The layouts of a journal's file, by the accounting programs that take them. */
export const journalLayouts = ['plain', 'quickbooks', 'xero', 'sage'] as const;
export type JournalLayout = (typeof journalLayouts)[number];

/** The most characters of an account of the journal, and the most funds that have one. */
export const MAX_ACCOUNT_LENGTH = 100;
export const MAX_JOURNAL_FUNDS = 5000;

/** The most funds of one mutation: with the longest accounts, so many fit into the body of a request, which has 100 kB. */
export const MAX_SENT_FUNDS = 600;
