import { useId, useRef, useState, type SubmitEvent } from 'react';

interface AmountFieldsProps {
  readonly min: string;
  readonly max: string;
  readonly onChange: (range: { readonly amountMin: string; readonly amountMax: string }) => void;
}

const PLAIN = /^-?\d{1,12}(\.\d{1,2})?$/;

/** Writes an amount as the gateway reads it: `1,000` is `1000.00`. Undefined for other texts. */
function toAmount(typed: FormDataEntryValue | null): string | undefined {
  if (typeof typed !== 'string') return undefined;
  const plain = typed.trim().replace(/(\d),(?=\d{3}(\D|$))/g, '$1');
  if (plain === '') return '';
  if (!PLAIN.test(plain)) return undefined;
  const [whole = '', cents = ''] = plain.split('.');
  return `${whole}.${cents.padEnd(2, '0')}`;
}

/** Asks for a least and a greatest amount. Either may be empty. */
export function AmountFields({ min, max, onChange }: AmountFieldsProps) {
  const form = useRef<HTMLFormElement>(null);
  const [problem, setProblem] = useState('');
  const [minId, maxId] = [useId(), useId()];
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(form.current ?? undefined);
    const [amountMin, amountMax] = [toAmount(data.get('min')), toAmount(data.get('max'))];
    if (amountMin === undefined || amountMax === undefined) setProblem('Write an amount such as 1,000.00.');
    else if (amountMin !== '' && amountMax !== '' && Number(amountMin) > Number(amountMax))
      setProblem('The first amount is the smaller one.');
    else onChange({ amountMin, amountMax });
  };
  return (
    <form ref={form} className="amounts" onSubmit={submit} onChange={() => setProblem('')}>
      <label htmlFor={minId}>From</label>
      <input id={minId} name="min" defaultValue={min} inputMode="decimal" size={10} autoComplete="off" />
      <label htmlFor={maxId}>to</label>
      <input id={maxId} name="max" defaultValue={max} inputMode="decimal" size={10} autoComplete="off" />
      <button type="submit">Set</button>
      <span className="problem" role="alert">
        {problem}
      </span>
    </form>
  );
}
