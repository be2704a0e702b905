import type { FundNamesQuery, JournalAccountsQuery, ReceiptsQuery } from '../../../generated/operations/graphql';
import type { JournalLayout } from '../../../values/journal-layouts';
import fundNamesQuery from '../queries/fund-names.graphql?raw';
import journalAccountsQuery from '../queries/journal-accounts.graphql?raw';
import receiptsQuery from '../queries/receipts.graphql?raw';
import { askGateway } from '../session/gateway-client';

/** The layouts of a journal in words. */
export const layoutTitles: Readonly<Record<JournalLayout, string>> = {
  plain: 'Plain CSV',
  quickbooks: 'QuickBooks Online',
  xero: 'Xero',
  sage: 'Sage Intacct',
};

/** The entries of a journal that are downloaded. */
export interface JournalChoices {
  readonly layout: JournalLayout;
  /** The journal that was booked; null for all deposits. */
  readonly booked: TakenJournal | null;
  readonly taxRate: string;
  readonly journalId: string;
}

/** A fund, and its account; an empty one where it has none. */
interface FundRow {
  readonly designationId: number;
  readonly name: string;
  readonly account: string;
}

export interface Accounts {
  /** The number of their saving; null where none were saved. */
  readonly number: number | null;
  readonly bank: string;
  readonly fees: string;
  readonly funds: readonly FundRow[];
}

/** The most funds that a sentence names. */
const MOST_NAMED = 3;

/** Says which accounts a journal lacks; undefined where all are named. Without those of the bank and the fees there is no journal at all. */
export function findMissing({ bank, fees, funds }: Accounts): { readonly text: string; readonly isNone: boolean } | undefined {
  const without = funds.filter(({ account }) => account.trim() === '');
  const needed = [...(bank.trim() === '' ? ['the bank'] : []), ...(fees.trim() === '' ? ['the fees'] : [])];
  const isNone = needed.length > 0;
  if (!isNone && without.length === 0) return undefined;
  const named = without.slice(0, MOST_NAMED).map(({ designationId, name }) => `${name || 'Fund'} (${String(designationId)})`);
  const others = without.length - named.length;
  const list = new Intl.ListFormat('en').format([...named, ...(others > 0 ? [`${String(others)} more`] : [])]);
  const ofFunds = without.length === 0 ? [] : [`${without.length === 1 ? 'the fund' : 'the funds'} ${list}`];
  const missing = new Intl.ListFormat('en').format([...needed, ...ofFunds]);
  return isNone
    ? { isNone, text: `There is no journal yet: no account is saved for ${missing}.` }
    : { isNone, text: `No account is saved for ${missing}. A journal with money of ${without.length === 1 ? 'it' : 'theirs'} is refused.` };
}

/** Reads the accounts in force, with a row for each fund by its name. */
export async function fetchAccounts(provision: string): Promise<Accounts> {
  const { journalAccounts } = await askGateway<JournalAccountsQuery>(provision, { query: journalAccountsQuery });
  const known = new Map(journalAccounts?.funds.map(({ designationId, account }) => [designationId, account]));
  const names = await fetchFundNames(provision);
  const funds: FundRow[] = names.map(({ designationId, name }) => ({ designationId, name, account: known.get(designationId) ?? '' }));
  for (const { designationId } of names) known.delete(designationId);
  // A fund that is not in the books yet keeps its account.
  for (const [designationId, account] of known) funds.push({ designationId, name: '', account });
  return { number: journalAccounts?.number ?? null, bank: journalAccounts?.bank ?? '', fees: journalAccounts?.fees ?? '', funds };
}

type FundName = NonNullable<FundNamesQuery['designations']>['nodes'][number];

/** Reads the names of all funds in the newest books. */
export async function fetchFundNames(provision: string, after: string | null = null): Promise<FundName[]> {
  const { designations } = await askGateway<FundNamesQuery>(provision, { query: fundNamesQuery, variables: { after } });
  if (!designations) return [];
  const { nodes, pageInfo } = designations;
  return pageInfo.hasNextPage ? [...nodes, ...(await fetchFundNames(provision, pageInfo.endCursor))] : [...nodes];
}

/** A journal that the person took: its period, its accounts, and the state of the books that it is of. */
export interface TakenJournal {
  readonly startDate: string;
  readonly endDate: string;
  readonly startedAt: string;
  readonly version: number;
  /** The state as the gateway names it, which no other books have. */
  readonly place: string;
  /** The number of the accounts that it was written to. */
  readonly accounts: string;
}

/** True where a journal is of this very period. */
export const isOfPeriod = (journal: TakenJournal, { startDate, endDate }: Period): boolean =>
  journal.startDate === startDate && journal.endDate === endDate;

/** True where a period has all days of a journal. A day that it lacks would be reversed. */
export const isCovered = (journal: TakenJournal, { startDate, endDate }: Period): boolean =>
  startDate <= journal.startDate && journal.endDate <= endDate;

interface Period {
  readonly startDate: string;
  readonly endDate: string;
}

/** Reads the journals that the person took whole and whose state is kept, the newest first, each once. */
export async function fetchTakenJournals(provision: string): Promise<readonly TakenJournal[]> {
  const { receipts, history } = await askGateway<ReceiptsQuery>(provision, { query: receiptsQuery });
  const taken = new Map<string, TakenJournal>();
  for (const { operation, outcome, startDate, endDate, startedAt, dataVersion, conditions } of receipts?.nodes ?? []) {
    if (!operation.startsWith('export/journal.') || outcome !== 'WHOLE' || !startDate || !endDate || dataVersion === null) continue;
    const [place, accounts] = ['place=', 'accounts='].map((name) => conditions.find((each) => each.startsWith(name))?.slice(name.length));
    if (place === undefined || accounts === undefined) continue;
    const key = JSON.stringify([startDate, endDate, place, accounts]);
    if (dataVersion < (history?.earliest.number ?? 1) || taken.has(key)) continue;
    taken.set(key, { startDate, endDate, startedAt, version: dataVersion, place, accounts });
  }
  return [...taken.values()];
}

/** The address of a journal of a period by the accounts that the page shows; in a past state where one is given, by its version or its instant. */
export function toJournalAddress(
  { startDate, endDate, asOf }: Period & { readonly asOf: string | undefined },
  accounts: number | null,
  { layout, booked, taxRate, journalId }: JournalChoices,
): URL {
  const url = new URL('/export/journal.csv', location.origin);
  const parameters = {
    ...{ start_date: startDate, end_date: endDate, layout },
    ...(asOf !== undefined && { as_of: asOf }),
    ...(accounts !== null && { accounts: String(accounts) }),
    ...(booked && {
      ...{ since: booked.place, since_start_date: booked.startDate, since_end_date: booked.endDate, since_accounts: booked.accounts },
    }),
    ...(layout === 'xero' && { tax_rate: taxRate.trim() }),
    ...(layout === 'sage' && { journal_id: journalId.trim() }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}
