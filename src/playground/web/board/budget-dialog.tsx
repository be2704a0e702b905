import { useEffect, useState, type SubmitEvent } from 'react';
import { Button, DialogTrigger } from 'react-aria-components';
import type { FundBudgetQuery, SaveFundBudgetMutation } from '../../../generated/operations/graphql';
import { MAX_BUDGET_FUNDS } from '../../../values/budget-limits';
import { adviseAmount, toAmount } from '../choices/range-fields';
import { fetchFundNames } from '../dialogs/journal-choices';
import { ModalDialog } from '../dialogs/modal-dialog';
import { ScrolledRows } from '../dialogs/scrolled-rows';
import fundBudgetQuery from '../queries/fund-budget.graphql?raw';
import saveFundBudgetMutation from '../queries/save-fund-budget.graphql?raw';
import { askGateway, GatewayError } from '../session/gateway-client';
import { createCellFormat } from '../values/cell-format';
import { writeTypedNumber } from '../values/exact-decimal';

interface BudgetProps {
  readonly provision: string;
  /** The fiscal year, and its last day. */
  readonly yearStart: string;
  readonly yearEnd: string;
  /** Called when another budget is in force. */
  readonly onSaved: () => void;
}

/** A button, and the dialog in which the budget of a fiscal year is written. */
export function BudgetDialog(props: BudgetProps) {
  const { format } = createCellFormat(navigator.languages);
  return (
    <DialogTrigger>
      <Button>Budget…</Button>
      <ModalDialog title={`Budget of ${format(props.yearStart, 'date')} – ${format(props.yearEnd, 'date')}`} isWide>
        {(close) => <Budget {...props} onDone={close} />}
      </ModalDialog>
    </DialogTrigger>
  );
}

interface Fund {
  readonly designationId: number;
  readonly name: string;
  /** The amount as somebody types it; empty for a fund without a budget. */
  readonly typed: string;
}

interface Shown {
  /** The number of the budget that the dialog began with; null for none. */
  readonly number: number | null;
  readonly funds: readonly Fund[];
}

function Budget({ provision, yearStart, yearEnd, onSaved, onDone }: BudgetProps & { readonly onDone: () => void }) {
  const [shown, setShown] = useState<Shown>();
  const [outcome, setOutcome] = useState({ text: '', isFault: false });
  const [isBusy, setIsBusy] = useState(false);
  const fail = (error: unknown): void => {
    const isConflict = error instanceof GatewayError && error.code === 'BUDGET_CONFLICT';
    setOutcome({ text: (error as Error).message + (isConflict ? '. Open this dialog again to see it.' : ''), isFault: true });
  };
  useEffect(() => {
    let isLeft = false;
    fetchBudget(provision, yearStart, yearEnd).then((found) => !isLeft && setShown(found), fail);
    return () => {
      isLeft = true;
    };
  }, [provision, yearStart, yearEnd]);
  const save = async ({ funds, number }: Shown): Promise<void> => {
    const amounts = funds.flatMap(({ designationId, typed }) => (typed.trim() === '' ? [] : [{ designationId, amount: toBudget(typed) }]));
    const wrong = funds.find(({ typed }) => typed.trim() !== '' && toBudget(typed) === undefined);
    if (wrong || amounts.length > MAX_BUDGET_FUNDS) {
      const text = wrong ? `${wrong.name}: ${adviseAmount()}` : `A budget has at most ${String(MAX_BUDGET_FUNDS)} funds.`;
      setOutcome({ text, isFault: true });
      return;
    }
    setIsBusy(true);
    const input = { startDate: yearStart, funds: amounts, replaces: number };
    try {
      const { saveFundBudget } = await askGateway<SaveFundBudgetMutation>(provision, {
        query: saveFundBudgetMutation,
        variables: { input },
      });
      setShown((now) => now && { ...now, number: saveFundBudget.budget.number });
      setOutcome({ text: 'The budget is saved for all of your organization.', isFault: false });
      onSaved();
    } catch (error) {
      fail(error);
    }
    setIsBusy(false);
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (shown && !isBusy) void save(shown);
  };
  return (
    <form onSubmit={submit}>
      <p>
        Each fund’s amount of the whole year. A fund without an amount has no budget; 0 is a budget of nothing. The part up to a day is a
        twelfth for each month.
      </p>
      {shown && (
        <ScrolledRows label="Budget" hasFields>
          <table aria-label="Budget">
            <thead>
              <tr>
                <th scope="col">Fund</th>
                <th scope="col">Amount of the year</th>
              </tr>
            </thead>
            <tbody>
              {shown.funds.map(({ designationId, name, typed }, at) => (
                <tr key={designationId}>
                  <th scope="row">{name}</th>
                  <td>
                    <input
                      aria-label={`Budget of ${name}`}
                      value={typed}
                      inputMode="decimal"
                      autoComplete="off"
                      autoFocus={at === 0}
                      onChange={({ target: { value } }) => {
                        setOutcome({ text: '', isFault: false });
                        setShown({ ...shown, funds: shown.funds.map((fund, n) => (n === at ? { ...fund, typed: value } : fund)) });
                      }}
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrolledRows>
      )}
      <p role={outcome.isFault ? 'alert' : 'status'}>{isBusy || (!shown && !outcome.isFault) ? 'One moment…' : outcome.text}</p>
      <div className="dialog-buttons">
        <Button type="submit" className="main-button" isPending={isBusy} isDisabled={!shown}>
          Save budget
        </Button>
        <Button onPress={onDone}>Done</Button>
      </div>
    </form>
  );
}

/** The amount of a typed text; undefined for what is no budget. */
function toBudget(typed: string): string | undefined {
  const amount = toAmount(typed);
  return amount?.startsWith('-') ? undefined : amount;
}

/** Reads the budget in force, with a row for each fund. */
async function fetchBudget(provision: string, startDate: string, through: string): Promise<Shown> {
  const variables = { startDate, through };
  const [{ fundBudget }, names] = await Promise.all([
    askGateway<FundBudgetQuery>(provision, { query: fundBudgetQuery, variables }),
    fetchFundNames(provision),
  ]);
  const amounts = new Map(fundBudget?.funds.map(({ designationId, amount }) => [designationId, amount]));
  const toRow = (designationId: number, name: string): Fund => {
    const amount = amounts.get(designationId);
    amounts.delete(designationId);
    const typed = amount === undefined ? '' : writeTypedNumber(amount, navigator.languages);
    return { designationId, name: `${name || 'Fund'} (${String(designationId)})`, typed };
  };
  const funds = names.map(({ designationId, name }) => toRow(designationId, name));
  // A fund that is not in the books yet keeps its budget.
  const others = [...amounts.keys()].map((id) => toRow(id, ''));
  return { number: fundBudget?.number ?? null, funds: [...funds, ...others] };
}
