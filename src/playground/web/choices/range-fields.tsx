import { useId, useRef, useState, type SubmitEvent } from 'react';
import { readTypedNumber } from '../values/exact-decimal';
import { writeValue } from './choice-texts';
import { FIRST_DAY, isDate } from '../values/periods';

interface RangeFieldsProps {
  /** The name of what lies in the range, such as “Amount of the whole gift”. */
  readonly title: string;
  readonly kind: keyof typeof kinds;
  readonly min: string;
  readonly max: string;
  readonly onChange: (min: string, max: string) => void;
}

const CENTS = /^-?\d{1,12}(\.\d{1,2})?$/;

/** Writes an amount that a person typed as the gateway reads it: `1,000` is `1000.00` in English. Undefined for other texts. */
export function toAmount(text: string): string | undefined {
  const exact = readTypedNumber(text, navigator.languages);
  if (exact === undefined || !CENTS.test(exact)) return undefined;
  const [whole = '', cents = ''] = exact.split('.');
  const amount = `${whole.replace(/^(-?)0+(?=\d)/, '$1')}.${cents.padEnd(2, '0')}`;
  return amount === '-0.00' ? '0.00' : amount;
}

/** Says how to type an amount. */
export const adviseAmount = (): string => `Write an amount such as ${writeValue('1000.00', 'money')}.`;

/** The ways to type a bound of a range, and to read it as the gateway does. */
const kinds = {
  money: {
    className: 'amounts',
    label: 'Amount',
    type: 'text',
    read: toAmount,
    toTyped: (amount: string) => writeValue(amount, 'money'),
    isGreater: (one: string, other: string) => BigInt(one.replace('.', '')) > BigInt(other.replace('.', '')),
    advice: adviseAmount,
    backwards: 'The first amount is the smaller one.',
  },
  date: {
    className: 'dates',
    label: 'Gift date',
    type: 'date',
    read: (text: string) => (isDate(text) && text >= FIRST_DAY ? text : undefined),
    toTyped: (day: string) => day,
    isGreater: (one: string, other: string) => one > other,
    advice: () => 'Write a whole date, with a year of four digits, from 1900 on.',
    backwards: 'The first date is the earlier one.',
  },
} as const;

/** Asks for the first and the last value of a range, which are both in it. Either may be empty. */
export function RangeFields({ title, kind, min, max, onChange }: RangeFieldsProps) {
  const form = useRef<HTMLFormElement>(null);
  const [problem, setProblem] = useState('');
  const id = useId();
  const { className, label, type, read, toTyped, isGreater, advice, backwards } = kinds[kind];
  const readField = (name: string): string | undefined => {
    const field = form.current?.elements.namedItem(name);
    if (!(field instanceof HTMLInputElement)) return '';
    // A field for dates gives no text of one that is typed in part.
    if (field.value.trim() === '') return field.validity.badInput ? undefined : '';
    return read(field.value);
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const [low, high] = [readField('min'), readField('max')];
    if (low === undefined || high === undefined) setProblem(advice());
    else if (low !== '' && high !== '' && isGreater(low, high)) setProblem(backwards);
    else onChange(low, high);
  };
  const fields = [
    ['min', 'from', min],
    ['max', 'to', max],
  ] as const;
  return (
    <form ref={form} className={`range ${className}`} aria-label={title} noValidate onSubmit={submit} onChange={() => setProblem('')}>
      {fields.map(([name, word, value]) => (
        <div key={name} className="choice">
          <label htmlFor={id + name}>{`${label} ${word}`}</label>
          <input
            id={id + name}
            {...{ name, type }}
            defaultValue={value === '' ? '' : toTyped(value)}
            inputMode={kind === 'money' ? 'decimal' : undefined}
            size={12}
            autoComplete="off"
          />
        </div>
      ))}
      <button type="submit">Set</button>
      <span className="problem" role="alert">
        {problem}
      </span>
    </form>
  );
}
