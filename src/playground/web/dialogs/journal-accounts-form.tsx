import { useEffect, useRef, useState, type SubmitEvent } from 'react';
import { Button, Disclosure, DisclosurePanel, Heading } from 'react-aria-components';
import { MAX_ACCOUNT_LENGTH } from '../../../values/journal-layouts';
import type { Accounts } from './journal-choices';
import { ScrolledRows } from './scrolled-rows';

interface JournalAccountsFormProps {
  readonly accounts: Accounts;
  /** False for those who may see the accounts and not change them. */
  readonly mayChange: boolean;
  readonly isBusy: boolean;
  /** True while saving the accounts is what comes next. */
  readonly isNext: boolean;
  /** Counts how often somebody has asked to be led to the first account that is missing. */
  readonly asked: number;
  readonly onChange: (accounts: Accounts) => void;
  readonly onSave: () => void;
}

/** The accounts of the bank, the fees and the funds, as a table. It is open while an account is missing. */
export function JournalAccountsForm({ accounts, mayChange, isBusy, isNext, asked, onChange, onSave }: JournalAccountsFormProps) {
  const { bank, fees, funds } = accounts;
  const form = useRef<HTMLFormElement>(null);
  const all = [bank, fees, ...funds.map(({ account }) => account)];
  const missing = all.filter((account) => account.trim() === '').length;
  const [isOpen, setIsOpen] = useState(missing > 0);
  // Each question is answered once: later, the list opens as any other.
  const answered = useRef(0);
  useEffect(() => {
    if (asked > answered.current) setIsOpen(true);
  }, [asked]);
  useEffect(() => {
    if (asked === answered.current || !isOpen) return;
    answered.current = asked;
    [...(form.current?.querySelectorAll('input') ?? [])].find(({ value }) => value.trim() === '')?.focus();
  }, [asked, isOpen]);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onSave();
  };
  const field = (label: string, value: string, set: (account: string) => void, isRequired = false) =>
    mayChange ? (
      <input
        aria-label={label}
        value={value}
        required={isRequired}
        maxLength={MAX_ACCOUNT_LENGTH}
        autoComplete="off"
        onChange={({ target }) => set(target.value)}
      />
    ) : (
      value || 'none'
    );
  return (
    <Disclosure isExpanded={isOpen} onExpandedChange={setIsOpen}>
      <Heading level={3}>
        <Button slot="trigger" className="field-button">
          Accounts:{' '}
          {missing === 0
            ? `all ${String(all.length)} are named`
            : `${String(missing)} of ${String(all.length)} ${missing === 1 ? 'is' : 'are'} missing`}
        </Button>
      </Heading>
      <DisclosurePanel>
        <form ref={form} onSubmit={submit}>
          <ScrolledRows label="Accounts" hasFields={mayChange}>
            <table aria-label="Accounts">
              <thead>
                <tr>
                  <th scope="col">Money</th>
                  <th scope="col">Account</th>
                </tr>
              </thead>
              <tbody>
                <tr>
                  <th scope="row">Bank (net of fees)</th>
                  <td>{field('Account of the bank', bank, (account) => onChange({ ...accounts, bank: account }), true)}</td>
                </tr>
                <tr>
                  <th scope="row">Fees</th>
                  <td>{field('Account of the fees', fees, (account) => onChange({ ...accounts, fees: account }), true)}</td>
                </tr>
                {funds.map(({ designationId, name, account }) => (
                  <tr key={designationId}>
                    <th scope="row">{name === '' ? `Fund ${String(designationId)}` : `${name} (${String(designationId)})`}</th>
                    <td>
                      {field(`Account of ${name === '' ? `fund ${String(designationId)}` : name}`, account, (changed) =>
                        onChange({
                          ...accounts,
                          funds: funds.map((each) => (each.designationId === designationId ? { ...each, account: changed } : each)),
                        }),
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrolledRows>
          {mayChange ? (
            <Button type="submit" className={isNext ? 'main-button' : undefined} isPending={isBusy}>
              Save accounts
            </Button>
          ) : (
            <p>Whoever may close months can change the accounts.</p>
          )}
        </form>
      </DisclosurePanel>
    </Disclosure>
  );
}
