import { useEffect, useState } from 'react';
import { formatAmount, formatCount } from './figures';
import { fetchTotals, type LineTotals, type ReportQuery } from './report-file';

interface TotalsBarProps {
  readonly provision: string;
  /** The query whose answer is shown; undefined before the first. */
  readonly shown: ReportQuery | undefined;
}

interface Found {
  readonly of: ReportQuery;
  /** Undefined for a query that asks for no lines. */
  readonly totals?: LineTotals | undefined;
  readonly problem?: string;
}

const NOTHING: Omit<Found, 'of'> = {};

/** What all lines of the query that is shown add up to, whatever page of them it asks for. */
export function TotalsBar({ provision, shown }: TotalsBarProps) {
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    if (!shown) return undefined;
    const unwanted = new AbortController();
    fetchTotals(provision, shown, unwanted.signal).then(
      (totals) => unwanted.signal.aborted || setFound({ of: shown, totals }),
      (error: unknown) => unwanted.signal.aborted || setFound({ of: shown, problem: (error as Error).message }),
    );
    // The gateway adds up no longer what nobody waits for.
    return () => unwanted.abort();
  }, [provision, shown]);

  // Never the totals of another query.
  const { totals, problem } = found && found.of === shown ? found : NOTHING;
  if (problem !== undefined) return <p role="alert">The totals could not be added up: {problem}</p>;
  if (!totals) return null;
  const { lines, transactions, deposits, splitTransactions, byLine, byTransaction, byAllocation } = totals;
  const differ = byLine.amount !== byTransaction.amount;
  return (
    <section className="totals" aria-label="Totals of all lines">
      <dl>
        <Figure name="Lines" value={formatCount(lines)} />
        <Figure name="Transactions" value={formatCount(transactions)} />
        <Figure name="Deposits" value={formatCount(deposits)} />
        <Figure name="Amount by transaction" value={formatAmount(byTransaction.amount)} />
        <Figure name="by line" value={formatAmount(byLine.amount)} />
        <Figure name="by allocation" value={formatShares(byAllocation)} />
      </dl>
      {splitTransactions > 0 && (
        <p className="totals-warning" role="note">
          {formatCount(splitTransactions)} {splitTransactions === 1 ? 'gift is' : 'gifts are'} split over several lines, and each line
          repeats the whole gift{differ ? ': do not add up the lines, the money that came in is the amount by transaction.' : '.'}
        </p>
      )}
    </section>
  );
}

function formatShares({ amount, unknown }: LineTotals['byAllocation']): string {
  // A sum of nothing that is known needs no count of what it lacks.
  const isPart = amount !== null && unknown > 0;
  return isPart ? `${formatAmount(amount)} (${formatCount(unknown)} unknown)` : formatAmount(amount);
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
