import { useState, type FocusEvent } from 'react';
import type { Today } from '../../../values/periods';
import { useFieldFocus } from '../look/field-focus';
import { comparisons, findCompared, findDates, findPeriod, type Comparison } from '../values/periods';
import { ChoiceField } from './choice-field';
import { DatesField } from './period-picker';

interface CompareFieldProps {
  /** The period of the report, which another one is compared with. */
  readonly period: string;
  readonly compare: Comparison;
  /** True for a report that is made of both periods. */
  readonly isNeeded: boolean;
  readonly now: Today;
  /** The last day of which the books of the report can tell; undefined where it compares with all of the other period. */
  readonly lastDay: string | undefined;
  readonly onChange: (compare: Comparison) => void;
}

const DATES = 'dates';
const { off, ...periods } = { ...comparisons, [DATES]: 'Other dates' } as const;
const choices = { off, ...periods };

/** Chooses the period that a report is compared with: by its name, or by two dates of its own. */
export function CompareField({ period, compare, isNeeded, now, lastDay, onChange }: CompareFieldProps) {
  const { part, focusField } = useFieldFocus<HTMLDivElement>();
  /** True from the choice of other dates until the focus leaves their fields, which may not be folded away meanwhile. */
  const [isTyping, setIsTyping] = useState(false);
  const dates = findDates(compare);
  const leave = ({ currentTarget, relatedTarget }: FocusEvent): void => {
    if (!currentTarget.contains(relatedTarget)) setIsTyping(false);
  };
  const choose = (chosen: keyof typeof choices): void => {
    if (chosen !== DATES) return onChange(chosen);
    const own = findPeriod(period, now) ?? {};
    // The dates begin with those that are compared already. All time has no period beside it, so that this month is as good as any.
    const known = findCompared(own, dates || compare === 'off' ? 'last-year' : compare, lastDay) ?? findPeriod('this-month', now)!;
    onChange(`${known.startDate!}..${known.endDate!}`);
    setIsTyping(true);
    focusField();
  };
  return (
    <div ref={part} className="compared" data-kept={isTyping ? '' : undefined} onBlur={leave}>
      <ChoiceField
        label="Compare with"
        choices={(isNeeded ? periods : choices) as typeof choices}
        value={dates ? DATES : (compare as keyof typeof comparisons)}
        onChange={choose}
      />
      {dates && <DatesField label="Dates to compare with" {...dates} onChange={(text) => onChange(text as Comparison)} />}
    </div>
  );
}
