import { Kind, parse, print, type FieldNode, type SelectionSetNode } from 'graphql';
import type { DepositDetailFilter } from '../../../generated/operations/graphql';
import type { ComparedPeriod, Period } from '../values/periods';
import type { AsOf } from '../values/states';
import type { ReportChoices } from '../choices/report-choices';
import { groupingsOf, type ReportColumn } from './report-columns';
import { definitionOf } from '../choices/report-definitions';

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

/** The figures of the cards, of which the gateway counts each gift once. */
const CARDS = `transactions deposits splitTransactions
  byTransaction { amount feeAmount netAmount }
  byAllocation { amount unknown }`;

const PARTS = `dataVersion { number } all { ${CARDS} } pending { ${CARDS} }`;
const STATE = `dataVersion { number } all { ${CARDS} }`;
const EFFECT = 'transactions byTransaction { amount } byAllocation { amount unknown }';
const COMPARED = `compared { all { ${CARDS} } }
  change { transactions { difference percentage } amountByTransaction { difference percentage }
    netAmountByTransaction { difference percentage } amountByAllocation { difference percentage } }`;

const PAGE = 'pageInfo { hasNextPage endCursor } totalCount';

/** Writes the typed document of a report. Its rows have the fields of the columns, and its totals are those of the cards. */
export function toDocument(choices: ReportChoices, options: DocumentOptions): ReportDocument {
  const { rows, title, hasFixedDates } = definitionOf(choices.report);
  const name = title.replace(/[^a-z]+(.)?/gi, (_match, letter?: string) => (letter ?? '').toUpperCase());
  const fields = toSelection(options.columns.flatMap(({ id, before }) => (before === undefined ? [id] : [before, id])));
  if (rows === 'versions') {
    const query = `query ${name}($first: Int = 1000, $after: String) {
      dataVersions(first: $first, after: $after) { nodes ${fields} ${PAGE} } }`;
    return { query: format(query), variables: {}, list: 'dataVersions' };
  }
  const filter = toFilter(choices);
  const { asOf, since } = options;
  // Changes are of one period.
  const compareWith = since ? undefined : options.compareWith;
  const compared = compareWith ? COMPARED : '';
  const { startDate, endDate } = options.period;
  const variables = {
    ...(startDate !== undefined && { startDate }),
    ...(endDate !== undefined && { endDate }),
    ...(!hasFixedDates && { dateBasis: choices.dateBasis }),
    pending: choices.pending,
    ...(filter && { filter }),
    ...(since && { from: since }),
    ...(asOf && (since ? { to: asOf } : { asOf })),
    ...(compareWith && { compareWith: { startDate: compareWith.startDate, endDate: compareWith.endDate } }),
  };
  const declared = [
    '$startDate: LocalDate',
    '$endDate: LocalDate',
    ...(hasFixedDates ? [] : ['$dateBasis: DateBasis!']),
    '$pending: PendingChoice!',
    '$filter: DepositDetailFilter',
    ...(since ? ['$from: AsOf!', '$to: AsOf'] : asOf ? ['$asOf: AsOf'] : []),
    ...(compareWith ? ['$compareWith: PeriodInput'] : []),
  ];
  const basis = hasFixedDates ? '' : 'dateBasis: $dateBasis,';
  const state = since ? ', from: $from, to: $to' : asOf ? ', asOf: $asOf' : '';
  const given = `startDate: $startDate, endDate: $endDate, ${basis} pending: $pending, filter: $filter${state}`;
  if (rows === 'lines') {
    const query = `query ${name}(${declared.join(', ')}, $first: Int = 50, $after: String) {
      depositDetailsConnection(${given}, first: $first, after: $after) {
        nodes ${fields} ${PAGE}
        summary${compareWith ? '(compareWith: $compareWith)' : ''} { ${PARTS} ${compared} } } }`;
    return { query: format(query), variables, list: 'depositDetailsConnection' };
  }
  if (rows === 'changes') {
    const query = `query ${name}(${declared.join(', ')}, $first: Int = 50, $after: String) {
      depositChanges(${given}, first: $first, after: $after) {
        nodes ${fields} ${PAGE}
        summaryBefore { ${STATE} } classes { class changes effect { ${EFFECT} } } summaryAfter { ${STATE} } } }`;
    return { query: format(query), variables, list: 'depositChanges' };
  }
  const groupBy = groupingsOf(choices, options.mayReadDonors);
  const usesYears = groupBy.some((by) => by === 'QUARTER' || by === 'YEAR');
  const { top } = definitionOf(choices.report);
  const most = choices.limit || 1000;
  const query = `query ${name}(${declared.join(', ')}, $first: Int = ${String(most)}, $after: String) {
    depositSummary(${given}, groupBy: [${groupBy.join(', ')}]
      ${usesYears ? `fiscalYearStart: ${String(options.fiscalYearStart)}` : ''}
      ${compareWith ? 'compareWith: $compareWith' : ''}) {
      ${PARTS} ${compared}
      groups(first: $first, after: $after ${top ? `orderBy: { field: ${top.field}, direction: DESC }` : ''}) {
        nodes ${fields} ${PAGE} } } }`;
  return { query: format(query), variables, list: 'depositSummary.groups' };
}

const format = (query: string): string => print(parse(query, { noLocation: true }));

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

/** Turns paths such as `all.byTransaction.amount` into one selection. */
function toSelection(paths: readonly string[]): string {
  const root: SelectionSetNode = { kind: Kind.SELECTION_SET, selections: [] };
  const selections = new Map<string, SelectionSetNode>([['', root]]);
  for (const path of paths) {
    let [place, parent] = ['', root];
    for (const name of path.split('.')) {
      place = place === '' ? name : `${place}.${name}`;
      let known = selections.get(place);
      if (!known) {
        known = { kind: Kind.SELECTION_SET, selections: [] };
        selections.set(place, known);
        const field: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: name }, selectionSet: known };
        (parent.selections as FieldNode[]).push(field);
      }
      parent = known;
    }
  }
  return print(root);
}
