import type { GroupBy } from '../../../generated/operations/graphql';
import type { Today } from '../../../values/periods';
import { ChoiceField } from './choice-field';
import { FilterBar } from './filter-bar';
import { PeriodPicker } from './period-picker';
import { CompareField } from './compare-field';
import type { ReportChoices } from './report-choices';
import { dateBases, definitionOf, groupTitles, isComparable, pendingChoices } from './report-definitions';
import type { Names } from './report-names';

interface ReportFormProps {
  readonly provision: string;
  readonly now: Today;
  /** The time zone of the organization. */
  readonly timeZone: string;
  /** False for a person who may read no donors, and so may not look for one. */
  readonly readsDonors: boolean;
  readonly choices: ReportChoices;
  readonly names: Names;
  readonly onChange: (choices: ReportChoices) => void;
}

/** The choices of a report: its period, what it is compared with, its conditions and how it is divided. */
export function ReportForm({ provision, now, timeZone, readsDonors, choices, names, onChange }: ReportFormProps) {
  const definition = definitionOf(choices.report);
  const { rows, filters, needs, splitBy, top, hasFixedDates, hasFixedPending } = definition;
  if (rows === 'versions') return null;
  const set = (change: Partial<ReportChoices>): void => onChange({ ...choices, ...change });
  return (
    <section className="report-form" aria-label="Choices of the report">
      <PeriodPicker period={choices.period} now={now} onChange={(period) => set({ period })} />
      {!hasFixedDates && (
        <ChoiceField label="Counts by" choices={dateBases} value={choices.dateBasis} onChange={(dateBasis) => set({ dateBasis })} />
      )}
      {isComparable(definition) && (
        <CompareField {...{ now }} period={choices.period} compare={choices.compare} onChange={(compare) => set({ compare })} />
      )}
      {!hasFixedPending && (
        <ChoiceField label="Pending deposits" choices={pendingChoices} value={choices.pending} onChange={(pending) => set({ pending })} />
      )}
      {splitBy && (
        <ChoiceField
          label="Divide by"
          choices={Object.fromEntries(splitBy.map((by) => [by, groupTitles[by]])) as Readonly<Record<GroupBy | 'NONE', string>>}
          value={choices.splitBy}
          onChange={(by) => set({ splitBy: by })}
        />
      )}
      {top && (
        <ChoiceField
          label="How many"
          choices={Object.fromEntries(top.limits.map((limit) => [String(limit), String(limit)]))}
          value={String(choices.limit)}
          onChange={(limit) => set({ limit: Number(limit) })}
        />
      )}
      <FilterBar
        {...{ provision, choices, needs, names, timeZone, onChange }}
        today={now.today}
        filters={readsDonors ? filters : filters.filter((name) => name !== 'donor')}
      />
    </section>
  );
}
