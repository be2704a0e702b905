import type { BoardQuery, BoardQueryVariables } from '../../../generated/operations/graphql';
import { isBudgetYear } from '../../../values/budget-limits';
import { monthsBetween } from '../../../values/dates';
import { toMonths, toPeriodDates } from '../../../values/periods';
import type { ReportChoices } from '../choices/report-choices';
import type { DateBasis } from '../choices/report-definitions';
import boardQuery from '../queries/board.graphql?raw';
import { GatewayError } from '../session/gateway-client';
import type { EqualGifts } from '../values/equal-gifts';
import { addUp, largestFirst, subtract } from '../values/exact-decimal';
import { disambiguate } from '../values/namesakes';
import type { ComparedPeriod, Period } from '../values/periods';
import type { AsOf } from '../values/states';

/** The most funds that the sheet names. The others are one row, so that a sheet has two pages at most. */
const MAX_FUNDS = 40;
const MAX_GIFTS = 10;
const ZERO = '0.00';

interface BoardQuestion {
  readonly choices: ReportChoices;
  readonly period: Period;
  readonly compared: ComparedPeriod;
  readonly fiscalYearStart: number;
  readonly asOf: AsOf | undefined;
}

/** The first day of the fiscal year that a day is in. */
const findYearStart = (date: string, fiscalYearStart: number): string =>
  toPeriodDates('this-fiscal-year', { today: date, fiscalYearStart }).startDate;

/** Writes the one document that asks for all figures of a sheet, so that they are of one state of the books. */
export function toBoardDocument({ choices, period, compared, fiscalYearStart, asOf }: BoardQuestion) {
  const { startDate = '', endDate = '' } = period;
  const withNames = choices.donorNames === 'WITH';
  const variables: BoardQueryVariables = {
    ...{ startDate, endDate },
    yearBefore: { startDate: compared.startDate, endDate: compared.endDate },
    yearStart: findYearStart(endDate, fiscalYearStart),
    dateBasis: choices.dateBasis,
    ...(asOf && { asOf }),
    withBudget: isBudgetYear(findYearStart(endDate, fiscalYearStart)),
    giftsBy: ['TRANSACTION', 'DEPOSIT', 'DESIGNATION', ...(withNames ? (['DONOR'] as const) : [])],
    withNames,
  };
  return { query: boardQuery, variables, list: '' };
}

/** A fund on the sheet, all others as one, or the money of which nobody knows the fund. */
export interface FundRow {
  readonly name: string;
  readonly received: string;
  readonly before: string;
  readonly toDate: string;
  /** The budget up to the last day; undefined for a fund without one. */
  readonly budget: string | undefined;
}

interface MonthRow {
  readonly month: string;
  readonly received: string;
  readonly before: string;
}

interface LargeGift {
  readonly id: string;
  readonly date: string;
  /** Undefined where names are left out; empty for a gift of nobody known. */
  readonly donor: string | undefined;
  readonly funds: string;
  readonly amount: string;
}

/** The budget that a sheet is compared with, which is the one in force when the sheet was made. */
type SheetBudget = Pick<NonNullable<BoardQuery['fundBudget']>, 'number' | 'savedAt' | 'savedBy' | 'toDate'>;

/** The figures of a sheet. All columns of the funds add up to their totals. */
export interface BoardFigures {
  readonly version: { readonly number: number; readonly recordedAt: string };
  readonly received: string;
  readonly gifts: number;
  readonly before: string;
  readonly toDate: string;
  /** The budget of the fiscal year up to the last day; undefined where none is saved, or one of no fund. */
  readonly budget: SheetBudget | undefined;
  readonly funds: readonly FundRow[];
  readonly months: readonly MonthRow[];
  readonly largest: readonly LargeGift[];
  /** True where gifts of very many funds left no place for the others of the largest. */
  readonly isLargestCut: boolean;
  /** The gifts that equal the last of the largest ones and are not shown. */
  readonly equal: EqualGifts | undefined;
  readonly newDonors: number;
  readonly lapsedDonors: number;
  readonly pending: { readonly amount: string; readonly gifts: number };
}

/** The period of a sheet, and the date that it goes by. */
export interface BoardDates {
  readonly startDate: string;
  readonly endDate: string;
  readonly dateBasis: DateBasis;
}

/** Reads the answer of a sheet; undefined for books that are empty. Throws a GatewayError for more funds or months than an answer holds. */
export function readBoard(answer: BoardQuery, { startDate, endDate, dateBasis }: BoardDates): BoardFigures | undefined {
  const { period, toDate, months, largest, newDonors, lapsedDonors, pending, fundBudget } = answer;
  if (!period?.compared || !toDate || !months || !largest || !newDonors || !lapsedDonors || !pending)
    throw new GatewayError('The gateway has sent no figures. Run the report again.');
  if (!period.dataVersion) return undefined;
  const amountOf = ({ byTransaction: { amount } }: Money): string => amount;
  const [received, before, year] = [period.all, period.compared.all, toDate.all].map(amountOf) as [string, string, string];
  const budget = fundBudget && fundBudget.funds.length > 0 ? fundBudget : undefined;
  return {
    version: period.dataVersion,
    ...{ received, before, toDate: year, budget },
    gifts: period.all.transactions,
    funds: toFundRows(answer, { received, before, toDate: year }),
    months: toMonthRows(nodesOf(months.groups), { startDate, endDate }),
    ...toLargest(largest.groups, dateBasis),
    newDonors: newDonors.groups?.totalCount ?? 0,
    lapsedDonors: lapsedDonors.groups?.totalCount ?? 0,
    pending: { amount: amountOf(pending.all), gifts: pending.all.transactions },
  };
}

interface Money {
  readonly byTransaction: { readonly amount: string };
}

const MAX_MONTHS = 1000;
const TOO_LONG = 'The sheet has room for 1,000 funds and 1,000 months. Choose a shorter period.';

/** The groups of a list, which must all be there: a sum without some of them would be wrong. */
function nodesOf<Node>(groups: { readonly totalCount: number; readonly nodes: readonly Node[] } | null): readonly Node[] {
  if (!groups || groups.totalCount > groups.nodes.length) throw new GatewayError(TOO_LONG);
  return groups.nodes;
}

type Totals = Readonly<Record<'received' | 'before' | 'toDate', string>>;

interface Fund extends FundRow {
  readonly id: number;
}

const SUMS = ['received', 'before', 'toDate'] as const;

/** The rows of the funds, those that received most first, and what makes each column add up to its total. */
function toFundRows({ period, toDate, fundBudget }: BoardQuery, totals: Totals): FundRow[] {
  const found = new Map<number, Fund>();
  const add = (key: { readonly designationId: number | null; readonly designation: string | null }, more: Partial<FundRow>): void => {
    const id = key.designationId ?? 0;
    const nothing = { id, name: '', received: ZERO, before: ZERO, toDate: ZERO, budget: undefined };
    const known = found.get(id) ?? nothing;
    found.set(id, { ...known, name: known.name || (key.designation ?? ''), ...more });
  };
  const shareOf = ({ byAllocation: { amount } }: { readonly byAllocation: { readonly amount: string | null } }): string => amount ?? ZERO;
  for (const { key, all, compared } of nodesOf(period?.groups ?? null))
    add(key, { received: shareOf(all), before: compared ? shareOf(compared.all) : ZERO });
  for (const { key, all } of nodesOf(toDate?.groups ?? null)) add(key, { toDate: shareOf(all) });
  for (const fund of fundBudget?.funds ?? []) add(fund, { budget: fund.toDate });
  const names = new Map<string, number>();
  for (const { name } of found.values()) names.set(name, (names.get(name) ?? 0) + 1);
  const all = [...found.values()]
    .toSorted(
      (one, other) =>
        largestFirst(one.received, other.received) ||
        largestFirst(one.toDate, other.toDate) ||
        largestFirst(one.budget, other.budget) ||
        one.id - other.id,
    )
    .map((fund): FundRow => ({
      ...fund,
      name: fund.name === '' || names.get(fund.name)! > 1 ? disambiguate(fund.name || 'Fund', [fund.id]) : fund.name,
    }));
  // One fund more takes no more room than a row that says so.
  const shown = all.length > MAX_FUNDS + 1 ? all.slice(0, MAX_FUNDS) : all;
  const rows =
    shown.length < all.length ? [...shown, addFunds(`${String(all.length - shown.length)} other funds`, all.slice(shown.length))] : shown;
  const sums = addFunds('', rows);
  const rest = Object.fromEntries(SUMS.map((name) => [name, subtract(totals[name], sums[name])])) as Totals;
  return SUMS.every((name) => rest[name] === ZERO) ? rows : [...rows, { name: 'Fund not known', ...rest, budget: undefined }];
}

function addFunds(name: string, funds: readonly FundRow[]): FundRow {
  const sums = Object.fromEntries(SUMS.map((each) => [each, addUp(funds.map((fund) => fund[each])) ?? ZERO])) as Totals;
  return { name, ...sums, budget: addUp(funds.map(({ budget }) => budget)) };
}

type MonthNode = NonNullable<NonNullable<BoardQuery['months']>['groups']>['nodes'][number];

/** The months of a period, those without gifts too. Throws a GatewayError for more than the sheet draws. */
function toMonthRows(nodes: readonly MonthNode[], { startDate, endDate }: Omit<BoardDates, 'dateBasis'>): MonthRow[] {
  const found = new Map(nodes.map(({ key, all, compared }) => [key.month, { all, compared }]));
  if (monthsBetween(startDate, endDate) >= MAX_MONTHS) throw new GatewayError(TOO_LONG);
  return toMonths(startDate, endDate).map(({ startDate: first }) => {
    const month = `${first.slice(0, 'YYYY-MM'.length)}-01`;
    const { all, compared } = found.get(month) ?? {};
    return { month, received: all?.byTransaction.amount ?? ZERO, before: compared?.all.byTransaction.amount ?? ZERO };
  });
}

/** The largest gifts. A gift that is split over several funds has a group for each of them, which follow one another. */
function toLargest(
  groups: NonNullable<BoardQuery['largest']>['groups'],
  dateBasis: DateBasis,
): Pick<BoardFigures, 'largest' | 'isLargestCut' | 'equal'> {
  const found = new Map<string, LargeGift & { readonly names: readonly string[] }>();
  for (const { key, all } of groups?.nodes ?? []) {
    const { transactionId, transactionDate, depositDate, designation, designationId, donorFirstName, donorLastName } = key;
    const id = transactionId ?? '';
    const names = [...(found.get(id)?.names ?? []), designation || `Fund ${String(designationId)}`];
    const donor = donorFirstName === undefined ? undefined : `${donorFirstName ?? ''} ${donorLastName ?? ''}`.trim();
    const funds = names.length > 1 ? `${String(names.length)} funds` : names[0]!;
    found.set(id, {
      id,
      date: (dateBasis === 'DEPOSIT_DATE' ? depositDate : transactionDate) ?? '',
      donor,
      funds,
      amount: all.byTransaction.amount,
      names,
    });
  }
  const gifts = [...found.values()];
  const goesOn = groups !== null && groups.totalCount > groups.nodes.length;
  // The last gift of a list that goes on may have more funds than were read.
  const largest = gifts.slice(0, MAX_GIFTS).map((gift) => (goesOn && gift === gifts.at(-1) ? { ...gift, funds: 'many funds' } : gift));
  return { largest, isLargestCut: goesOn && gifts.length <= MAX_GIFTS, equal: findEqual(gifts, goesOn) };
}

/** The gifts that equal the last one of the list and have no place in it. */
function findEqual(gifts: readonly LargeGift[], goesOn: boolean): EqualGifts | undefined {
  const amount = gifts[MAX_GIFTS - 1]?.amount;
  // Groups that end in the last gift of the list tell nothing of other gifts.
  if (amount === undefined || gifts.length === MAX_GIFTS) return undefined;
  const equal = gifts.slice(MAX_GIFTS).filter((gift) => gift.amount === amount).length;
  // Gifts of the same amount may follow those that were read.
  if (goesOn && gifts.at(-1)?.amount === amount) return { gifts: undefined, amount };
  return equal > 0 ? { gifts: equal, amount } : undefined;
}
