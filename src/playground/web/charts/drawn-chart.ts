import type { ColumnKind } from '../values/table-types';

/** A chart of bars: one below the other with names and values, or upright and narrow for many parts of time. */
export interface DrawnChart {
  readonly rows: readonly ChartRow[];
  /** The names of the bars and their parts, each with a color of its own. A chart of one needs no legend. */
  readonly series: readonly ChartSeries[];
  /** True for many parts of time, which stand side by side. Their values are read one at a time. */
  readonly isUpright?: boolean;
  /** The height of upright bars in pixels, where a sheet has less room for them than a page. */
  readonly height?: number;
  /** The part of the axis that is drawn, for bars that do not begin at zero. */
  readonly range?: { readonly min: number; readonly max: number };
  /** Decides how the values are written. */
  readonly valueKind: ColumnKind;
  /** A sentence that says what the chart shows, for screen readers. */
  readonly summary: string;
  /** Sentences about what the chart leaves out, and how it is read. */
  readonly notes: readonly string[];
}

export interface ChartSeries {
  readonly name: string;
  /** The number of its color, from 1 to 8, or that of what is beside. */
  readonly color: number;
}

/** The color of what is there to be compared with. It is drawn as an outline, which stands apart without colors too. */
export const BESIDE = 9;

/** A thing with a name of its own in a chart, such as a fund or a month. */
export interface ChartRow {
  readonly label: string;
  /** The label where room is scarce. It still has the part that tells it apart from a namesake. */
  readonly shortLabel: string;
  /** One bar, that of the period and that of the period before it, or one for each deposit of a day. */
  readonly bars: readonly ChartBar[];
}

export interface ChartBar {
  /** The value of the whole bar as people write it. */
  readonly text: string;
  readonly marks: readonly ChartMark[];
}

/** A bar, or a part of one. */
export interface ChartMark {
  /** The name of the thing that the mark stands for, and its value, as people write them. */
  readonly reading: string;
  readonly color: ChartSeries['color'];
  /** True for every other part of a bar whose parts have one color. */
  readonly isPale?: boolean;
  /** The places at which the mark begins and ends on the axis. Floats are for places on the screen only. */
  readonly from: number;
  readonly to: number;
}

/** Turns an amount into a float, only for its place on the screen. */
export const toLength = (value: string | undefined): number => Number(value ?? 0);

/** Puts marks one behind the other from zero: the positive ones to one side, the negative ones to the other. */
export function stack<Mark>(
  values: readonly { readonly value: string | undefined; readonly mark: Mark }[],
): (Mark & { from: number; to: number })[] {
  const ends = { more: 0, less: 0 };
  return values.flatMap(({ value, mark }) => {
    if (value === undefined) return [];
    const length = toLength(value);
    const side = length < 0 ? 'less' : 'more';
    const from = ends[side];
    ends[side] = from + length;
    return [{ ...mark, from, to: ends[side] }];
  });
}
