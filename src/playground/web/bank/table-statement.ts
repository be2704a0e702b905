import { parse } from 'papaparse';
import { readCents, StatementFault, toDate, type Statement, type StatementLine } from './bank-statement';
import {
  dateOrders,
  findDirections,
  type DateOrder,
  type DecimalSign,
  type TableColumns,
  type TableHead,
  type TableRow,
} from './table-columns';

interface TableRows extends TableHead {
  readonly rows: readonly TableRow[];
  readonly notes: readonly string[];
}

const SAMPLES = 3;

/** Reads the head of a table. Throws a StatementFault for a text that is no table. */
export function readTableHead(text: string): TableHead {
  const { names, isNamed, samples } = readRows(text);
  return { names, isNamed, samples };
}

/**
 * Reads a table into a statement without balances, which it cannot be checked against. Throws a StatementFault that names the line, and one
 * for amounts in another currency than that of the deposits, where that is known.
 */
export function readTable(text: string, columns: TableColumns, currency: string | undefined): Statement {
  const table = readRows(text);
  const { rows, names } = table;
  const { date, amount, credit, debit } = columns;
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
    return { received: received ?? 0n, paid: paid ?? 0n, bookedOn, text: at(columns.text) };
  });
  // Some banks write debits with a minus. Among debits without one, a minus takes a debit back.
  const isMinusOut = entries.every(({ paid }) => paid <= 0n);
  const hasDirections = amount !== undefined && entries.every(({ received }) => received >= 0n);
  const directions = hasDirections ? findDirections(names, rows) : undefined;
  const lines = entries.map(({ received, paid, bookedOn, text }, n): StatementLine => {
    const cents = directions?.isOut[n] ? -received : received + (isMinusOut ? paid : -paid);
    return { bookedOn, valuedOn: undefined, cents, text, reference: '', isReversal: false };
  });
  const days = lines.map(({ bookedOn }) => bookedOn).toSorted();
  return {
    ...{ account: '', currency: code, from: days[0] ?? '', to: days.at(-1) ?? '', opening: undefined, closing: undefined, lines },
    notes: [
      'A table tells no balances, so that nothing shows whether lines are missing.',
      ...(directions ? [`The column “${directions.name}” says which amounts leave the account.`] : []),
      ...table.notes,
    ],
  };
}

/** The text by which Bank of America begins a table with a balance. */
const OPENING = /^beginning balance\b/i;

/**
 * Finds the rows below the header. A table whose first record has a date or an amount has no header, and a fault names a record that has
 * more or fewer values than the others.
 */
function readRows(text: string): TableRows {
  const records = readRecords(text);
  const header = findHeader(records);
  const width = header?.values.length ?? commonWidth(records);
  const place = header ? records.indexOf(header) : records.findIndex(({ values }) => values.length === width);
  const first = records[place];
  const isHeader = header !== undefined || !first?.values.some(isDateOrAmount);
  const below = isHeader ? records.slice(place + 1) : records;
  const opening = below[0]?.values.some((value) => OPENING.test(value.trim())) ? below[0] : undefined;
  const rows = opening ? below.slice(1) : below;
  if (!first || width < 2) throw new StatementFault('The file is neither CAMT.053 nor BAI2, and no table with columns either.');
  if (rows.length === 0) throw new StatementFault('The table has a header and no line.');
  const odd = rows.find(({ values }) => values.length !== width);
  if (odd)
    throw new StatementFault(
      `Line ${String(odd.line)} has ${String(odd.values.length)} values, and ${isHeader ? 'the header has' : 'most lines have'} ${String(width)}.`,
    );
  const names = first.values.map((name, n) => (isHeader && name.trim()) || `Column ${String(n + 1)}`);
  const notes = opening ? [`Line ${String(opening.line)} is a balance and no movement.`] : [];
  return { names, isNamed: isHeader, rows, notes, samples: rows.slice(0, SAMPLES).map(({ values }) => values) };
}

/** Splits a text into the records that are not empty, each with the line of the file on which it begins. */
function readRecords(text: string): TableRow[] {
  const { data, errors } = parse<string[]>(text, { skipEmptyLines: false });
  let next = 1;
  const records = data.map((values): TableRow => {
    const line = next;
    // A value in quotes may hold line breaks.
    next += 1 + (values.join('').match(/\r\n|\r|\n/g)?.length ?? 0);
    return { line, values };
  });
  const quotes = errors.find(({ type }) => type === 'Quotes');
  if (quotes) throw new StatementFault(`Line ${String(records[quotes.row ?? 0]?.line)}: a quote is not closed or stands within a value.`);
  return records.filter(({ values }) => values.some((value) => value.trim() !== ''));
}

/**
 * Finds the header: the first record of names that stands directly above a row and is as wide as most records below it. Banks write lines of
 * their own above it, of any width. A note between rows is no header: a row or a fuller record of its width stands above it.
 */
function findHeader(records: readonly TableRow[]): TableRow | undefined {
  const header = records.find(({ values }, n) => {
    const next = records[n + 1];
    return (
      next?.values.length === values.length &&
      !values.some(isDateOrAmount) &&
      isRow(next) &&
      commonWidth(records.slice(n + 1)) === values.length
    );
  });
  if (!header) return undefined;
  const above = records.slice(0, records.indexOf(header));
  const filled = ({ values }: TableRow): number => values.filter((value) => value.trim() !== '').length;
  const isNote = above.some(
    (record) => record.values.length === header.values.length && (isRow(record) || filled(record) > filled(header)),
  );
  return isNote ? undefined : header;
}

/** The number of values that most records have; of two, that which comes first. */
function commonWidth(records: readonly TableRow[]): number {
  const counts = new Map<number, number>();
  for (const { values } of records) counts.set(values.length, (counts.get(values.length) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? 0;
}

/** The forms of dates: the year first, or last after two numbers. */
const YEAR_FIRST = /^(\d{4})([-/.]?)(\d{2})\2(\d{2})$/;
const YEAR_LAST = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})$/;

const isDate = (value: string): boolean => YEAR_FIRST.test(value.trim()) || YEAR_LAST.test(value.trim());
const isDateOrAmount = (value: string): boolean => isDate(value) || AMOUNT.test(stripAmount(value));
const isRow = ({ values }: TableRow): boolean => values.some(isDate) && values.some((value) => isDateOrAmount(value) && !isDate(value));

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

/** A number with its sign before or after it, or in brackets. */
const AMOUNT = /^(\()?([+-]?)([\d.,]+)([+-]?)(\))?$/;

const CURRENCY_CODE = /\b[A-Z]{3}\b/g;
const CURRENCY_SYMBOL = /\p{Sc}/gu;

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

/** True where people write the symbol, of full width as in Japan or not, for the currency. Those of many countries have a $. */
const isSymbolOf = (symbol: string, currency: string): boolean =>
  new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
    .format(0)
    .includes(symbol.normalize('NFKC'));

/** Takes what stands beside the number away: its currency, and blanks and apostrophes between thousands. */
const stripAmount = (value: string): string =>
  value
    .replace(CURRENCY_CODE, '')
    .replace(/(?<=^|[-+−(\s])\p{Sc}|\p{Sc}(?=$|[-+−)\s])/gu, '')
    .replace(/[\s'’]/g, '')
    .replace('−', '-');

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
