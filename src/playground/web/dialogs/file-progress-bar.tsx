import { describeProgress, type FileProgress } from './download-run';

/** Shows the progress of a file as a bar and in words. Without the number of all rows, the bar shows that its end is not known yet. */
export function FileProgressBar({ progress }: { readonly progress: FileProgress | undefined }) {
  const allRows = progress?.allRows;
  return (
    <>
      <progress aria-label="Rows downloaded" max={allRows} value={allRows === undefined ? undefined : progress?.rows} />
      <span>{describeProgress(progress)}</span>
    </>
  );
}
