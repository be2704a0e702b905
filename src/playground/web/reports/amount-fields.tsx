import { useId, useRef, useState, type SubmitEvent } from 'react';
import { createCellFormat } from '../tables/cell-format';
import { readTypedNumber } from '../tables/exact-decimal';

interface AmountFieldsProps {
  readonly min: string;
  readonly max: string;
  readonly onChange: (range: { readonly amountMin: string; readonly amountMax: string }) => void;
}

const CENTS = /^-?\d{1,12}(\.\d{1,2})?$/;

/** Writes an amount that a person typed as the gateway reads it: `1,000` is `1000.00` in English. Undefined for other texts. */
function toAmount(text: FormDataEntryValue | null): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') return '';
  const exact = readTypedNumber(text, navigator.languages);
  if (exact === undefined || !CENTS.test(exact)) return undefined;
  const [whole = '', cents = ''] = exact.split('.');
  return `${whole}.${cents.padEnd(2, '0')}`;
}

/** Compares two amounts of two decimals exactly. An empty one is no bound. */
const isGreater = (one: string, other: string): boolean =>
  one !== '' && other !== '' && BigInt(one.replace('.', '')) > BigInt(other.replace('.', ''));

/** Writes an amount as the person would type it. */
const toTyped = (amount: string): string => (amount === '' ? '' : createCellFormat(navigator.languages).format(amount, 'money'));

/** Asks for a least and a greatest amount. Either may be empty. */
export function AmountFields({ min, max, onChange }: AmountFieldsProps) {
  const form = useRef<HTMLFormElement>(null);
  const [problem, setProblem] = useState('');
  const [minId, maxId] = [useId(), useId()];
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(form.current ?? undefined);
    const [amountMin, amountMax] = [toAmount(data.get('min')), toAmount(data.get('max'))];
    if (amountMin === undefined || amountMax === undefined) setProblem(`Write an amount such as ${toTyped('1000.00')}.`);
    else if (isGreater(amountMin, amountMax)) setProblem('The first amount is the smaller one.');
    else onChange({ amountMin, amountMax });
  };
  return (
    <form ref={form} className="amounts" onSubmit={submit} onChange={() => setProblem('')}>
      <label htmlFor={minId}>From</label>
      <input id={minId} name="min" defaultValue={toTyped(min)} inputMode="decimal" size={10} autoComplete="off" />
      <label htmlFor={maxId}>to</label>
      <input id={maxId} name="max" defaultValue={toTyped(max)} inputMode="decimal" size={10} autoComplete="off" />
      <button type="submit">Set</button>
      <span className="problem" role="alert">
        {problem}
      </span>
    </form>
  );
}
