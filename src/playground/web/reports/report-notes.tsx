import { nameSpan, writeValue } from '../choices/choice-texts';
import { defaultChoices, type ReportChoices } from '../choices/report-choices';
import { definitionOf, groupTitles, hasComparedRows } from '../choices/report-definitions';
import { findDates } from '../values/periods';
import { describeChanges, describeLate, type LateState } from './late-changes';
import type { ReportPlan } from './use-report';

/** A way in which a comparison is less than it seems, and the choices of one that is not. */
interface Caution {
  readonly text: string;
  readonly advice?: { readonly title: string; readonly choices: Partial<ReportChoices> } | undefined;
}

interface ComparisonNoteProps {
  readonly plan: ReportPlan;
  readonly onChange: (choices: ReportChoices) => void;
}

/** Says in which way a comparison is less than it seems. It stands with the figures, whole: a rise or a fall may be none. */
export function ComparisonNote({ plan, onChange }: ComparisonNoteProps) {
  const cautions = findCautions(plan);
  if (cautions.length === 0) return null;
  return (
    <div className="cautions">
      {cautions.map(({ text, advice }) => (
        <p key={text} role="note" className="caution">
          {advice && (
            <button
              type="button"
              onClick={(event) => {
                // The button goes with the caution, and the focus would go with it.
                event.currentTarget.closest('main')?.focus();
                onChange({ ...plan.choices, ...advice.choices });
              }}
            >
              {advice.title}
            </button>
          )}{' '}
          {text}
        </p>
      ))}
    </div>
  );
}

/** The cautions in words, for a print or a file. */
export const describeCautions = (plan: ReportPlan): readonly string[] => findCautions(plan).map(({ text }) => text);

function findCautions(plan: ReportPlan): readonly Caution[] {
  const { choices, compared, comparesRows, lastDay, period } = plan;
  const { splitBy, who, compare } = choices;
  if (!compared) return [];
  // Donors who have not given since have figures in the other period alone.
  const isWhole = !compared.isSoFar && who !== 'lapsed' && !findDates(compare);
  const hasBegun = (period.startDate ?? '') <= lastDay;
  return [
    ...(isWhole && (period.endDate ?? '') > lastDay
      ? [{ text: `${hasBegun ? 'So far, on' : 'Nothing yet on'} ${writeValue(lastDay, 'date')}, against all of ${nameSpan(compared)}.` }]
      : []),
    ...(comparesRows
      ? []
      : [
          {
            text: `Only the totals are compared: a ${groupTitles[splitBy].toLowerCase()} has no counterpart in the other period.`,
            advice: toComparedRows(plan),
          },
        ]),
  ];
}

/** The choices of rows that both periods have. */
function toComparedRows({ choices: { report }, compared }: ReportPlan): Caution['advice'] {
  const { splitBy: offered = [] } = definitionOf(report);
  const next = (['MONTH', 'NONE'] as const).find((by) => offered.includes(by) && hasComparedRows(by, compared?.isByMonths ?? false));
  if (next === undefined) return undefined;
  return { title: next === 'NONE' ? 'Do not divide' : `Divide by ${groupTitles[next].toLowerCase()}`, choices: { splitBy: next } };
}

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
