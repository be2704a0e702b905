import { useState } from 'react';
import { ModalDialog } from '../dialogs/modal-dialog';
import { dateOrders, decimalSigns, guessColumns, type TableColumns, type TableHead } from './table-columns';

interface ColumnsDialogProps {
  readonly head: TableHead;
  readonly columns: TableColumns | undefined;
  /** The reason why the chosen columns could not be read. */
  readonly fault: string | undefined;
  readonly onChoose: (columns: TableColumns) => void;
  readonly onClose: () => void;
}

const NONE = '';
const ITSELF = 'As the values say';
const toPlace = (value: string): TableColumns['direction'] => (value === NONE ? undefined : value === 'none' ? value : Number(value));

/** Asks which columns of a table are the date, the amount and the text. */
export function ColumnsDialog({ head, columns, fault, onChoose, onClose }: ColumnsDialogProps) {
  const [chosen, setChosen] = useState(() => columns ?? guessColumns(head));
  const { names, samples } = head;
  const places = names.map((title, place) => (
    <option key={place} value={place}>
      {title}
    </option>
  ));
  const choose = (more: Partial<TableColumns>): void => setChosen((before) => ({ ...before, ...more }));
  const field = (label: string, name: 'date' | 'amount' | 'credit' | 'debit' | 'text', isNeeded = false) => (
    <label>
      {label}
      <select
        value={chosen[name] ?? NONE}
        onChange={({ target }) => choose({ [name]: target.value === NONE ? undefined : Number(target.value) })}
      >
        {!isNeeded && <option value={NONE}>None</option>}
        {places}
      </select>
    </label>
  );
  const option = <Name extends string>(
    label: string,
    value: Name | undefined,
    titles: Readonly<Record<Name, string>>,
    set: (name?: Name) => void,
  ) => (
    <label>
      {label}
      <select value={value ?? NONE} onChange={({ target }) => set(target.value === NONE ? undefined : (target.value as Name))}>
        <option value={NONE}>{ITSELF}</option>
        {(Object.entries(titles) as [Name, string][]).map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <ModalDialog title="Columns of the statement" isWide isOpen onOpenChange={(isOpen) => !isOpen && onClose()}>
      {() => (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            onChoose(chosen);
          }}
        >
          <p>This browser remembers the columns for files with the same header.</p>
          <div className="bank-sample">
            <table>
              <thead>
                <tr>
                  {names.map((name, place) => (
                    <th key={place} scope="col">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {samples.map((values, row) => (
                  <tr key={row}>
                    {values.map((value, place) => (
                      <td key={place}>{value}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <div className="bank-fields">
            {field('Date', 'date', true)}
            {field('Amount', 'amount')}
            <label>
              Direction, where amounts have no sign
              <select value={chosen.direction ?? NONE} onChange={({ target }) => choose({ direction: toPlace(target.value) })}>
                <option value={NONE}>{ITSELF}</option>
                <option value="none">None</option>
                {places}
              </select>
            </label>
            {field('Credit', 'credit')}
            {field('Debit', 'debit')}
            {field('Text', 'text')}
            {option('Order of dates', chosen.dateOrder, dateOrders, (dateOrder) => choose({ dateOrder }))}
            {option('Decimal sign', chosen.decimalSign, decimalSigns, (decimalSign) => choose({ decimalSign }))}
          </div>
          <p role="alert">{fault}</p>
          <div className="dialog-buttons">
            <button type="submit" className="main-button">
              Read the statement
            </button>
            <button type="button" onClick={onClose}>
              Cancel
            </button>
          </div>
        </form>
      )}
    </ModalDialog>
  );
}
