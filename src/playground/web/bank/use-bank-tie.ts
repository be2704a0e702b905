import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useErrorBoundary } from 'react-error-boundary';
import type { HistoryQuery } from '../../../generated/operations/graphql';
import historyQuery from '../queries/history.graphql?raw';
import type { TableClient } from '../rows/table-client';
import { askGateway } from '../session/gateway-client';
import type { KeptTable, RowSource, TableColumn } from '../values/table-types';
import type { BankClient } from './bank-client';
import type { BankTie, TiedPlaces } from './bank-match';
import { toDeposits, widen, type BookedDeposits, type DaySpan } from './booked-deposits';
import type { TieChoices } from './statement-form';
import type { TableColumns, TableHead } from './table-columns';
import { centsOf, findChanges, keepByHand, toLists, type ListName, type TieInput, type TieList } from './tie-lists';

/** The report whose deposits are tied, of the newest books unless it is of a past state. */
export interface TiedReport {
  readonly provision: string;
  readonly columns: readonly TableColumn[];
  readonly source: Extract<RowSource, { kind: 'pages' }>;
  readonly period: DaySpan;
  /** The data version of the report on the page. */
  readonly version: number;
  /** The choices of the report, as an address: deposits of others are other deposits. */
  readonly address: string;
  /** True for a report of a past state, which never changes. */
  readonly isPast: boolean;
}

/** A statement, the deposits that it is tied to, and what was chosen. It outlives the results of the report. */
export interface PinnedTie extends TieInput {
  readonly fileName: string;
  readonly address: string;
  readonly byHand: readonly TiedPlaces[];
}

/** A file as somebody chose it. */
export interface ChosenFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The head of a table, by which its columns are chosen. */
  readonly head?: TableHead;
  /** The columns by which it was read. */
  readonly columns?: TableColumns;
}

/** The whole tie, with what it was made of, while the page shows something else. */
export interface KeptTie {
  readonly pinned: PinnedTie | undefined;
  readonly file: ChosenFile | undefined;
  readonly choices: TieChoices;
}

/** A list with its rows in a table. */
export interface ShownList extends TieList {
  readonly table: KeptTable;
}

interface ShownTie {
  readonly of: PinnedTie;
  readonly tie: BankTie;
}

/** The deposits that a statement is tied to: those of the report and of the days around it, of the same state of the books. */
async function readDeposits({ provision, columns, source, period, ...report }: TiedReport, tables: TableClient): Promise<BookedDeposits> {
  const known = widen(period);
  const variables = { ...source.variables, ...known };
  let table: number | undefined;
  try {
    // A long table is there before it is whole, also where it never becomes so.
    const { id, count, version } = await tables.load({ provision, columns, source: { ...source, variables } }, (progress) => {
      if ('table' in progress) table = progress.table.id;
    });
    table = id;
    const rows = await tables.loadedRows(id, 0, count);
    // The gateway tells the newest version of an answer, also where that is of a past state.
    return { version: report.isPast ? report.version : version, known, deposits: toDeposits(columns, rows, period) };
  } finally {
    if (table !== undefined) void tables.drop(table);
  }
}

const NO_CHANGES: ReadonlyMap<string, string> = new Map();

/** Ties a statement and keeps its lists as tables. Looks for newer books whenever somebody comes back to the page. */
export function useBankTie(
  pinned: PinnedTie | undefined,
  setPinned: (pinned: PinnedTie) => void,
  { bank, tables, report }: { readonly bank: BankClient; readonly tables: TableClient; readonly report: TiedReport },
) {
  const { showBoundary } = useErrorBoundary();
  const [shown, setShown] = useState<ShownTie>();
  const [newer, setNewer] = useState<BookedDeposits>();
  const [lists, setLists] = useState<{ readonly of: ShownTie; readonly lists: Readonly<Record<ListName, ShownList>> }>();

  useEffect(() => {
    if (!pinned) return undefined;
    let isGone = false;
    const { statement, deposits, amount, days, lineDate, byHand, known } = pinned;
    const own = deposits.map((deposit) => ({ date: deposit.date, cents: centsOf(deposit, amount) }));
    bank.match(statement.lines, own, { days, lineDate, byHand, known }).then((tie) => {
      if (!isGone) setShown({ of: pinned, tie });
    }, showBoundary);
    return () => {
      isGone = true;
    };
  }, [bank, pinned, showBoundary]);

  const reading = useRef<{ readonly of: TiedReport; readonly books: Promise<BookedDeposits> } | undefined>(undefined);
  // Whoever waits for the deposits of the report shares one reading: a second one would stop the first.
  const readBooks = useCallback((): Promise<BookedDeposits> => {
    if (pinned?.address === report.address) return Promise.resolve(pinned);
    if (reading.current?.of !== report) {
      const books = readDeposits(report, tables);
      reading.current = { of: report, books };
      books.catch(() => {
        if (reading.current?.of === report) reading.current = undefined;
      });
    }
    return reading.current.books;
  }, [pinned, report, tables]);

  const [failure, setFailure] = useState<{ readonly of: TiedReport; readonly message: string }>();
  // Deposits of another period are other ones. Ties that somebody made stay where all of their deposits do.
  const { address, provision, isPast } = report;
  useEffect(() => {
    if (!pinned || pinned.address === address || failure?.of === report) return undefined;
    let isGone = false;
    readBooks().then(
      (books) => {
        if (isGone) return;
        const now = { ...pinned, ...books, address };
        setPinned({ ...now, byHand: keepByHand(pinned.byHand, pinned, now) });
        setNewer(undefined);
      },
      (error: unknown) => {
        if (!isGone) setFailure({ of: report, message: (error as Error).message });
      },
    );
    return () => {
      isGone = true;
    };
  }, [pinned, address, failure, report, readBooks, setPinned]);

  const known = newer?.version ?? pinned?.version;
  const isPinned = pinned?.address === address;
  useEffect(() => {
    if (known === undefined || isPast || !isPinned) return undefined;
    let isGone = false;
    const look = async (): Promise<BookedDeposits | undefined> => {
      const { history } = await askGateway<HistoryQuery>(provision, { query: historyQuery });
      // A reading for a report that is gone would stop that of the next one.
      return isGone || (history?.latest.number ?? 0) <= known ? undefined : readDeposits(report, tables);
    };
    // What cannot be asked now is asked when somebody comes back: the page itself says that the session or the gateway is away.
    const begin = (): void =>
      void look().then(
        (found) => {
          if (found && !isGone) setNewer(found);
        },
        () => undefined,
      );
    begin();
    window.addEventListener('focus', begin);
    return () => {
      isGone = true;
      window.removeEventListener('focus', begin);
    };
  }, [known, isPast, isPinned, provision, report, tables]);

  const changes = useMemo(() => (shown && newer ? findChanges(shown.tie, shown.of.deposits, newer.deposits) : NO_CHANGES), [shown, newer]);
  useEffect(() => {
    if (!shown) return undefined;
    let isGone = false;
    const made = toLists(shown.tie, shown.of, changes);
    const keeping = Promise.all(
      (Object.entries(made) as [ListName, TieList][]).map(async ([name, list]) => {
        const shownList: ShownList = { ...list, table: await tables.keep(list.columns, list.rows) };
        return [name, shownList] as const;
      }),
    );
    keeping.then((kept) => {
      if (isGone) kept.forEach(([, { table }]) => void tables.drop(table.id));
      else setLists({ of: shown, lists: Object.fromEntries(kept) as Record<ListName, ShownList> });
    }, showBoundary);
    return () => {
      isGone = true;
    };
  }, [shown, changes, tables, showBoundary]);
  // Lists stay on the page until the next ones have taken their place.
  useEffect(() => () => lists && Object.values(lists.lists).forEach(({ table }) => void tables.drop(table.id)), [lists, tables]);

  const tieAgain = useCallback(() => {
    if (!pinned || !newer) return;
    const now = { ...pinned, ...newer };
    setPinned({ ...now, byHand: keepByHand(pinned.byHand, pinned, now) });
    setNewer(undefined);
  }, [pinned, newer, setPinned]);
  // Until the next lists are there, the former ones are shown and nothing is done with them.
  const isCurrent = lists !== undefined && lists.of === shown && shown.of === pinned;
  // A tie of other deposits than those of the report is not shown under it.
  const isOther = pinned !== undefined && !isPinned;
  return {
    readBooks,
    isOther,
    /** The reason why the deposits of the report are not there, until somebody tries again. */
    failure: isOther && failure?.of === report ? failure.message : undefined,
    tryAgain: () => setFailure(undefined),
    shown: isOther ? undefined : lists?.of,
    tie: isCurrent && !isOther ? lists.of.tie : undefined,
    lists: isOther ? undefined : lists?.lists,
    changes,
    newerVersion: newer?.version,
    tieAgain,
  };
}
