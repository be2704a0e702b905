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
    let isWanted = true;
    fetchTotals(provision, shown).then(
      (totals) => isWanted && setFound({ of: shown, totals }),
      (error: unknown) => isWanted && setFound({ of: shown, problem: (error as Error).message }),
    );
    return () => {
      isWanted = false;
    };
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
        <Figure
          name="by allocation"
          value={`${formatAmount(byAllocation.amount)}${byAllocation.unknown > 0 ? ` (${formatCount(byAllocation.unknown)} unknown)` : ''}`}
        />
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

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
