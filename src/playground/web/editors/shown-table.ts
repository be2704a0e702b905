import { describeLost, toArrangement, type KeptView } from '../rows/filter-text';
import type { Arrangement, TableColumn } from '../values/table-types';

/** The table of the answer that is on the screen, with its search, filters and sorting. */
export interface ShownTable {
  /** The path of the list in the answer. */
  readonly name: string;
  readonly columns: readonly TableColumn[];
  readonly kept: { readonly current: KeptView };
}

export const shownArrangement = ({ columns, kept }: ShownTable): Arrangement => toArrangement(columns, kept.current, navigator.languages);

/** Says what narrows the table, and so is not in a file or a saved report; undefined where all rows are shown. */
export const describeShownLoss = (table: ShownTable | undefined): string | undefined =>
  table && describeLost(shownArrangement(table), table.columns, navigator.languages);
