import { useMemo, useState } from 'react';
import { valueColumns } from '../charts/group-chart';
import { ResultChart } from '../charts/result-chart';
import { findTables } from '../tables/result-tables';
import { SortableTable } from '../tables/sortable-table';

export const resultViewKinds = ['table', 'chart'] as const;
export type ResultViewKind = (typeof resultViewKinds)[number];

interface ResultViewProps {
  readonly kind: ResultViewKind;
  readonly data: unknown;
}

const textsBefore: Readonly<Record<ResultViewKind, string>> = {
  table: 'No rows yet: run a query that lists something.',
  chart: 'No groups yet: run a summary with groupBy, and ask for the key and a total of each group.',
};

const textsOfNothing: Readonly<Record<ResultViewKind, string>> = {
  table: 'The answer has no rows. Try other dates or a wider filter.',
  chart: 'Nothing to draw: a chart shows the groups of a summary, with their key and a total.',
};

/** Shows a list of the last answer as a table, or a list of groups as a chart. */
export function ResultView({ kind, data }: ResultViewProps) {
  const all = useMemo(() => findTables(data), [data]);
  const tables = useMemo(() => (kind === 'table' ? all : all.filter((table) => valueColumns(table).length > 0)), [all, kind]);
  const [chosen, setChosen] = useState('');
  const table = tables.find(({ name }) => name === chosen) ?? tables[0];
  return (
    <section className="result" aria-label={kind === 'table' ? 'Result table' : 'Result chart'}>
      {!table && <p className="result-note">{(data ? textsOfNothing : textsBefore)[kind]}</p>}
      {tables.length > 1 && (
        <label>
          List
          <select value={table?.name} onChange={(event) => setChosen(event.target.value)}>
            {tables.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {table && kind === 'table' && <SortableTable key={table.name} table={table} />}
      {table && kind === 'chart' && <ResultChart key={table.name} table={table} />}
    </section>
  );
}
