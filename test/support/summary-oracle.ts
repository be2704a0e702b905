import { depositBook, type BookLine } from './deposit-book';

/** A line with the parts of an address that lines are grouped by. */
export type SummaryLine = BookLine & { readonly city: string; readonly state: string };

const DAY_MS = 86_400_000;
const toDate = (time: number): string => new Date(time).toISOString().slice(0, 10);
/** The date as many times as far from the first day of 2024. */
const spread = (date: string, times: number): string => {
  const first = Date.parse('2024-01-01T00:00:00Z');
  return toDate(first + (Date.parse(`${date}T00:00:00Z`) - first) * times);
};
const pick = <Item>(items: readonly Item[], n: number): Item => items[n % items.length]!;

/** The lines of this many transactions over the whole of 2024. The shares of every other gift are unknown. */
export const summaryBook = (transactions: number): SummaryLine[] =>
  depositBook(transactions).map(({ allocation_amount, ...line }) => {
    const isUnsaid = Number(line.transaction_id.slice(1)) % 2 === 1;
    const { donor_id: donor } = line;
    return {
      ...line,
      deposit_date: spread(line.deposit_date, 13),
      city: donor === 0 ? '' : pick(['Bern', 'Ulm', 'Zürich'], donor),
      state: donor === 0 ? '' : pick(['IL', 'WI'], donor),
      ...(!isUnsaid && allocation_amount !== undefined && { allocation_amount }),
    };
  });

/** A donor's address, all of whose parts tell the donor. */
const addressOf = (donor: number) =>
  donor === 0
    ? { address1: '', address2: '', address3: '', zip: '', phone: '', email_address: '' }
    : {
        ...{ address1: `${donor} Main Street`, address2: donor % 3 === 0 ? `Apt ${donor}` : '', address3: '' },
        ...{ zip: String(62700 + donor), phone: `555-${1000 + donor}`, email_address: `donor${donor}@example.org` },
      };

/** A number from 0 to 1 that follows from the seed and the place, as if it were random. */
const randomAt = (seed: number, at: number): number => {
  const value = Math.sin(seed * 7919 + at * 104_729) * 43_758.5453;
  return value - Math.floor(value);
};

/** The lines of a book whose gifts are in any deposit and by any donor, so that donors give in some months alone. Donors have addresses. */
export function shuffledBook(transactions: number, seed: number): SummaryLine[] {
  const lines = summaryBook(transactions);
  const gifts = [...new Map(lines.map((line) => [line.transaction_id, line])).values()];
  return lines.map((line) => {
    const at = Number(line.transaction_id.slice(1));
    const [deposit, donor] = [seed, seed + 1].map((each) => gifts[Math.floor(randomAt(each, at) * gifts.length)]!) as [
      SummaryLine,
      SummaryLine,
    ];
    const { deposit_id, deposit_date, deposit_status } = deposit;
    const { donor_id, donor_first_name, donor_last_name, city, state } = donor;
    return {
      ...line,
      ...{ deposit_id, deposit_date, deposit_status },
      ...{ donor_id, donor_first_name, donor_last_name, city, state, ...addressOf(donor_id) },
    };
  });
}

export const toCents = (amount: string): number => Math.round(Number(amount) * 100);
export const toMoney = (cents: number): string => (cents / 100).toFixed(2);

type DateField = 'deposit_date' | 'transaction_date';

/** The first and the last date of lines. */
function boundsOf(lines: readonly BookLine[], field: DateField) {
  const dates = lines.map((line) => line[field]).sort();
  return { firstGift: dates[0] ?? null, lastGift: dates.at(-1) ?? null };
}

/** The figures of some of the lines, as a plain reading of the lines gives them. */
export function createOracle(book: readonly BookLine[]) {
  const linesOfGift = new Map(book.map(({ transaction_id: id }) => [id, book.filter(({ transaction_id }) => transaction_id === id)]));

  function totalsOf(lines: readonly BookLine[], date: DateField = 'deposit_date') {
    const transactions = new Map(lines.map((line) => [line.transaction_id, line]));
    const amounts = (of: readonly BookLine[]) => {
      const sum = (field: 'amount' | 'fee_amount' | 'net_amount') => toMoney(of.reduce((total, line) => total + toCents(line[field]), 0));
      return { amount: sum('amount'), feeAmount: sum('fee_amount'), netAmount: sum('net_amount') };
    };
    const known = lines.flatMap(({ allocation_amount }) => allocation_amount ?? []);
    const alone = lines.filter((line) => line.allocation_amount === undefined && linesOfGift.get(line.transaction_id)!.length === 1);
    const shares = [...known, ...alone.map(({ amount }) => amount)];
    const linesOf = (id: string) => lines.filter(({ transaction_id }) => transaction_id === id).length;
    return {
      lines: lines.length,
      transactions: transactions.size,
      deposits: new Set(lines.map(({ deposit_id }) => deposit_id)).size,
      donors: new Set(lines.map(({ donor_id }) => donor_id).filter((id) => id !== 0)).size,
      splitTransactions: [...transactions.keys()].filter((id) => linesOf(id) > 1).length,
      byLine: amounts(lines),
      byTransaction: amounts([...transactions.values()]),
      byAllocation: {
        amount: shares.length === 0 && lines.length > 0 ? null : toMoney(shares.reduce((total, share) => total + toCents(share), 0)),
        known: known.length,
        inferred: alone.length,
        unknown: lines.length - shares.length,
      },
      ...boundsOf(lines, date),
    };
  }

  const partsOf = (lines: readonly BookLine[]) => ({
    all: totalsOf(lines),
    posted: totalsOf(lines.filter(({ deposit_status }) => deposit_status === 'posted')),
    pending: totalsOf(lines.filter(({ deposit_status }) => deposit_status === 'pending')),
  });

  return { linesOfGift, totalsOf, partsOf };
}

const monday = (date: string): string => {
  const time = Date.parse(`${date}T00:00:00Z`);
  return toDate(time - ((new Date(time).getUTCDay() + 6) % 7) * DAY_MS);
};
/** The first day of the part of a year of so many months that a date is in, when years begin with a month. */
export function firstDay(date: string, months: number, fiscalYearStart = 1): string {
  const month = Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - fiscalYearStart;
  const first = month - (month % months) + fiscalYearStart - 1;
  return `${Math.floor(first / 12)}-${String((first % 12) + 1).padStart(2, '0')}-01`;
}

type GroupKey = Readonly<Record<string, unknown>>;

/** The key of a line's group, by the way of grouping. */
export const groupKeys: Readonly<Record<string, (line: SummaryLine) => GroupKey>> = {
  DAY: ({ deposit_date }) => ({ day: deposit_date }),
  WEEK: ({ deposit_date }) => ({ week: monday(deposit_date) }),
  MONTH: ({ deposit_date }) => ({ month: firstDay(deposit_date, 1) }),
  QUARTER: ({ deposit_date }) => ({ quarter: firstDay(deposit_date, 3) }),
  YEAR: ({ deposit_date }) => ({ year: firstDay(deposit_date, 12) }),
  DEPOSIT: ({ deposit_id, deposit_date }) => ({ depositId: deposit_id, depositDate: deposit_date }),
  TRANSACTION: ({ transaction_id, transaction_date }) => ({ transactionId: transaction_id, transactionDate: transaction_date }),
  DEPOSIT_STATUS: ({ deposit_status }) => ({ depositStatus: deposit_status.toUpperCase() }),
  DESIGNATION: ({ designation_id, designation }) => ({ designationId: designation_id, designation }),
  STATUS: ({ status }) => ({ status }),
  ACCOUNT_TYPE: ({ account_type }) => ({ accountType: account_type }),
  PAYMENT_TYPE: ({ payment_type }) => ({ paymentType: payment_type }),
  DONOR: ({ donor_id, donor_first_name, donor_last_name }) => ({
    donorId: donor_id,
    donorFirstName: donor_first_name,
    donorLastName: donor_last_name,
  }),
  CITY: ({ city }) => ({ city }),
  STATE: ({ state }) => ({ state }),
};

/** A key without a value. */
export const NO_KEY: GroupKey = {
  ...{ day: null, week: null, month: null, quarter: null, year: null, depositId: null, depositDate: null, depositStatus: null },
  ...{ transactionId: null, transactionDate: null },
  ...{ designationId: null, designation: null, status: null, accountType: null, paymentType: null },
  ...{ donorId: null, donorFirstName: null, donorLastName: null, city: null, state: null },
};

/** The groups of the lines in the order of their keys, each with its lines. */
export function groupsOf(lines: readonly SummaryLine[], groupBy: readonly string[], keys = groupKeys) {
  const groups = new Map<string, { key: GroupKey; lines: SummaryLine[] }>();
  for (const line of lines) {
    const key: GroupKey = Object.fromEntries(groupBy.flatMap((by) => Object.entries(keys[by]!(line))));
    const name = JSON.stringify(key);
    groups.set(name, { key, lines: [...(groups.get(name)?.lines ?? []), line] });
  }
  const compare = (a: unknown, b: unknown) => (a! < b! ? -1 : a! > b! ? 1 : 0);
  // Posted deposits come before pending ones.
  const placeOf = (value: unknown): unknown => (value === 'POSTED' ? 0 : value === 'PENDING' ? 1 : value);
  return [...groups.values()].sort(
    (a, b) =>
      Object.keys(a.key)
        .map((name) => compare(placeOf(a.key[name]), placeOf(b.key[name])))
        .find((result) => result !== 0) ?? 0,
  );
}

/** The totals of lines, as the oracle gives them. */
export type OracleTotals = ReturnType<ReturnType<typeof createOracle>['totalsOf']>;

const SUMS = /^(line|transaction)(Fee|Net)?Amount$/;
/** A figure of totals by its name in `having`: amounts in cents, and null where it is not known. */
export function figureOf(totals: OracleTotals, name: string): number | string | null {
  const [, by, part = ''] = SUMS.exec(name) ?? [];
  if (by) {
    const amounts = by === 'line' ? totals.byLine : totals.byTransaction;
    return toCents(amounts[`${part.toLowerCase()}${part === '' ? 'amount' : 'Amount'}` as keyof typeof amounts]);
  }
  if (name === 'allocationAmount') return totals.byAllocation.amount === null ? null : toCents(totals.byAllocation.amount);
  return totals[name as 'lines' | 'firstGift'];
}

/** The ends of the range that a condition asks of a figure. */
export interface OracleRange {
  readonly figure: string;
  readonly isCompared: boolean;
  readonly least?: number | string | undefined;
  readonly greatest?: number | string | undefined;
}

/** True for a group whose figures lie in all of the ranges. */
export const meets = (ranges: readonly OracleRange[], own: OracleTotals, compared: OracleTotals): boolean =>
  ranges.every(({ figure, isCompared, least, greatest }) => {
    const value = figureOf(isCompared ? compared : own, figure);
    return value !== null && (least === undefined || value >= least) && (greatest === undefined || value <= greatest);
  });

const isDate = (figure: string): boolean => figure.endsWith('Gift');
/** A value of a figure as callers write it. */
const written = (figure: string, value: number | string): string =>
  isDate(figure) ? `"${value}"` : figure.endsWith('Amount') ? `"${toMoney(Number(value))}"` : String(value);

/** The argument `having` with these ranges. */
export function toHaving(ranges: readonly OracleRange[]): string {
  const of = (side: boolean): string =>
    ranges
      .filter(({ isCompared }) => isCompared === side)
      .map(({ figure, least, greatest }) => {
        const [first, last] = isDate(figure) ? ['from', 'to'] : ['min', 'max'];
        const ends = [
          least === undefined ? '' : `${first}: ${written(figure, least)}`,
          greatest === undefined ? '' : `${last}: ${written(figure, greatest)}`,
        ];
        return `${figure}: { ${ends.join(' ')} }`;
      })
      .join(' ');
  return `having: { ${of(false)} ${ranges.some(({ isCompared }) => isCompared) ? `compared: { ${of(true)} }` : ''} }`;
}

/** The same ranges as parameters of a file's address. */
export const toParameters = (ranges: readonly OracleRange[]): string =>
  ranges
    .flatMap(({ figure, isCompared, least, greatest }) => {
      const name = `${isCompared ? 'compared_' : ''}${figure.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
      const [first, last] = isDate(figure) ? ['from', 'to'] : ['min', 'max'];
      const value = (end: number | string): string => written(figure, end).replaceAll('"', '');
      return [
        ...(least === undefined ? [] : [`${name}_${first}=${value(least)}`]),
        ...(greatest === undefined ? [] : [`${name}_${last}=${value(greatest)}`]),
      ];
    })
    .join('&');
