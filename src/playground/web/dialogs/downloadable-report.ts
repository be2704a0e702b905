import type { PeriodName } from '../../../values/periods';
import type { TableColumn } from '../values/table-types';
import type { FileFact } from '../files/file-content';
import type { WrittenFormat } from '../files/file-format';
import type { ReportQuery } from '../files/file-url';

/** A report on the screen, of which people take files. */
export interface DownloadableReport {
  readonly title: string;
  /** The name of the files without their ending, such as `designations-2026-10`. */
  readonly fileName: string;
  /** The query of the gateway's own file; undefined for a report that has none, such as the changes of the books. */
  readonly request: ReportQuery | undefined;
  /** The named period of the report, which addresses for programs have in place of its dates. */
  readonly period?: PeriodName | undefined;
  /** Says in which way the gateway's file differs from what the page shows; a sentence each. */
  readonly requestNotes?: readonly string[];
  /** True where the rows are lines: the gateway's file then has the columns of v2, or all of them, too. */
  readonly isOfLines: boolean;
  /** The columns that are shown, in their order. */
  readonly columns: readonly TableColumn[];
  /** The number of rows that are shown. */
  readonly count: number;
  /** The facts about the rows that the second sheet of a spreadsheet holds. */
  readonly facts: readonly FileFact[];
  /** Writes the rows that are shown, with the columns that are shown. Rejects with the signal's reason when it is cancelled. */
  readonly write: (format: WrittenFormat, onProgress: (rows: number) => void, signal: AbortSignal) => Promise<Blob>;
  /** Puts a refusal of the gateway's file in the words of the report, where it has better ones. */
  readonly explain?: (error: unknown) => Promise<unknown>;
}
