/** The figures of one contender for one work. */
export interface Result {
  readonly work: string;
  readonly contender: string;
  /** Time of one answer (several clients: of one answer for each of them); for requests a second, of one request; NaN where none is asked. */
  readonly medianMs: number;
  readonly minMs: number;
  readonly rounds: number;
  /** The number of lines of an answer. */
  readonly lines?: number;
  readonly peakRssMb?: number;
  readonly firstByteMs?: number;
  readonly p99Ms?: number;
  /** By how much the peak was above the memory before the work. */
  readonly aboveIdleMb?: number;
  /** Size of the tables with their indexes. */
  readonly diskMb?: number;
  /** CPU for one answer. */
  readonly databaseCpuMs?: number;
  readonly serverCpuMs?: number;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const p99 = (values: readonly number[]): number => values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.99)]!;

const format = (value: number | undefined, digits = digitsOf(value)): string =>
  value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits);

/** Digits after the point, so that three or more of a figure's digits tell. */
const digitsOf = (value = 0): number => (value < 1 ? 3 : value < 100 ? 1 : 0);

const columns: readonly (readonly [name: string, value: (result: Result, first: Result) => string])[] = [
  ['work', ({ work }) => work],
  ['contender', ({ contender }) => contender],
  ['median ms', ({ medianMs }) => format(medianMs)],
  ['min ms', ({ minMs }) => format(minMs)],
  ['ratio', ({ medianMs }, first) => format(medianMs / first.medianMs, 2)],
  ['p99 ms', ({ p99Ms }) => format(p99Ms)],
  ['first byte ms', ({ firstByteMs }) => format(firstByteMs)],
  ['peak MB', ({ peakRssMb }) => format(peakRssMb, 0)],
  ['above idle MB', ({ aboveIdleMb }) => format(aboveIdleMb, 0)],
  ['disk MB', ({ diskMb }) => format(diskMb)],
  ['database CPU ms', ({ databaseCpuMs }) => format(databaseCpuMs)],
  ['server CPU ms', ({ serverCpuMs }) => format(serverCpuMs)],
  ['rounds', ({ rounds }) => String(rounds)],
];

/** A Markdown table without empty columns; ratios are to the first contender of each work. */
export function toTable(results: readonly Result[]): string {
  const cells = columns.map(([name, value]) => [
    name,
    '---',
    ...results.map((result) =>
      value(
        result,
        results.find(({ work }) => work === result.work)!,
      ),
    ),
  ]);
  const filled = cells.filter(([, , ...values]) => values.some((value) => value !== ''));
  return toColumns(filled[0]!.map((_, row) => filled.map((column) => column[row]!)));
}

export function toColumns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map(
      (row) =>
        `| ${row.map((cell, column) => (cell === '---' ? '-'.repeat(widths[column]!) : cell.padEnd(widths[column]!))).join(' | ')} |`,
    )
    .join('\n');
}
