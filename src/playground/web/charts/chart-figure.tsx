import { useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { createCellFormat } from '../values/cell-format';
import { layOutChart, type ChartLayout, type ChartPart, type Shape, type Writing } from './chart-layout';
import { BESIDE, type ChartMark, type DrawnChart } from './drawn-chart';

export const FONT = '13px system-ui, sans-serif';

/** Measures texts in the font of the charts, and writes numbers as people of the browser's languages do. */
export function createWriting(): Writing {
  const context = document.createElement('canvas').getContext('2d');
  if (context) context.font = FONT;
  const { format } = createCellFormat(navigator.languages);
  return {
    measure: (text) => context?.measureText(text).width ?? text.length * 8,
    writeNumber: (value) => format(String(value), 'count'),
  };
}

/** The part of its color that every other part of a bar has. */
const PALE = 0.6;
/** The pixels of an outline. */
export const OUTLINE = 1.5;

/** The variables of CSS with the colors of a mark. A mark with an outline has the color of the page within. */
interface Paint {
  readonly fill: string;
  readonly opacity: number;
  readonly outline?: string;
}

type Painted = Pick<ChartMark, 'color' | 'isPale'>;

export function toPaint({ color, isPale = false }: Painted): Paint {
  const own = `--chart-${String(color)}`;
  return color === BESIDE ? { fill: '--bar-field', opacity: 1, outline: own } : { fill: own, opacity: isPale ? PALE : 1 };
}

/** A chart in the width of its place. A mark is read with the pointer, and with the arrow keys. */
export function ChartFigure({ chart }: { readonly chart: DrawnChart }) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [read, setRead] = useState(-1);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    if (frame.current) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  const layout = useMemo(() => (width > 0 ? layOutChart(chart, width, createWriting()) : undefined), [chart, width]);
  const marks = useMemo(() => chart.rows.flatMap(({ bars }) => bars.flatMap((bar) => bar.marks)), [chart]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined || marks.length === 0) return;
    event.preventDefault();
    setRead((at) => (at < 0 ? (step > 0 ? 0 : marks.length - 1) : (at + step + marks.length) % marks.length));
  };
  return (
    <>
      <p className="chart-reading" aria-live="polite">
        {marks[read]?.reading ?? (matchMedia('(hover: none)').matches ? 'Touch a bar to read what it stands for.' : HOW_TO_READ)}
      </p>
      <div ref={frame} className="chart-place">
        {layout && (
          <ChartDrawing
            {...{ chart, layout, onKeyDown }}
            read={marks[read]}
            onRead={(mark) => setRead(mark === undefined ? -1 : marks.indexOf(mark))}
          />
        )}
      </div>
    </>
  );
}

const HOW_TO_READ = 'Point at a bar, or use the arrow keys, to read what it stands for.';

interface ChartDrawingProps {
  readonly chart: DrawnChart;
  readonly layout: ChartLayout;
  /** The part of the drawing that stands on one sheet of paper; without it, all of it. */
  readonly part?: ChartPart;
  /** The mark that is being read. */
  readonly read?: ChartMark | undefined;
  readonly onRead?: (mark: ChartMark | undefined) => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

/** The drawing alone. */
export function ChartDrawing({ chart, layout, part = { top: 0, height: layout.height }, read, onRead, onKeyDown }: ChartDrawingProps) {
  const { width } = layout;
  const { top, height } = part;
  const shapes = layout.shapes.filter((shape) => shape.y < top + height && shape.y + ('height' in shape ? shape.height : 0) >= top);
  return (
    <svg
      className="chart"
      role="img"
      aria-label={chart.summary}
      viewBox={`0 ${String(top)} ${String(width)} ${String(height)}`}
      width={width}
      height={height}
      {...(onKeyDown && { tabIndex: 0, onKeyDown, onPointerLeave: () => onRead?.(undefined) })}
    >
      {shapes.map((shape, at) => (
        <ShapeDrawing key={at} {...{ shape, onRead }} isRead={shape.kind === 'mark' && shape.mark === read} />
      ))}
    </svg>
  );
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The box of a mark with its color. An outline lies within the box, so that a bar is as long as its value. */
export function outlineOf({ x, y, width, height }: Box): Box {
  const line = Math.min(OUTLINE, width, height);
  return { x: x + line / 2, y: y + line / 2, width: width - line, height: height - line };
}

function toBox(box: Box, painted: Painted, isRead = false) {
  const { fill, opacity, outline } = toPaint(painted);
  const stroke = outline !== undefined && !isRead && { stroke: `var(${outline})`, strokeWidth: OUTLINE };
  return { ...(outline === undefined ? box : outlineOf(box)), style: { fill: `var(${fill})`, fillOpacity: opacity, ...stroke } };
}

function ShapeDrawing({
  shape,
  isRead,
  onRead,
}: {
  readonly shape: Shape;
  readonly isRead: boolean;
  readonly onRead: ((mark: ChartMark) => void) | undefined;
}) {
  if (shape.kind === 'text') {
    const { x, y, text, anchor, isMuted } = shape;
    return (
      <text {...{ x, y }} textAnchor={anchor} className={isMuted ? 'chart-muted' : undefined}>
        {text}
      </text>
    );
  }
  if (shape.kind === 'line') return <rect x={shape.x} y={shape.y} width={shape.width} height={shape.height} className="chart-line" />;
  const { x, y } = shape;
  if (shape.kind === 'key') return <rect {...toBox({ x, y, width: shape.size, height: shape.size }, shape.series)} />;
  const { width, height, mark } = shape;
  return (
    <rect
      {...toBox({ x, y, width, height }, mark, isRead)}
      className={isRead ? 'chart-mark chart-read' : 'chart-mark'}
      {...(onRead && { onPointerEnter: () => onRead(mark), onPointerDown: () => onRead(mark) })}
    />
  );
}
