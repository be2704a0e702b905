/** What one contender needed for one work. */
export interface Result {
  readonly work: string;
  readonly contender: string;
  /** Time of one answer (several clients: of one answer for each of them); for requests a second, of one request. */
  readonly medianMs: number;
  readonly minMs: number;
  readonly rounds: number;
  /** How many lines an answer holds. */
  readonly lines?: number;
  readonly peakRssMb?: number;
  readonly firstByteMs?: number;
  readonly p99Ms?: number;
  /** By how much the peak was above the memory before the work. */
  readonly aboveIdleMb?: number;
  /** CPU for one answer. */
  readonly databaseCpuMs?: number;
  readonly serverCpuMs?: number;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const format = (value: number | undefined, digits = value !== undefined && value < 100 ? 1 : 0): string =>
  value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits);

/** A Markdown table; ratios are to the first contender of each work. */
export function toTable(results: readonly Result[]): string {
  const rows = results.map((result) => {
    const first = results.find(({ work }) => work === result.work)!;
    const { work, contender, medianMs, minMs, firstByteMs, peakRssMb, databaseCpuMs, serverCpuMs, rounds } = result;
    return [
      ...[work, contender, format(medianMs), format(minMs), (medianMs / first.medianMs).toFixed(2), format(firstByteMs)],
      ...[format(peakRssMb, 0), format(databaseCpuMs), format(serverCpuMs), String(rounds)],
    ];
  });
  const head = [
    'work',
    'contender',
    'median ms',
    'min ms',
    'ratio',
    'first byte ms',
    'peak MB',
    'database CPU ms',
    'server CPU ms',
    'rounds',
  ];
  return toColumns([head, head.map(() => '---'), ...rows]);
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
