import { useEffect, useState } from 'react';
import { Button, DialogTrigger } from 'react-aria-components';
import { journalLayouts, type JournalLayout } from '../../../values/journal-layouts';
import { download, saveFile } from '../files/download';
import saveAccountsMutation from '../queries/save-journal-accounts.graphql?raw';
import { askGateway } from '../session/gateway-client';
import { createCellFormat } from '../values/cell-format';
import { JournalAccountsForm } from './journal-accounts-form';
import {
  fetchAccounts,
  fetchTakenJournals,
  layoutTitles,
  toJournalAddress,
  type Accounts,
  type JournalChoices,
  type TakenJournal,
} from './journal-choices';
import { ModalDialog } from './modal-dialog';

interface JournalProps {
  readonly provision: string;
  readonly startDate: string;
  readonly endDate: string;
  /** The past state of the report, as an address has it; undefined for the newest one. */
  readonly asOf: string | undefined;
  /** The time zone in which files are dated. */
  readonly timeZone: string;
  /** True for those who may change the accounts. */
  readonly mayChange: boolean;
}

/** A button, and the dialog in which the deposits of a period are taken as entries for an accounting program. */
export function JournalDialog(props: JournalProps) {
  return (
    <DialogTrigger>
      <Button>Journal…</Button>
      <ModalDialog title="Journal for your accounting program" isWide>
        {(close) => <Journal {...props} onDone={close} />}
      </ModalDialog>
    </DialogTrigger>
  );
}

interface Outcome {
  readonly text: string;
  readonly isFault: boolean;
}

const toFault = (error: unknown): Outcome => ({ text: (error as Error).message, isFault: true });
const NOTHING: Outcome = { text: '', isFault: false };

function Journal({ provision, startDate, endDate, asOf, timeZone, mayChange, onDone }: JournalProps & { readonly onDone: () => void }) {
  const [choices, setChoices] = useState<JournalChoices>({ layout: 'plain', since: '', taxRate: 'Tax Exempt', journalId: 'GJ' });
  const [accounts, setAccounts] = useState<Accounts>();
  const [saved, setSaved] = useState<Accounts>();
  const [taken, setTaken] = useState<readonly TakenJournal[]>([]);
  const [outcome, setOutcome] = useState(NOTHING);
  const [isBusy, setIsBusy] = useState(false);
  const { format } = createCellFormat(navigator.languages);
  useEffect(() => {
    fetchAccounts(provision).then(
      (found) => {
        setAccounts(found);
        setSaved(found);
      },
      (error: unknown) => setOutcome(toFault(error)),
    );
    // Without the list, all deposits can still be taken.
    fetchTakenJournals(provision).then(setTaken, () => undefined);
  }, [provision]);
  const run = async (work: () => Promise<Outcome>): Promise<void> => {
    if (isBusy) return;
    setIsBusy(true);
    setOutcome(NOTHING);
    setOutcome(await work().catch(toFault));
    setIsBusy(false);
  };
  const save = (changed: Accounts): Promise<void> =>
    run(async () => {
      const funds = changed.funds.flatMap(({ designationId, account }) => (account.trim() === '' ? [] : [{ designationId, account }]));
      await askGateway(provision, { query: saveAccountsMutation, variables: { input: { bank: changed.bank, fees: changed.fees, funds } } });
      setSaved(changed);
      return { text: 'The accounts are saved for all of your organization.', isFault: false };
    });
  const take = (): Promise<void> =>
    run(async () => {
      const file = await download(toJournalAddress({ startDate, endDate, asOf }, choices), {
        ...{ provision, format: 'csv', hasBom: false, signal: AbortSignal.timeout(TIMEOUT_MS) },
        countRows: () => Promise.resolve(undefined),
        onProgress: () => undefined,
      });
      if (file.rows === 0) return { text: 'Nothing has to be booked: no deposit of the period is new or has changed.', isFault: false };
      saveFile(file);
      // The new file is the one to go on from next time.
      setTaken(await fetchTakenJournals(provision).catch(() => taken));
      return { text: `${file.name} has ${format(file.rows, 'count')} rows, checked against the receipt of the gateway.`, isFault: false };
    });
  const { layout, since, taxRate, journalId } = choices;
  const isUnsaved = accounts !== saved;
  const text = (label: string, value: string, name: 'taxRate' | 'journalId') => (
    <label>
      {label}
      <input value={value} maxLength={100} onChange={({ target }) => setChoices({ ...choices, [name]: target.value })} />
    </label>
  );
  return (
    <>
      <p>
        Each posted deposit of {format(startDate, 'date')} – {format(endDate, 'date')} debits the bank and the fees, and credits the
        accounts of its funds. Conditions of the report do not count here.
      </p>
      <div className="journal-choices">
        <label>
          Columns for
          <select value={layout} autoFocus onChange={({ target }) => setChoices({ ...choices, layout: target.value as JournalLayout })}>
            {journalLayouts.map((name) => (
              <option key={name} value={name}>
                {layoutTitles[name]}
              </option>
            ))}
          </select>
        </label>
        <label>
          Entries
          <select value={since} onChange={({ target }) => setChoices({ ...choices, since: target.value })}>
            <option value="">All deposits</option>
            {taken.map((journal) => (
              <option key={JSON.stringify(journal)} value={String(journal.version)}>
                What changed since the journal of {format(journal.startedAt, 'instant', timeZone)}, {format(journal.startDate, 'date')} –{' '}
                {format(journal.endDate, 'date')} (change {format(journal.version, 'count')})
              </option>
            ))}
          </select>
        </label>
        {layout === 'xero' && text('Tax rate', taxRate, 'taxRate')}
        {layout === 'sage' && text('Journal', journalId, 'journalId')}
      </div>
      {accounts && <JournalAccountsForm {...{ accounts, mayChange, isBusy }} onChange={setAccounts} onSave={() => void save(accounts)} />}
      <p role={outcome.isFault ? 'alert' : 'status'}>{isBusy ? 'One moment…' : outcome.text}</p>
      {isUnsaved && <p>The accounts have changes that are not saved.</p>}
      <div className="dialog-buttons">
        <Button className="main-button" isPending={isBusy} isDisabled={isUnsaved || !accounts} onPress={() => void take()}>
          Download journal
        </Button>
        <Button onPress={onDone}>Done</Button>
      </div>
    </>
  );
}

const TIMEOUT_MS = 600_000;
