import type { ChartBar, ChartMark, ChartSeries, DrawnChart } from './drawn-chart';

/** A thing that is drawn, at a place in pixels. */
export type Shape =
  | {
      readonly kind: 'mark';
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
      readonly mark: ChartMark;
    }
  | { readonly kind: 'key'; readonly x: number; readonly y: number; readonly size: number; readonly series: ChartSeries }
  | {
      readonly kind: 'text';
      readonly x: number;
      readonly y: number;
      readonly text: string;
      readonly anchor: 'start' | 'middle' | 'end';
      readonly isMuted?: boolean;
    }
  | { readonly kind: 'line'; readonly x: number; readonly y: number; readonly width: number; readonly height: number };

export interface ChartLayout {
  readonly width: number;
  readonly height: number;
  readonly shapes: readonly Shape[];
  /** The places from the top at which a page of paper may begin: those of the rows, and in a row of very many bars those of its bars. */
  readonly tops: readonly number[];
}

/** The part of a layout between two heights. */
export interface ChartPart {
  readonly top: number;
  readonly height: number;
}

/** Tells how wide a text is in the chart's font. */
type Measure = (text: string) => number;

/** The texts of a chart as a place writes them: their widths, and the numbers of an axis. */
export interface Writing {
  readonly measure: Measure;
  readonly writeNumber: (value: number) => string;
}

const LINE = 20;
const BAR = 15;
/** Bars of one row follow each other closely. */
const BAR_STEP = 18;
const ROW_GAP = 8;
const GAP = 8;
/** The width below which labels stand above their bars. */
const NARROW = 520;
/** The greatest part of the width that labels beside their bars take. */
const LABEL_PART = 0.4;
/** A mark that is not zero can be seen and pointed at. */
const LEAST_MARK = 2;
const UPRIGHT_HEIGHT = 300;
/** A row of more bars may be higher than a page of paper. It has its label at each bar, and may be divided between them. */
const MAX_BARS_TOGETHER = 30;

/** Places all parts of a chart in a width. A chart of rows is as high as it has rows. */
export function layOutChart(chart: DrawnChart, width: number, writing: Writing): ChartLayout {
  const { measure } = writing;
  const legend = chart.series.length > 1 ? layOutLegend(chart.series, width, measure) : { shapes: [], height: 0 };
  const body = chart.isUpright ? layOutColumns(chart, width, writing) : layOutRows(chart, width, measure);
  return {
    width,
    height: legend.height + body.height,
    shapes: [...legend.shapes, ...body.shapes.map((shape) => ({ ...shape, y: shape.y + legend.height }))],
    tops: body.tops.map((top) => top + legend.height),
  };
}

/** Divides a layout into parts that are at most so high, each of whole rows, or of whole bars of a row that has very many. */
export function divideLayout({ height, tops }: ChartLayout, most: number): ChartPart[] {
  const starts = tops.slice(1).reduce((found, top, at) => ((tops[at + 2] ?? height) - found.at(-1)! > most ? [...found, top] : found), [0]);
  return starts.map((top, at) => ({ top, height: (starts[at + 1] ?? height) - top }));
}

type Placed = Pick<ChartLayout, 'shapes' | 'height'>;
type PlacedRows = Placed & Pick<ChartLayout, 'tops'>;

function layOutLegend(series: DrawnChart['series'], width: number, measure: Measure): Placed {
  const shapes: Shape[] = [];
  let [x, y] = [0, 0];
  series.forEach((each) => {
    const name = fit(each.name, width - BAR - GAP, measure);
    const needed = BAR + GAP + measure(name);
    if (x > 0 && x + needed > width) [x, y] = [0, y + LINE];
    shapes.push({ kind: 'key', x, y: y + 2, size: BAR - 2, series: each });
    shapes.push({ kind: 'text', x: x + BAR + 2, y: y + BAR - 2, text: name, anchor: 'start' });
    x += needed + GAP * 2;
  });
  return { shapes, height: y + LINE + GAP };
}

/** The ends of the axis: those of the chart, or else those of the bars and zero. */
function rangeOf({ rows, range }: DrawnChart): { readonly min: number; readonly max: number } {
  if (range) return range;
  const ends = rows.flatMap(({ bars }) => bars.flatMap(({ marks }) => marks.flatMap(({ from, to }) => [from, to])));
  const [min, max] = [ends.reduce((one, other) => Math.min(one, other), 0), ends.reduce((one, other) => Math.max(one, other), 0)];
  return min === max ? { min: 0, max: 1 } : { min, max };
}

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

/** Cuts a text that is wider than its place. */
function fit(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text;
  const letters = Array.from(text);
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(`${letters.slice(0, middle).join('')}…`) <= width) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join('')}…`;
}

function layOutRows(chart: DrawnChart, width: number, measure: Measure): PlacedRows {
  const isNarrow = width < NARROW;
  const labels = chart.rows.map(({ label, shortLabel }) => (measure(label) > width * LABEL_PART ? shortLabel : label));
  const widest = labels.reduce((most, label) => Math.max(most, measure(label)), 0);
  const labelWidth = isNarrow ? 0 : Math.min(widest, width * LABEL_PART);
  const start = isNarrow ? 0 : labelWidth + GAP;
  const valueWidth = chart.rows.reduce((most, { bars }) => bars.reduce((more, { text }) => Math.max(more, measure(text)), most), 0);
  const { min, max } = rangeOf(chart);
  const scale = Math.max(width - start - valueWidth - GAP, 1) / (max - min);
  const toX = (value: number): number => start + (clamp(value, min, max) - min) * scale;
  const zero = toX(0);
  const shapes: Shape[] = [];
  const tops: number[] = [];
  let y = 0;
  chart.rows.forEach(({ bars }, at) => {
    const isDivisible = bars.length > MAX_BARS_TOGETHER;
    tops.push(y);
    const text = fit(labels[at]!, isNarrow ? width : labelWidth, measure);
    const label = () =>
      shapes.push({ kind: 'text', x: isNarrow ? 0 : labelWidth, y: y + BAR - 3, text, anchor: isNarrow ? 'start' : 'end' });
    label();
    if (isNarrow) y += LINE;
    for (const [place, bar] of bars.entries()) {
      if (isDivisible && place > 0) {
        tops.push(y);
        if (!isNarrow) label();
      }
      shapes.push(...layOutBar(bar, y, toX, zero));
      y += BAR_STEP;
    }
    y += ROW_GAP;
  });
  const axis: Shape = { kind: 'line', x: zero, y: 0, width: 1, height: y };
  return { shapes: chart.range ? shapes : [axis, ...shapes], height: y, tops };
}

/** The marks of a bar, and its value behind them. */
function layOutBar({ text, marks }: ChartBar, y: number, toX: (value: number) => number, zero: number): Shape[] {
  const places = marks.map((mark) => {
    const [left, right] = [toX(Math.min(mark.from, mark.to)), toX(Math.max(mark.from, mark.to))];
    const width = mark.from === mark.to ? 0 : Math.max(right - left, LEAST_MARK);
    return { kind: 'mark' as const, x: mark.to < mark.from ? right - width : left, y, width, height: BAR, mark };
  });
  const end = places.reduce((most, { x, width }) => Math.max(most, x + width), marks.length === 0 ? zero : 0);
  return [...places, { kind: 'text', x: end + GAP / 2, y: y + BAR - 3, text, anchor: 'start' }];
}

/** Bars side by side, one for each part of time. The first and the last one are named, and some between. */
function layOutColumns(chart: DrawnChart, width: number, { measure, writeNumber }: Writing): PlacedRows {
  const { min, max } = rangeOf(chart);
  const ticks = toTicks(min, max);
  const labelWidth = chart.rows.reduce((most, { label }) => Math.max(most, measure(label)), 0) + GAP * 2;
  const axis = ticks.reduce((most, tick) => Math.max(most, measure(writeNumber(tick))), 0) + GAP;
  // The first name stands in the middle of its bars, and has room to their left.
  const start = Math.max(axis, labelWidth / 2 - GAP);
  const [low, high] = [Math.min(min, ticks[0]!), Math.max(max, ticks.at(-1)!)];
  const upright = chart.height ?? UPRIGHT_HEIGHT;
  const scale = upright / (high - low);
  const toY = (value: number): number => LINE / 2 + (high - value) * scale;
  const step = (width - start) / chart.rows.length;
  const shapes: Shape[] = ticks.flatMap((tick): Shape[] => [
    { kind: 'line', x: start, y: toY(tick), width: width - start, height: 1 },
    { kind: 'text', x: start - GAP, y: toY(tick) + 4, text: writeNumber(tick), anchor: 'end', isMuted: true },
  ]);
  const every = Math.ceil(labelWidth / step);
  chart.rows.forEach(({ label, bars }, at) => {
    const x = start + at * step;
    const lane = (step * 0.8) / bars.length;
    bars.forEach(({ marks }, lanes) => {
      for (const mark of marks) {
        const [top, bottom] = [toY(Math.max(mark.from, mark.to)), toY(Math.min(mark.from, mark.to))];
        const height = mark.from === mark.to ? 0 : Math.max(bottom - top, LEAST_MARK);
        shapes.push({ kind: 'mark', x: x + lanes * lane, y: mark.to < mark.from ? top : bottom - height, width: lane, height, mark });
      }
    });
    const middle = x + (lane * bars.length) / 2;
    if (at % every === 0 && middle + (labelWidth / 2 - GAP) <= width)
      shapes.push({ kind: 'text', x: middle, y: LINE / 2 + upright + LINE, text: label, anchor: 'middle', isMuted: true });
  });
  return { shapes, height: upright + LINE * 2, tops: [0] };
}

/** Three to seven round numbers between two ends. */
function toTicks(min: number, max: number): number[] {
  const rough = (max - min) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough)!;
  const first = Math.floor(min / step);
  return Array.from({ length: Math.ceil(max / step) - first + 1 }, (_, n) => (first + n) * step);
}
