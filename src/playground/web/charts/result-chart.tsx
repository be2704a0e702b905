import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useErrorBoundary } from 'react-error-boundary';
import { saveFile } from '../files/download';
import { readColorScheme, subscribeColorScheme } from '../look/color-scheme';
import { defaultColumn, toGroupChart, valueColumns, type GroupChart } from './group-chart';
import type { ResultTable } from '../tables/result-tables';

/** Draws one total of a summary's groups as lines or bars. The table view holds the same values as text. */
export function ResultChart({ table }: { readonly table: ResultTable }) {
  const [chosen, setChosen] = useState<string>();
  const frame = useRef<HTMLDivElement>(null);
  const columns = valueColumns(table);
  const column = columns.find(({ name }) => name === chosen) ?? columns.find(({ name }) => name === table.main) ?? defaultColumn(table);
  const chart = useMemo(() => column && toGroupChart(table, column, navigator.languages), [table, column]);
  return (
    <>
      <div className="result-head">
        <label htmlFor="chart-column">Draw</label>
        <select id="chart-column" value={column?.name} onChange={(event) => setChosen(event.target.value)}>
          {columns.map(({ name, title }) => (
            <option key={name} value={name}>
              {title ?? name}
            </option>
          ))}
        </select>
        {chart && (
          <button type="button" onClick={() => savePicture(frame.current, `${table.name}.png`)}>
            Save picture
          </button>
        )}
        <span role="status">{chart?.omission}</span>
      </div>
      {chart ? (
        <div ref={frame} className="result-frame chart-frame">
          <ChartCanvas chart={chart} />
        </div>
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
    <>
      {problem !== undefined && <p role="alert">{problem}</p>}
      <canvas ref={canvas} role="img" aria-label={chart.summary} />
    </>
  );
}

/** Saves the drawn chart as a picture, on the page's own background instead of a transparent one. */
function savePicture(frame: HTMLElement | null, name: string): void {
  const drawn = frame?.querySelector('canvas');
  if (!drawn || !frame) return;
  const picture = document.createElement('canvas');
  [picture.width, picture.height] = [drawn.width, drawn.height];
  const context = picture.getContext('2d');
  if (!context) return;
  context.fillStyle = getComputedStyle(frame).backgroundColor;
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(drawn, 0, 0);
  picture.toBlob((content) => {
    if (content) saveFile({ name, content });
  });
}
