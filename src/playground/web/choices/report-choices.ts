import type { GroupBy } from '../../../generated/operations/graphql';
import { isViewParameter } from '../tables/view-link';
import { findPeriod, isComparison, isDate, type Comparison } from '../values/periods';
import { isVersion } from '../values/states';
import {
  definitionOf,
  donorChoiceOf,
  isAddressChoice,
  isComparable,
  isDateBasis,
  isDonorChoice,
  isNameChoice,
  isPendingChoice,
  isReport,
  type AddressChoice,
  type DateBasis,
  type DonorChoiceName,
  type FilterName,
  type NameChoice,
  type PendingChoice,
  type ReportId,
} from './report-definitions';

/** The conditions of a report. Missing ones do not narrow it. */
interface Conditions {
  /** The ids of designations. */
  readonly funds: readonly number[];
  /** The id of a donor, whose name is no part of an address: browsers keep addresses. */
  readonly donor: number | undefined;
  /** The first and the last date of the gifts; empty for no bound. */
  readonly giftDateFrom: string;
  readonly giftDateTo: string;
  readonly amountMin: string;
  readonly amountMax: string;
  readonly paymentTypes: readonly string[];
  readonly accountTypes: readonly string[];
  readonly statuses: readonly string[];
  readonly deposit: string;
  /** The state of the books: a day, for its end, or the number of a data version; empty for the newest one. */
  readonly state: string;
  /** The state that a report of changes begins with, in the same form; empty while none is chosen. */
  readonly since: string;
}

/** Everything that the form of a report says. */
export interface ReportChoices extends Conditions {
  readonly report: ReportId;
  /** The name of a preset, or two dates such as `2026-10-01..2026-10-31`. */
  readonly period: string;
  /** The date that the period and its parts go by. */
  readonly dateBasis: DateBasis;
  readonly pending: PendingChoice;
  readonly compare: Comparison;
  /** The donors that a report of donors is of. */
  readonly who: DonorChoiceName;
  /** The least sum of a donor's gifts; empty while none is chosen. */
  readonly givenMin: string;
  readonly addresses: AddressChoice;
  /** The choice to name the donors of the largest gifts on a sheet, or not. */
  readonly donorNames: NameChoice;
  readonly splitBy: GroupBy | 'NONE';
  /** The most rows; 0 stands for all. */
  readonly limit: number;
}

const noConditions: Conditions = {
  funds: [],
  donor: undefined,
  giftDateFrom: '',
  giftDateTo: '',
  amountMin: '',
  amountMax: '',
  paymentTypes: [],
  accountTypes: [],
  statuses: [],
  deposit: '',
  state: '',
  since: '',
};

/** The choices without what narrows the report. The donor or the state that it needs stays, and so do the books that it is of. */
export const withoutConditions = (choices: ReportChoices): ReportChoices => ({
  ...choices,
  ...noConditions,
  state: choices.state,
  since: choices.since,
  ...(definitionOf(choices.report).needs === 'donor' && { donor: choices.donor }),
});

/** A choice without which a report does not run. */
export type Lack = 'donor' | 'since' | 'givenMin' | 'period';

/** The choice that a report lacks; undefined for one that can run. */
export function findLack({ report, donor, since, who, givenMin, period }: ReportChoices): Lack | undefined {
  const { needs } = definitionOf(report);
  if (needs === 'donor' && donor === undefined) return needs;
  if (needs === 'since' && since === '') return needs;
  if (needs === 'period' && period === 'all-time') return needs;
  const lack = donorChoiceOf(who).needs;
  return (lack === 'givenMin' && givenMin === '') || (lack === 'period' && period === 'all-time') ? lack : undefined;
}

/**
 * The comparison of a report of some donors. Those of two periods need one. A first gift is the first of all time, beside which there is no
 * other period.
 */
const toComparison = (who: DonorChoiceName, compare: Comparison): Comparison => {
  if (donorChoiceOf(who).isCompared) return compare === 'off' ? 'last-year' : compare;
  return who === 'first-time' ? 'off' : compare;
};

/** The choices with other donors. The comparison that came with donors of two periods goes with them, and so does a sum. */
export function chooseDonors(choices: ReportChoices, who: DonorChoiceName): ReportChoices {
  const isLeft = donorChoiceOf(choices.who).isCompared && !donorChoiceOf(who).isCompared;
  const givenMin = who === 'at-least' ? choices.givenMin : '';
  return { ...choices, who, givenMin, compare: toComparison(who, isLeft && choices.compare === 'last-year' ? 'off' : choices.compare) };
}

/** The choices with which a report begins. */
export function defaultChoices(report: ReportId): ReportChoices {
  const { period, dateBasis = 'DEPOSIT_DATE', pending, compare = 'off', splitBy, top } = definitionOf(report);
  const rows = { splitBy: splitBy?.[0] ?? 'NONE', limit: top?.limits[0] ?? 0 } as const;
  const donors = { who: 'everybody', givenMin: '', addresses: 'WITHOUT', donorNames: 'WITHOUT' } as const;
  return { ...noConditions, report, period, dateBasis, pending, compare, ...donors, ...rows };
}

/**
 * The choices with which a person goes on to another report: a period that was chosen stays where both reports begin with the same one, with
 * the date that it goes by, and so does a donor where both are of one donor.
 */
export function carryChoices(report: ReportId, from: ReportChoices | undefined): ReportChoices {
  const next = defaultChoices(report);
  if (from === undefined || from.report === report) return next;
  const [one, other] = [definitionOf(from.report), definitionOf(report)];
  return {
    ...next,
    ...(one.period === other.period && !other.hasFixedPending && { period: from.period }),
    ...(one.period === other.period && !other.hasFixedDates && { dateBasis: from.dateBasis }),
    ...(one.needs === 'donor' && other.needs === 'donor' && { donor: from.donor }),
  };
}

const PREFIX = '#reports/';
/** The parameter of an address that names the saved report which its choices came from. It is none of the choices. */
export const SAVED_PARAMETER = 'saved';
/** The parameter for a saved report of this name; none without one. */
export const toSavedParameter = (name: string | undefined): URLSearchParams =>
  new URLSearchParams(name === undefined ? {} : { [SAVED_PARAMETER]: name });
const AMOUNT = /^(?!-0\.00$)-?(0|[1-9]\d{0,11})\.\d\d$/;
/** An id is exact as a number up to 2^53 − 1, which is the largest one of the gateway. */
const isId = (text: string): boolean => /^\d+$/.test(text) && Number.isSafeInteger(Number(text));
const isAmount = (text: string): boolean => AMOUNT.test(text);
/** True for an amount that a least sum of a donor may be. */
export const isLeast = (text: string): boolean => isAmount(text) && !text.startsWith('-');
const isState = (text: string): boolean => isDate(text) || isVersion(text);
/** Any day will do to see whether a text is a period. */
const someDay = { today: '2000-01-01', fiscalYearStart: 1 };

/**
 * Writes the choices as the part of the page's address behind `#`, without those that are the report's defaults. Parameters that could not
 * be read stay in the address when they are given, so that the page tells of them again after a reload.
 */
export function toAddress(choices: ReportChoices, unread?: URLSearchParams): string {
  const before = defaultChoices(choices.report);
  const parameters = new URLSearchParams();
  for (const name of [
    'period',
    'dateBasis',
    'pending',
    'compare',
    'who',
    'givenMin',
    'addresses',
    'donorNames',
    'splitBy',
    'giftDateFrom',
    'giftDateTo',
    'amountMin',
    'amountMax',
    'deposit',
    'state',
    'since',
  ] as const) {
    if (choices[name] !== before[name]) parameters.set(name, choices[name]);
  }
  if (choices.limit !== before.limit) parameters.set('limit', String(choices.limit));
  for (const id of choices.funds) parameters.append('fund', String(id));
  if (choices.donor !== undefined) parameters.set('donor', String(choices.donor));
  for (const name of ['paymentTypes', 'accountTypes', 'statuses'] as const) for (const text of choices[name]) parameters.append(name, text);
  for (const [name, value] of unread ?? []) parameters.append(name, value);
  const query = parameters.toString();
  return PREFIX + choices.report + (query === '' ? '' : `?${query}`);
}

/** Reads the choices of an address. Undefined for an address of no report; a value that cannot be read is left at its default. */
export function readAddress(hash: string): ReportChoices | undefined {
  if (!hash.startsWith(PREFIX)) return undefined;
  const [report = '', query = ''] = hash.slice(PREFIX.length).split('?', 2);
  if (!isReport(report)) return undefined;
  const before = defaultChoices(report);
  const { splitBy, top, hasFixedDates, hasFixedPending, choosesDonors, offersNames, filters } = definitionOf(report);
  const offered = (name: FilterName, values: string[]): string[] => (filters.includes(name) ? values : []);
  const parameters = new URLSearchParams(query);
  const text = <Text extends string>(name: string, fallback: Text, isFit: (value: string) => boolean): Text => {
    const value = parameters.get(name);
    return value !== null && isFit(value) ? (value as Text) : fallback;
  };
  const limit = Number(parameters.get('limit') ?? before.limit);
  const isPeriod = (value: string): boolean => findPeriod(value, someDay) !== undefined;
  const who = choosesDonors ? text('who', before.who, isDonorChoice) : before.who;
  const compare = text('compare', before.compare, (value) => isComparable(definitionOf(report)) && isComparison(value));
  return {
    ...before,
    period: text('period', before.period, isPeriod),
    dateBasis: hasFixedDates ? before.dateBasis : text('dateBasis', before.dateBasis, isDateBasis),
    pending: hasFixedPending ? before.pending : text('pending', before.pending, isPendingChoice),
    compare: toComparison(who, compare),
    who,
    ...(who === 'at-least' && { givenMin: text('givenMin', '', isLeast) }),
    ...(choosesDonors && { addresses: text('addresses', before.addresses, isAddressChoice) }),
    ...(offersNames && { donorNames: text('donorNames', before.donorNames, isNameChoice) }),
    splitBy: text('splitBy', before.splitBy, (value) => splitBy?.some((each) => each === value) ?? false),
    limit: top?.limits.includes(limit) ? limit : before.limit,
    funds: offered('funds', parameters.getAll('fund')).filter(isId).map(Number),
    donor: offered('donor', parameters.getAll('donor')).filter(isId).map(Number)[0],
    ...(filters.includes('giftDate') && { giftDateFrom: text('giftDateFrom', '', isDate), giftDateTo: text('giftDateTo', '', isDate) }),
    ...(filters.includes('amount') && { amountMin: text('amountMin', '', isAmount), amountMax: text('amountMax', '', isAmount) }),
    paymentTypes: offered('paymentTypes', parameters.getAll('paymentTypes')),
    accountTypes: offered('accountTypes', parameters.getAll('accountTypes')),
    statuses: offered('statuses', parameters.getAll('statuses')),
    deposit: parameters.get('deposit') ?? '',
    ...(filters.includes('state') && { state: text('state', '', isState) }),
    ...(filters.includes('since') && { since: text('since', '', isState) }),
  };
}

/** The parameters of an address whose values the choices do not have, because nobody could read them. */
export function findUnread(hash: string, choices: ReportChoices): URLSearchParams {
  const [, query = ''] = hash.split('?', 2);
  const [, readQuery = ''] = toAddress(choices).split('?', 2);
  const read = new URLSearchParams(readQuery);
  const before: Readonly<Record<string, unknown>> = { ...defaultChoices(choices.report) };
  const unread = [...new URLSearchParams(query)].filter(
    ([name, value]) =>
      name !== SAVED_PARAMETER && !isViewParameter(name) && !read.getAll(name).includes(value) && String(before[name]) !== value,
  );
  return new URLSearchParams(unread);
}
