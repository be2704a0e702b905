import { DESIGNATION, KEY, clip, toNames, toNaming, toWords } from './group-names';
import { createCellFormat, type CellFormat } from '../values/cell-format';
import { disambiguate } from '../values/namesakes';
import { atScale, readDecimal, writeDecimal } from '../values/exact-decimal';
import type { ResultColumn, ResultRow, ResultTable } from '../rows/result-tables';
import type { ColumnKind } from '../values/table-types';

/** A chart: lines over time, or bars. */
export interface DrawnChart {
  readonly kind: 'line' | 'bar';
  /** The labels of the horizontal axis in order, as people of the locale write them. */
  readonly labels: readonly string[];
  /** The same labels for the axis, in lines. Names are cut there where they are long; numbers, ids and dates are not. */
  readonly ticks: readonly (readonly string[])[];
  readonly series: readonly ChartSeries[];
  /** The part of the vertical axis that is drawn, for bars that do not begin at zero. */
  readonly range?: { readonly min: number; readonly max: number };
  /** Decides how the values are written. */
  readonly valueKind: ColumnKind;
  /** A sentence that says what the chart shows, for screen readers. */
  readonly summary: string;
  /** A sentence about groups or amounts that the chart leaves out. */
  readonly omission: string | undefined;
}

interface ChartSeries {
  readonly name: string;
  /** The name where room is scarce. It still has the part that tells it apart from a namesake. */
  readonly shortName: string;
  /** The answer's own text for each label; undefined when it has none. */
  readonly values: readonly (string | undefined)[];
  /** The beginning and the end of each bar, where bars do not begin at zero. */
  readonly spans?: readonly (readonly [string, string] | undefined)[];
}

interface Group {
  readonly time: string;
  /** The values of its keys. Two groups may have one name, and stay two. */
  readonly key: string;
  readonly name: string;
  readonly lines: readonly string[];
  readonly value: string | undefined;
}

const MAX_LINES = 8;
const MAX_BARS = 30;
/** The most periods that are drawn as bars: more are easier to read as lines. */
const MAX_BAR_PERIODS = 6;
const OTHERS = 'Others';
const [DAY, WEEK, MONTH, QUARTER, YEAR] = ['key.day', 'key.week', 'key.month', 'key.quarter', 'key.year'] as const;
const timeKeys: readonly string[] = [DAY, WEEK, MONTH, QUARTER, YEAR];

/** The columns that can be drawn: numbers and amounts of groups that have a key. */
export function valueColumns(table: ResultTable): ResultColumn[] {
  if (keysOf(table).length === 0) return [];
  return table.columns.filter(({ name, kind }) => !name.startsWith(KEY) && kind !== 'text' && hasValue(table, name));
}

const PART = /^(pending|posted|compared|change)\./;

/**
 * Chooses the column that is drawn first. A column known for every group comes before one that is not, and an amount before a count.
 * Between designations the amount by allocation is right, because it counts only each designation's share of a gift. Otherwise the amount
 * by transaction is right, because it counts each gift once.
 */
export function defaultColumn(table: ResultTable): ResultColumn | undefined {
  const drawable = valueColumns(table);
  // A part of the figure, or that of another period, would pass for the figure itself.
  const whole = drawable.filter(({ name }) => !PART.test(name));
  const columns = whole.length > 0 ? whole : drawable;
  const known = columns.filter((column) => countUnknown(table, column) === 0);
  const hasDesignation = keysOf(table).some((key) => [...DESIGNATION.keys, ...DESIGNATION.marks].includes(key));
  const best = [...(hasDesignation ? [/(^|\.)byAllocation\.amount$/] : []), /(^|\.)byTransaction\.amount$/];
  const choices = known.length > 0 ? known : columns;
  const preferred = best.map((pattern) => choices.find(({ name }) => pattern.test(name)));
  return preferred.find((column) => column !== undefined) ?? choices.find(({ kind }) => kind === 'decimal') ?? choices[0];
}

/**
 * Builds a chart of one column in the words of a locale. Returns undefined when two rows share a key, because one would hide the other.
 * That happens when the query asks for only part of the key.
 */
export function toGroupChart(table: ResultTable, column: ResultColumn, locales: readonly string[]): DrawnChart | undefined {
  const keys = keysOf(table);
  const dates = timeKeys.filter((key) => keys.includes(key) && table.rows.every((row) => isDate(row[key])));
  // A day implies its week, month, quarter and year. A week does not imply its month: it may lie in two.
  const times = dates.includes(DAY) ? [DAY] : dates;
  const others = keys.filter((key) => !dates.includes(key));
  const { format } = createCellFormat(locales);
  const groups = toGroups(table.rows, times, others, column.name, format);
  if (new Set(groups.map(({ time, key }) => JSON.stringify([time, key]))).size < groups.length) return undefined;
  const by = toNames(others).map(({ word }) => word);
  const chart = times.length === 0 ? toBars(groups, { column, by, format }) : toLines(groups, { table, column, keys: times, by, format });
  const unknown = countUnknown(table, column);
  if (unknown === 0) return chart;
  const doubt = `This figure is not known in full for ${String(unknown)} of ${String(groups.length)} groups.`;
  return { ...chart, omission: [doubt, chart.omission].filter((sentence) => sentence !== undefined).join(' ') };
}

/** The key columns that have values. A summary's key is null in every row for all that it does not group by. */
const keysOf = (table: ResultTable): string[] =>
  table.columns.map(({ name }) => name).filter((name) => name.startsWith(KEY) && hasValue(table, name));

const hasValue = ({ rows }: ResultTable, name: string): boolean => rows.some((row) => row[name] !== undefined);

/** Counts the rows whose figure is unknown in full or in part. A count `unknown` beside an amount says how many shares it lacks. */
function countUnknown({ rows }: ResultTable, { name, kind }: ResultColumn): number {
  const beside = name.replace(/[^.]+$/, 'unknown');
  return rows.filter((row) => row[name] === undefined || (kind === 'decimal' && Number(row[beside] ?? 0) > 0)).length;
}

/** Tests the text itself, because an alias may put any field under the name of a date. */
const isDate = (value: unknown): boolean =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));

function toGroups(
  rows: readonly ResultRow[],
  times: readonly string[],
  others: readonly string[],
  column: string,
  format: CellFormat['format'],
): Group[] {
  const textOf = (row: ResultRow, keys: readonly string[], between: string): string =>
    keys
      .map((key) => (key.endsWith('Date') ? format(String(row[key] ?? ''), 'date') : String(row[key] ?? '')))
      .filter((text) => text !== '')
      .join(between);
  const namings = toNames(others).map((name) => toNaming(name, rows, textOf));
  return rows.map((row) => {
    const value = row[column];
    const parts = namings.map((naming) => naming(row));
    return {
      time: textOf(row, times, ', '),
      key: JSON.stringify(others.map((key) => row[key] ?? null)),
      name: parts.map(({ name, marks }) => disambiguate(name, marks)).join(', '),
      lines: parts.flatMap(({ short, marks }) => [short, ...(marks.length > 0 ? [clip(disambiguate('', marks).trim())] : [])]),
      value: value === undefined ? undefined : String(value),
    };
  });
}

interface Drawing {
  readonly column: ResultColumn;
  /** The words for the names of the groups. */
  readonly by: readonly string[];
  readonly format: CellFormat['format'];
}

const kindOf = ({ kind }: ResultColumn): ColumnKind => (kind === 'decimal' ? 'money' : 'count');

function toBars(groups: readonly Group[], { column, by, format }: Drawing): DrawnChart {
  // An unknown value cannot be compared with the others, so it comes last.
  const [known, unknown] = [groups.filter(({ value }) => value !== undefined), groups.filter(({ value }) => value === undefined)];
  const bars = [...known.sort((one, other) => toLength(other.value) - toLength(one.value)), ...unknown];
  const { drawn, others } = splitOthers(bars, MAX_BARS, column);
  const values = drawn.map(({ value }) => value);
  const most = drawn[0];
  return {
    kind: 'bar',
    labels: [...drawn.map(({ name }) => name), ...(others ? [OTHERS] : [])],
    ticks: [...drawn.map(({ lines }) => lines), ...(others ? [[OTHERS]] : [])],
    series: [
      { name: titleOf(column), shortName: titleOf(column), values: others ? [...values, addUp(others.map(({ value }) => value))] : values },
    ],
    valueKind: kindOf(column),
    summary: `Bar chart of ${titleOf(column)} by ${by.join(' and ')}: ${most?.name ?? ''} has the most, ${format(most?.value ?? null, kindOf(column))}.`,
    omission: toOmission(drawn.length, bars.length, others !== undefined),
  };
}

interface LineDrawing extends Drawing {
  readonly table: ResultTable;
  /** The keys that are times. */
  readonly keys: readonly string[];
}

function toLines(groups: readonly Group[], { table, column, keys, by, format }: LineDrawing): DrawnChart {
  const labels = fillTimes([...new Set(groups.map(({ time }) => time))].sort(), keys);
  const lines = [...Map.groupBy(groups, ({ key }) => key).values()]
    .map((points) => ({
      name: points[0]!.name,
      shortName: points[0]!.lines.join(' '),
      points,
      size: points.reduce((sum, { value }) => sum + Math.abs(toLength(value)), 0),
    }))
    .sort((one, other) => other.size - one.size);
  const { drawn, others } = splitOthers(lines, MAX_LINES, column);
  // Nothing came in where a whole table has no group. Elsewhere the group may be on another page.
  const nothing = table.isWhole ? (column.kind === 'decimal' ? '0.00' : '0') : undefined;
  const toSeries = (points: readonly Group[], name: string, shortName = name): ChartSeries => {
    const at = Map.groupBy(points, ({ time }) => time);
    return {
      name,
      shortName,
      values: labels.map((label) => {
        const found = at.get(label);
        return found ? addUp(found.map(({ value }) => value)) : nothing;
      }),
    };
  };
  const toLabel = (label: string): string => {
    const parts = label.split(', ').map((date, n) => format(date, keys[n] === DAY || keys[n] === WEEK ? 'date' : 'month'));
    return parts.join(', ');
  };
  const shown = labels.map(toLabel);
  const range = `${shown[0] ?? ''} to ${shown.at(-1) ?? ''}`;
  const kind = table.isWhole && labels.length <= MAX_BAR_PERIODS ? 'bar' : 'line';
  return {
    kind,
    labels: shown,
    ticks: shown.map((label) => [label]),
    series: [
      ...drawn.map(({ name, shortName, points }) =>
        by.length === 0 ? toSeries(points, titleOf(column)) : toSeries(points, name, shortName),
      ),
      ...(others
        ? [
            toSeries(
              others.flatMap(({ points }) => points),
              OTHERS,
            ),
          ]
        : []),
    ],
    valueKind: kindOf(column),
    summary: `${kind === 'bar' ? 'Bar' : 'Line'} chart of ${titleOf(column)} by ${[...keys.map(toWords), ...by].join(' and ')}, ${range}.`,
    omission: toOmission(drawn.length, lines.length, others !== undefined),
  };
}

const titleOf = ({ title, name }: ResultColumn): string => title ?? name;

/** Takes the first ones to be drawn. The others are drawn as one where their values may be added up; otherwise they are left out. */
function splitOthers<Item>(
  items: readonly Item[],
  most: number,
  { adds }: ResultColumn,
): { drawn: readonly Item[]; others?: readonly Item[] } {
  if (items.length <= most || !adds) return { drawn: items.slice(0, most) };
  return { drawn: items.slice(0, most - 1), others: items.slice(most - 1) };
}

/** Adds exact values up. The sum is unknown when one of them is. */
function addUp(values: readonly (string | undefined)[]): string | undefined {
  if (values.length === 1) return values[0];
  const decimals = values.map((value) => readDecimal(value ?? null));
  const known = decimals.filter((decimal) => decimal !== undefined);
  if (known.length < decimals.length) return undefined;
  const scale = Math.max(...known.map((decimal) => decimal.scale));
  return writeDecimal({ digits: known.reduce((sum, decimal) => sum + atScale(decimal, scale), 0n), scale });
}

/** Adds the days, weeks, months, quarters or years that have no groups, so that the lines show a gap there. */
function fillTimes(times: readonly string[], keys: readonly string[]): string[] {
  const [first, last] = [times[0], times.at(-1)];
  const step = keys.length === 1 ? steps[keys[0] ?? ''] : undefined;
  if (first === undefined || last === undefined || !step) return [...times];
  const filled: string[] = [];
  // UTC has no daylight saving time, so that no day is skipped.
  for (const date = new Date(`${first}T00:00:00Z`); filled.at(-1) !== last && filled.length < MAX_TIMES; step(date)) {
    filled.push(date.toISOString().slice(0, 10));
  }
  return filled.at(-1) === last ? filled : [...times];
}

/** Enough for ten years of days. */
const MAX_TIMES = 3700;
const steps: Readonly<Record<string, (date: Date) => unknown>> = {
  [DAY]: (date) => date.setUTCDate(date.getUTCDate() + 1),
  [WEEK]: (date) => date.setUTCDate(date.getUTCDate() + 7),
  [MONTH]: (date) => date.setUTCMonth(date.getUTCMonth() + 1),
  [QUARTER]: (date) => date.setUTCMonth(date.getUTCMonth() + 3),
  [YEAR]: (date) => date.setUTCFullYear(date.getUTCFullYear() + 1),
};

function toOmission(drawn: number, all: number, hasOthers: boolean): string | undefined {
  if (drawn === all) return undefined;
  const rest = hasOthers ? `the ${String(all - drawn)} others are one` : 'the table has them all';
  return `The ${String(drawn)} largest of ${String(all)} are drawn; ${rest}.`;
}

/** Turns an amount into a float, only for its place on the screen. */
export const toLength = (value: string | undefined): number => Number(value ?? 0);
