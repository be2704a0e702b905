import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
  type ChartDataset,
} from 'chart.js';
import { createCellFormat } from '../values/cell-format';
import { toLength, type DrawnChart } from './group-chart';

Chart.register(BarController, BarElement, CategoryScale, Legend, LinearScale, LineController, LineElement, PointElement, Tooltip);

/** The most characters in a line of a tooltip. A narrow screen has room for these. */
const MAX_LINE_LENGTH = 40;
const PAPER_PIXEL_RATIO = 3;
/** With more points than this the marks would cover the line, so none are drawn. */
const MANY_POINTS = 60;
/** Each line has its own kind of point, for readers who cannot tell the colors apart. */
const pointStyles = ['circle', 'rect', 'triangle', 'rectRot', 'star', 'crossRot', 'rectRounded', 'cross'] as const;

/**
 * Draws the chart in the colors of its place, which it fills. For paper it has the size of its attributes, and more points than a screen.
 * Returns a function that removes the chart.
 */
export function drawChart(
  canvas: HTMLCanvasElement,
  { kind, labels, ticks, series, valueKind, range }: DrawnChart,
  isForPaper = false,
): () => void {
  const styles = getComputedStyle(canvas);
  const { format } = createCellFormat(navigator.languages);
  /** Resolves a CSS variable to one color: its raw value is light-dark(…), which a canvas cannot read. */
  const resolve = (variable: string): string => {
    canvas.style.color = `var(${variable})`;
    return styles.color;
  };
  const hasSpans = range !== undefined;
  const datasets = series.map(({ shortName, values, spans }, index): ChartDataset<'line' | 'bar', Point[]> => {
    const color = resolve(`--chart-${String(index + 1)}`);
    return {
      type: kind,
      label: shortName,
      data: spans ? spans.map(toSpan) : values.map((value) => (value === undefined ? null : toLength(value))),
      ...(hasSpans && { grouped: false }),
      borderColor: color,
      backgroundColor: color,
      borderWidth: kind === 'bar' ? 0 : 2,
      maxBarThickness: 48,
      pointStyle: pointStyles[index],
      pointRadius: labels.length > MANY_POINTS ? 0 : 4,
      pointHoverRadius: 6,
    };
  });
  const [text, muted, grid, background] = ['--bar-text', '--bar-muted', '--bar-border', '--bar-background'].map(resolve);
  canvas.style.color = '';
  const chart = new Chart<'line' | 'bar', Point[]>(canvas, {
    type: kind,
    data: { labels: [...labels], datasets },
    options: {
      animation: false,
      responsive: !isForPaper,
      ...(isForPaper && { devicePixelRatio: PAPER_PIXEL_RATIO }),
      maintainAspectRatio: false,
      color: text,
      interaction: { mode: 'nearest', intersect: false },
      scales: {
        x: {
          ticks: {
            color: muted,
            callback: (index) => [...(ticks[Number(index)] ?? [])],
            ...(hasSpans && { autoSkip: false, maxRotation: 0 }),
          },
          grid: { display: false },
        },
        y: { beginAtZero: !range, ...range, ticks: { color: muted }, grid: { color: grid } },
      },
      plugins: {
        legend: { labels: { color: text, usePointStyle: kind === 'line' } },
        tooltip: {
          backgroundColor: background,
          borderColor: muted,
          borderWidth: 1,
          titleColor: text,
          bodyColor: text,
          usePointStyle: kind === 'line',
          callbacks: {
            title: (points) => points.slice(0, 1).flatMap(({ dataIndex }) => wrap(labels[dataIndex] ?? '')),
            label: ({ datasetIndex, dataIndex }) => {
              const drawn = series[datasetIndex];
              return wrap(`${drawn?.name ?? ''}: ${format(drawn?.values[dataIndex] ?? null, valueKind)}`);
            },
          },
        },
      },
    },
  });
  return () => chart.destroy();
}

type Point = number | [number, number] | null;

const toSpan = (span: readonly [string, string] | undefined): Point => (span ? [toLength(span[0]), toLength(span[1])] : null);

/** Breaks a text into lines, because a canvas cuts what is wider than itself. A word goes on in the next line only where it is longer. */
function wrap(text: string): string[] {
  const words = text.split(' ').flatMap((word) => word.match(new RegExp(`.{1,${String(MAX_LINE_LENGTH)}}`, 'gsu')) ?? []);
  return words.reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > MAX_LINE_LENGTH) return [...lines, word];
    return [...lines.slice(0, -1), `${last} ${word}`];
  }, []);
}
