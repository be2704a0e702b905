import { useEffect, useMemo, useRef, useState } from 'react';
import { Tab, TabList, TabPanel, Tabs, type Key } from 'react-aria-components';
import { saveFile } from '../files/download';
import { useTableClient } from '../rows/table-client';
import { DataTable } from '../tables/data-table';
import type { Row } from '../values/table-types';
import { useBankClient } from './bank-client';
import { ColumnsDialog } from './columns-dialog';
import { DEMO_ORGANIZATION, writeDemoStatement } from './demo-statement';
import { HandDialog } from './hand-dialog';
import { StatementForm, type TieChoices } from './statement-form';
import { keepColumns, readKeptColumns, type TableColumns } from './table-columns';
import { TieSummary } from './tie-summary';
import { hasSameLines, keepByHand, listTitles, toFacts, type ListName } from './tie-lists';
import { useBankTie, type ChosenFile, type KeptTie, type TiedReport } from './use-bank-tie';

interface BankPanelProps {
  readonly report: TiedReport;
  readonly organization: string;
  /** The currency of the organization, which a statement must have. */
  readonly currency: string | null | undefined;
  /** Holds the tie while the results of the report change. */
  readonly kept: { current: KeptTie | undefined };
  /** The name of the report's files, without what they end in. */
  readonly fileName: string;
}

interface ColumnsQuestion {
  readonly columns: TableColumns | undefined;
  readonly fault: string | undefined;
}

const READING = 'Reading the deposits of the report…';

/** Ties the deposits of the report to a statement of the bank. The file is read in this browser. */
export default function BankPanel({ report, organization, currency, kept, fileName }: BankPanelProps) {
  const bank = useBankClient();
  const tables = useTableClient(report.provision);
  const [pinned, setPinned] = useState(kept.current?.pinned);
  const [choices, setChoices] = useState<TieChoices>(
    kept.current?.choices ?? { account: '', amount: 'net', days: 3, lineDate: 'bookedOn' },
  );
  const [file, setFile] = useState<ChosenFile | undefined>(kept.current?.file);
  useEffect(() => {
    kept.current = { pinned, file, choices };
  }, [kept, pinned, file, choices]);
  // A choice made while a file is read counts, and of two files the one that was chosen last.
  const latest = useRef({ choices, reading: 0, isFinding: false, readFor: choices.account });
  const [list, setList] = useState<Key>('matched');
  const tabs = useRef<HTMLDivElement>(null);
  const [question, setQuestion] = useState<ColumnsQuestion>();
  const [first, setFirst] = useState<{ readonly side: 'lines' | 'deposits'; readonly place: number }>();
  const [message, setMessage] = useState({ text: '', isFault: false });
  const { readBooks, isOther, failure, tryAgain, shown, tie, lists, changes, newerVersion, tieAgain } = useBankTie(pinned, setPinned, {
    bank,
    tables,
    report,
  });

  // A list that takes the place of another one takes the focus with it.
  useEffect(() => {
    if (document.activeElement === document.body) tabs.current?.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus();
  }, [lists]);

  const read = async (chosen: ChosenFile, account: string, isLast: () => boolean, columns?: TableColumns): Promise<void> => {
    latest.current.readFor = account;
    const found = await bank.read(chosen.bytes, { account, currency: currency ?? undefined, columns });
    if (!isLast()) return;
    if (found.kind === 'table') {
      const { head } = found;
      const known = chosen.columns ?? readKeptColumns(head);
      setFile({ ...chosen, head });
      if (known) await read({ ...chosen, head }, account, isLast, known);
      else setQuestion({ columns: undefined, fault: undefined });
      return;
    }
    if (found.kind === 'refused') {
      if (chosen.head) setQuestion({ columns, fault: found.reason });
      // The tie that was there stays: somebody may have matched by hand.
      else setMessage({ text: `${chosen.name} is refused. ${found.reason}`, isFault: true });
      return;
    }
    if (chosen.head && columns) {
      keepColumns(chosen.head, columns);
      setFile({ ...chosen, columns });
    }
    setQuestion(undefined);
    const { statement } = found;
    setMessage({ text: READING, isFault: false });
    const books = await readBooks();
    if (!isLast()) return;
    const { amount, days, lineDate } = latest.current.choices;
    const now = { ...books, statement, fileName: chosen.name, address: report.address, amount, days, lineDate };
    setPinned((before) => ({ ...now, byHand: before && hasSameLines(before, now) ? keepByHand(before.byHand, before, now) : [] }));
    setMessage({ text: `${chosen.name} was read.`, isFault: false });
  };
  const tryTo = (run: () => Promise<void>): void => {
    setMessage({ text: '', isFault: false });
    run().catch((error: unknown) => setMessage({ text: (error as Error).message, isFault: true }));
  };
  const startReading = (run: (isLast: () => boolean) => Promise<void>): void => {
    const reading = ++latest.current.reading;
    const isLast = (): boolean => latest.current.reading === reading;
    tryTo(() =>
      run(isLast).catch((error: unknown) => {
        if (isLast()) throw error;
      }),
    );
  };
  const startFile = (find: () => Promise<ChosenFile>): void =>
    startReading(async (isLast) => {
      latest.current.isFinding = true;
      const next = await find()
        .finally(() => {
          if (isLast()) latest.current.isFinding = false;
        })
        .catch(async (error: unknown) => {
          // The file of before stays, and is read for the account that was chosen meanwhile.
          const { account } = latest.current.choices;
          if (file && account !== latest.current.readFor && isLast()) await read(file, account, isLast);
          throw error;
        });
      if (!isLast()) return;
      setFile(next);
      await read(next, latest.current.choices.account, isLast);
    });
  const choose = (chosen: File): void => startFile(async () => ({ name: chosen.name, bytes: new Uint8Array(await chosen.arrayBuffer()) }));
  const tryDemo = (): void =>
    startFile(async () => {
      const text = writeDemoStatement((await readBooks()).deposits, currency ?? 'USD');
      return { name: 'demo-statement.xml', bytes: new TextEncoder().encode(text) };
    });
  const change = (next: TieChoices): void => {
    latest.current.choices = next;
    setChoices(next);
    const { amount, days, lineDate } = next;
    if (pinned) {
      const now = { ...pinned, amount, days, lineDate };
      // Sums of one amount need not be equal in the other one.
      setPinned({ ...now, byHand: keepByHand(pinned.byHand, pinned, now) });
    }
    // A file that is being fetched is read for the account that is chosen by then.
    if (file && next.account !== choices.account && !latest.current.isFinding) startReading((isLast) => read(file, next.account, isLast));
  };
  const save = (): void =>
    tryTo(async () => {
      if (!tie || !lists || !pinned) return;
      const sheets = (Object.keys(listTitles) as ListName[]).map((name) => {
        const { columns, rows } = lists[name];
        // The last column is a place for the page alone.
        return { sheet: listTitles[name], columns: columns.slice(0, -1), rows: [rows.map((row) => row.slice(0, -1))] };
      });
      const content = await bank.write(sheets, { title: 'Bank tie-out', facts: toFacts(tie, pinned, pinned.fileName) });
      const name = `${fileName}-statement.xlsx`;
      saveFile({ name, content });
      setMessage({ text: `The lists are in ${name}.`, isFault: false });
    });
  const equal = tie?.unclear.filter(({ isWhole, isEdge }) => isWhole && !isEdge) ?? [];
  const open = useMemo(() => {
    const placeOf = (row: Row): number => Number(row.at(-1));
    return {
      bank: (row: Row) => setFirst({ side: 'lines', place: placeOf(row) }),
      here: (row: Row) => setFirst({ side: 'deposits', place: placeOf(row) }),
      matched: (row: Row) => {
        const group = tie?.groups[placeOf(row)];
        if (pinned && group?.kind === 'hand')
          setPinned({ ...pinned, byHand: pinned.byHand.filter(({ lines }) => lines[0] !== group.lines[0]) });
      },
    };
  }, [tie, pinned]);
  const nameRow = useMemo(() => {
    const named = (row: Row): string => `${String(row[0])}: match by hand`;
    const undo = (row: Row): string | undefined =>
      shown?.tie.groups[Number(row.at(-1))]?.kind === 'hand' ? `match ${String(row[0])}: take it apart` : undefined;
    return { bank: named, here: named, matched: undo };
  }, [shown]);
  return (
    <div className="bank-panel">
      <StatementForm {...{ choices }} fileName={pinned?.fileName} onChoose={choose} onChange={change}>
        {organization === DEMO_ORGANIZATION && !pinned && (
          <button type="button" onClick={tryDemo}>
            Try an invented statement
          </button>
        )}
        {file?.head && (
          <button type="button" onClick={() => setQuestion({ columns: file.columns ?? readKeptColumns(file.head!), fault: undefined })}>
            Columns…
          </button>
        )}
        {equal.length > 0 && pinned && (
          <button type="button" onClick={() => setPinned({ ...pinned, byHand: [...pinned.byHand, ...equal] })}>
            Match equal groups ({equal.length})
          </button>
        )}
        {lists && (
          <button type="button" onClick={save}>
            Download spreadsheet
          </button>
        )}
      </StatementForm>
      <p className="problem" role="alert">
        {message.isFault && message.text}
        {failure !== undefined && (
          <>
            {message.isFault && ' '}
            {failure}{' '}
            <button type="button" onClick={tryAgain}>
              Try again
            </button>
          </>
        )}
      </p>
      <p role="status" className={pinned && !isOther ? 'hidden-text' : undefined}>
        {isOther ? failure === undefined && READING : !message.isFault && message.text}
      </p>
      {pinned && shown && (
        <TieSummary
          {...{ currency, changes, newerVersion }}
          reportVersion={report.version}
          pinned={shown.of}
          tie={shown.tie}
          onTieAgain={tieAgain}
        />
      )}
      {lists && (
        <Tabs ref={tabs} className="views bank-lists" selectedKey={list} onSelectionChange={setList}>
          <TabList aria-label="Lists" className="view-tabs">
            {(Object.entries(listTitles) as [ListName, string][]).map(([name, title]) => (
              <Tab key={name} id={name}>
                {title} ({name === 'matched' ? (shown?.tie.groups.length ?? 0) : lists[name].rows.length})
              </Tab>
            ))}
          </TabList>
          {(Object.entries(listTitles) as [ListName, string][]).map(([name, title]) => (
            <TabPanel key={name} id={name} className="view">
              <DataTable
                key={lists[name].table.id}
                client={tables}
                table={lists[name].table}
                columns={lists[name].columns}
                label={title}
                onOpenRow={open[name]}
                toRowName={nameRow[name]}
              />
            </TabPanel>
          ))}
        </Tabs>
      )}
      {question && file?.head && (
        <ColumnsDialog
          key={question.fault}
          head={file.head}
          {...question}
          onChoose={(columns) => startReading((isLast) => read(file, choices.account, isLast, columns))}
          onClose={() => setQuestion(undefined)}
        />
      )}
      {first && tie && pinned && (
        <HandDialog
          {...{ first, tie }}
          input={pinned}
          currency={pinned.statement.currency ?? currency}
          onTie={(group) => {
            setPinned({ ...pinned, byHand: [...pinned.byHand, group] });
            setFirst(undefined);
          }}
          onClose={() => setFirst(undefined)}
        />
      )}
    </div>
  );
}
