import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useErrorBoundary } from 'react-error-boundary';
import { readColorScheme, subscribeColorScheme } from '../look/color-scheme';
import { defaultColumn, toGroupChart, valueColumns, type GroupChart } from './group-chart';
import type { ResultTable } from '../tables/result-tables';

/** Draws one total of a summary's groups as lines or bars. The table view holds the same values as text. */
export function ResultChart({ table }: { readonly table: ResultTable }) {
  const [chosen, setChosen] = useState<string>();
  const columns = valueColumns(table);
  const column = columns.find(({ name }) => name === chosen) ?? defaultColumn(table);
  const chart = useMemo(() => column && toGroupChart(table, column), [table, column]);
  return (
    <>
      <div className="result-head">
        <label htmlFor="chart-column">Draw</label>
        <select id="chart-column" value={column?.name} onChange={(event) => setChosen(event.target.value)}>
          {columns.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <span role="status">{chart?.omission}</span>
      </div>
      {chart ? (
        <ChartCanvas chart={chart} />
      ) : (
        <p className="result-note">
          Several groups have the same key here. To draw them, ask for every field of the key, designationId included.
        </p>
      )}
    </>
  );
}

function ChartCanvas({ chart }: { readonly chart: GroupChart }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [problem, setProblem] = useState<string>();
  const { showBoundary } = useErrorBoundary();
  const colorScheme = useSyncExternalStore(subscribeColorScheme, readColorScheme);
  useEffect(() => {
    let erase: (() => void) | undefined;
    let isGone = false;
    // The chart library loads with the first chart, so that the page itself starts sooner.
    import('./chart-canvas')
      .then(
        ({ drawChart }) => {
          if (!isGone && canvas.current) erase = drawChart(canvas.current, chart);
        },
        () => setProblem('The chart could not be loaded. Reload the page.'),
      )
      .catch(showBoundary);
    return () => {
      isGone = true;
      erase?.();
    };
  }, [chart, colorScheme, showBoundary]);
  return (
    <div className="result-frame chart-frame">
      {problem !== undefined && <p role="alert">{problem}</p>}
      <canvas ref={canvas} role="img" aria-label={chart.summary} />
    </div>
  );
}
