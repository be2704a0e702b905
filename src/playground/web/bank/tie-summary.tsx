import { createCellFormat } from '../values/cell-format';
import type { BankTie } from './bank-match';
import { sumOf, writeCents } from './bank-statement';
import { count, OUTSIDE, sumDeposits, toParts } from './tie-lists';
import type { PinnedTie } from './use-bank-tie';

interface TieSummaryProps {
  readonly pinned: PinnedTie;
  readonly tie: BankTie;
  readonly currency: string | null | undefined;
  /** What has become of matched deposits since, by their numbers. */
  readonly changes: ReadonlyMap<string, string>;
  readonly newerVersion: number | undefined;
  /** The data version of the report above, which may have been made before the deposits were read. */
  readonly reportVersion: number;
  readonly onTieAgain: () => void;
}

/** The line that is always true: the parts of the statement and their sum. Below it, the same of the deposits, and what has changed since. */
export function TieSummary({ pinned, tie, currency, changes, newerVersion, reportVersion, onTieAgain }: TieSummaryProps) {
  const { statement, version } = pinned;
  const { format } = createCellFormat(navigator.languages, statement.currency ?? currency);
  const write = (cents: bigint): string => format(writeCents(cents), 'money');
  const { from, to, opening, closing, lines, account, notes } = statement;
  const [matched, ...rest] = toParts(tie, statement);
  const { matched: own, here, outside } = sumDeposits(tie, pinned);
  const span = `${format(from, 'date')} to ${format(to, 'date')}`;
  const balances = opening === undefined || closing === undefined ? '' : `: from ${write(opening)} to ${write(closing)}`;
  return (
    <div className="bank-summary">
      <p className="bank-truth">
        <strong>
          Matched {write(matched!.cents)} ({count(matched!.lines, 'line')})
        </strong>
        {rest.map(({ name, cents, lines: left }) => (
          <span key={name}>
            {' '}
            {cents < 0n ? '−' : '+'} {name} {write(cents < 0n ? -cents : cents)} ({count(left, 'line')})
          </span>
        ))}{' '}
        <strong>= {write(sumOf(lines))}</strong>, what the statement moves{balances}.
      </p>
      <p>
        Deposits: matched {write(own.cents)} ({own.count}) + only here {write(here.cents)} ({here.count}) = {write(own.cents + here.cents)}{' '}
        of the report, books of version {version}.
        {reportVersion < version && ` The report above is of version ${String(reportVersion)}: run it again.`}
        {outside.count > 0 && ` Matched ${OUTSIDE}: ${write(outside.cents)} (${String(outside.count)}).`}{' '}
        {account === '' ? '' : `Account ${account}, `}
        {span}. {notes.join(' ')}
      </p>
      {newerVersion !== undefined && (
        <p className="problem" role="alert">
          {changes.size === 0
            ? `The books are of version ${String(newerVersion)} now. No matched deposit has changed.`
            : `Stale: ${changes.size === 1 ? '1 matched deposit has' : `${String(changes.size)} matched deposits have`} changed since version ${String(version)}; the books are of version ${String(newerVersion)} now. ${describe(changes)}`}{' '}
          <button type="button" onClick={onTieAgain}>
            Tie again
          </button>
        </p>
      )}
    </div>
  );
}

const MOST_TOLD = 3;

const describe = (changes: ReadonlyMap<string, string>): string => {
  const told = [...changes].slice(0, MOST_TOLD).map(([id, change]) => `${id}: ${change}.`);
  return [...told, ...(changes.size > MOST_TOLD ? ['The list has the others.'] : [])].join(' ');
};
