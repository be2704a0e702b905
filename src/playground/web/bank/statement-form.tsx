import { useRef, useState, type ReactNode } from 'react';
import { lineDates, type LineDate } from './bank-match';
import { bankAmounts, type BankAmount } from './tie-lists';
import { MOST_DAYS } from './booked-deposits';

/** The choices by which a statement is read and tied. */
export interface TieChoices {
  /** The number of the account; empty for the one that the file has. */
  readonly account: string;
  readonly amount: BankAmount;
  readonly days: number;
  readonly lineDate: LineDate;
}

interface StatementFormProps {
  readonly choices: TieChoices;
  readonly fileName: string | undefined;
  readonly onChoose: (file: File) => void;
  readonly onChange: (choices: TieChoices) => void;
  readonly children: ReactNode;
}

/** The place to which a statement is dropped, and the choices by which it is tied. */
export function StatementForm({ choices, fileName, onChoose, onChange, children }: StatementFormProps) {
  const { account, amount, days, lineDate } = choices;
  const [isOver, setIsOver] = useState(false);
  const [typed, setTyped] = useState(account);
  const chooser = useRef<HTMLInputElement>(null);
  const commit = (): void => {
    if (typed !== account) onChange({ ...choices, account: typed });
  };
  return (
    <div
      className="bank-form"
      data-over={isOver ? '' : undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        const [file] = event.dataTransfer.files;
        if (file) onChoose(file);
      }}
    >
      <p>
        <button type="button" className="main-button" onClick={() => chooser.current?.click()}>
          {fileName === undefined ? 'Choose a statement' : 'Choose another statement'}
        </button>{' '}
        {fileName ?? 'or drop it here: CAMT.053, BAI2 or CSV. It is read in this browser and goes nowhere else.'}
        <input
          ref={chooser}
          type="file"
          hidden
          aria-label="Statement file"
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file) onChoose(file);
            // The same file may be chosen again.
            target.value = '';
          }}
        />
      </p>
      <div className="bank-fields">
        <label>
          Account
          <input
            value={typed}
            placeholder="as in the file"
            onChange={({ target }) => setTyped(target.value)}
            onBlur={commit}
            onKeyDown={({ key }) => key === 'Enter' && commit()}
          />
        </label>
        <label>
          Amount
          <select value={amount} onChange={({ target }) => onChange({ ...choices, amount: target.value as BankAmount })}>
            {Object.entries(bankAmounts).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label>
          Days
          <input
            type="number"
            min={0}
            max={MOST_DAYS}
            value={days}
            onChange={({ target }) => onChange({ ...choices, days: Math.min(MOST_DAYS, Math.max(0, Math.trunc(Number(target.value)))) })}
          />
        </label>
        <label>
          Date
          <select value={lineDate} onChange={({ target }) => onChange({ ...choices, lineDate: target.value as LineDate })}>
            {Object.entries(lineDates).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        {children}
      </div>
    </div>
  );
}
