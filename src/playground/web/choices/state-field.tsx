import { useId, useRef, useState, type ChangeEvent, type SubmitEvent } from 'react';
import { readTypedNumber } from '../values/exact-decimal';
import { isDate } from '../values/periods';
import { isVersion } from '../values/states';

interface StateFieldProps {
  readonly title: string;
  readonly today: string;
  readonly state: string;
  readonly onChange: (state: string) => void;
}

const ADVICE = 'Write a day before today, or the number of a version as “History of the books” has it.';

/** Asks for a version of the books: that of a day's end, or one by its number. Without both it is the newest one. */
export function StateField({ title, today, state, onChange }: StateFieldProps) {
  const [problem, setProblem] = useState('');
  const day = useRef<HTMLInputElement>(null);
  const version = useRef<HTMLInputElement>(null);
  const id = useId();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const [date = '', typed = ''] = [day, version].map(({ current }) => current?.value.trim());
    const number = readTypedNumber(typed, navigator.languages) ?? typed;
    const isNone = date === '' && number === '' && !day.current?.validity.badInput;
    if (isNone || (number === '' ? isDate(date) && date < today : isVersion(number))) onChange(number || date);
    else setProblem(ADVICE);
  };
  /** What is typed in one field takes the place of the other one. */
  const type = ({ target }: ChangeEvent): void => {
    setProblem('');
    const other = target === day.current ? version.current : day.current;
    if (other) other.value = '';
  };
  return (
    <form className="range" aria-label={title} noValidate onSubmit={submit} onChange={type}>
      <div className="choice">
        <label htmlFor={`${id}day`}>End of the day</label>
        <input ref={day} id={`${id}day`} type="date" defaultValue={isVersion(state) ? '' : state} />
      </div>
      <div className="choice">
        <label htmlFor={`${id}version`}>or version</label>
        <input
          ref={version}
          id={`${id}version`}
          defaultValue={isVersion(state) ? state : ''}
          inputMode="numeric"
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
