import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useErrorBoundary } from 'react-error-boundary';
import { readColorScheme, subscribeColorScheme } from './color-scheme';
import { defaultColumn, toGroupChart, valueColumns, type GroupChart } from './group-chart';
import type { ResultTable } from './result-tables';

/** Groups of a summary as lines or bars of one of their totals. The table says the same in words. */
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
        <p className="result-note">Several groups have the same key here. Ask for all of the key, with designationId, to draw them.</p>
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
    // Loaded with the first chart: the page starts without it.
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
