import type { DepositDetailFilter } from '../../../generated/operations/graphql';
import type { ComparedPeriod, Period } from '../values/periods';
import type { AsOf } from '../values/states';
import type { ReportChoices } from '../choices/report-choices';
import { groupingsOf, type ReportColumn } from './report-columns';
import { definitionOf } from '../choices/report-definitions';
import { toQueryText } from '../values/query-text';

/** A query of the gateway with the values of its variables. */
export interface ReportDocument {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The path of the connection that holds the rows. */
  readonly list: string;
}

interface DocumentOptions {
  readonly period: Period;
  readonly compareWith: ComparedPeriod | undefined;
  readonly fiscalYearStart: number;
  /** The state of the books that is asked for; undefined for the newest one. */
  readonly asOf: AsOf | undefined;
  /** The state that changes begin with; undefined for a report of no changes. */
  readonly since: AsOf | undefined;
  readonly columns: readonly ReportColumn[];
  readonly mayReadDonors: boolean;
}

const under = (path: string, names: readonly string[]): string[] => names.map((name) => `${path}.${name}`);

/** The figures of the cards, of which the gateway counts each gift once. */
const CARDS = [
  ...['transactions', 'deposits', 'splitTransactions'],
  ...under('byTransaction', ['amount', 'feeAmount', 'netAmount']),
  ...under('byAllocation', ['amount', 'unknown']),
];
const STATE = ['dataVersion.number', ...under('all', CARDS)];
const PARTS = [...STATE, ...under('pending', CARDS)];
const CLASSES = [
  'class',
  'changes',
  'effect.transactions',
  'effect.byTransaction.amount',
  ...under('effect.byAllocation', ['amount', 'unknown']),
];
const COMPARED = [
  ...under('compared.all', CARDS),
  ...['transactions', 'amountByTransaction', 'netAmountByTransaction', 'amountByAllocation'].flatMap((name) =>
    under(`change.${name}`, ['difference', 'percentage']),
  ),
];
const PAGE = ['pageInfo.hasNextPage', 'pageInfo.endCursor', 'totalCount'];

/** Writes the typed document of a report. Its rows have the fields of the columns, and its totals are those of the cards. */
export function toDocument(choices: ReportChoices, options: DocumentOptions): ReportDocument {
  const { rows, title, hasFixedDates } = definitionOf(choices.report);
  const name = title.replace(/[^a-z]+(.)?/gi, (_match, letter?: string) => (letter ?? '').toUpperCase());
  const fields = options.columns.flatMap(({ id, before }) => (before === undefined ? [id] : [before, id]));
  /** The paths of a connection and the arguments of its page. */
  const rowsOf = (list: string): string[] => under(list, [...under('nodes', fields), ...PAGE]);
  const page = ['first: $first', 'after: $after'];
  if (rows === 'versions') {
    const list = 'dataVersions';
    const declared = ['$first: Int = 1000', '$after: String'];
    return { query: toQueryText({ name, variables: declared, args: { [list]: page }, paths: rowsOf(list) }), variables: {}, list };
  }
  const filter = toFilter(choices);
  const { asOf, since } = options;
  // Changes are of one period.
  const compareWith = since ? undefined : options.compareWith;
  const compared = compareWith ? COMPARED : [];
  const comparing = compareWith ? ['compareWith: $compareWith'] : [];
  const { startDate, endDate } = options.period;
  const having = toHaving(choices);
  const variables = {
    ...(startDate !== undefined && { startDate }),
    ...(endDate !== undefined && { endDate }),
    ...(!hasFixedDates && { dateBasis: choices.dateBasis }),
    pending: choices.pending,
    ...(filter && { filter }),
    ...(since && { from: since }),
    ...(asOf && (since ? { to: asOf } : { asOf })),
    ...(compareWith && { compareWith: { startDate: compareWith.startDate, endDate: compareWith.endDate } }),
    ...(choices.who === 'at-least' && { givenMin: choices.givenMin }),
  };
  const declared = [
    '$startDate: LocalDate',
    '$endDate: LocalDate',
    ...(hasFixedDates ? [] : ['$dateBasis: DateBasis!']),
    '$pending: PendingChoice!',
    '$filter: DepositDetailFilter',
    ...(since ? ['$from: AsOf!', '$to: AsOf'] : asOf ? ['$asOf: AsOf'] : []),
    ...(compareWith ? ['$compareWith: PeriodInput'] : []),
    ...(choices.who === 'at-least' ? ['$givenMin: Decimal!'] : []),
  ];
  const given = [
    // The first gift of a range without a beginning is the first of all time.
    ...(choices.who === 'first-time' ? [] : ['startDate: $startDate']),
    'endDate: $endDate',
    ...(hasFixedDates ? [] : ['dateBasis: $dateBasis']),
    ...['pending: $pending', 'filter: $filter'],
    ...(since ? ['from: $from', 'to: $to'] : asOf ? ['asOf: $asOf'] : []),
  ];
  const toText = (most: number, args: Readonly<Record<string, readonly string[]>>, paths: readonly string[]): string =>
    toQueryText({ name, variables: [...declared, `$first: Int = ${String(most)}`, '$after: String'], args, paths });
  if (rows === 'lines') {
    const list = 'depositDetailsConnection';
    const args = { [list]: [...given, ...page], [`${list}.summary`]: comparing };
    return { query: toText(50, args, [...rowsOf(list), ...under(`${list}.summary`, [...PARTS, ...compared])]), variables, list };
  }
  if (rows === 'changes') {
    const list = 'depositChanges';
    const sums = [...under('summaryBefore', STATE), ...under('classes', CLASSES), ...under('summaryAfter', STATE)];
    return { query: toText(50, { [list]: [...given, ...page] }, [...rowsOf(list), ...under(list, sums)]), variables, list };
  }
  const groupBy = groupingsOf(choices, options.mayReadDonors);
  const usesYears = groupBy.some((by) => by === 'QUARTER' || by === 'YEAR');
  const { top } = definitionOf(choices.report);
  const [summary, list] = ['depositSummary', 'depositSummary.groups'];
  const args = {
    [summary]: [
      ...given,
      `groupBy: [${groupBy.join(', ')}]`,
      ...(usesYears ? [`fiscalYearStart: ${String(options.fiscalYearStart)}`] : []),
      ...comparing,
      ...(having === undefined ? [] : [`having: ${having}`]),
    ],
    [list]: [...page, ...(top ? [`orderBy: {field: ${top.field}, direction: DESC}`] : [])],
  };
  return { query: toText(choices.limit || 1000, args, [...under(summary, [...PARTS, ...compared]), ...rowsOf(list)]), variables, list };
}

/** A donor who gave in a period. The gifts of nobody known are of no donor, to whom nobody writes. */
const GAVE = 'donors: {min: 1}';

/** The conditions that choose donors by their figures, as the query has them; undefined for everybody. */
function toHaving({ who, funds }: ReportChoices): string | undefined {
  switch (who) {
    case 'everybody':
      return undefined;
    case 'at-least':
      return `{${GAVE}, ${funds.length > 0 ? 'allocationAmount' : 'transactionAmount'}: {min: $givenMin}}`;
    case 'first-time':
      return `{${GAVE}, firstGift: {from: $startDate}}`;
    case 'lapsed':
      return `{transactions: {max: 0}, compared: {${GAVE}}}`;
    case 'both':
      return `{${GAVE}, compared: {${GAVE}}}`;
  }
}

/** The condition of the choices; undefined where nothing narrows the report. */
function toFilter(choices: ReportChoices): DepositDetailFilter | undefined {
  const { funds, donor, giftDateFrom, giftDateTo, amountMin, amountMax, paymentTypes, accountTypes, statuses, deposit } = choices;
  const filter = {
    ...(funds.length > 0 && { designationIds: [...funds] }),
    ...(donor !== undefined && { donorIds: [donor] }),
    ...((giftDateFrom !== '' || giftDateTo !== '') && {
      transactionDate: { ...(giftDateFrom !== '' && { from: giftDateFrom }), ...(giftDateTo !== '' && { to: giftDateTo }) },
    }),
    ...((amountMin !== '' || amountMax !== '') && {
      amount: { ...(amountMin !== '' && { min: amountMin }), ...(amountMax !== '' && { max: amountMax }) },
    }),
    ...(paymentTypes.length > 0 && { paymentTypes: [...paymentTypes] }),
    ...(accountTypes.length > 0 && { accountTypes: [...accountTypes] }),
    ...(statuses.length > 0 && { statuses: [...statuses] }),
    ...(deposit !== '' && { depositIds: [deposit] }),
  };
  return Object.keys(filter).length > 0 ? filter : undefined;
}
