import { createCellFormat } from '../values/cell-format';
import { isNeverCut, isTime, type Cell, type TableColumn } from '../values/table-types';

/** Measures a text as a row writes it, or a total, which is bold. In pixels. */
export type MeasureText = (text: string, isBold: boolean) => number;

/** Measures in the font of an element. Digits are taken for the widest, because those of a table are all as wide. */
export function createTextMeasure(element: HTMLElement): MeasureText {
  const { fontSize, fontFamily } = getComputedStyle(element);
  const context = document.createElement('canvas').getContext('2d');
  return (text, isBold) => {
    if (!context) return 0;
    context.font = `${isBold ? '600' : '400'} ${fontSize} ${fontFamily}`;
    return context.measureText(text.replace(/\d/g, '0')).width;
  };
}

/** The room beside a text: the cell's padding, and a rounding of pixels. */
const ROOM = 18;
const SORT_ROOM = 20;

/** The dates of a year have every name of a month, and days of two digits. */
const DATES = Array.from({ length: 12 }, (_, month) => `2028-${String(month + 1).padStart(2, '0')}-28`);

/** The width of a column's title, with the sign of its order, for which a narrow screen has no room. */
export const widthOfTitle = ({ title }: TableColumn, measure: MeasureText, isNarrow: boolean): number =>
  Math.ceil(measure(title, true)) + ROOM + (isNarrow ? 0 : SORT_ROOM);

/** The width in which every value of a column has room. */
export function widthOfContent(column: TableColumn, samples: readonly Cell[], total: string, measure: MeasureText): number {
  const { kind, isCode } = column;
  const { cell } = createCellFormat(navigator.languages);
  const dates = DATES.map((date) => (kind === 'instant' ? `${date}T22:58:58Z` : date));
  const values = isTime(kind) && samples.length === 0 ? dates : samples;
  const texts = values.map((value) => (isCode ? toWidest(cell(value, column)) : cell(value, column)));
  const isBold = isNeverCut(column);
  // A total goes on in the next line between its words.
  const widths = [...texts.map((text) => measure(text, isBold)), ...total.split(' ').map((text) => measure(text, true)), 0];
  return Math.ceil(Math.max(...widths)) + ROOM;
}

/** Ids of one form have any letters, and the widest of these need room. */
const toWidest = (id: string): string => id.replace(/\p{Lu}/gu, 'W').replace(/\p{Ll}/gu, 'm');

/** True when one of some texts has no room in a column of some width. */
export const isTooWide = (texts: readonly string[], width: number, measure: MeasureText, isBold: boolean): boolean =>
  texts.some((text) => measure(text, isBold) > width - ROOM + 1);
