import { useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore, type RefObject } from 'react';
import { useErrorBoundary } from 'react-error-boundary';
import { saveFile } from '../files/download';
import { describePrint, PrintSheet, usePrinting, type PrintHead } from '../tables/print-sheet';
import { readColorScheme, subscribeColorScheme } from '../look/color-scheme';
import { defaultColumn, toGroupChart, valueColumns, type GroupChart } from './group-chart';
import type { ResultTable } from '../rows/result-tables';

interface ResultChartProps {
  readonly table: ResultTable;
  /** The head of the print sheet. */
  readonly print: PrintHead;
}

/** Draws one total of a summary's groups as lines or bars. The table view holds the same values as text. */
export function ResultChart({ table, print }: ResultChartProps) {
  const [chosen, setChosen] = useState<string>();
  const frame = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const columns = valueColumns(table);
  const column = columns.find(({ name }) => name === chosen) ?? columns.find(({ name }) => name === table.main) ?? defaultColumn(table);
  const chart = useMemo(() => column && toGroupChart(table, column, navigator.languages), [table, column]);
  const { draw, problem } = useDrawing();
  return (
    <>
      <div className="result-head" ref={head}>
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
          {problem !== undefined && <p role="alert">{problem}</p>}
          <ChartCanvas {...{ chart, draw }} />
        </div>
      ) : (
        <p className="result-note">{SAME_KEYS}</p>
      )}
      <ChartPrint {...{ chart, draw, print }} place={head} note={problem ?? (chart ? LOADING : SAME_KEYS)} />
    </>
  );
}

const SAME_KEYS = 'Several groups have the same key here. To draw them, ask for every field of the key, designationId included.';
const LOADING = 'The chart is still being drawn. Print again in a moment.';

type DrawChart = typeof import('./chart-canvas').drawChart;

/** The function that draws. The chart library loads with the first chart, so that the page itself starts sooner. */
function useDrawing(): { readonly draw?: DrawChart; readonly problem?: string } {
  const [drawing, setDrawing] = useState<{ readonly draw?: DrawChart; readonly problem?: string }>({});
  useEffect(() => {
    let isGone = false;
    import('./chart-canvas').then(
      ({ drawChart }) => isGone || setDrawing({ draw: drawChart }),
      () => isGone || setDrawing({ problem: 'The chart could not be loaded. Reload the page.' }),
    );
    return () => {
      isGone = true;
    };
  }, []);
  return drawing;
}

interface ChartCanvasProps {
  readonly chart: GroupChart;
  readonly draw: DrawChart | undefined;
}

function ChartCanvas({ chart, draw }: ChartCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { showBoundary } = useErrorBoundary();
  const colorScheme = useSyncExternalStore(subscribeColorScheme, readColorScheme);
  useEffect(() => {
    if (!draw || !canvas.current) return undefined;
    try {
      return draw(canvas.current, chart);
    } catch (error) {
      return showBoundary(error);
    }
  }, [draw, chart, colorScheme, showBoundary]);
  return <canvas ref={canvas} role="img" aria-label={chart.summary} />;
}

interface ChartPrintProps {
  readonly chart: GroupChart | undefined;
  readonly draw: DrawChart | undefined;
  readonly print: PrintHead;
  readonly place: RefObject<Element | null>;
  /** Printed where there is nothing to draw. */
  readonly note: string;
}

/** Prints the chart anew: the one on the screen has the colors of the theme and the size of the window. */
function ChartPrint({ chart, draw, print, place, note }: ChartPrintProps) {
  const isPrinting = usePrinting(place);
  if (!isPrinting) return null;
  return (
    <PrintSheet {...print}>
      <p>{describePrint(print.books)}</p>
      {chart && draw ? (
        <>
          <p className="print-note">{chart.summary}</p>
          {chart.omission !== undefined && <p>{chart.omission}</p>}
          <PaperCanvas {...{ chart, draw }} />
        </>
      ) : (
        <p className="print-note">{note}</p>
      )}
    </PrintSheet>
  );
}

function PaperCanvas({ chart, draw }: { readonly chart: GroupChart; readonly draw: DrawChart }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  // The browser does not wait: the chart is drawn before the sheet is laid out.
  useLayoutEffect(() => (canvas.current ? draw(canvas.current, chart, true) : undefined), [chart, draw]);
  return <canvas ref={canvas} width={680} height={420} />;
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
