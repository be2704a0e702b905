import { useMemo, useState } from 'react';
import { ModalDialog } from '../dialogs/modal-dialog';
import { createCellFormat } from '../values/cell-format';
import type { BankTie, TiedPlaces } from './bank-match';
import { writeCents } from './bank-statement';
import { centsOf, count, differenceOf, OUTSIDE, type TieInput } from './tie-lists';

interface HandDialogProps {
  /** The line or the deposit that was chosen first. */
  readonly first: { readonly side: 'lines' | 'deposits'; readonly place: number };
  readonly tie: BankTie;
  readonly input: TieInput;
  readonly currency: string | null | undefined;
  readonly onTie: (group: TiedPlaces) => void;
  readonly onClose: () => void;
}

/** More choices are found by typing. */
const MOST_SHOWN = 50;

interface Choice {
  readonly side: 'lines' | 'deposits';
  readonly place: number;
  readonly date: string;
  readonly cents: bigint;
  readonly text: string;
}

const keyOf = ({ side, place }: Pick<Choice, 'side' | 'place'>): string => `${side} ${String(place)}`;

/** Matches lines and deposits by hand, which needs equal sums. */
export function HandDialog({ first, tie, input, currency, onTie, onClose }: HandDialogProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set([keyOf(first)]));
  const [typed, setTyped] = useState('');
  const { format, sign } = createCellFormat(navigator.languages, currency);
  const all = useMemo(() => listChoices(tie, input), [tie, input]);
  const own = all.find((choice) => keyOf(choice) === keyOf(first));
  const wanted = typed.trim().toLowerCase();
  const shown = useMemo(() => {
    const distance = (choice: Choice): number =>
      choice === own
        ? -1
        : Math.abs(Date.parse(choice.date) - Date.parse(own?.date ?? choice.date)) + (choice.side === first.side ? 1e14 : 0);
    return all.toSorted((one, other) => distance(one) - distance(other));
  }, [all, own, first.side]);
  const isFound = (choice: Choice): boolean => `${choice.date} ${writeCents(choice.cents)} ${choice.text}`.toLowerCase().includes(wanted);
  // Rows keep their places, because one that moves loses the focus.
  const others = shown.filter((choice) => !chosen.has(keyOf(choice)) && isFound(choice));
  const cut = new Set(others.slice(0, MOST_SHOWN));
  const group: TiedPlaces = { lines: placesOf(all, chosen, 'lines'), deposits: placesOf(all, chosen, 'deposits') };
  const difference = differenceOf(group, input);
  const isWhole = difference === 0n && group.lines.length > 0 && group.deposits.length > 0;
  const toggle = (key: string): void =>
    setChosen((before) => new Set(before.has(key) ? [...before].filter((each) => each !== key) : [...before, key]));
  return (
    <ModalDialog title="Match by hand" isWide isOpen onOpenChange={(isOpen) => !isOpen && onClose()}>
      {() => (
        <>
          <p>Choose lines of the bank and deposits whose sums are equal. The nearest days come first.</p>
          <label className="bank-search">
            Find
            <input value={typed} onChange={({ target }) => setTyped(target.value)} placeholder="A date, an amount or a text" />
          </label>
          <ul className="bank-choices" aria-label="Lines and deposits">
            {shown
              .filter((choice) => chosen.has(keyOf(choice)) || cut.has(choice))
              .map((choice) => (
                <li key={keyOf(choice)}>
                  <label>
                    <input type="checkbox" checked={chosen.has(keyOf(choice))} onChange={() => toggle(keyOf(choice))} />
                    <span>{choice.side === 'lines' ? 'Bank' : 'Deposit'}</span>
                    <span>{format(choice.date, 'date')}</span>
                    <span className="bank-money">{format(writeCents(choice.cents), 'money')}</span>
                    <span>{choice.text}</span>
                  </label>
                </li>
              ))}
          </ul>
          {others.length > MOST_SHOWN && <p>{String(others.length - MOST_SHOWN)} more: type a part of one to find it.</p>}
          <p role="status">
            {count(group.lines.length, 'line')} and {count(group.deposits.length, 'deposit')}.{' '}
            {difference === 0n ? 'The sums are equal.' : `The bank has ${sign(writeCents(difference), 'money')} against the deposits.`}
          </p>
          <div className="dialog-buttons">
            <button type="button" className="main-button" disabled={!isWhole} onClick={() => onTie(group)}>
              Match
            </button>
            <button type="button" onClick={onClose}>
              Cancel
            </button>
          </div>
        </>
      )}
    </ModalDialog>
  );
}

const placesOf = (all: readonly Choice[], chosen: ReadonlySet<string>, side: Choice['side']): number[] =>
  all.filter((choice) => choice.side === side && chosen.has(keyOf(choice))).map(({ place }) => place);

/** Everything that is not matched yet. */
function listChoices(tie: BankTie, { statement, deposits, amount }: TieInput): Choice[] {
  const lines = statement.lines.map(({ bookedOn, cents, text }, place): Choice => ({ side: 'lines', place, date: bookedOn, cents, text }));
  const own = deposits.map((deposit, place): Choice => ({
    side: 'deposits',
    place,
    date: deposit.date,
    cents: centsOf(deposit, amount),
    text: deposit.isOutside ? `${deposit.id}, ${OUTSIDE}` : deposit.id,
  }));
  return [...lines, ...own].filter(({ side, place }) => tie[side][place] !== undefined);
}
