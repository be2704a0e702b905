import type { GroupBy } from '../../../generated/operations/graphql';
import type { Today } from '../../../values/periods';
import { ChoiceField } from './choice-field';
import { FilterBar } from './filter-bar';
import { FinderField } from './finder-field';
import { FoldedLine } from '../look/folded-line';
import { PeriodPicker } from './period-picker';
import { CompareField } from './compare-field';
import { DonorsField } from './donors-field';
import type { ReportChoices } from './report-choices';
import {
  addressChoices,
  dateBases,
  definitionOf,
  donorChoices,
  groupTitles,
  isComparable,
  nameChoices,
  pendingChoices,
} from './report-definitions';
import type { Names } from './report-names';

interface ReportFormProps {
  readonly provision: string;
  readonly now: Today;
  /** The last day of which the books of the report can tell. */
  readonly lastDay: string | undefined;
  /** The time zone of the organization. */
  readonly timeZone: string;
  /** False for a person who may read no donors, and so may not look for one. */
  readonly readsDonors: boolean;
  readonly choices: ReportChoices;
  readonly names: Names;
  readonly onChange: (choices: ReportChoices) => void;
}

/** The choices of a report: its period, what it is compared with, its conditions and how it is divided. */
export function ReportForm({ provision, now, lastDay, timeZone, readsDonors, choices, names, onChange }: ReportFormProps) {
  const definition = definitionOf(choices.report);
  const { rows, filters, needs, splitBy, top, choosesDonors, offersNames, hasFixedDates, hasFixedPending } = definition;
  if (rows === 'versions') return null;
  const set = (change: Partial<ReportChoices>): void => onChange({ ...choices, ...change });
  return (
    <FoldedLine label="Choices of the report">
      {needs === 'donor' && (
        <FinderField
          label="Donor"
          placeholder="Part of a name, in any order"
          chosen={choices.donor === undefined ? '' : names.nameOf('donor', choices.donor)}
          find={names.findDonors}
          onChoose={({ id }) => set({ donor: Number(id) })}
        />
      )}
      <PeriodPicker period={choices.period} now={now} onChange={(period) => set({ period })} />
      {choosesDonors && <DonorsField {...{ choices, onChange }} />}
      <FilterBar
        {...{ provision, choices, names, timeZone, onChange }}
        needs={needs === 'period' ? undefined : needs}
        today={now.today}
        // A report of one donor has a field of its own for the donor.
        filters={filters.filter((name) => name !== 'donor' || (readsDonors && needs !== 'donor'))}
      />
      {isComparable(definition) && choices.who !== 'first-time' && (
        <CompareField
          {...{ now, lastDay }}
          period={choices.period}
          compare={choices.compare}
          isNeeded={donorChoices[choices.who].isCompared}
          onChange={(compare) => set({ compare })}
        />
      )}
      {choosesDonors && (
        <ChoiceField label="Addresses" choices={addressChoices} value={choices.addresses} onChange={(addresses) => set({ addresses })} />
      )}
      {offersNames && (
        <ChoiceField
          label="Names of donors"
          choices={nameChoices}
          value={choices.donorNames}
          onChange={(donorNames) => set({ donorNames })}
        />
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
      {!hasFixedPending && (
        <ChoiceField label="Pending deposits" choices={pendingChoices} value={choices.pending} onChange={(pending) => set({ pending })} />
      )}
      {!hasFixedDates && (
        <ChoiceField label="Counts by" choices={dateBases} value={choices.dateBasis} onChange={(dateBasis) => set({ dateBasis })} />
      )}
    </FoldedLine>
  );
}
