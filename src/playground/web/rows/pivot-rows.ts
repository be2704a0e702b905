import { createCellFormat } from '../values/cell-format';
import { addUp, largestFirst, toPercentage } from '../values/exact-decimal';
import { groupBy } from '../values/groups';
import type { Cell, ColumnKind, KeptTable, Row, TableColumn } from '../values/table-types';
import { DAY, fillTimes, MONTH, timeKeys } from '../values/time-keys';

/** A way to show groups of several keys: a row for what they have in common, and a column for each value of one of their keys. */
export interface PivotRequest {
  /** The column whose values have a column each, such as the month. */
  readonly across: string;
  /** The column whose values stand in the cells. They can be added up. */
  readonly figure: string;
}

export interface Pivot {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly Row[];
  /** The number of values side by side, where these are too many, so that there are neither columns nor rows; undefined elsewhere. */
  readonly tooMany: number | undefined;
}

/** A pivot that the worker holds. */
export interface KeptPivot extends KeptTable, Omit<Pivot, 'rows'> {}

/** The most values side by side. Nobody reads more, and a spreadsheet shows a list better. */
export const MAX_ACROSS = 60;
/** The ids of the last columns: the sum of a row, and its part of the sum of all rows. */
export const [TOTAL, SHARE] = ['total', 'share'] as const;
const KEY = /^key\./;

interface PivotRow {
  readonly keys: Row;
  /** The figures by the value of the key that goes across. */
  readonly figures: ReadonlyMap<string, Cell>;
  /** Undefined where no figure is known. */
  readonly total: string | undefined;
  readonly unknown: number;
}

/**
 * Turns groups into a pivot, the row with the largest total first. Where a row has no group, nothing came in. A row’s total is of what is known
 * of it, and the number of its unknown shares stands beside it.
 */
export function toPivot(
  columns: readonly TableColumn[],
  rows: readonly Row[],
  { across, figure }: PivotRequest,
  locales: readonly string[],
): Pivot {
  const placeOf = (id: string): number => columns.findIndex((column) => column.id === id);
  const [acrossAt, figureAt] = [placeOf(across), placeOf(figure)];
  const [acrossColumn, figureColumn] = [columns[acrossAt]!, columns[figureAt]!];
  const valuesAcross = toValuesAcross(rows, acrossAt, across);
  if (valuesAcross.length > MAX_ACROSS) return { columns: [], rows: [], tooMany: valuesAcross.length };
  const keysAt = columns.flatMap(({ id }, at) => (KEY.test(id) && at !== acrossAt ? [at] : []));
  const unknownAt = placeOf(figure.replace(/[^.]+$/, 'unknown'));
  const hasUnknown = unknownAt >= 0 && unknownAt !== figureAt && rows.some((row) => Number(row[unknownAt]) > 0);
  const groups = groupBy(rows, (row) => JSON.stringify(keysAt.map((at) => row[at])));
  const pivoted = [...groups.values()]
    .map((parts): PivotRow => {
      const figures = new Map(parts.map((row) => [String(row[acrossAt]), row[figureAt] ?? null]));
      const unknown = hasUnknown ? parts.reduce((sum, row) => sum + Number(row[unknownAt]), 0) : 0;
      return { keys: keysAt.map((at) => parts[0]![at]!), figures, total: addUp(figures.values()), unknown };
    })
    .toSorted((one, other) => largestFirst(one.total, other.total));
  const all = addUp(pivoted.map(({ total }) => total)) ?? '0';
  const { kind, isSigned } = figureColumn;
  const { format } = createCellFormat(locales);
  const nothing = toCell(kind === 'money' ? '0.00' : '0', kind);
  return {
    columns: [
      ...keysAt.map((at) => columns[at]!),
      ...valuesAcross.map((value): TableColumn => {
        const date = format(value, acrossColumn.kind);
        // The first day of a week, a quarter or a year alone would pass for a day or a month.
        const title = across === DAY || across === MONTH ? date : `From ${date}`;
        const about = `${figureColumn.title}: ${acrossColumn.title} ${date}.`;
        return { id: `${across}.${value}`, title, kind, isSigned, about, adds: true, isCompact: true };
      }),
      { id: TOTAL, title: 'Total', kind, isSigned, about: `${figureColumn.title}: the sum of the row.`, adds: true, isCompact: true },
      { id: SHARE, title: 'Share', kind: 'percent', about: 'The part of the total of all rows.', adds: false, isCompact: true },
      ...(hasUnknown ? [{ ...columns[unknownAt]!, isCompact: true, isHidden: false }] : []),
    ],
    rows: pivoted.map(({ keys, figures, total, unknown }) => [
      ...keys,
      ...valuesAcross.map((value) => (figures.has(value) ? figures.get(value)! : nothing)),
      total === undefined ? null : toCell(total, kind),
      total === undefined ? null : (toPercentage(total, all) ?? null),
      ...(hasUnknown ? [unknown] : []),
    ]),
    tooMany: undefined,
  };
}

/** The values that have a column each, in order. Parts of time without any group are among them. */
function toValuesAcross(rows: readonly Row[], at: number, across: string): readonly string[] {
  const found = [...new Set(rows.map((row) => String(row[at])))].toSorted((one, other) => (one < other ? -1 : 1));
  return fillTimes(found, timeKeys.includes(across) ? across : undefined);
}

/** Counts are numbers, and amounts exact text, as the gateway writes them. */
const toCell = (text: string, kind: ColumnKind): Cell => (kind === 'count' ? Number(text) : text);
