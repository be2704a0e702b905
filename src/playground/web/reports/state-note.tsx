import { TryAgain } from '../look/try-again';
import { NotePrint } from '../tables/print-sheet';
import type { Lack } from '../choices/report-choices';
import { createCellFormat } from '../values/cell-format';
import type { LoadProgress } from '../values/table-types';
import type { ReportState } from './use-report';

interface StateNoteProps {
  readonly title: string;
  readonly lines: readonly string[];
  readonly onTryAgain: () => void;
  /** The choice that the report lacks. */
  readonly lack: Lack | undefined;
  readonly state: Exclude<ReportState, { readonly kind: 'done' }>;
}

/** Says for a print that rows are still coming. */
export const STILL_READING = 'The rows are still being read, so none is printed. Print again when they are there.';

const stateTexts: Readonly<Record<'stopped' | 'running', string>> = {
  stopped: 'The report was stopped. Nothing is shown, because a part would be wrong.',
  running: STILL_READING,
};

/** The advice for a report that lacks a choice. */
const lackTexts: Readonly<Record<Lack, string>> = {
  donor: 'Choose a donor: type a part of the name, in any order of first and last name.',
  since: 'Choose the version to compare with: the end of a day, a number, or a file that you took.',
  givenMin: 'Type the least sum of a donor’s gifts.',
  period: 'Choose a period that begins and ends. All time has no year before it.',
};

/** Says how many rows have come, such as “Reading… 8,000 of 40,000 rows”. */
export function describeProgress(progress: LoadProgress | undefined): string {
  const { format } = createCellFormat(navigator.languages);
  if (!progress) return 'Reading…';
  const { rows, allRows } = progress;
  return `Reading… ${format(rows, 'count')} ${allRows === undefined ? '' : `of ${format(allRows, 'count')} `}rows`;
}

/** Says why a report has no rows yet, on the screen and in a print. */
export function StateNote({ title, lines, lack, state, onTryAgain }: StateNoteProps) {
  const text = state.kind === 'failed' ? state.message : state.kind === 'waiting' ? (lack ? lackTexts[lack] : '') : stateTexts[state.kind];
  const { kind } = state;
  return (
    <>
      {kind === 'running' ? (
        <p className="note" role="status">
          {describeProgress(state.progress)}
        </p>
      ) : kind === 'failed' ? (
        <TryAgain message={text} {...{ onTryAgain }} />
      ) : (
        <p className="note">{text}</p>
      )}
      <NotePrint {...{ title, lines }} note={text} />
    </>
  );
}
