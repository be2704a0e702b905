import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore, type ReactNode, type RefObject } from 'react';
import { useErrorBoundary } from 'react-error-boundary';
import { saveFile } from '../files/download';
import { describePrint, PrintSheet, usePrinting, type PrintHead } from '../tables/print-sheet';
import { readColorScheme, subscribeColorScheme } from '../look/color-scheme';
import type { DrawnChart } from './group-chart';

interface ChartFrameProps {
  /** Undefined where there is nothing to draw. */
  readonly chart: DrawnChart | undefined;
  /** The head of the print sheet. */
  readonly print: PrintHead;
  /** The name of the picture's file. */
  readonly fileName: string;
  /** Says why there is nothing to draw. */
  readonly nothing: string;
  /** The fields before the button that saves the picture. */
  readonly children?: ReactNode;
}

/** Shows a chart with a way to save its picture, and prints it. */
export function ChartFrame({ chart, print, fileName, nothing, children }: ChartFrameProps) {
  const frame = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const { draw, problem } = useDrawing();
  return (
    <>
      <div className="result-head" ref={head}>
        {children}
        {chart && (
          <button type="button" onClick={() => savePicture(frame.current, fileName)}>
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
        <p className="result-note">{nothing}</p>
      )}
      <ChartPrint {...{ chart, draw, print }} place={head} note={problem ?? (chart ? LOADING : nothing)} />
    </>
  );
}

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
  readonly chart: DrawnChart;
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
  readonly chart: DrawnChart | undefined;
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
      <p>{describePrint(print)}</p>
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

function PaperCanvas({ chart, draw }: { readonly chart: DrawnChart; readonly draw: DrawChart }) {
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
