import { defaultChoices, type ReportChoices } from '../choices/report-choices';
import { describeChanges, describeLate, type LateState } from './late-changes';

interface LateNoteProps {
  readonly choices: ReportChoices;
  readonly late: LateState;
  readonly onChange: (choices: ReportChoices) => void;
}

/** Says what came late in a report, by the gateway's own rule, and whether lines are gone. Nothing is said where neither is so. */
export function LateNote({ choices, late, onChange }: LateNoteProps) {
  if (late === 'none' || late === 'reading') return null;
  // The report itself is right without the note.
  if ('fault' in late) return <p role="note">{describeLate(late)}</p>;
  const { since } = late;
  const [came, ...told] = describeChanges(late);
  // The conditions stay, so that the changes lead to the figures of this report.
  const { report, compare, splitBy, limit } = defaultChoices('changes');
  return (
    <p role="note">
      {/* The line may be cut, and the button stays in sight. */}
      {since && (
        <button type="button" onClick={() => onChange({ ...choices, report, compare, splitBy, limit, since: String(since.version) })}>
          See what changed
        </button>
      )}{' '}
      <span>
        {came && <strong>{came}</strong>} {told.join(' ')}
      </span>
    </p>
  );
}
