import type { HomeQuery, HomeQueryVariables } from '../../../generated/operations/graphql';
import { addDays, type Today } from '../../../values/periods';
import homeQuery from '../queries/home.graphql?raw';
import { askGateway } from '../session/gateway-client';
import { toPercentage } from '../values/exact-decimal';
import { findCompared, findPeriod, type ComparedPeriod } from '../values/periods';

/** The newest deposits are those of so many days, today included. */
const RECENT_DAYS = 10;

/** The days that the home is about. */
export interface HomeDays {
  readonly today: string;
  /** The first day of this month. */
  readonly startDate: string;
  /** The same days of the month before, and of this month a year ago. */
  readonly monthBefore: ComparedPeriod;
  readonly yearBefore: ComparedPeriod;
  /** The first of the days whose deposits are shown. */
  readonly recentDate: string;
}

/** The figures of this month in another month: what came in then, and the difference to now. */
export interface Difference {
  readonly amount: string;
  readonly difference: string;
  /** With one decimal; undefined where nothing came in then, or less than nothing. */
  readonly percentage: string | undefined;
}

export function toHomeDays(now: Today): HomeDays {
  const month = findPeriod('month-to-date', now)!;
  return {
    today: now.today,
    startDate: month.startDate!,
    monthBefore: findCompared(month, 'before')!,
    yearBefore: findCompared(month, 'last-year')!,
    recentDate: addDays(now.today, 1 - RECENT_DAYS),
  };
}

/** Asks for all figures of the home at once, so that they are of one state of the books. Throws an Error whose message the page shows. */
export function fetchHome(provision: string, days: HomeDays, signal: AbortSignal): Promise<HomeQuery> {
  const { startDate, today, recentDate } = days;
  const [monthBefore, yearBefore] = [days.monthBefore, days.yearBefore].map((period) => ({
    startDate: period.startDate,
    endDate: period.endDate,
  })) as [HomeQueryVariables['monthBefore'], HomeQueryVariables['yearBefore']];
  const variables: HomeQueryVariables = { startDate, today, recentDate, monthBefore, yearBefore };
  return askGateway<HomeQuery>(provision, { query: homeQuery, variables }, signal);
}

/** Reads what the gateway tells of this month against another one; undefined where it tells nothing. */
export function toDifference(against: HomeQuery['againstYear']): Difference | undefined {
  if (!against?.compared || !against.change) return undefined;
  const { amount } = against.compared.all.byTransaction;
  const { difference } = against.change.amountByTransaction;
  return { amount, difference, percentage: toPercentage(difference, amount, 1) };
}
