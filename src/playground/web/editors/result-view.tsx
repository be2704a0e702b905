import { useEffect, useMemo, useState } from 'react';
import { useErrorBoundary } from 'react-error-boundary';
import { valueColumns } from '../charts/group-chart';
import { ResultChart } from '../charts/result-chart';
import type { AnsweredTable } from '../rows/answer-tables';
import { describeBooks } from '../tables/print-sheet';
import { DataTable } from '../tables/data-table';
import type { KeptView } from '../rows/filter-text';
import { toResultTable, type ResultTable } from '../rows/result-tables';
import type { TableClient } from '../rows/table-client';
import { readView } from '../tables/view-link';
import type { LinkedTable } from './share-link';
import type { ShownTable } from './shown-table';
import type { ShownAnswer } from './query-explorer';

export const resultViewKinds = ['table', 'chart'] as const;
export type ResultViewKind = (typeof resultViewKinds)[number];

interface ResultViewProps {
  readonly kind: ResultViewKind;
  /** The client whose worker holds the answer's tables. */
  readonly client: TableClient;
  readonly answer: ShownAnswer | undefined;
  /** The rows that a followed link shows of one list. */
  readonly linked: LinkedTable | undefined;
  /** Told which table is shown. */
  readonly shownTable: { current: ShownTable | undefined };
}

const textsBefore: Readonly<Record<ResultViewKind, string>> = {
  table: 'No rows yet: run a query that lists something.',
  chart: 'No groups yet: run a summary with groupBy, and ask for the key and a total of each group.',
};

const textsOfNothing: Readonly<Record<ResultViewKind, string>> = {
  table: 'The answer has no rows. Try other dates or a wider filter.',
  chart: 'Nothing to draw: a chart shows the groups of a summary, with their key and a total.',
};

const DRAWABLE = 'Draw takes lists of groups, with their key and a total.';

interface Named {
  readonly name: string;
}

/** Says which lists of an answer are no chart, and where to see them; undefined where all of them are. */
function describeUndrawn(all: readonly Named[], charts: readonly Named[]): string | undefined {
  const others = all.filter(({ name }) => !charts.some((chart) => chart.name === name)).map(({ name }) => name);
  return others.length > 0 ? `Table shows ${others.join(', ')}.` : undefined;
}

const NO_TABLES: readonly AnsweredTable[] = [];
/** A chart of more groups than this cannot be read, and would keep the page busy. */
const MAX_GROUPS = 10_000;

/** Shows a list of the last answer as a table, or a list of groups as a chart. */
export function ResultView({ kind, client, answer, linked, shownTable }: ResultViewProps) {
  const all = answer?.tables ?? NO_TABLES;
  const charts = useChartTables(client, kind === 'chart' ? all : NO_TABLES);
  const tables: readonly Named[] | undefined = kind === 'table' ? all : charts;
  const [chosen, setChosen] = useState<{ readonly of: LinkedTable | undefined; readonly name: string }>();
  const wanted = chosen && chosen.of === linked ? chosen.name : linked?.list;
  const name = (tables?.find((table) => table.name === wanted) ?? tables?.[0])?.name;
  const table = all.find((each) => each.name === name);
  const { kept, unread = [], serial } = useTableView(kind === 'table' ? table : undefined, all, linked) ?? {};
  const columns = table?.columns;
  useEffect(() => {
    shownTable.current = kept && columns && name !== undefined ? { name, columns, kept } : undefined;
    return () => {
      shownTable.current = undefined;
    };
  }, [shownTable, name, columns, kept]);
  const chart = charts?.find((each) => each.name === name);
  return (
    <section className="result" aria-label={kind === 'table' ? 'Result table' : 'Result chart'}>
      {tables?.length === 0 && (
        <p className="result-note">
          {(answer?.data ? textsOfNothing : textsBefore)[kind]} {charts && describeUndrawn(all, charts)}
        </p>
      )}
      {kind === 'chart' && tables && tables.length > 0 && (
        <p className="result-note">
          {DRAWABLE} {describeUndrawn(all, tables)}
        </p>
      )}
      {tables && tables.length > 1 && (
        <label>
          List
          <select value={name} onChange={(event) => setChosen({ of: linked, name: event.target.value })}>
            {tables.map((each) => (
              <option key={each.name} value={each.name}>
                {each.name}
              </option>
            ))}
          </select>
        </label>
      )}
      {unread.length > 0 && (
        <p className="result-note" role="alert">
          A part of the link cannot be read: {unread.join(', ')}. All rows are shown there.
        </p>
      )}
      {table && kept && (
        <DataTable
          key={serial}
          {...{ client, table, kept }}
          columns={table.columns}
          label={table.name}
          print={{ title: table.name, lines: [], books: describeBooks(table.version) }}
        />
      )}
      {chart && kind === 'chart' && (
        <ResultChart
          key={name}
          table={chart}
          fileName={chart.name}
          print={{ title: chart.name, lines: [], books: describeBooks(table?.version ?? 0) }}
        />
      )}
    </section>
  );
}

interface TableViewState {
  readonly of: LinkedTable | undefined;
  readonly name: string;
  /** Counts the views, so that a table begins anew with each of them. */
  readonly serial: number;
  readonly kept: { current: KeptView };
  readonly unread: readonly string[];
}

/** The search, the filters and the sorting of the shown table: those of a followed link at first, and none for other lists. */
function useTableView(
  table: AnsweredTable | undefined,
  all: readonly AnsweredTable[],
  linked: LinkedTable | undefined,
): TableViewState | undefined {
  const [state, setState] = useState<TableViewState>();
  if (!table) return undefined;
  const { name, columns } = table;
  if (state?.name === name && state.of === linked) return state;
  const isMissing = linked && !all.some((each) => each.name === linked.list);
  const { view, unread } = readView(linked?.list === name ? linked.parameters : [], columns, navigator.languages);
  const next: TableViewState = {
    of: linked,
    name,
    serial: (state?.serial ?? 0) + 1,
    kept: { current: view },
    unread: isMissing ? linked.parameters.map(([parameter]) => parameter) : unread,
  };
  setState(next);
  return next;
}

/** Fetches the tables that can be drawn from the worker; undefined until they are there. */
function useChartTables(client: TableClient, all: readonly AnsweredTable[]): readonly ResultTable[] | undefined {
  const candidates = useMemo(
    () => all.filter(({ count, columns }) => count <= MAX_GROUPS && columns.some(({ id }) => id.startsWith('key.'))),
    [all],
  );
  const [fetched, setFetched] = useState<{ readonly of: readonly AnsweredTable[]; readonly tables: readonly ResultTable[] }>();
  const { showBoundary } = useErrorBoundary();
  useEffect(() => {
    let isOld = false;
    const fetchAll = candidates.map(async (table) => toResultTable(table, await client.loadedRows(table.id, 0, table.count)));
    Promise.all(fetchAll).then(
      (tables) => isOld || setFetched({ of: candidates, tables: tables.filter((table) => valueColumns(table).length > 0) }),
      (error: unknown) => isOld || showBoundary(error),
    );
    return () => {
      isOld = true;
    };
  }, [client, candidates, showBoundary]);
  if (candidates.length === 0) return [];
  return fetched?.of === candidates ? fetched.tables : undefined;
}
