import { useEffect, useState } from 'react';
import { createCellFormat } from '../values/cell-format';
import { fetchTotals, type LineTotals, type ReportQuery } from '../files/file-url';

interface TotalsBarProps {
  readonly provision: string;
  /** The query whose answer is shown; undefined before the first answer. */
  readonly shown: ReportQuery | undefined;
}

interface Found {
  readonly of: ReportQuery;
  /** Undefined when the query asks for no lines. */
  readonly totals?: LineTotals | undefined;
  readonly problem?: string;
}

const NOTHING: Omit<Found, 'of'> = {};

/** Shows the totals of all lines of the query, not only of the page that it asks for. */
export function TotalsBar({ provision, shown }: TotalsBarProps) {
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    if (!shown) return undefined;
    const unwanted = new AbortController();
    fetchTotals(provision, shown, unwanted.signal).then(
      (totals) => unwanted.signal.aborted || setFound({ of: shown, totals }),
      (error: unknown) => unwanted.signal.aborted || setFound({ of: shown, problem: (error as Error).message }),
    );
    // The abort stops the adding up in the gateway too.
    return () => unwanted.abort();
  }, [provision, shown]);

  // The totals of another query are never shown.
  const { totals, problem } = found && found.of === shown ? found : NOTHING;
  if (problem !== undefined) return <p role="alert">The totals could not be added up: {problem}</p>;
  if (!totals) return null;
  const { lines, transactions, deposits, splitTransactions, byLine, byTransaction, byAllocation } = totals;
  const differ = byLine.amount !== byTransaction.amount;
  return (
    <section className="totals" aria-label="Totals of all lines">
      <dl>
        <Figure name="Lines" value={toCount(lines)} />
        <Figure name="Transactions" value={toCount(transactions)} />
        <Figure name="Deposits" value={toCount(deposits)} />
        <Figure name="Amount by transaction" value={toAmount(byTransaction.amount)} />
        <Figure name="Amount by line" value={toAmount(byLine.amount)} />
        <Figure name="Amount by allocation" value={formatShares(byAllocation)} />
      </dl>
      {splitTransactions > 0 && (
        <p className="totals-warning" role="note">
          {toCount(splitTransactions)} {splitTransactions === 1 ? 'gift is' : 'gifts are'} split over several lines, and each line repeats
          the whole gift.{differ && ' Do not add up the lines: the amount by transaction counts each gift once.'}
        </p>
      )}
    </section>
  );
}

const toCount = (count: number): string => createCellFormat(navigator.languages).format(count, 'count');
const toAmount = (amount: string | null): string => createCellFormat(navigator.languages).format(amount, 'money');

function formatShares({ amount, unknown }: LineTotals['byAllocation']): string {
  // When no share is known the amount already reads “unknown”, and needs no count.
  const isPart = amount !== null && unknown > 0;
  return isPart ? `${toAmount(amount)} (${toCount(unknown)} unknown)` : toAmount(amount);
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
