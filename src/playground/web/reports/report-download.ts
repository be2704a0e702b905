import { isPeriodName } from '../../../values/periods';
import type { DownloadableReport } from '../dialogs/downloadable-report';
import type { FileFact } from '../files/file-content';
import type { TableView } from '../tables/data-table';
import { describeArrangement, describeLost } from '../rows/filter-text';
import type { TableClient } from '../rows/table-client';
import { describeFetched } from '../choices/choice-texts';
import { bridgeFacts } from './change-bridge';
import { describeLate } from './late-changes';
import { describeCrossings } from './period-crossings';
import { dateBases, definitionOf, pendingChoices } from '../choices/report-definitions';
import { explainState, type ReportResult } from './use-report';

interface Shown {
  readonly result: ReportResult;
  readonly view: TableView;
  /** The conditions in words. */
  readonly conditions: readonly string[];
  readonly client: TableClient;
  readonly provision: string;
}

/** Describes the shown rows of a report for the dialog that makes files of them. */
export function toDownload({ result, view, conditions, client, provision }: Shown): DownloadableReport {
  const { plan, table } = result;
  const { choices, columns, fileDocument, period } = plan;
  const { title, rows } = definitionOf(choices.report);
  const shown = view.columnIds.flatMap((id) => columns.find((column) => column.id === id) ?? []);
  const lost = describeLost(view.arrangement, columns, navigator.languages);
  const facts = toFacts(result, view, conditions);
  const span = period.startDate === undefined ? 'all-time' : `${period.startDate}-${period.endDate ?? ''}`;
  return {
    title,
    fileName: `${choices.report}-${choices.dateBasis === 'TRANSACTION_DATE' ? 'by-gift-date-' : ''}${span}${choices.since === '' ? '' : `-since-${choices.since}`}${choices.state === '' ? '' : `-as-of-${choices.state}`}`,
    request: rows === 'versions' ? undefined : { query: fileDocument.query, variables: fileDocument.variables },
    period: isPeriodName(choices.period) ? choices.period : undefined,
    requestNotes: [...describeFetched(plan), ...(lost === undefined ? [] : [lost])],
    isOfLines: rows === 'lines',
    columns: shown,
    count: view.arranged.count,
    facts,
    write: (format, onProgress, signal) =>
      client.write({ table: table.id, serial: view.arranged.serial, format, title, facts, columnIds: view.columnIds }, onProgress, signal),
    explain: (error) => explainState(error, provision, plan),
  };
}

function toFacts(
  { plan, table, figures, bridge, crossings, late }: ReportResult,
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
  const known = [describeCrossings(plan, crossings), describeLate(late)].filter((each) => each !== undefined);
  const isShare = choices.funds.length > 0;
  const isPending = choices.pending === 'ONLY';
  const hasPendingPart = !isPending && figures !== undefined && figures.pending.transactions > 0;
  const isPart = arranged.count < table.count || (choices.limit > 0 && all !== undefined && all.transactions > choices.limit);
  return [
    text('One row is', definitionOf(choices.report).grain),
    ...(period.startDate === undefined ? [] : [{ name: `First ${dateOf}`, value: period.startDate, kind: 'date' } as const]),
    ...(period.endDate === undefined ? [] : [{ name: `Last ${dateOf}`, value: period.endDate, kind: 'date' } as const]),
    ...(hasFixedDates ? [] : [text('Counts by', dateBases[choices.dateBasis])]),
    ...(compared ? [text('Compared with', `${compared.startDate} to ${compared.endDate}`)] : []),
    ...(rows === 'versions' ? [] : [text('Pending deposits', pendingChoices[choices.pending])]),
    ...conditions.map((condition) => text('Condition', condition)),
    ...describeArrangement(arrangement, plan.columns, String).map((condition) => text('Rows of this file', condition)),
    ...known.map((each) => text('To know', each)),
    ...(bridge ? bridgeFacts({ choices, bridge }) : []),
    count('Version of the books', table.version),
    ...(table.digest === null ? [] : [text('Digest of the lines', table.digest)]),
    count('Rows in this file', arranged.count),
    count('Rows of the report', table.count),
    ...(all
      ? [
          ...(isPart ? [text('The totals below', 'are of all that fits the choices, not of the rows in this file alone')] : []),
          money(isShare ? 'Whole gifts, each once' : `${isPending ? 'Pending' : 'Received'}, each gift once`, all.byTransaction.amount),
          ...(hasPendingPart ? [money('Of which pending', figures.pending.byTransaction.amount)] : []),
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
