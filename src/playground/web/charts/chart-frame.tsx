import { useMemo, useRef, useState, type ReactNode, type RefObject } from 'react';
import { saveFile } from '../files/download';
import { describePrint, PrintSheet, usePrinting, type PrintHead } from '../tables/print-sheet';
import { ChartDrawing, ChartFigure, createWriting } from './chart-figure';
import { divideLayout, layOutChart } from './chart-layout';
import { toPicture } from './chart-picture';
import type { DrawnChart } from './drawn-chart';

interface ChartFrameProps {
  /** Undefined where there is nothing to draw. */
  readonly chart: DrawnChart | undefined;
  /** The head of the print sheet and of the picture. */
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
  const head = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState<string>();
  const savePicture = async (drawn: DrawnChart): Promise<void> => {
    try {
      saveFile({ name: fileName, content: await toPicture(drawn, print) });
      setProblem(undefined);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <>
      <div className="result-head" ref={head}>
        {children}
        {chart && (
          <button type="button" onClick={() => void savePicture(chart)}>
            Save picture
          </button>
        )}
        {problem !== undefined && <span role="alert">{problem}</span>}
        <span role="status">{chart?.notes.join(' ')}</span>
      </div>
      {chart ? (
        <div className="result-frame chart-frame">
          <ChartFigure chart={chart} />
        </div>
      ) : (
        <p className="result-note">{nothing}</p>
      )}
      <ChartPrint {...{ chart, print, nothing }} place={head} />
    </>
  );
}

interface ChartPrintProps extends Pick<ChartFrameProps, 'chart' | 'print' | 'nothing'> {
  readonly place: RefObject<Element | null>;
}

/** Prints the chart anew: the one on the screen has the colors of the theme and the size of the window. */
function ChartPrint({ chart, print, nothing, place }: ChartPrintProps) {
  const isPrinting = usePrinting(place);
  if (!isPrinting) return null;
  return (
    <PrintSheet {...print}>
      <p>{describePrint(print)}</p>
      <p className="print-note">{chart?.summary ?? nothing}</p>
      {chart?.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      {chart && <PaperChart chart={chart} />}
    </PrintSheet>
  );
}

const PAPER_WIDTH = 680;
/** The height of forty rows of one bar, which are made smaller so that they stand on the page of their head. */
const ONE_PAGE = 1070;
/** The height that a page has beside its head. */
const PAGE_HEIGHT = 690;

function PaperChart({ chart }: { readonly chart: DrawnChart }) {
  const layout = useMemo(() => layOutChart(chart, PAPER_WIDTH, createWriting()), [chart]);
  if (layout.height <= ONE_PAGE) return <ChartDrawing {...{ chart, layout }} />;
  return divideLayout(layout, PAGE_HEIGHT).map((part) => <ChartDrawing key={part.top} {...{ chart, layout, part }} />);
}
