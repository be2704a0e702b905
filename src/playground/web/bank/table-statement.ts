import { readCents, StatementFault, toDate, type Statement, type StatementLine } from './bank-statement';
import { dateOrders, findDirections, toDirection, type DateOrder, type DecimalSign, type TableColumns } from './table-columns';
import { AMOUNT, CURRENCY_CODE, CURRENCY_SYMBOL, readRows, stripAmount, YEAR_FIRST, YEAR_LAST, type TableRow } from './table-rows';

/**
 * Reads a table into a statement without balances, which it cannot be checked against. Throws a StatementFault that names the line, and one
 * for amounts in another currency than that of the deposits, where that is known.
 */
export function readTable(text: string, columns: TableColumns, currency: string | undefined): Statement {
  const { rows: all, names } = readRows(text);
  const { date, amount, credit, debit } = columns;
  const direction = columns.direction === 'none' ? undefined : columns.direction;
  const opening = findOpening(all, [amount, credit, debit]);
  const rows = opening ? all.slice(1) : all;
  const valuesOf = (place: number | undefined): string[] =>
    place === undefined ? [] : rows.map(({ values }) => values[place]?.trim() ?? '').filter((value) => value !== '');
  const order = columns.dateOrder ?? findOrder(valuesOf(date), names[date] ?? '');
  const money = [amount, credit, debit].flatMap(valuesOf);
  const code = findCurrency(money, currency);
  const sign = columns.decimalSign ?? findSign(money.map(stripAmount));
  if (amount === undefined && (credit === undefined || debit === undefined))
    throw new StatementFault('Choose a column of amounts, or one of credits and one of debits.');
  if (amount !== undefined && (credit !== undefined || debit !== undefined))
    throw new StatementFault('Choose either a column of amounts, or columns of credits and debits, and not both.');
  if (amount === undefined && direction !== undefined)
    throw new StatementFault('Choose a direction with a column of amounts alone: columns of credits and debits have their own.');
  const entries = rows.map(({ line, values }) => {
    const place = `Line ${String(line)}`;
    const at = (column: number | undefined): string => (column === undefined ? '' : (values[column]?.trim() ?? ''));
    const money = (value: string): bigint | undefined => (value === '' ? undefined : readAmount(value, sign, place));
    const [received, paid] = [money(at(amount ?? credit)), money(at(debit))];
    if (received === undefined && paid === undefined) throw new StatementFault(`${place}: it has no amount.`);
    // Banks may write zero in the column that a row does not use.
    if (received && paid) throw new StatementFault(`${place}: it has a credit and a debit.`);
    const bookedOn = readDate(at(date), order);
    if (bookedOn === undefined)
      throw new StatementFault(`${place}: “${at(date)}” is no date${order ? ` (${dateOrders[order].toLowerCase()})` : ''}.`);
    const isOut = toDirection(at(direction));
    if (direction !== undefined && isOut === undefined && received)
      throw new StatementFault(
        `${place}: “${at(direction)}” of “${names[direction]!}” is no direction such as Credit or Debit. Choose None where amounts have signs.`,
      );
    return { place, received: received ?? 0n, paid: paid ?? 0n, isOut, bookedOn, text: at(columns.text) };
  });
  const toCents = findSigns(entries, direction === undefined ? '' : names[direction]!);
  const unread = columns.direction === undefined && amount !== undefined ? findUnread(names, rows, entries) : undefined;
  if (unread !== undefined)
    throw new StatementFault(`“${names[unread]!}” says which amounts came in and which went out: choose it as the direction, or None.`);
  const lines = entries.map(({ bookedOn, text, ...entry }): StatementLine => {
    return { bookedOn, valuedOn: undefined, cents: toCents(entry), text, reference: '', isReversal: false };
  });
  const days = lines.map(({ bookedOn }) => bookedOn).toSorted();
  return {
    ...{ account: '', currency: code, from: days[0] ?? '', to: days.at(-1) ?? '', opening: undefined, closing: undefined, lines },
    notes: [
      'A table tells no balances, so that nothing shows whether lines are missing.',
      ...(opening ? [`Line ${String(opening.line)} is a balance and no movement.`] : []),
    ],
  };
}

/** The amounts of a row, as the table writes them, and whether its direction is out. */
interface Entry {
  readonly place: string;
  readonly received: bigint;
  readonly paid: bigint;
  readonly isOut: boolean | undefined;
}

/** Finds what the signs of amounts mean, of all rows alike. Throws a fault for rows that contradict each other or the column of directions. */
function findSigns(entries: readonly Entry[], direction: string): (entry: Omit<Entry, 'place'>) => bigint {
  // Some banks write debits with a minus. Among debits without one, a minus may take a debit back.
  const isMinusOut = entries.every(({ paid }) => paid <= 0n);
  const odd = isMinusOut ? undefined : entries.find(({ paid }) => paid < 0n);
  if (odd)
    throw new StatementFault(`${odd.place}: its debit has a minus, and other debits have none: nobody can say which leave the account.`);
  const hasSigns = entries.some(({ received }) => received < 0n);
  const isContrary = entries.some(({ received, isOut }) => received !== 0n && isOut !== undefined && isOut !== received < 0n);
  if (hasSigns && isContrary) {
    const { place } = entries.find(({ received }) => received < 0n)!;
    throw new StatementFault(`${place}: its amount has a minus, and not all signs agree with “${direction}”.`);
  }
  return ({ received, paid, isOut }: Omit<Entry, 'place'>): bigint =>
    isOut && !hasSigns ? -received : received + (isMinusOut ? paid : -paid);
}

/** The column that may say the direction of amounts and that nobody has chosen; undefined where their signs agree with it. */
function findUnread(names: readonly string[], rows: readonly TableRow[], entries: readonly Entry[]): number | undefined {
  const values = rows.map((row) => row.values);
  const found = findDirections(names, values);
  const isContrary = entries.some(({ received }, n) => {
    const isOut = found === undefined ? undefined : toDirection(values[n]![found]);
    return received !== 0n && isOut !== undefined && isOut !== received < 0n;
  });
  return isContrary ? found : undefined;
}

/** The text of a balance that a bank writes above the movements. */
const OPENING = /^(beginning|opening) balance\b/i;

/** The first row, where it is a balance. Throws a fault for one in a column of amounts, which would be a movement. */
function findOpening([first]: readonly TableRow[], amounts: readonly (number | undefined)[]): TableRow | undefined {
  if (!first?.values.some((value) => OPENING.test(value.trim()))) return undefined;
  // Zero is as good as nothing.
  if (amounts.every((place) => place === undefined || !/[1-9]/.test(first.values[place] ?? ''))) return first;
  throw new StatementFault(`Line ${String(first.line)}: it is a balance and no movement. Take it out of the file.`);
}

/** The order of the numbers of dates that a column says by itself; undefined for years of four digits in front. Throws a fault for none. */
function findOrder(values: readonly string[], name: string): DateOrder | undefined {
  const parts = values.flatMap((value) => {
    const [, one = '', mark, other = '', last] = YEAR_LAST.exec(value) ?? [];
    return last === undefined ? [] : [{ one: Number(one), mark, other: Number(other), last }];
  });
  if (parts.length === 0) return undefined;
  const isPossible: Readonly<Record<DateOrder, boolean>> = {
    'day-first': parts.every(({ other }) => other <= 12),
    // No country writes the month first with points.
    'month-first': parts.every(({ one, mark }) => one <= 12 && mark !== '.'),
    // A year of two digits stands in front with hyphens alone.
    'year-first': parts.every(({ mark, other, last }) => mark === '-' && other <= 12 && last.length === 2 && Number(last) <= 31),
  };
  const orders = (Object.keys(isPossible) as DateOrder[]).filter((order) => isPossible[order]);
  const [first, ...others] = orders;
  if (!first) throw new StatementFault(`The column “${name}” has dates with the day first and dates with the month first.`);
  // Such as 05/05/2026, which is one day in both orders.
  if (others.every((order) => values.every((value) => readDate(value, order) === readDate(value, first)))) return first;
  const parties = orders.map((order) => `the ${order.replace('-first', '')}`).join(' or ');
  throw new StatementFault(`The dates of “${name}” do not tell whether ${parties} comes first: choose it.`);
}

function readDate(value: string, order: DateOrder | undefined): string | undefined {
  const [, year, , month = '', day = ''] = YEAR_FIRST.exec(value) ?? [];
  if (year !== undefined) return toDate(year, month, day);
  const [, one = '', , other = '', last] = YEAR_LAST.exec(value) ?? [];
  if (last === undefined || order === undefined) return undefined;
  if (order === 'year-first') return toDate(toYear(one), other, last);
  return order === 'day-first' ? toDate(toYear(last), other, one) : toDate(toYear(last), one, other);
}

const toYear = (text: string): string => (text.length === 2 ? `20${text}` : text);

/**
 * The code of the currency that stands beside amounts; undefined where none does. Throws a fault for two currencies, and for another one than
 * that of the deposits, where that is known.
 */
function findCurrency(amounts: readonly string[], currency: string | undefined): string | undefined {
  const [codes = [], symbols = []] = [CURRENCY_CODE, CURRENCY_SYMBOL].map((form) => [
    ...new Set(amounts.flatMap((amount) => amount.match(form) ?? [])),
  ]);
  const [[code], [symbol]] = [codes, symbols];
  const other = code !== undefined && symbol !== undefined && !isSymbolOf(symbol, code) ? [code, symbol] : [];
  for (const found of [codes, symbols, other])
    if (found.length > 1) throw new StatementFault(`The amounts are in ${found.join(' and ')}: they cannot be added up.`);
  if (currency !== undefined && code !== undefined && code !== currency)
    throw new StatementFault(`The statement is in ${code}, and the deposits are in ${currency}.`);
  if (currency !== undefined && symbol !== undefined && !isSymbolOf(symbol, currency))
    throw new StatementFault(`The statement is in ${symbol}, and the deposits are in ${currency}.`);
  return code;
}

const symbolOf = (currency: string): string | undefined =>
  new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' }).format(0).match(CURRENCY_SYMBOL)?.[0];

/**
 * True where people write the symbol, of full width as in Japan or not, for the currency, and where it is that of no other one as far as the
 * browser knows. Those of many countries have a $.
 */
function isSymbolOf(symbol: string, currency: string): boolean {
  const wanted = symbol.normalize('NFKC');
  const own = symbolOf(currency);
  return own === undefined ? !Intl.supportedValuesOf('currency').some((other) => symbolOf(other) === wanted) : own === wanted;
}

/** The decimal sign that amounts say by themselves. Throws a fault where “1.234” may be either. */
function findSign(values: readonly string[]): DecimalSign {
  const signs = new Set<DecimalSign>();
  let unclear: string | undefined;
  for (const value of values) {
    const last = /[.,](?=[^.,]*$)/.exec(value)?.[0];
    if (last === undefined) continue;
    const [own, other] = [value.split(last).length - 1, value.split(last === ',' ? '.' : ',').length - 1];
    // A sign that stands twice, or between one to three digits and three others, may divide thousands.
    if (own > 1) signs.add(last === ',' ? 'point' : 'comma');
    else if (other > 0 || !/^\D*[1-9]\d{0,2}[.,]\d{3}\D*$/.test(value)) signs.add(last === ',' ? 'comma' : 'point');
    else unclear = value;
  }
  const [sign, another] = signs;
  if (another) throw new StatementFault('Some amounts have a decimal point and others a decimal comma.');
  if (sign) return sign;
  if (unclear !== undefined) throw new StatementFault(`“${unclear}” may have a decimal sign or one between thousands: choose it.`);
  return 'point';
}

/** Reads a signed amount: a minus before or after it, or brackets around it. */
function readAmount(value: string, sign: DecimalSign, place: string): bigint {
  const text = stripAmount(value);
  const [, bracket, before = '', number = '', after = '', close] = AMOUNT.exec(text) ?? [];
  const isNegative = before === '-' || after === '-' || bracket !== undefined;
  const [group, point] = sign === 'point' ? [',', '.'] : ['.', ','];
  const [whole = '', decimals, ...more] = number.split(point);
  const groups = whole.split(group);
  const isGrouped =
    groups.length === 1 || (groups.every((each) => /^\d{2,3}$/.test(each) || each === groups[0]) && groups.at(-1)?.length === 3);
  const isWhole = (before === '' || after === '') && (bracket === undefined) === (close === undefined) && more.length === 0;
  const isPlain = isGrouped && isWhole && !(bracket !== undefined && before !== '') && !decimals?.includes(group);
  const cents = isPlain ? readCents(groups.join('') + (decimals === undefined ? '' : `.${decimals}`), place) : undefined;
  if (cents === undefined) throw new StatementFault(`${place}: “${value}” is no amount with a decimal ${sign}.`);
  return isNegative ? -cents : cents;
}
