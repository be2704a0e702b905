import { isPeriodName } from '../../../values/periods';
import type { DownloadableReport } from '../dialogs/downloadable-report';
import type { FileFact } from '../files/file-content';
import type { TableView } from '../tables/data-table';
import { describeArrangement, describeLost } from '../rows/filter-text';
import type { TableClient } from '../rows/table-client';
import { describeDonors, describeFetched } from '../choices/choice-texts';
import { bridgeFacts } from './change-bridge';
import { describeCautions } from './report-notes';
import { describeLate } from './late-changes';
import { describeEqualGifts } from '../values/equal-gifts';
import { describeCrossings } from './period-crossings';
import { dateBases, definitionOf, donorChoiceOf, groupTitles, pendingChoices } from '../choices/report-definitions';
import type { ShownTable } from './report-pivot';
import { explainState, type ReportPlan, type ReportResult } from './use-report';

interface Shown {
  readonly result: ReportResult;
  readonly shown: ShownTable;
  readonly view: TableView;
  /** The conditions in words. */
  readonly conditions: readonly string[];
  readonly client: TableClient;
  readonly provision: string;
}

/** Describes the shown rows of a report for the dialog that makes files of them. */
export function toDownload({ result, shown, view, conditions, client, provision }: Shown): DownloadableReport {
  const { plan } = result;
  const { choices, fileDocument } = plan;
  const { table, columns, figure } = shown;
  const { title, rows } = definitionOf(choices.report);
  const inView = view.columnIds.flatMap((id) => columns.find((column) => column.id === id) ?? []);
  const lost = describeLost(view.arrangement, columns, navigator.languages);
  const facts = toFacts(result, shown, view, conditions);
  // An address would move the beginning of its range, which these donors are not found by.
  const isFixed = donorChoiceOf(choices.who).needs === 'period';
  const named = isPeriodName(choices.period) ? choices.period : undefined;
  return {
    title,
    fileName: figure ? `${toFileName(plan)}-by-${partOf(choices)}` : toFileName(plan),
    request: rows === 'versions' ? undefined : { query: fileDocument.query, variables: fileDocument.variables },
    period: isFixed ? undefined : named,
    requestNotes: [
      ...(isFixed && named ? ['The dates stay as they are today.'] : []),
      ...describeFetched(plan),
      ...(lost === undefined ? [] : [lost]),
    ],
    isOfLines: rows === 'lines',
    columns: inView,
    count: view.arranged.count,
    facts,
    write: (format, onProgress, signal) =>
      client.write({ table: table.id, serial: view.arranged.serial, format, title, facts, columnIds: view.columnIds }, onProgress, signal),
    explain: (error) => explainState(error, provision, plan),
  };
}

/** The name of the files of a report, without what they end in: the report, its period, and the states that it is of. */
export function toFileName({ choices, period, compared }: ReportPlan): string {
  const basis = choices.dateBasis === 'TRANSACTION_DATE' ? '-by-gift-date' : '';
  const span = period.startDate === undefined ? 'all-time' : `${period.startDate}-${period.endDate ?? ''}`;
  const since = choices.since === '' ? '' : `-since-${choices.since}`;
  const state = choices.state === '' ? '' : `-as-of-${choices.state}`;
  const who = choices.who === 'everybody' ? '' : `-${choices.who}`;
  const least = choices.givenMin === '' ? '' : `-${choices.givenMin}`;
  const other = compared && donorChoiceOf(choices.who).isCompared ? `-beside-${compared.startDate}-${compared.endDate}` : '';
  return `${choices.report}${who}${least}${basis}-${span}${other}${since}${state}`;
}

/** The part of time that has a column in a pivot. */
const partOf = ({ splitBy }: ReportPlan['choices']): string => groupTitles[splitBy].toLowerCase();

function toFacts(
  { plan, table: { version, digest }, figures, bridge, crossings, equal, late }: ReportResult,
  { table, columns, figure }: ShownTable,
  { arranged, arrangement }: TableView,
  conditions: readonly string[],
): FileFact[] {
  const text = (name: string, value: string | null): FileFact => ({ name, value, kind: 'text' });
  const money = (name: string, value: string | null): FileFact => ({ name, value, kind: 'money' });
  const count = (name: string, value: number): FileFact => ({ name, value, kind: 'count' });
  const { choices, period, compared } = plan;
  const dateOf = choices.dateBasis === 'TRANSACTION_DATE' ? 'gift date' : 'deposit date';
  const all = figures?.all;
  const { rows, hasFixedDates } = definitionOf(choices.report);
  const unshown = describeEqualGifts(equal, plan.currency);
  const known = [...describeCautions(plan), unshown, describeCrossings(plan, crossings), describeLate(late)].filter(
    (each) => each !== undefined,
  );
  const isShare = choices.funds.length > 0;
  const isPending = choices.pending === 'ONLY';
  const hasPendingPart = !isPending && figures !== undefined && figures.pending.transactions > 0;
  const donors = describeDonors(choices, plan);
  const then = donorChoiceOf(choices.who).isCompared ? figures?.compared?.all : undefined;
  const isPart = arranged.count < table.count || (choices.limit > 0 && all !== undefined && all.transactions > choices.limit);
  return [
    text('One row is', definitionOf(choices.report).grain),
    ...(figure ? [text('Figure', `${figure.title}, a column for each ${partOf(choices)}`)] : []),
    ...(donors === undefined ? [] : [text('Who', donors)]),
    ...(period.startDate === undefined ? [] : [{ name: `First ${dateOf}`, value: period.startDate, kind: 'date' } as const]),
    ...(period.endDate === undefined ? [] : [{ name: `Last ${dateOf}`, value: period.endDate, kind: 'date' } as const]),
    ...(hasFixedDates ? [] : [text('Counts by', dateBases[choices.dateBasis])]),
    ...(compared ? [text('Compared with', `${compared.startDate} to ${compared.endDate}`)] : []),
    ...(rows === 'versions' ? [] : [text('Pending deposits', pendingChoices[choices.pending])]),
    ...conditions.map((condition) => text('Condition', condition)),
    ...describeArrangement(arrangement, columns, String).map((condition) => text('Rows of this file', condition)),
    ...known.map((each) => text('To know', each)),
    ...(bridge ? bridgeFacts({ choices, bridge }) : []),
    count('Version of the books', version),
    ...(digest === null ? [] : [text('Digest of the lines', digest)]),
    count('Rows in this file', arranged.count),
    count('Rows of the report', table.count),
    ...(all
      ? [
          ...(isPart ? [text('The totals below', 'are of all that fits the choices, not of the rows in this file alone')] : []),
          money(isShare ? 'Whole gifts, each once' : `${isPending ? 'Pending' : 'Received'}, each gift once`, all.byTransaction.amount),
          ...(hasPendingPart ? [money('Of which pending', figures.pending.byTransaction.amount)] : []),
          ...(then ? [money(`${isShare ? 'Whole gifts in' : 'In'} the period compared with`, then.byTransaction.amount)] : []),
          ...(then && isShare
            ? [
                money('To the chosen funds in that period, as far as known', then.byAllocation.amount),
                count('Unknown shares in that period', then.byAllocation.unknown),
              ]
            : []),
          money('Fees', all.byTransaction.feeAmount),
          money('Net', all.byTransaction.netAmount),
          money(isShare ? 'To the chosen funds, as far as known' : 'Shares that are known', all.byAllocation.amount),
          ...(isShare && hasPendingPart ? [money('Of which pending', figures.pending.byAllocation.amount)] : []),
          count('Unknown shares', all.byAllocation.unknown),
          count('Gifts', all.transactions),
          count('Deposits', all.deposits),
        ]
      : []),
  ];
}
