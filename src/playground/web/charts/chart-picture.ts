import type { PrintHead } from '../tables/print-sheet';
import { createWriting, FONT, OUTLINE, outlineOf, toPaint } from './chart-figure';
import { layOutChart, type Shape } from './chart-layout';
import type { DrawnChart } from './drawn-chart';

/** The width of a picture, as wide as a page of a document, and its dots for each of these points. */
const WIDTH = 900;
const DOTS = 2;
const MARGIN = 24;
const LINE = 20;
const TITLE_FONT = '600 20px system-ui, sans-serif';

/** Draws a chart as a picture, light in every theme, under the head of its print. */
export async function toPicture(chart: DrawnChart, head: PrintHead): Promise<Blob> {
  const writing = createWriting();
  const layout = layOutChart(chart, WIDTH - 2 * MARGIN, writing);
  const lines = [...head.lines, ...chart.notes, head.books].flatMap((line) => wrap(line, layout.width, writing.measure));
  const top = MARGIN + LINE * (lines.length + 2);
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [WIDTH * DOTS, (top + layout.height + MARGIN) * DOTS];
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser draws no pictures.');
  const colors = readPaperColors();
  context.scale(DOTS, DOTS);
  context.fillStyle = colors('--bar-field');
  context.fillRect(0, 0, WIDTH, canvas.height);
  context.translate(MARGIN, MARGIN);
  context.fillStyle = colors('--bar-text');
  context.font = TITLE_FONT;
  context.fillText(head.title, 0, LINE);
  context.font = FONT;
  lines.forEach((line, at) => context.fillText(line, 0, LINE * (at + 2)));
  context.translate(0, top - MARGIN);
  for (const shape of layout.shapes) drawShape(context, shape, colors);
  colors.end();
  return new Promise((resolve, reject) => {
    canvas.toBlob((picture) => (picture ? resolve(picture) : reject(new Error('The picture is too large for this browser.'))));
  });
}

interface PaperColors {
  (variable: string): string;
  end(): void;
}

/** Reads colors as a sheet of paper has them. The value of a variable is light-dark(…), which a canvas cannot read. */
function readPaperColors(): PaperColors {
  const sheet = document.createElement('section');
  sheet.className = 'print-sheet';
  document.body.append(sheet);
  const read = (variable: string): string => {
    sheet.style.color = `var(${variable})`;
    return getComputedStyle(sheet).color;
  };
  return Object.assign(read, { end: () => sheet.remove() });
}

function drawShape(context: CanvasRenderingContext2D, shape: Shape, colors: (variable: string) => string): void {
  if (shape.kind === 'text') {
    context.fillStyle = colors(shape.isMuted ? '--bar-muted' : '--bar-text');
    context.textAlign = shape.anchor === 'middle' ? 'center' : shape.anchor;
    context.fillText(shape.text, shape.x, shape.y);
  } else if (shape.kind === 'line') {
    context.fillStyle = colors('--bar-border');
    context.fillRect(shape.x, shape.y, shape.width, shape.height);
  } else if (shape.kind === 'key') drawBox(context, { ...shape, width: shape.size, height: shape.size }, shape.series, colors);
  else drawBox(context, shape, shape.mark, colors);
}

function drawBox(
  context: CanvasRenderingContext2D,
  box: Parameters<typeof outlineOf>[0],
  painted: Parameters<typeof toPaint>[0],
  colors: (variable: string) => string,
): void {
  const { fill, opacity, outline } = toPaint(painted);
  const { x, y, width, height } = outline === undefined ? box : outlineOf(box);
  context.fillStyle = colors(fill);
  context.globalAlpha = opacity;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 1;
  if (outline === undefined || width <= 0 || height <= 0) return;
  [context.strokeStyle, context.lineWidth] = [colors(outline), OUTLINE];
  context.strokeRect(x, y, width, height);
}

/** Breaks a text into lines of a width. */
function wrap(text: string, width: number, measure: (text: string) => number): string[] {
  return text.split(' ').reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    if (last === undefined || measure(`${last} ${word}`) > width) return [...lines, word];
    return [...lines.slice(0, -1), `${last} ${word}`];
  }, []);
}
