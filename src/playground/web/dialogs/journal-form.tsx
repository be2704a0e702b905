import { useCallback, useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import type { SaveJournalAccountsMutation } from '../../../generated/operations/graphql';
import { ALL_TIME } from '../../../values/dates';
import { journalLayouts, type JournalLayout } from '../../../values/journal-layouts';
import { download, saveFile } from '../files/download';
import saveAccountsMutation from '../queries/save-journal-accounts.graphql?raw';
import { askGateway, GatewayError } from '../session/gateway-client';
import { createCellFormat } from '../values/cell-format';
import { JournalAccountsForm } from './journal-accounts-form';
import {
  fetchAccounts,
  fetchTakenJournals,
  findMissing,
  isCovered,
  isOfPeriod,
  layoutTitles,
  toJournalAddress,
  type Accounts,
  type JournalChoices,
  type TakenJournal,
} from './journal-choices';
import type { JournalProps } from './journal-dialog';

interface Outcome {
  readonly text: string;
  readonly isFault: boolean;
}

const toFault = (error: unknown): Outcome => {
  const isConflict = error instanceof GatewayError && error.code === 'ACCOUNTS_CONFLICT';
  return { text: (error as Error).message + (isConflict ? '. Open this dialog again to see them.' : ''), isFault: true };
};
const NOTHING: Outcome = { text: '', isFault: false };

/** The choices of a journal and its accounts, and the button that takes it. */
export default function JournalForm({
  provision,
  startDate,
  endDate,
  asOf,
  timeZone,
  mayChange,
  onDone,
}: JournalProps & { readonly onDone: () => void }) {
  const [choices, setChoices] = useState<JournalChoices>({ layout: 'plain', booked: null, taxRate: 'Tax Exempt', journalId: 'GJ' });
  const [accounts, setAccounts] = useState<Accounts>();
  const [saved, setSaved] = useState<Accounts>();
  const [taken, setTaken] = useState<readonly TakenJournal[]>();
  const [isUnknown, setIsUnknown] = useState(false);
  const [outcome, setOutcome] = useState(NOTHING);
  const [isBusy, setIsBusy] = useState(false);
  const [asked, setAsked] = useState(0);
  const { format } = createCellFormat(navigator.languages);
  useEffect(() => {
    fetchAccounts(provision).then(
      (found) => {
        setAccounts(found);
        setSaved(found);
      },
      (error: unknown) => setOutcome(toFault(error)),
    );
  }, [provision]);
  // Without the list, nobody knows what was booked already.
  const readTaken = useCallback((): void => {
    setIsUnknown(false);
    fetchTakenJournals(provision).then(
      (found) => {
        setTaken(found);
        const same = found.find((journal) => isOfPeriod(journal, { startDate, endDate }));
        if (same) setChoices((chosen) => ({ ...chosen, booked: same }));
      },
      () => setIsUnknown(true),
    );
  }, [provision, startDate, endDate]);
  useEffect(readTaken, [readTaken]);
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
      const { number: replaces, bank, fees } = changed;
      const { saveJournalAccounts } = await askGateway<SaveJournalAccountsMutation>(provision, {
        query: saveAccountsMutation,
        variables: { input: { bank, fees, funds, replaces } },
      });
      const inForce = { ...changed, number: saveJournalAccounts.accounts.number };
      setAccounts(inForce);
      setSaved(inForce);
      return { text: 'The accounts are saved for all of your organization.', isFault: false };
    });
  const take = (): Promise<void> =>
    run(async () => {
      const file = await download(toJournalAddress({ startDate, endDate, asOf }, accounts?.number ?? null, choices), {
        ...{ provision, format: 'csv', hasBom: false, signal: AbortSignal.timeout(TIMEOUT_MS) },
        countRows: () => Promise.resolve(undefined),
        onProgress: () => undefined,
      });
      if (file.rows === 0) return { text: 'Nothing has to be booked: no deposit of the period is new or has changed.', isFault: false };
      saveFile(file);
      // The new file is the one to go on from next time.
      setTaken(await fetchTakenJournals(provision).catch(() => taken));
      const tooMany = choices.layout === 'xero' && file.rows > XERO_ROWS ? ` ${XERO_NOTE}` : '';
      const rows = `${format(file.rows, 'count')} ${file.rows === 1 ? 'row' : 'rows'}`;
      return { text: `${file.name} has ${rows}, checked against the receipt of the gateway.${tooMany}`, isFault: tooMany !== '' };
    });
  const { layout, booked, taxRate, journalId } = choices;
  const covered = taken?.filter((journal) => isCovered(journal, { startDate, endDate })) ?? [];
  // The chosen journal stays in the list, so that what is shown is what is sent.
  const listed = booked && !covered.some((journal) => keyOf(journal) === keyOf(booked)) ? [booked, ...covered] : covered;
  const isOtherPeriod = taken !== undefined && covered.length < taken.length;
  const isUnsaved = accounts !== saved;
  const missing = saved && findMissing(saved);
  const isReady = Boolean(accounts && taken) && !isUnsaved && !missing;
  const toRange = ({ startDate: first, endDate: last }: Pick<TakenJournal, 'startDate' | 'endDate'>): string =>
    first === ALL_TIME.startDate && last === ALL_TIME.endDate ? 'All time' : `${format(first, 'date')} – ${format(last, 'date')}`;
  const text = (label: string, value: string, name: 'taxRate' | 'journalId') => (
    <label>
      {label}
      <input value={value} maxLength={100} onChange={({ target }) => setChoices({ ...choices, [name]: target.value })} />
    </label>
  );
  return (
    <>
      <p>
        Each posted deposit of {toRange({ startDate, endDate })} debits the bank and the fees, and credits the accounts of its funds.
        Conditions of the report do not count here.
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
          <select
            value={booked ? listed.findIndex((journal) => keyOf(journal) === keyOf(booked)) : -1}
            onChange={({ target }) => setChoices({ ...choices, booked: listed[Number(target.value)] ?? null })}
          >
            <option value={-1}>All deposits{listed.length > 0 && ' (books everything again)'}</option>
            {listed.map((journal, at) => (
              <option key={keyOf(journal)} value={at}>
                What changed since the journal of {format(journal.startedAt, 'instant', timeZone)}, {toRange(journal)} (version{' '}
                {format(journal.version, 'count')})
              </option>
            ))}
          </select>
        </label>
        {layout === 'xero' && text('Tax rate', taxRate, 'taxRate')}
        {layout === 'sage' && text('Journal', journalId, 'journalId')}
      </div>
      {accounts && (
        <JournalAccountsForm
          {...{ accounts, mayChange, isBusy, asked }}
          isNext={isUnsaved || missing !== undefined}
          onChange={setAccounts}
          onSave={() => void save(accounts)}
        />
      )}
      {taken && !booked && (
        <p>
          Only journals that you took yourself, and whose state is kept, are listed. “All deposits” books again what others have booked.
        </p>
      )}
      {isOtherPeriod && <p>Journals with other days are not offered: choose a period that has all days that you booked.</p>}
      {isUnknown && (
        <p role="alert">
          The journals that you took before cannot be read, so that nobody knows what is booked already.{' '}
          <Button onPress={readTaken}>Try again</Button>
        </p>
      )}
      <p role={outcome.isFault ? 'alert' : 'status'}>{isBusy ? 'One moment…' : outcome.text}</p>
      {isUnsaved && <p>The accounts have changes that are not saved.</p>}
      {missing && !isUnsaved && (
        <p>
          {missing.text} {mayChange && <Button onPress={() => setAsked((before) => before + 1)}>Name the accounts</Button>}
        </p>
      )}
      <div className="dialog-buttons">
        <Button
          className={isReady ? 'main-button' : undefined}
          isPending={isBusy}
          isDisabled={isUnsaved || !accounts || !taken || missing?.isNone}
          onPress={() => void take()}
        >
          Download journal
        </Button>
        <Button onPress={onDone}>Done</Button>
      </div>
    </>
  );
}

const TIMEOUT_MS = 600_000;
/** The rows that Xero takes of one file. */
const XERO_ROWS = 300;
const XERO_NOTE = 'Xero takes 300 rows at a time: choose a shorter period.';
const keyOf = ({ startDate, endDate, place, accounts }: TakenJournal): string => JSON.stringify([startDate, endDate, place, accounts]);
