import { useId, useRef, useState, type SubmitEvent } from 'react';
import { useFieldFocus } from '../look/field-focus';
import { ChoiceField } from './choice-field';
import { writeValue } from './choice-texts';
import { adviseAmount, toAmount } from './range-fields';
import { chooseDonors, isLeast, type ReportChoices } from './report-choices';
import { donorChoices, type DonorChoiceName } from './report-definitions';

interface DonorsFieldProps {
  readonly choices: ReportChoices;
  readonly onChange: (choices: ReportChoices) => void;
}

const titles = Object.fromEntries(Object.entries(donorChoices).map(([name, { title }]) => [name, title])) as Readonly<
  Record<DonorChoiceName, string>
>;

/** Chooses the donors of a report by what they gave. */
export function DonorsField({ choices, onChange }: DonorsFieldProps) {
  const { part, focusField } = useFieldFocus<HTMLDivElement>();
  const { who, givenMin } = choices;
  const choose = (next: DonorChoiceName): void => {
    onChange(chooseDonors(choices, next));
    if (next === 'at-least') focusField();
  };
  return (
    <div ref={part} className="compared" data-kept={who === 'everybody' ? undefined : ''}>
      <ChoiceField label="Who" choices={titles} value={who} onChange={choose} />
      {who === 'at-least' && (
        <LeastField
          key={givenMin}
          amount={givenMin}
          onChange={(amount) => {
            onChange({ ...choices, givenMin: amount });
            // The field is a new one, and the focus would be lost with the one before.
            focusField();
          }}
        />
      )}
    </div>
  );
}

interface LeastFieldProps {
  readonly amount: string;
  readonly onChange: (amount: string) => void;
}

function LeastField({ amount, onChange }: LeastFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState('');
  const id = useId();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const typed = toAmount(field.current?.value ?? '');
    if (typed === undefined || !isLeast(typed)) setProblem(adviseAmount());
    else onChange(typed);
  };
  return (
    <form className="range amounts" aria-label="Least sum of a donor" noValidate onSubmit={submit} onChange={() => setProblem('')}>
      <div className="choice">
        <label htmlFor={id}>At least</label>
        <input
          ref={field}
          id={id}
          defaultValue={amount === '' ? '' : writeValue(amount, 'money')}
          inputMode="decimal"
          size={12}
          autoComplete="off"
        />
      </div>
      <button type="submit">Set</button>
      <span className="problem" role="alert">
        {problem}
      </span>
    </form>
  );
}
