import type { FileFact } from '../files/file-content';
import type { Cell, Row, TableColumn } from '../values/table-types';
import { dayOf, lineDates, tieKinds, type BankTie, type LeftReason, type LineDate, type TiedGroup, type TiedPlaces } from './bank-match';
import type { BookedDeposit, DaySpan } from './booked-deposits';
import { readCents, sumOf, textOf, writeCents, type Statement, type StatementLine } from './bank-statement';
import { MOST_ADDENDS } from './sum-search';

/** The amounts of a deposit that the bank's line may be. */
export const bankAmounts = { net: 'Net of fees', gross: 'Gross' } as const;
export type BankAmount = keyof typeof bankAmounts;

/** A statement, the deposits that it is tied to, and how. */
export interface TieInput {
  readonly statement: Statement;
  readonly deposits: readonly BookedDeposit[];
  /** The days that the deposits are of. */
  readonly known: DaySpan;
  /** The data version that the deposits are of. */
  readonly version: number;
  readonly amount: BankAmount;
  readonly days: number;
  readonly lineDate: LineDate;
}

/** The amount of a deposit in hundredths. */
export function centsOf(deposit: BookedDeposit, amount: BankAmount): bigint {
  const text = deposit[amount];
  const cents = readCents(text.replace('-', ''), `Deposit ${deposit.id}`);
  if (cents === undefined) throw new Error(`Deposit ${deposit.id} has the amount “${text}”.`);
  return text.startsWith('-') ? -cents : cents;
}

/** The parts of the rest, in words. */
const remainders = {
  'no deposit': ['none'],
  unclear: ['several', 'sums', 'shared', 'beside-edge'],
  'days that were not read': ['edge'],
  'too many sums to try': ['too-many'],
  'paid out': ['paid-out'],
  'taken back': ['reversal'],
  'come back': ['returned'],
  'nothing to find': ['no-money'],
} as const satisfies Readonly<Record<string, readonly LeftReason[]>>;

/** A part of the statement: what is tied, or what is left for one reason. */
export interface StatementPart {
  readonly name: string;
  readonly cents: bigint;
  readonly lines: number;
}

/** The parts of the statement, of which every line is in one. Their sum is what the lines move. */
export function toParts(tie: BankTie, { lines }: Statement): readonly StatementPart[] {
  const part = (name: string, isIn: (reason: LeftReason | undefined) => boolean): StatementPart => {
    const own = lines.filter((_, place) => isIn(tie.lines[place]));
    return { name, cents: sumOf(own), lines: own.length };
  };
  return [
    part('matched', (reason) => reason === undefined),
    ...Object.entries(remainders).map(([name, reasons]: [string, readonly LeftReason[]]) =>
      part(name, (reason) => reason !== undefined && reasons.includes(reason)),
    ),
  ].filter((each, n) => n === 0 || each.lines > 0);
}

const dayWords = (days: number): string => (days === 0 ? 'on the same day' : days === 1 ? 'within 1 day' : `within ${String(days)} days`);

const MOST_NAMED = 3;
const writeFew = (ids: readonly string[]): string =>
  [...ids.slice(0, MOST_NAMED), ...(ids.length > MOST_NAMED ? [`${String(ids.length - MOST_NAMED)} more`] : [])].join(', ');

/** A reason in a sentence, which is short enough for a column. `outside` are the numbers of deposits of the days around the report that may be it. */
function explain(reason: LeftReason, days: number, outside: readonly string[]): string {
  const near = dayWords(days);
  switch (reason) {
    case 'none':
      return `No such amount and no such sum ${near}.`;
    case 'edge':
      return 'Its days reach beyond the deposits that were read: choose another period.';
    case 'beside-edge':
      return 'It, or its deposit, may belong to a line whose days reach beyond the deposits that were read.';
    case 'several':
      return `Unclear: several of this amount ${near}${outside.length > 0 ? `, ${writeFew(outside)} ${OUTSIDE} among them` : ''}.`;
    case 'sums':
      return `Unclear: several sums fit ${near}.`;
    case 'shared':
      return 'Unclear: a part of its sum fits elsewhere too.';
    case 'too-many':
      return `More than ${String(MOST_ADDENDS)} amounts ${near}: choose fewer days.`;
    case 'paid-out':
      return 'Money that left the account.';
    case 'reversal':
      return 'The bank took a payment back.';
    case 'returned':
      return 'A payment out of the account came back.';
    case 'no-money':
      return 'No amount above zero.';
  }
}

const column = (id: string, title: string, kind: TableColumn['kind'], more: Partial<TableColumn> = {}): TableColumn => ({
  ...{ id, title, kind, adds: kind === 'money' },
  ...more,
});

const lineColumns = [
  column('line.bookedOn', 'Booked', 'date'),
  column('line.valuedOn', 'Value date', 'date', { isHidden: true }),
  column('line.amount', 'At the bank', 'money'),
  column('line.text', 'Text', 'text'),
  column('line.reference', 'Reference', 'text', { isHidden: true }),
] as const;
const ownColumns = [
  column('deposit.date', 'Deposit date', 'date'),
  column('deposit.id', 'Deposit', 'text', { isCode: true }),
  column('deposit.status', 'Status', 'word', { isHidden: true }),
] as const;
const place = column('place', 'Place', 'count', { isHidden: true, adds: false, about: 'The place in the statement or in the report.' });

/** The three lists, as tables: their names on the page and in the spreadsheet. */
export const listTitles = { matched: 'Matched', here: 'Only here', bank: 'Only at the bank' } as const;
export type ListName = keyof typeof listTitles;

export interface TieList {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly Row[];
}

const lineCells = (line: StatementLine | undefined): readonly Cell[] =>
  line ? [line.bookedOn, line.valuedOn ?? '', writeCents(line.cents), line.text, line.reference] : ['', '', '', '', ''];

/** Makes the three lists of a tie. `changes` tells what has become of tied deposits since, by their numbers. */
export function toLists(tie: BankTie, input: TieInput, changes: ReadonlyMap<string, string>): Readonly<Record<ListName, TieList>> {
  const { statement, deposits, amount, days } = input;
  const amountColumn = column('deposit.amount', amount === 'net' ? 'Net in the books' : 'Gross in the books', 'money');
  const ownCells = (deposit: BookedDeposit | undefined): readonly Cell[] =>
    deposit ? [deposit.date, deposit.id, deposit.status, deposit[amount]] : ['', '', '', ''];
  const groups = tie.groups.toSorted((one, other) => firstDay(one, statement) - firstDay(other, statement));
  const matched = groups.flatMap((group, n): Row[] => {
    // A sum has a row for each of its parts, so that every amount stands once.
    const length = Math.max(group.lines.length, group.deposits.length);
    return Array.from({ length }, (_, at) => {
      const [line, deposit] = [statement.lines[group.lines[at] ?? -1], deposits[group.deposits[at] ?? -1]];
      const change = deposit ? (changes.get(deposit.id) ?? '') : '';
      // A wide cell may be cut, and its first words are seen.
      const how = `${deposit?.isOutside ? `${OUTSIDE}: ` : ''}${describe(group, input)}`;
      return [n + 1, ...lineCells(line), ...ownCells(deposit), how, change, tie.groups.indexOf(group)];
    });
  });
  const left = (side: 'lines' | 'deposits'): number[] => tie[side].flatMap((reason, at) => (reason === undefined ? [] : [at]));
  const why = column('why', 'Reason', 'text');
  const outside = findOutside(tie, input);
  const tellReason = (side: Side, at: number): string => explain(tie[side][at]!, days, outside[side].get(at) ?? []);
  return {
    matched: {
      columns: [
        column('match', 'Match', 'count', { adds: false }),
        ...lineColumns,
        ...[...ownColumns, amountColumn],
        column('how', 'How', 'text'),
        column('since', 'Since then', 'text', { isHidden: changes.size === 0 }),
        place,
      ],
      rows: matched,
    },
    here: {
      columns: [...ownColumns, amountColumn, why, place],
      rows: left('deposits')
        .filter((at) => !deposits[at]!.isOutside)
        .map((at) => [...ownCells(deposits[at]), tellReason('deposits', at), at]),
    },
    bank: {
      columns: [...lineColumns, why, place],
      rows: left('lines').map((at) => [...lineCells(statement.lines[at]), tellReason('lines', at), at]),
    },
  };
}

type Side = 'lines' | 'deposits';

/** The numbers of the deposits of the days around the report, which are in no list, beside the unclear rows that they may be. */
function findOutside(
  tie: BankTie,
  { statement, deposits, days, lineDate }: TieInput,
): Readonly<Record<Side, ReadonlyMap<number, readonly string[]>>> {
  const found = { lines: new Map<number, readonly string[]>(), deposits: new Map<number, readonly string[]>() };
  for (const group of tie.unclear) {
    const others = group.deposits.map((at) => deposits[at]!).filter(({ isOutside }) => isOutside);
    if (others.length === 0) continue;
    // A group goes on from day to day, so that its ends may be further apart than a line's own days. Two deposits meet at a line between them.
    const near = (date: string, most: number): readonly string[] =>
      others.filter((other) => Math.abs(Date.parse(other.date) - Date.parse(date)) <= most * 86_400_000).map(({ id }) => id);
    for (const at of group.lines) found.lines.set(at, near(dayOf(statement.lines[at]!, lineDate), days));
    for (const at of group.deposits) found.deposits.set(at, near(deposits[at]!.date, 2 * days));
  }
  return found;
}

const firstDay = ({ lines }: TiedPlaces, statement: Statement): number => Date.parse(statement.lines[lines[0]!]!.bookedOn);

export const OUTSIDE = 'outside the period';

/** Tells how a group was tied, such as “the only sum of deposits: 2 of them”. */
function describe({ kind, lines, deposits }: TiedGroup, input: TieInput): string {
  if (kind === 'hand') return `${tieKinds.hand}: ${count(lines.length, 'line')}, ${count(deposits.length, 'deposit')}`;
  if (kind !== 'pair') return `${tieKinds[kind]}: ${String(kind === 'lines' ? lines.length : deposits.length)} of them`;
  const [line, deposit] = [input.statement.lines[lines[0]!]!, input.deposits[deposits[0]!]!];
  const apart = Math.round((Date.parse(dayOf(line, input.lineDate)) - Date.parse(deposit.date)) / 86_400_000);
  return `${tieKinds.pair}, ${apart === 0 ? 'the same day' : `${count(Math.abs(apart), 'day')} ${apart > 0 ? 'later' : 'earlier'}`}`;
}

export const count = (number: number, noun: string): string => `${String(number)} ${noun}${number === 1 ? '' : 's'}`;

/** The changes of tied deposits in newer books: the differences in words, by the number of the deposit. */
export function findChanges(tie: BankTie, deposits: readonly BookedDeposit[], now: readonly BookedDeposit[]): ReadonlyMap<string, string> {
  const byId = new Map(now.map((deposit) => [deposit.id, deposit]));
  return new Map(
    tie.groups
      .flatMap((group) => group.deposits.map((at) => deposits[at]!))
      .flatMap((before): (readonly [string, string])[] => {
        const after = byId.get(before.id);
        if (!after) return [[before.id, 'no longer in this report']];
        const told = (['date', 'status', 'net', 'gross'] as const)
          .filter((name) => before[name] !== after[name])
          .map((name) => `${name} ${before[name]} → ${after[name]}`);
        return told.length > 0 ? [[before.id, told.join(', ')]] : [];
      }),
  );
}

/** The same ties of other books: those whose deposits are still there, with sums that are still equal. */
export function keepByHand(byHand: readonly TiedPlaces[], before: TieInput, now: TieInput): TiedPlaces[] {
  const places = new Map(now.deposits.map((deposit, at) => [deposit.id, at]));
  return byHand.flatMap(({ lines, deposits }) => {
    const moved = deposits.flatMap((at) => places.get(before.deposits[at]!.id) ?? []);
    const group = { lines, deposits: moved };
    return moved.length === deposits.length && differenceOf(group, now) === 0n ? [group] : [];
  });
}

/** True for two statements with the same lines in the same order. */
export const hasSameLines = ({ statement: { lines } }: TieInput, { statement: { lines: others } }: TieInput): boolean =>
  lines.length === others.length && lines.every((line, at) => textOf(line) === textOf(others[at]!));

/** The amount by which the lines of a group exceed its deposits. Only a group without a difference may be tied. */
export const differenceOf = ({ lines, deposits }: TiedPlaces, { statement, deposits: all, amount }: TieInput): bigint =>
  sumOf(lines.map((at) => statement.lines[at]!)) - deposits.reduce((sum, at) => sum + centsOf(all[at]!, amount), 0n);

/** An amount of several deposits, and their number. */
interface DepositSum {
  readonly cents: bigint;
  readonly count: number;
}

/** The deposits of the report: those that are matched, and the others. Matched ones of the days around it are summed apart. */
export function sumDeposits(tie: BankTie, { deposits, amount }: TieInput): Readonly<Record<'matched' | 'here' | 'outside', DepositSum>> {
  const sum = (isIn: (deposit: BookedDeposit, isMatched: boolean) => boolean): DepositSum => {
    const own = deposits.filter((deposit, at) => isIn(deposit, tie.deposits[at] === undefined));
    return { cents: own.reduce((cents, deposit) => cents + centsOf(deposit, amount), 0n), count: own.length };
  };
  return {
    matched: sum(({ isOutside }, isMatched) => isMatched && !isOutside),
    here: sum(({ isOutside }, isMatched) => !isMatched && !isOutside),
    outside: sum(({ isOutside }, isMatched) => isMatched && isOutside),
  };
}

/** What the spreadsheet tells beside its lists. */
export function toFacts(tie: BankTie, input: TieInput, fileName: string): FileFact[] {
  const { statement, version, amount, days, lineDate } = input;
  const text = (name: string, value: string): FileFact => ({ name, value, kind: 'text' });
  const money = (name: string, cents: bigint): FileFact => ({ name, value: writeCents(cents), kind: 'money' });
  const { matched, here, outside } = sumDeposits(tie, input);
  return [
    text('Statement', fileName),
    ...(statement.account === '' ? [] : [text('Account', statement.account)]),
    ...(statement.currency === undefined ? [] : [text('Currency', statement.currency)]),
    { name: 'First day', value: statement.from, kind: 'date' },
    { name: 'Last day', value: statement.to, kind: 'date' },
    { name: 'Version of the books', value: version, kind: 'count' },
    text('Amount of a deposit', bankAmounts[amount]),
    { name: 'Days between a deposit and its line', value: days, kind: 'count' },
    text('Date of a line', lineDates[lineDate]),
    ...(statement.opening === undefined ? [] : [money('Opening balance', statement.opening)]),
    ...toParts(tie, statement).map(({ name, cents, lines }) => money(`${name}: ${count(lines, 'line')}`, cents)),
    money('All lines', sumOf(statement.lines)),
    ...(statement.closing === undefined ? [] : [money('Closing balance', statement.closing)]),
    money('Matched deposits', matched.cents),
    money('Deposits only here', here.cents),
    money('All deposits', matched.cents + here.cents),
    ...(outside.count === 0 ? [] : [money(`Matched ${OUTSIDE}: ${count(outside.count, 'deposit')}`, outside.cents)]),
    ...statement.notes.map((note) => text('To know', note)),
  ];
}
