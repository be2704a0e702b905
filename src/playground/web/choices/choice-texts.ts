import { isPeriodName } from '../../../values/periods';
import { createCellFormat } from '../values/cell-format';
import {
  describeComparison,
  findWholeMonths,
  presets,
  titleOfCompared,
  toMidSentence,
  type ComparedPeriod,
  type Period,
} from '../values/periods';
import { toTitle } from '../values/saved-names';
import type { ColumnKind } from '../values/table-types';
import { isVersion } from '../values/states';
import { defaultChoices, type ReportChoices } from './report-choices';
import {
  addressChoices,
  dateBases,
  definitionOf,
  donorChoices,
  donorChoiceOf,
  groupTitles,
  nameChoices,
  pendingChoices,
  type DateBasis,
  type FilterName,
} from './report-definitions';
import type { Names } from './report-names';

/** The conditions that people add, in words. */
export const filterTitles: Readonly<Record<FilterName, string>> = {
  funds: 'Fund',
  donor: 'Donor',
  giftDate: 'Gift date',
  amount: 'Amount of the whole gift',
  paymentTypes: 'Payment type',
  accountTypes: 'Account type',
  statuses: 'Gift status',
  state: 'Version of the books',
  since: 'Changed since',
};

/** Writes an amount or a date for the reader of this page. */
export const writeValue = (value: string, kind: 'money' | 'date'): string => createCellFormat(navigator.languages).format(value, kind);

/** A range in words. An end that is empty does not bound it; undefined when none does. */
function toRangeText(low: string, high: string, write: (value: string) => string): string | undefined {
  if (low !== '' && high !== '') return `${write(low)} to ${write(high)}`;
  if (low !== '') return `from ${write(low)}`;
  return high === '' ? undefined : `up to ${write(high)}`;
}

/** A condition in words, and the choices without it. */
interface Condition {
  readonly id: string;
  readonly text: string;
  readonly without: ReportChoices;
}

/**
 * The conditions of some choices. `nameOf` gives the name of a fund or a donor, and `write` the text of an amount or a date for
 * whoever reads it.
 */
export function toConditions(choices: ReportChoices, nameOf: Names['nameOf'], write: typeof writeValue = String): Condition[] {
  const { funds, donor, giftDateFrom, giftDateTo, amountMin, amountMax, deposit, state, since } = choices;
  const words = (['paymentTypes', 'accountTypes', 'statuses'] as const).flatMap((name) =>
    choices[name].map((word) => ({
      id: `${name} ${word}`,
      text: `${filterTitles[name]}: ${word}`,
      without: { ...choices, [name]: choices[name].filter((other) => other !== word) },
    })),
  );
  const dates = toRangeText(giftDateFrom, giftDateTo, (date) => write(date, 'date'));
  const amount = toRangeText(amountMin, amountMax, (each) => write(each, 'money'));
  return [
    ...(since === ''
      ? []
      : [{ id: 'since', text: `${filterTitles.since}: ${describeState(since, write)}`, without: { ...choices, since: '' } }]),
    ...(deposit !== '' ? [{ id: 'deposit', text: `Deposit: ${deposit}`, without: { ...choices, deposit: '' } }] : []),
    ...(donor !== undefined ? [{ id: 'donor', text: `Donor: ${nameOf('donor', donor)}`, without: { ...choices, donor: undefined } }] : []),
    ...funds.map((id) => ({
      id: `fund ${String(id)}`,
      text: `Fund: ${nameOf('fund', id)}`,
      without: { ...choices, funds: funds.filter((other) => other !== id) },
    })),
    ...(dates === undefined
      ? []
      : [{ id: 'gift date', text: `Gift date: ${dates}`, without: { ...choices, giftDateFrom: '', giftDateTo: '' } }]),
    ...(amount === undefined
      ? []
      : [{ id: 'amount', text: `Whole gift: ${amount}`, without: { ...choices, amountMin: '', amountMax: '' } }]),
    ...words,
    ...(state === '' ? [] : [{ id: 'state', text: `Books: at ${describeState(state, write)}`, without: { ...choices, state: '' } }]),
  ];
}

/** A version of the books in words. */
export const describeState = (state: string, write: typeof writeValue): string =>
  isVersion(state) ? `version ${state}` : `the end of ${write(state, 'date')}`;

/** The period of some choices in words, such as “Last month”, or its two dates. */
const toPeriodText = ({ period }: ReportChoices): string => (isPeriodName(period) ? presets[period].title : period.replace('..', ' to '));

/** The donors of some choices in words; none for everybody. */
function toDonorTexts({ who, givenMin }: ReportChoices): string[] {
  if (who === 'everybody') return [];
  return [who === 'at-least' ? `gave at least ${givenMin}` : donorChoices[who].title];
}

/**
 * Proposes a title for a saved report: what it is, and what makes it differ from the report as it begins. The title becomes a part of an
 * address, so it has the donor's number and not the name.
 */
export function proposeTitle(choices: ReportChoices, nameOf: Names['nameOf']): string {
  const before = defaultChoices(choices.report);
  const conditions = toConditions(choices, (kind, id) => (kind === 'donor' ? `No. ${String(id)}` : nameOf(kind, id)));
  const differs = (name: keyof ReportChoices): boolean => choices[name] !== before[name];
  const begin = [
    definitionOf(choices.report).title,
    ...toDonorTexts(choices),
    toPeriodText(choices),
    ...(differs('dateBasis') ? [`by ${dateBases[choices.dateBasis]}`] : []),
    ...(differs('pending') ? [`pending ${pendingChoices[choices.pending]}`] : []),
    ...(differs('splitBy') ? [`by ${groupTitles[choices.splitBy]}`] : []),
    ...(differs('compare') ? [`against ${toMidSentence(describeComparison(choices.compare))}`] : []),
    ...(differs('limit') ? [String(choices.limit)] : []),
    ...(differs('addresses') ? ['with addresses'] : []),
    ...(differs('donorNames') ? ['with names'] : []),
  ];
  return toTitle(
    begin.join(', '),
    conditions.map(({ id, text }) => ({ text, kind: id.startsWith('fund ') ? 'fund' : 'condition' })),
  );
}

/** Everything that the choices of a saved report say, in words. */
export function describeChoices(choices: ReportChoices, nameOf: Names['nameOf']): string[] {
  const { title, hasFixedDates, hasFixedPending, splitBy } = definitionOf(choices.report);
  return [
    title,
    ...toDonorTexts(choices),
    toPeriodText(choices),
    ...(hasFixedDates ? [] : [`Counts by: ${dateBases[choices.dateBasis]}`]),
    ...(hasFixedPending ? [] : [`Pending deposits: ${pendingChoices[choices.pending]}`]),
    ...(choices.compare === 'off' ? [] : [`Compared with: ${describeComparison(choices.compare)}`]),
    ...(splitBy ? [`Divided by: ${groupTitles[choices.splitBy]}`] : []),
    ...(choices.limit > 0 ? [`The ${String(choices.limit)} largest`] : []),
    ...(choices.addresses === 'WITH' ? [`Addresses: ${addressChoices.WITH}`] : []),
    ...(choices.donorNames === 'WITH' ? [`Names of donors: ${nameChoices.WITH}`] : []),
    ...toConditions(choices, nameOf).map(({ text }) => text),
  ];
}

/** The things whose dates a period is of, in words. */
const datedThings: Readonly<Record<DateBasis, string>> = { DEPOSIT_DATE: 'Deposits', TRANSACTION_DATE: 'Gifts' };

/** A period in words, such as “Gifts of Jan 1, 2026 – Dec 31, 2026”. */
export function describePeriod({ dateBasis }: ReportChoices, { startDate, endDate }: Period): string {
  const things = datedThings[dateBasis];
  return startDate && endDate ? `${things} of ${writeValue(startDate, 'date')} – ${writeValue(endDate, 'date')}` : `${things} of all time`;
}

/** Says which date counts where it is not that of the deposit. */
export const describeBasis = ({ dateBasis }: ReportChoices): string[] =>
  dateBasis === 'TRANSACTION_DATE' ? ['Gifts count by the date on which they were given, not by that of their deposit.'] : [];

/** The date that a sentence says gifts go by. */
const basisWords: Readonly<Record<DateBasis, string>> = { DEPOSIT_DATE: 'deposit date', TRANSACTION_DATE: 'gift date' };

/** A period as a part of a sentence, such as “in 2026” or “from Jan 1, 2026 to Mar 31, 2026”. */
function toSpan({ startDate, endDate }: Period): string {
  if (startDate === undefined || endDate === undefined) return 'in all';
  if (startDate === endDate) return `on ${writeValue(startDate, 'date')}`;
  const year = startDate.slice(0, 4);
  if (startDate === `${year}-01-01` && endDate === `${year}-12-31`) return `in ${year}`;
  return `from ${writeValue(startDate, 'date')} to ${writeValue(endDate, 'date')}`;
}

/** Parts of time that are known by a name of their own, by how many months they have. */
const spanKinds: Readonly<Record<number, ColumnKind>> = { 1: 'month', 3: 'quarter', 12: 'year' };

/** Two dates in as few words as they need, such as “2025”, “Oct 2025” or “Nov 16, 2026 – Nov 22, 2026”. */
export function nameSpan(dates: { readonly startDate: string; readonly endDate: string }): string {
  const kind = spanKinds[findWholeMonths(dates) ?? 0];
  const { format } = createCellFormat(navigator.languages);
  return kind ? format(dates.startDate, kind) : `${format(dates.startDate, 'date')} – ${format(dates.endDate, 'date')}`;
}

/**
 * Says which donors a report is of, such as “Donors who gave in 2025 and not in 2026, by gift date.” Undefined for a report of everybody, and
 * for one that is of no single donors.
 */
export function describeDonors(
  choices: ReportChoices,
  { period, compared }: Pick<PlannedPeriods, 'period' | 'compared'>,
): string | undefined {
  const { who, givenMin, funds, dateBasis, pending } = choices;
  if (who === 'everybody') return undefined;
  const gave = funds.length === 0 ? 'gave' : `gave to the chosen ${funds.length === 1 ? 'fund' : 'funds'}`;
  const [now, then] = [toSpan(period), toSpan(compared ?? {})];
  const texts = {
    'at-least': `${gave} at least ${writeValue(givenMin, 'money')} ${now}`,
    'first-time': `${gave} for the first time ${now}`,
    lapsed: `${gave} ${then} and not ${now}`,
    both: `${gave} ${then} and ${now}`,
  } as const;
  // A first gift, or none, is one among those that the report looks at.
  const isNarrowed = toConditions(choices, () => '').some(({ id }) => id !== 'state');
  return [
    `Donors who ${texts[who]}, by ${basisWords[dateBasis]}.`,
    ...(isNarrowed ? ['Only gifts that fit the conditions count.'] : []),
    ...(pending === 'WITHOUT'
      ? ['Gifts in pending deposits do not count.']
      : pending === 'ONLY'
        ? ['Only gifts in pending deposits count.']
        : []),
    ...(who === 'at-least' && funds.length > 0 ? ['Unknown shares do not count.'] : []),
  ].join(' ');
}

/** The choices of a report, and the periods that they mean today. */
export interface PlannedPeriods {
  readonly choices: ReportChoices;
  readonly period: Period;
  /** The period to compare with; undefined for none. */
  readonly compared: ComparedPeriod | undefined;
  /** The ISO 4217 code of the currency of all amounts; null where the organization has not said one. */
  readonly currency: string | null;
}

/** Says once for all amounts of a report which currency they have; nothing where nobody knows. */
export const describeCurrency = (currency: string | null): string[] => (currency === null ? [] : [`Amounts are in ${currency}.`]);

/** Whose report it is, its period, its pending deposits, and what it is compared with and divided by, as the head of a print says them; a line each. */
export function toPrintLines({ choices, period, compared, currency }: PlannedPeriods, organization: string): string[] {
  const { rows, splitBy } = definitionOf(choices.report);
  // The changes of the books are of no period.
  if (rows === 'versions') return [organization, ...describeCurrency(currency)];
  const { format } = createCellFormat(navigator.languages);
  return [
    organization,
    ...[describeDonors(choices, { period, compared })].filter((each) => each !== undefined),
    describePeriod(choices, period),
    ...describeCurrency(currency),
    ...describeBasis(choices),
    `Pending deposits: ${pendingChoices[choices.pending]}`,
    ...(compared ? [`${titleOfCompared(choices.compare)}: ${describePeriod(choices, compared)}`] : []),
    ...(splitBy && choices.splitBy !== 'NONE' ? [`Divided by: ${groupTitles[choices.splitBy]}`] : []),
    ...(choices.limit > 0 ? [`The rows are the ${format(choices.limit, 'count')} largest. The figures are of all.`] : []),
  ];
}

/** Says which books a program gets that fetches a report, and in which way its figures differ from this page's; a sentence each. */
export function describeFetched({ choices, compared }: PlannedPeriods): string[] {
  return [
    ...(choices.state === '' ? [] : [`The books are those at ${describeState(choices.state, writeValue)}, whenever somebody asks.`]),
    ...(definitionOf(choices.report).isSheet
      ? ['This page is a sheet. Programs get what each fund received in the period.']
      : compared && !donorChoiceOf(choices.who).isCompared
        ? ['This page compares the period with another one. Programs get the figures of the period alone.']
        : []),
    ...(choices.limit > 0
      ? [`This page has the ${String(choices.limit)} largest. Programs get all of the period, in the order of the books.`]
      : []),
  ];
}
