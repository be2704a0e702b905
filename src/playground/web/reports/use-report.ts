import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { OrganizationCalendar, Today } from '../../../values/periods';
import { askGateway, dataOf, GatewayError, postGraphQL } from '../session/gateway-client';
import { createStopped, isStopped } from '../rows/gateway-faults';
import type { TableClient } from '../rows/table-client';
import type { GrowingTable, LoadedTable, LoadProgress, RowSource } from '../values/table-types';
import { readDonorLines } from './donor-lines';
import type { EqualGifts } from '../values/equal-gifts';
import { readEqualGifts } from '../rows/equal-gift-count';
import { NO_CROSSINGS, readCrossings, type PeriodCrossings } from './period-crossings';
import { findCompared, findPeriod } from '../values/periods';
import { useClosesChanges } from '../choices/closes';
import { toAsOf } from '../values/states';
import { describeState, writeValue, type PlannedPeriods } from '../choices/choice-texts';
import type { HistoryQuery } from '../../../generated/operations/graphql';
import historyQuery from '../queries/history.graphql?raw';
import { findLack, type ReportChoices } from '../choices/report-choices';
import { columnsOf, toFileNames, type ReportColumn } from './report-columns';
import { readLate, type LateState } from './late-changes';
import { toBoardDocument } from '../board/board-figures';
import { definitionOf, donorChoices, hasComparedRows } from '../choices/report-definitions';
import { toDocument, type ReportDocument } from './report-document';
import { countRows, findBridge, findFigures, type ChangeBridge, type ReportFigures } from './report-figures';

/** The period, columns and document that the choices of a form ask for. */
export interface ReportPlan extends PlannedPeriods {
  /** The day that it was planned for, as `YYYY-MM-DD`. */
  readonly today: string;
  /** The time zone in which days end. */
  readonly timeZone: string;
  /** False for a person who may see totals only, and so nothing of single changes. */
  readonly readsDonors: boolean;
  /** False when the totals alone are compared. */
  readonly comparesRows: boolean;
  /** The last day that can be in the books of the report. */
  readonly lastDay: string;
  readonly columns: readonly ReportColumn[];
  readonly document: ReportDocument;
  /**
   * The document of the gateway's files and of the saved report: they have the figures of one period, without those compared with, unless the
   * donors are found by both.
   */
  readonly fileDocument: ReportDocument;
}

export interface ReportResult {
  readonly plan: ReportPlan;
  readonly table: LoadedTable;
  /** Missing for a report without totals. */
  readonly figures: ReportFigures | undefined;
  /** The steps from the figures of the earlier state to those of the later one; of a report of changes alone. */
  readonly bridge: ChangeBridge | undefined;
  readonly crossings: PeriodCrossings;
  /** The lines of a letter's head; none for a report that is not of one donor. */
  readonly donor: readonly string[];
  /** Gifts that equal the last of the largest ones and are not shown. */
  readonly equal?: EqualGifts | undefined;
  /** What came late in the report. The rows do not wait for it. */
  readonly late: LateState;
}

export type ReportState =
  | { readonly kind: 'waiting' }
  /** `begun` has the totals of all rows, and those rows that have come so far. */
  | { readonly kind: 'running'; readonly progress: LoadProgress | undefined; readonly begun?: ReportResult | undefined }
  | { readonly kind: 'done'; readonly result: ReportResult }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly message: string };

/** The day that a report is planned for, and what the organization says of its calendar and its amounts. */
type ReportDay = Today &
  OrganizationCalendar &
  Pick<PlannedPeriods, 'currency'> & {
    /** The last day of which the books of the report can tell. */
    readonly lastDay: string;
  };

/** True where the plan of a report depends on its last day. The board compares whole years. */
export const usesLastDay = ({ compare, report }: ReportChoices): boolean => compare !== 'off' && !definitionOf(report).isSheet;

/** Plans the report of some choices for a day. Undefined while a choice that it needs is missing. */
export function planReport(choices: ReportChoices, now: ReportDay, readsDonors: boolean): ReportPlan | undefined {
  if (findLack(choices) !== undefined) return undefined;
  const period = findPeriod(choices.period, now) ?? {};
  const { lastDay } = now;
  const compared = findCompared(period, choices.compare, comparesWhole(choices) ? undefined : lastDay);
  const plain: ReportChoices = { ...choices, compare: 'off' };
  const comparesRows = compared !== undefined && hasComparedRows(choices.splitBy, compared.isByMonths);
  const columns = columnsOf(comparesRows ? choices : plain, readsDonors).map((column) => inTimeZone(column, now.timeZone));
  const [asOf, since] = [choices.state, choices.since].map((state) => toAsOf(state, now.timeZone));
  const parts = { period, asOf, since, fiscalYearStart: now.fiscalYearStart, mayReadDonors: readsDonors };
  const ofBoth = compared && toDocument(choices, { ...parts, compareWith: compared, columns });
  const fileDocument =
    ofBoth && donorChoices[choices.who].isCompared
      ? ofBoth
      : toDocument(plain, { ...parts, compareWith: undefined, columns: columnsOf(plain, readsDonors) });
  const document =
    definitionOf(choices.report).isSheet && compared ? toBoardDocument({ ...parts, choices, compared }) : (ofBoth ?? fileDocument);
  return {
    choices,
    today: now.today,
    timeZone: now.timeZone,
    currency: now.currency,
    readsDonors,
    period,
    compared,
    comparesRows,
    lastDay,
    columns,
    document,
    fileDocument,
  };
}

/** True for donors of two periods and those that a sheet counts: of fewer days than all of the other period they would be others. */
export const comparesWhole = ({ who, report }: ReportChoices): boolean =>
  donorChoices[who].isCompared || Boolean(definitionOf(report).isSheet);

/** Instants are by the clock of the organization, like the days at whose end a state of the books is asked for. */
const inTimeZone = (column: ReportColumn, timeZone: string): ReportColumn =>
  column.kind === 'instant' ? { ...column, timeZone, about: `By the clock of ${timeZone}, the time zone of your organization.` } : column;

interface Report {
  readonly state: ReportState;
  readonly run: () => void;
  readonly stop: () => void;
}

/** Runs a report when its plan changes or a month is closed here, and again when asked. Results of an earlier plan are gone at once. */
export function useReport(
  plan: ReportPlan | undefined,
  options: { provision: string; client: TableClient; onSessionChange: () => void },
): Report {
  const { provision, client, onSessionChange } = options;
  const [state, setState] = useState<{ readonly of: unknown; readonly now: ReportState }>({ of: undefined, now: { kind: 'waiting' } });
  const [turn, setTurn] = useState(0);
  const changes = useClosesChanges();
  // A new object for each plan, each turn and each change of the closes: whatever belongs to another one is not shown.
  const asked = useMemo(() => ({ plan, turn, changes }), [plan, turn, changes]);
  const stopping = useRef<AbortController>(undefined);
  const hasFailed = useRef(false);
  useEffect(() => {
    if (!asked.plan) return undefined;
    const controller = new AbortController();
    stopping.current = controller;
    let isEnded = false;
    const tell = (now: ReportState): void => {
      // The worker's last word on its progress may come after the result, because it comes another way.
      if (controller.signal.aborted || isEnded) return;
      isEnded = now.kind !== 'running';
      setState({ of: asked, now });
    };
    const noteFailure = (): void => {
      hasFailed.current = true;
      // The session may have ended.
      onSessionChange();
    };
    const tellLate = async (result: ReportResult): Promise<void> => {
      // The report itself is right without what came late.
      const reading = readLate(provision, result.plan, result.table.version, controller.signal);
      const late = await reading.catch((error: unknown): LateState => {
        if (!controller.signal.aborted) noteFailure();
        return { fault: toMessage(error) };
      });
      if (!controller.signal.aborted) setState({ of: asked, now: { kind: 'done', result: { ...result, late } } });
    };
    const tables = new Set<number>();
    const drop = (): void => tables.forEach((id) => void client.drop(id));
    tell({ kind: 'running', progress: undefined });
    runReport(asked.plan, {
      provision,
      client,
      signal: controller.signal,
      onProgress: (progress, begun) => {
        if ('table' in progress) tables.add(progress.table.id);
        if (controller.signal.aborted) return drop();
        tell({ kind: 'running', progress, begun });
      },
    })
      .catch(async (error: unknown) => {
        throw asked.plan ? await explainState(error, provision, asked.plan) : error;
      })
      .then(
        (result) => {
          tables.add(result.table.id);
          if (controller.signal.aborted) return drop();
          tell({ kind: 'done', result });
          if (result.late === 'reading') void tellLate(result);
          // The page's bar may tell of the same failure. It goes when the session is asked for again.
          if (hasFailed.current) onSessionChange();
          hasFailed.current = false;
        },
        (error: unknown) => {
          if (controller.signal.aborted || isStopped(error)) return;
          tell({ kind: 'failed', message: toMessage(error) });
          noteFailure();
        },
      );
    return () => {
      controller.abort();
      if (!isEnded) void client.stop();
      drop();
    };
  }, [asked, provision, client, onSessionChange]);
  const run = useCallback(() => setTurn((before) => before + 1), []);
  const stop = useCallback(() => {
    stopping.current?.abort();
    void client.stop();
    setState({ of: asked, now: { kind: 'stopped' } });
  }, [client, asked]);
  const waiting: ReportState = plan ? { kind: 'running', progress: undefined } : { kind: 'waiting' };
  return { state: state.of === asked ? state.now : waiting, run, stop };
}

const toMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Lines of a past state are late by the closes of that state, which a report of it does not tell. Neither does one of some donors: late gifts
 * are counted of all.
 */
const toLateState = ({ choices, readsDonors }: ReportPlan): LateState =>
  readsDonors && choices.state === '' && choices.who === 'everybody' ? 'reading' : 'none';

interface RunOptions {
  readonly provision: string;
  readonly client: TableClient;
  readonly signal: AbortSignal;
  /** Called with what can be shown before all rows are there. */
  readonly onProgress: (progress: LoadProgress | GrowingTable, begun: ReportResult | undefined) => void;
}

/** The books may change between two requests of one report. More than this many times in a row they will not. */
const MAX_TRIES = 3;

/** Loads the rows and the totals of a report, both of one version of the books. */
async function runReport(plan: ReportPlan, options: RunOptions): Promise<ReportResult> {
  return definitionOf(plan.choices.report).rows === 'lines' ? runLines(plan, options) : runList(plan, options);
}

/** The place of the rows of a report that is a list. Those of groups are in a file too, after the first page. */
export function toListSource({ document, columns, choices }: ReportPlan): Extract<RowSource, { kind: 'pages' }> {
  const { query, variables, list } = document;
  const most = choices.limit;
  // A file has the figures of two periods, and no differences.
  const isInFile = definitionOf(choices.report).rows === 'groups' && most === 0 && !columns.some(({ id }) => id.startsWith('change.'));
  const rest = isInFile ? { names: toFileNames(columns), version: 'depositSummary.dataVersion.number' } : undefined;
  return { kind: 'pages', query, variables, list, ...(most > 0 && { maxRows: most }), ...(rest && { rest }) };
}

/** Loads a list whose first page has the totals. */
async function runList(plan: ReportPlan, { provision, client, signal, onProgress }: RunOptions): Promise<ReportResult> {
  const { columns } = plan;
  const source = toListSource(plan);
  const toResult = (table: LoadedTable): ReportResult => {
    const [figures, bridge] = [findFigures(table.data), findBridge(table.data)];
    // The version that the gateway tells of an answer is the newest one, also where a report is of a past state.
    const version = (figures ?? bridge?.after)?.dataVersion?.number ?? table.version;
    return { ...toBegun(plan, { ...table, version }, figures), bridge };
  };
  const show = tellBegun(onProgress, toResult);
  const result = toResult(await client.load({ provision, source, columns }, show));
  const equal = await readEqualGifts({ limit: plan.choices.limit, columns, variables: source.variables }, result.table, {
    client,
    provision,
    signal,
  }).catch((error: unknown) => {
    void client.drop(result.table.id);
    throw error;
  });
  return { ...result, equal, late: result.figures ? toLateState(plan) : 'none' };
}

async function runLines(plan: ReportPlan, { provision, client, signal, onProgress }: RunOptions): Promise<ReportResult> {
  const { document, columns } = plan;
  const { query, variables } = document;
  for (let attempt = 1; ; attempt++) {
    const source = { kind: 'file', query, variables, names: toFileNames(columns) } as const;
    let totals: { readonly figures: ReportFigures | undefined; readonly allRows: number | undefined } | undefined;
    const tell: RunOptions['onProgress'] = (progress, begun) => onProgress({ ...progress, allRows: totals?.allRows }, begun);
    const show = tellBegun(tell, (table) => (totals && isOf(table, totals.figures) ? toBegun(plan, table, totals.figures) : undefined));
    const loading = client.load({ provision, source, columns }, show);
    const asking = postGraphQL(provision, { query, variables: { ...variables, first: 1 } }, { signal }).then((answer) => {
      const data = dataOf(answer);
      totals = { figures: findFigures(data), allRows: countRows(data) };
      return totals.figures;
    });
    const [table, figures] = await Promise.all([loading, asking]).catch((error: unknown) => {
      // Rows without totals are not shown. A load that was stopped by then may be of a newer run.
      if (!signal.aborted) void client.stop();
      loading.then(
        ({ id }) => client.drop(id),
        () => undefined,
      );
      throw error;
    });
    if (isOf(table, figures))
      return {
        ...toBegun(plan, table, figures),
        late: toLateState(plan),
        crossings: await readCrossings(plan, table, client),
        donor: await readDonorLines(plan, table, client),
      };
    await client.drop(table.id);
    // A newer run may be loading by now, which another load would stop.
    if (signal.aborted) throw createStopped();
    if (attempt === MAX_TRIES) throw new GatewayError('The books are changing all the time. Run the report again in a moment.');
  }
}

/** True for rows of the same version of the books as the totals. */
const isOf = ({ version }: LoadedTable, figures: ReportFigures | undefined): boolean => version === (figures?.dataVersion?.number ?? 0);

/** A result without what is read once all rows are there. */
const toBegun = (plan: ReportPlan, table: LoadedTable, figures: ReportFigures | undefined): ReportResult => ({
  ...{ plan, table, figures, bridge: undefined, late: 'none', donor: [] },
  crossings: NO_CROSSINGS,
});

/** Tells the progress of a load with what can be shown of its rows: what was shown last stays until there is more. */
function tellBegun(
  onProgress: RunOptions['onProgress'],
  toShown: (table: LoadedTable) => ReportResult | undefined,
): (progress: LoadProgress | GrowingTable) => void {
  let table: LoadedTable | undefined;
  let shown: ReportResult | undefined;
  return (progress) => {
    if ('table' in progress) [table, shown] = [progress.table, undefined];
    shown ??= table && toShown(table);
    onProgress(progress, shown);
  };
}

/** An error in words for a state that the books have not had, or that was pruned. Any other error stays as it is. */
export async function explainState(error: unknown, provision: string, { choices, timeZone }: ReportPlan): Promise<unknown> {
  if (!(error instanceof GatewayError)) return error;
  if (/^from is version /.test(error.message))
    return new GatewayError('That version of the books came only after the other one: compare an earlier version with a later one.');
  const [, pruned, name] = /^(The state is no longer kept: )?(as_?[oO]f|from|to): /.exec(error.message) ?? [];
  if (name === undefined) return error;
  const { history } = await askGateway<HistoryQuery>(provision, { query: historyQuery });
  if (!history) return new GatewayError('The books have not changed yet: nothing has been imported.');
  const write = new Intl.DateTimeFormat(navigator.languages, { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const [first, last] = [history.earliest, history.latest].map(
    ({ number, recordedAt }) => `version ${String(number)} of ${write.format(new Date(recordedAt))}`,
  );
  const asked = `books at ${describeState(name === 'from' ? choices.since : choices.state, writeValue)}`;
  const fault = pruned === undefined ? `There are no ${asked}. They begin with` : `The ${asked} are no longer kept. The earliest kept is`;
  return new GatewayError(`${fault} ${first!}, and the newest is ${last!} (${timeZone}).`);
}
