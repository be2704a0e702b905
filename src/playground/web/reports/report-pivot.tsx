import { useEffect, useMemo, useState } from 'react';
import { useErrorBoundary } from 'react-error-boundary';
import { groupTitles } from '../choices/report-definitions';
import type { ReportChoices } from '../choices/report-choices';
import { MAX_ACROSS, SHARE, TOTAL, type KeptPivot } from '../rows/pivot-rows';
import type { TableClient } from '../rows/table-client';
import { columnOfParameter, LIST, type ViewParameters } from '../tables/view-link';
import type { GivenTotals } from '../tables/table-rows';
import { toPercentage } from '../values/exact-decimal';
import type { KeptTable, LoadedTable, TableColumn } from '../values/table-types';
import { pivotOf } from './report-columns';

/** The rows of a report as a table shows them. */
export interface ShownTable {
  readonly table: KeptTable;
  readonly columns: readonly TableColumn[];
  readonly totals: GivenTotals | undefined;
  /** The figure in the cells of a pivot; undefined for a list. */
  readonly figure: TableColumn | undefined;
}

interface PivotOptions {
  readonly client: TableClient;
  readonly table: LoadedTable;
  /** False while rows are still coming: sums of a part of them would pass for those of all. */
  readonly isWhole: boolean;
  readonly choices: ReportChoices;
  /** The columns of the list. They must stay the same from render to render, like its totals. */
  readonly columns: readonly TableColumn[];
  readonly totals: GivenTotals | undefined;
  /** The id of the figure in the cells, or LIST. A figure that the report does not have stands for its first one. */
  readonly shape: string;
}

interface ReportPivot {
  /** The figures of which there are pivots; none for a report that is a list in any case. */
  readonly figures: readonly TableColumn[];
  /** Undefined while the pivot is being made. */
  readonly shown: ShownTable | undefined;
  /** The number of columns that a pivot would have, where these are too many. */
  readonly tooMany: number | undefined;
}

const NO_FIGURES: readonly TableColumn[] = [];

/** Turns a report that is divided by parts of time into a pivot, which the worker makes of the loaded rows. */
export function usePivot({ client, table, isWhole, choices, columns, totals, shape }: PivotOptions): ReportPivot {
  const { across, figures } = useMemo(() => pivotOf(choices, columns), [choices, columns]) ?? { across: '', figures: NO_FIGURES };
  const figure = shape === LIST ? undefined : (figures.find(({ id }) => id === shape) ?? figures[0]);
  const [made, setMade] = useState<{ readonly of: LoadedTable; readonly figure: string; readonly pivot: KeptPivot }>();
  const { showBoundary } = useErrorBoundary();
  const figureId = figure?.id;
  useEffect(() => {
    if (figureId === undefined || !isWhole) return undefined;
    let isGone = false;
    const making = client.pivot(table.id, { across, figure: figureId });
    making.then(
      (pivot) => {
        if (!isGone) setMade({ of: table, figure: figureId, pivot });
      },
      (error: unknown) => {
        if (!isGone) showBoundary(error);
      },
    );
    return () => {
      isGone = true;
      making.then(
        (pivot) => client.drop(pivot.id),
        () => undefined,
      );
    };
  }, [client, table, isWhole, across, figureId, showBoundary]);
  const pivot = made?.of === table && made.figure === figureId ? made.pivot : undefined;
  const shown = useMemo((): ShownTable | undefined => {
    if (!figure || pivot?.tooMany !== undefined) return { table, columns, totals, figure: undefined };
    return pivot && { table: pivot, columns: pivot.columns, totals: toPivotTotals(totals, figure.id), figure };
  }, [figure, pivot, table, columns, totals]);
  return { figures, shown, tooMany: pivot?.tooMany };
}

/** The columns of a pivot that a link names, known by their ids before there are rows. */
export function toLinkedColumns(linked: ViewParameters, choices: ReportChoices, columns: readonly TableColumn[]): readonly TableColumn[] {
  const across = pivotOf(choices, columns)?.across;
  const ids = linked.map(columnOfParameter).filter((id) => id !== undefined);
  const own = ids.filter((id) => across !== undefined && (id.startsWith(`${across}.`) || id === TOTAL || id === SHARE));
  return [...new Set(own)].map((id) => ({ id, title: id, kind: 'money', adds: false }));
}

/** The gateway's own totals for the last columns. The columns before them have the sums of their rows. */
function toPivotTotals(totals: GivenTotals | undefined, figure: string): GivenTotals | undefined {
  const total = totals?.[figure];
  if (total === undefined) return undefined;
  const sum = typeof total === 'object' && total !== null ? total.sum : total;
  const whole = String(sum ?? '');
  return { ...totals, [TOTAL]: total, [SHARE]: toPercentage(whole, whole) ?? null };
}

interface ShapeFieldProps extends Omit<ReportPivot, 'shown'> {
  readonly choices: ReportChoices;
  readonly shape: string;
  readonly onShape: (shape: string) => void;
}

/** Chooses the figure of a pivot, or the list of all figures. */
export function ShapeField({ choices, figures, tooMany, shape, onShape }: ShapeFieldProps) {
  if (figures.length === 0) return null;
  const part = groupTitles[choices.splitBy].toLowerCase();
  const chosen = shape === LIST || figures.some(({ id }) => id === shape) ? shape : figures[0]!.id;
  return (
    <>
      <div className="view-shape">
        <label htmlFor="table-shape">Show</label>
        <select id="table-shape" value={chosen} onChange={(event) => onShape(event.target.value)}>
          {figures.map(({ id, title }) => (
            <option key={id} value={id}>
              {title} by {part}
            </option>
          ))}
          <option value={LIST}>All figures, as a list</option>
        </select>
      </div>
      {tooMany !== undefined && (
        <span role="status">
          {tooMany} {part}s are too many for columns of their own: {MAX_ACROSS} are the most. So this is a list.
        </span>
      )}
    </>
  );
}
