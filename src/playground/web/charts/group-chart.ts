import { DESIGNATION, DONOR, KEY, clip, isNobody, toNames, toNaming, toWords } from './group-names';
import { BESIDE, stack, type ChartBar, type ChartRow, type ChartSeries, type DrawnChart } from './drawn-chart';
import { createCellFormat, type CellFormat } from '../values/cell-format';
import { UNKNOWN } from '../values/figures';
import { groupBy } from '../values/groups';
import { disambiguate } from '../values/namesakes';
import { addUp, largestFirst } from '../values/exact-decimal';
import { DAY, fillTimes, MONTH, QUARTER, timeKeys, YEAR } from '../values/time-keys';
import type { ResultColumn, ResultRow, ResultTable } from '../rows/result-tables';
import type { ColumnKind } from '../values/table-types';

interface Group {
  /** The part of time in the order of time, and as people write it; both are empty where the groups have none. */
  readonly time: string;
  readonly timeName: string;
  /** The values of its other keys. Two groups may have one name, and stay two. */
  readonly key: string;
  readonly name: string;
  readonly shortName: string;
  readonly value: string | undefined;
  /** The value of the period that the report is compared with. */
  readonly compared: string | undefined;
  /** True for the gifts that have no donor. */
  readonly isNobody: boolean;
}

/** The most rows of a chart: more would be a wall of bars. */
const MAX_ROWS = 40;
/** The most bars of days that have one for each of their deposits. A chart of more has a bar for each day. */
const MAX_BARS = 200;
/** The most parts of a bar. */
const MAX_PARTS = 40;
/** The most series with colors of their own. */
const MAX_COLORS = 8;
/** The date of what a group is, such as a deposit: each deposit is of one day. */
const OWN_DATES: readonly string[] = ['key.depositDate', 'key.transactionDate'];

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
 * Builds a chart of one column in the words of a locale. Parts of time stand in their order, and all else from the largest value on. Groups of
 * both, such as funds by month, are a bar for each fund with a part for each month. Returns undefined when two rows share a key, because one
 * would hide the other. That happens when the query asks for only part of the key.
 */
export function toGroupChart(table: ResultTable, column: ResultColumn, locales: readonly string[]): DrawnChart | undefined {
  const keys = keysOf(table);
  const dates = [...timeKeys, ...OWN_DATES].filter((key) => keys.includes(key) && table.rows.every((row) => isDate(row[key])));
  // A day implies its week, month, quarter and year. A week does not imply its month: it may lie in two.
  const times = dates.includes(DAY) ? [DAY] : dates;
  const others = keys.filter((key) => !dates.includes(key));
  const { format } = createCellFormat(locales);
  const compared = table.columns.find(({ name }) => name === column.name.replace(/^all\./, 'compared.all.') && name !== column.name);
  const all = toGroups(table.rows, { times, others, column: column.name, compared: compared?.name, format });
  if (new Set(all.map(({ time, key }) => JSON.stringify([time, key]))).size < all.length) return undefined;
  const names = toNames(others);
  // Gifts of nobody are no donor to compare with the others, beside whom their sum would be a bar that dwarfs all.
  const nobody =
    names.every((name) => name.word === DONOR.word) && all.some((group) => !group.isNobody) ? all.filter((group) => group.isNobody) : [];
  const groups = all.filter((group) => !nobody.includes(group));
  const drawing: Drawing = {
    table,
    column,
    compared: compared && titleOf(compared),
    times,
    by: names.map(({ word }) => word),
    format,
  };
  const chart =
    others.length === 0
      ? ofTimes(groups, drawing)
      : times.length === 0
        ? ofNames(groups, drawing)
        : times.some((time) => OWN_DATES.includes(time))
          ? ofDays(groups, drawing)
          : ofParts(groups, drawing);
  const unknown = countUnknown(table, column);
  return {
    ...chart,
    notes: [
      ...(unknown > 0
        ? [`This figure is not known in full for ${format(unknown, 'count')} of ${format(all.length, 'count')} groups.`]
        : []),
      ...chart.notes,
      ...(nobody.length > 0
        ? [`Gifts without a donor are not drawn: ${format(addUp(nobody.map(({ value }) => value)) ?? null, kindOf(column))}.`]
        : []),
    ],
  };
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

interface GroupKeys {
  readonly times: readonly string[];
  readonly others: readonly string[];
  readonly column: string;
  readonly compared: string | undefined;
  readonly format: CellFormat['format'];
}

function toGroups(rows: readonly ResultRow[], { times, others, column, compared, format }: GroupKeys): Group[] {
  const textOf = (row: ResultRow, keys: readonly string[], between: string): string =>
    keys
      .map((key) => (key.endsWith('Date') ? format(String(row[key] ?? ''), 'date') : String(row[key] ?? '')))
      .filter((text) => text !== '')
      .join(between);
  const namings = toNames(others).map((name) => toNaming(name, rows, textOf));
  const valueOf = (row: ResultRow, name: string | undefined): string | undefined => {
    const value = name === undefined ? undefined : row[name];
    return value === undefined ? undefined : String(value);
  };
  return rows.map((row) => {
    const parts = namings.map((naming) => naming(row));
    const dates = times.map((time) => String(row[time] ?? ''));
    return {
      time: dates.join(' '),
      timeName: times.length === 0 ? '' : toTimeName(dates.join(' '), { times, format }),
      key: JSON.stringify(others.map((key) => row[key] ?? null)),
      name: parts.map(({ name, marks }) => disambiguate(name, marks)).join(', '),
      shortName: parts.map(({ short, marks }) => [short, clip(disambiguate('', marks).trim())].join(' ').trim()).join(', '),
      value: valueOf(row, column),
      compared: valueOf(row, compared),
      isNobody: isNobody(row),
    };
  });
}

const kindsOfTime: Readonly<Record<string, ColumnKind>> = { [MONTH]: 'month', [QUARTER]: 'quarter', [YEAR]: 'year' };

interface Drawing {
  readonly table: ResultTable;
  readonly column: ResultColumn;
  /** The title of the column of the period that the report is compared with; undefined where there is none. */
  readonly compared: string | undefined;
  /** The keys that are times. */
  readonly times: readonly string[];
  /** The words for the names of the groups. */
  readonly by: readonly string[];
  readonly format: CellFormat['format'];
}

/** A part of time as people write it. */
const toTimeName = (time: string, { times, format }: Pick<Drawing, 'times' | 'format'>): string =>
  time
    .split(' ')
    .map((date, n) => format(date, kindsOfTime[times[n]!] ?? 'date'))
    .join(', ');

const kindOf = ({ kind }: ResultColumn): ColumnKind => (kind === 'decimal' ? 'money' : 'count');
const titleOf = ({ title, name }: ResultColumn): string => title ?? name;

/** The figure itself, and that of the period that it is compared with. */
const seriesOf = ({ column, compared }: Pick<Drawing, 'column' | 'compared'>): ChartSeries[] => [
  { name: titleOf(column), color: 1 },
  ...(compared === undefined ? [] : [{ name: compared, color: BESIDE }]),
];

/** The row of one group: its bar, and that of the period that it is compared with. */
function toRow({ value, compared }: Group, [label, shortLabel]: readonly [string, string], drawing: Drawing): ChartRow {
  const bars = seriesOf(drawing).map(({ name: title, color }) =>
    toBar(color === BESIDE ? compared : value, `${label}, ${title}`, drawing, color),
  );
  return { label, shortLabel, bars };
}

/** A bar of one mark, which is read by a name. */
function toBar(value: string | undefined, name: string, { column, format }: Drawing, color = 1): ChartBar {
  const text = format(value ?? null, kindOf(column));
  return { text, marks: stack([{ value, mark: { color, reading: `${name}: ${text}` } }]) };
}

const describe = (drawing: Drawing): string =>
  `Bar chart of ${titleOf(drawing.column)} by ${[...drawing.by, ...drawing.times.map(toWords)].join(' and ')}`;
const describeMost = (row: ChartRow | undefined): string => (row ? `: ${row.label} has the most, ${row.bars[0]!.text}.` : '.');

const common = (drawing: Drawing): Pick<DrawnChart, 'series' | 'valueKind'> => ({
  series: seriesOf(drawing),
  valueKind: kindOf(drawing.column),
});

function ofTimes(groups: readonly Group[], drawing: Drawing): DrawnChart {
  const { column, times, table } = drawing;
  // Nothing came in where a whole table has no group. Elsewhere the group may be on another page.
  const nothing = table.isWhole ? (column.kind === 'decimal' ? '0.00' : '0') : undefined;
  const found = new Map(groups.map((group) => [group.time, group]));
  const filled = fillTimes([...found.keys()].sort(), times.length === 1 ? times[0] : undefined).map(
    (time): Group =>
      found.get(time) ?? {
        time,
        timeName: toTimeName(time, drawing),
        key: '',
        name: '',
        shortName: '',
        value: nothing,
        compared: drawing.compared === undefined ? undefined : nothing,
        isNobody: false,
      },
  );
  const rows = filled.map((group) => toRow(group, [group.timeName, group.timeName], drawing));
  return {
    ...common(drawing),
    rows,
    isUpright: rows.length > MAX_ROWS,
    summary: `${describe(drawing)}, ${rows[0]?.label ?? ''} to ${rows.at(-1)?.label ?? ''}.`,
    notes: [],
  };
}

function ofNames(groups: readonly Group[], drawing: Drawing): DrawnChart {
  const sorted = groups.toSorted((one, other) => largestFirst(one.value, other.value));
  const rows = sorted.slice(0, MAX_ROWS).map((group) => toRow(group, [group.name, group.shortName], drawing));
  return { ...common(drawing), rows, summary: describe(drawing) + describeMost(rows[0]), notes: toOmission(sorted, drawing) };
}

/** The days of deposits or gifts, each with a bar for each of them. Many days have one bar each, with a part for each of them. */
function ofDays(groups: readonly Group[], drawing: Drawing): DrawnChart {
  const found = groupBy(groups, ({ time }) => time);
  const times = [...found.keys()].sort();
  const isUpright = times.length > MAX_ROWS;
  const isDivided = isUpright || groups.length > MAX_BARS;
  // Bars side by side look like a calendar, in which each day has its place.
  const days = isUpright && drawing.times.length === 1 ? fillTimes(times, DAY) : times;
  const rows = days.map((time): ChartRow => {
    const label = toTimeName(time, drawing);
    const parts = found.get(time) ?? [];
    if (isDivided) return toDivided(label, label, parts, ({ name }) => name, drawing);
    return { label, shortLabel: label, bars: parts.map(({ name, value }) => toBar(value, `${label}, ${name}`, drawing)) };
  });
  return {
    ...common({ ...drawing, compared: undefined }),
    rows,
    isUpright,
    summary: `${describe(drawing)}, ${rows[0]?.label ?? ''} to ${rows.at(-1)?.label ?? ''}.`,
    notes:
      isDivided && groups.length > times.length ? [`Each bar has a part for each ${toPart(drawing.by)}; the table has their values.`] : [],
  };
}

/** What groups have in common beside their time, with a part for each part of time. */
function ofParts(groups: readonly Group[], drawing: Drawing): DrawnChart {
  const times = [...new Map(groups.map(({ time, timeName }) => [time, timeName])).entries()].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const names = [...groupBy(groups, ({ key }) => key).values()]
    .map((parts) => ({ parts, value: addUp(parts.map(({ value }) => value)) }))
    .toSorted((one, other) => largestFirst(one.value, other.value));
  const shown = names.slice(0, MAX_ROWS);
  const isWhole = times.length > MAX_PARTS;
  const places = new Map(times.map(([time], place) => [time, place]));
  const hasColors = !isWhole && times.length <= MAX_COLORS;
  const rows = shown.map(({ parts, value }): ChartRow => {
    const { name, shortName } = parts[0]!;
    if (isWhole) return toRow({ ...parts[0]!, value }, [name, shortName], { ...drawing, compared: undefined });
    const inOrder = parts.toSorted((one, other) => (one.time < other.time ? -1 : 1));
    return toDivided(
      name,
      shortName,
      inOrder,
      ({ timeName }) => timeName,
      drawing,
      hasColors ? ({ time }) => places.get(time)! + 1 : undefined,
    );
  });
  const range = `${times[0]?.[1] ?? ''} to ${times.at(-1)?.[1] ?? ''}`;
  const unit = drawing.times.map(toWords).join(' and ');
  return {
    rows,
    series: hasColors ? times.map(([, name], place) => ({ name, color: place + 1 })) : seriesOf({ ...drawing, compared: undefined }),
    valueKind: kindOf(drawing.column),
    summary: `${describe(drawing)}, ${range}${describeMost(rows[0])}`,
    notes: [
      ...(isWhole
        ? [`Each bar is of all ${String(times.length)} parts, ${range}.`]
        : hasColors
          ? []
          : [`Each bar has a part for each ${unit}, ${range}.`]),
      ...toOmission(names, drawing),
    ],
  };
}

/** The thing that a part of a day's bar is, such as a deposit; a part, where its groups are of several things. */
const toPart = (by: readonly string[]): string => {
  const things = by.flatMap((word) => (/ id$/.test(word) ? [word.replace(/ id$/, '')] : []));
  return things.length === 1 ? things[0]! : 'part';
};

/** A row whose bar has a part for each group. The value of the bar is the exact sum of the known ones. */
function toDivided(
  label: string,
  shortLabel: string,
  parts: readonly Group[],
  nameOf: (part: Group) => string,
  { column, format }: Drawing,
  colorOf?: (part: Group) => number,
): ChartRow {
  const kind = kindOf(column);
  const marks = stack(
    parts.map((part, n) => ({
      value: part.value,
      mark: {
        color: colorOf?.(part) ?? 1,
        isPale: colorOf === undefined && n % 2 === 1,
        reading: `${label}, ${nameOf(part)}: ${format(part.value ?? null, kind)}`,
      },
    })),
  );
  const values = parts.map(({ value }) => value);
  const sum = format(addUp(values) ?? null, kind);
  return { label, shortLabel, bars: [{ text: values.includes(undefined) && sum !== UNKNOWN ? `${sum} + ${UNKNOWN}` : sum, marks }] };
}

/** Says which rows are not drawn, and what they come to where their values may be added up. */
function toOmission(all: readonly { readonly value: string | undefined }[], { column, format }: Drawing): string[] {
  if (all.length <= MAX_ROWS) return [];
  const others = all.slice(MAX_ROWS).map(({ value }) => value);
  const rest = others.includes(undefined) ? undefined : addUp(others);
  const sum =
    column.adds && rest !== undefined ? ` The ${format(others.length, 'count')} others come to ${format(rest, kindOf(column))}.` : '';
  return [`The ${String(MAX_ROWS)} largest of ${format(all.length, 'count')} are drawn; the table has them all.${sum}`];
}
