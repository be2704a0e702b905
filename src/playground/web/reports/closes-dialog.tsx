import { useCallback, useEffect, useState, type SubmitEvent } from 'react';
import { Button, DialogTrigger, Input, Label, Text, TextField } from 'react-aria-components';
import type { ClosePeriodMutation, ReopenPeriodMutation } from '../../../generated/operations/graphql';
import { toPeriodDates, type Today } from '../../../values/periods';
import { fetchCloses, tellClosesChanged, type Close } from '../choices/closes';
import closePeriodMutation from '../queries/close-period.graphql?raw';
import reopenPeriodMutation from '../queries/reopen-period.graphql?raw';
import { askGateway, GatewayError } from '../session/gateway-client';
import { createCellFormat } from '../values/cell-format';
import { ModalDialog } from '../dialogs/modal-dialog';

interface ClosesProps {
  readonly provision: string;
  readonly now: Today;
  /** The time zone in which closes are dated. */
  readonly timeZone: string;
}

interface ClosesDialogProps extends ClosesProps {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
}

/** A button, and the dialog in which months are closed and reopened. The gateway refuses whoever lacks the privilege. */
export function ClosesDialog({ isOpen, onOpenChange, ...props }: ClosesDialogProps) {
  return (
    <DialogTrigger {...{ isOpen, onOpenChange }}>
      <Button>Close months…</Button>
      <ModalDialog title="Close months">{(close) => <Closes {...props} onDone={close} />}</ModalDialog>
    </DialogTrigger>
  );
}

interface Outcome {
  readonly text: string;
  readonly isFault: boolean;
  readonly months?: ClosedMonths;
}

/** A refusal in the words of the person: dates as elsewhere on the page, and no name of an argument. */
function toFault(error: unknown): Outcome {
  if (error instanceof GatewayError && error.code === 'PRIVILEGE_NOT_FOUND')
    return { text: 'You may not close or reopen months any more. Ask your administrator for the right.', isFault: true };
  const { format } = createCellFormat(navigator.languages);
  const text = (error as Error).message
    .replace(/^(through|note|reason): /, '')
    .replace(/\b\d{4}-\d\d-\d\d\b(?!T)/g, (date) => format(date, 'date'));
  return { text, isFault: true };
}

/** The first close of years reads all of them. The gateway gives it up when this page does. */
const CLOSING_MS = 3_600_000;

type ClosedMonths = ClosePeriodMutation['closePeriod']['close']['months'];

function Closes({ provision, now, timeZone, onDone }: ClosesProps & { readonly onDone: () => void }) {
  const [closes, setCloses] = useState<readonly Close[]>();
  const [outcome, setOutcome] = useState<Outcome>();
  /** The work that is under way, in words; undefined without any. */
  const [doing, setDoing] = useState<string>();
  const isBusy = doing !== undefined;
  const [reopened, setReopened] = useState<Close>();
  const { format } = createCellFormat(navigator.languages);
  const load = useCallback(() => fetchCloses(provision).then(setCloses), [provision]);
  useEffect(() => {
    load().catch((error: unknown) => setOutcome(toFault(error)));
  }, [load]);
  /** Changes the closes, and tells the outcome. The list is read again whatever the outcome is: a colleague may have changed it. */
  const change = async (words: string, work: () => Promise<Outcome>): Promise<void> => {
    // Enter sends a form whose button is pending.
    if (isBusy) return;
    setDoing(words);
    setOutcome(undefined);
    const result = await work().catch(toFault);
    await load().catch(() => undefined);
    // A close may be there although its answer was lost.
    tellClosesChanged();
    setOutcome(result);
    if (!result.isFault) setReopened(undefined);
    setDoing(undefined);
  };
  const close = (through: string, note: string): Promise<void> =>
    change('Closing… If the books are being changed, this waits for it.', async () => {
      const request = { query: closePeriodMutation, variables: { through, note } };
      const { closePeriod } = await askGateway<ClosePeriodMutation>(provision, request, undefined, CLOSING_MS);
      const { months } = closePeriod.close;
      return { text: `The books are closed through ${format(through, 'date')}.`, isFault: false, months };
    });
  const reopen = (through: string, reason: string): Promise<void> =>
    change('Reopening… If the books are being changed, this waits for it.', async () => {
      const request = { query: reopenPeriodMutation, variables: { through, reason } };
      const { reopenPeriod } = await askGateway<ReopenPeriodMutation>(provision, request, undefined, CLOSING_MS);
      const { closedThrough } = reopenPeriod;
      const left = closedThrough === null ? 'Nothing is closed now.' : `The books are closed through ${format(closedThrough, 'date')} now.`;
      return { text: `Reopened: ${reopenPeriod.reopened.map((date) => format(date, 'date')).join(', ')}. ${left}`, isFault: false };
    });
  const closedThrough = closes?.[0]?.through;
  return (
    <>
      <p>
        {closes && (closedThrough === undefined ? 'Nothing is closed yet.' : `Closed through ${format(closedThrough, 'date')}.`)} The money
        of closed months changes only by what an operator lets in, and then the report says so.
      </p>
      <p role={outcome?.isFault ? 'alert' : 'status'}>{doing ?? outcome?.text}</p>
      {outcome?.months && <MonthTable months={outcome.months} />}
      {reopened ? (
        <ReopenForm through={reopened.through} {...{ isBusy }} onReopen={reopen} onBack={() => setReopened(undefined)} />
      ) : (
        <>
          {closes && <CloseForm key={closedThrough} {...{ now, closedThrough, isBusy }} onClose={close} onDone={onDone} />}
          {closedThrough !== undefined && (
            <section aria-label="Closes in force">
              <ul className="close-list">
                {closes?.map((each) => (
                  <li key={each.version}>
                    <span>
                      Through {format(each.through, 'date')}, closed {format(each.closedAt, 'instant', timeZone)} ({timeZone})
                    </span>
                    <Button aria-label={`Reopen the close through ${format(each.through, 'date')}`} onPress={() => setReopened(each)}>
                      Reopen
                    </Button>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </>
      )}
    </>
  );
}

interface CloseFormProps {
  readonly now: Today;
  readonly closedThrough: string | undefined;
  readonly isBusy: boolean;
  readonly onClose: (through: string, note: string) => Promise<void>;
  readonly onDone: () => void;
}

/** Asks for the last day to close. It proposes the end of last month, where that is open. */
function CloseForm({ now, closedThrough = '', isBusy, onClose, onDone }: CloseFormProps) {
  const lastMonth = toPeriodDates('last-month', now).endDate;
  const [through, setThrough] = useState(lastMonth > closedThrough ? lastMonth : '');
  const [note, setNote] = useState('');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void onClose(through, note);
  };
  return (
    <form onSubmit={submit}>
      <TextField value={through} onChange={setThrough} type="date" isRequired autoFocus>
        <Label>Last day to close</Label>
        <Input />
        <Text slot="description">All months up to this day are closed, with their figures as they are now.</Text>
      </TextField>
      <TextField value={note} onChange={setNote} maxLength={MAX_TEXT} autoComplete="off">
        <Label>Note (optional)</Label>
        <Input placeholder="Booked on journal 118" />
      </TextField>
      <div className="dialog-buttons">
        <Button type="submit" className="main-button" isPending={isBusy}>
          Close the months
        </Button>
        <Button onPress={onDone}>Done</Button>
      </div>
    </form>
  );
}

interface ReopenFormProps {
  readonly through: string;
  readonly isBusy: boolean;
  readonly onReopen: (through: string, reason: string) => Promise<void>;
  readonly onBack: () => void;
}

function ReopenForm({ through, isBusy, onReopen, onBack }: ReopenFormProps) {
  const [reason, setReason] = useState('');
  const { format } = createCellFormat(navigator.languages);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void onReopen(through, reason);
  };
  return (
    <form onSubmit={submit}>
      <p>
        The close through {format(through, 'date')} and every later one are reopened: their money can change again, and nothing of it is
        late any more. The figures that they kept stay.
      </p>
      <TextField value={reason} onChange={setReason} maxLength={MAX_TEXT} isRequired autoFocus autoComplete="off">
        <Label>Reason, which is kept with the close</Label>
        <Input />
      </TextField>
      <div className="dialog-buttons">
        <Button type="submit" className="main-button" isPending={isBusy}>
          Reopen
        </Button>
        <Button onPress={onBack}>Back</Button>
      </div>
    </form>
  );
}

const MAX_TEXT = 1000;

function MonthTable({ months }: { readonly months: ClosedMonths }) {
  const { format } = createCellFormat(navigator.languages);
  if (months.length === 0) return <p>No line has such a date.</p>;
  return (
    <table className="close-months" aria-label="Closed months">
      <thead>
        <tr>
          <th scope="col">Days</th>
          <th scope="col">Gifts</th>
          <th scope="col">Received</th>
        </tr>
      </thead>
      <tbody>
        {months.map(({ startDate, endDate, transactions, transactionAmount }) => (
          <tr key={startDate}>
            <th scope="row">
              {format(startDate, 'date')} – {format(endDate, 'date')}
            </th>
            <td>{format(transactions, 'count')}</td>
            <td>{format(transactionAmount, 'money')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
