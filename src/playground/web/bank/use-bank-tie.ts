import { useCallback, useEffect, useMemo, useState } from 'react';
import { useErrorBoundary } from 'react-error-boundary';
import type { HistoryQuery } from '../../../generated/operations/graphql';
import historyQuery from '../queries/history.graphql?raw';
import type { TableClient } from '../rows/table-client';
import { askGateway } from '../session/gateway-client';
import type { KeptTable, LoadedTable, RowSource, TableColumn } from '../values/table-types';
import type { BankClient } from './bank-client';
import type { BankTie, DaySpan, TiedPlaces } from './bank-match';
import type { TieChoices } from './statement-form';
import type { TableHead } from './table-columns';
import {
  centsOf,
  findChanges,
  keepByHand,
  toDeposits,
  toLists,
  type BookedDeposit,
  type ListName,
  type TieInput,
  type TieList,
} from './tie-lists';

/** The report whose deposits are tied. */
export interface TiedReport {
  readonly provision: string;
  /** The tables of the report. */
  readonly client: TableClient;
  readonly table: LoadedTable;
  /** The columns that the table was loaded with. */
  readonly columns: readonly TableColumn[];
  /** Where the rows of the same report come from, of the newest books. */
  readonly source: RowSource;
  /** The choices of the report, as an address: deposits of others are other deposits. */
  readonly address: string;
  /** The days of the deposits. */
  readonly period: DaySpan;
  /** True for a report of a past state, which never changes. */
  readonly isPast: boolean;
}

/** A statement, what it is tied to, and what was chosen. It outlives the results of the report, whose version it pins. */
export interface PinnedTie extends TieInput {
  readonly fileName: string;
  readonly address: string;
  readonly period: DaySpan;
  readonly byHand: readonly TiedPlaces[];
}

/** A file as somebody chose it. */
export interface ChosenFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The head of a table, by which its columns are chosen. */
  readonly head?: TableHead;
}

/** The whole tie, with what it was made of, while the page shows something else. */
export interface KeptTie {
  readonly pinned: PinnedTie | undefined;
  readonly file: ChosenFile | undefined;
  readonly choices: TieChoices;
}

interface NewerBooks {
  readonly version: number;
  readonly deposits: readonly BookedDeposit[];
}

/** A list with its rows in a table. */
export interface ShownList extends TieList {
  readonly table: KeptTable;
}

interface ShownTie {
  readonly of: PinnedTie;
  readonly tie: BankTie;
}

/** The deposits of the report as its table has them. */
export const readDeposits = async ({
  client,
  table,
  columns,
}: Pick<TiedReport, 'client' | 'table' | 'columns'>): Promise<BookedDeposit[]> =>
  toDeposits(columns, await client.loadedRows(table.id, 0, table.count));

const NO_CHANGES: ReadonlyMap<string, string> = new Map();

/** Ties a statement and keeps its lists as tables. Looks for newer books whenever somebody comes back to the page. */
export function useBankTie(
  pinned: PinnedTie | undefined,
  setPinned: (pinned: PinnedTie) => void,
  { bank, tables, report }: { readonly bank: BankClient; readonly tables: TableClient; readonly report: TiedReport },
) {
  const { showBoundary } = useErrorBoundary();
  const [shown, setShown] = useState<ShownTie>();
  const [newer, setNewer] = useState<NewerBooks>();
  const [lists, setLists] = useState<{ readonly of: ShownTie; readonly lists: Readonly<Record<ListName, ShownList>> }>();

  useEffect(() => {
    if (!pinned) return undefined;
    let isGone = false;
    const { statement, deposits, amount, days, lineDate, byHand, period } = pinned;
    const own = deposits.map((deposit) => ({ date: deposit.date, cents: centsOf(deposit, amount) }));
    bank.match(statement.lines, own, { days, lineDate, byHand, period }).then((tie) => {
      if (!isGone) setShown({ of: pinned, tie });
    }, showBoundary);
    return () => {
      isGone = true;
    };
  }, [bank, pinned, showBoundary]);

  // Deposits of another period are other ones. Ties that somebody made stay where all of their deposits do.
  const { address, provision, source, columns, isPast } = report;
  useEffect(() => {
    if (!pinned || pinned.address === address) return;
    readDeposits(report).then((deposits) => {
      const now = { ...pinned, address, period: report.period, deposits, version: report.table.version };
      setPinned({ ...now, byHand: keepByHand(pinned.byHand, pinned, now) });
      setNewer(undefined);
    }, showBoundary);
  }, [pinned, address, report, setPinned, showBoundary]);

  const known = newer?.version ?? pinned?.version;
  const isPinned = pinned?.address === address;
  useEffect(() => {
    if (known === undefined || isPast || !isPinned) return undefined;
    let isGone = false;
    const look = async (): Promise<NewerBooks | undefined> => {
      const { history } = await askGateway<HistoryQuery>(provision, { query: historyQuery });
      if ((history?.latest.number ?? 0) <= known) return undefined;
      const table = await tables.load({ provision, source, columns }, () => undefined);
      const deposits = await readDeposits({ client: tables, table, columns });
      void tables.drop(table.id);
      return { version: table.version, deposits };
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
  }, [known, isPast, isPinned, provision, source, columns, tables, report.table.version]);

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
  return {
    shown: lists?.of,
    tie: isCurrent ? lists.of.tie : undefined,
    lists: lists?.lists,
    changes,
    newerVersion: newer?.version,
    tieAgain,
  };
}
