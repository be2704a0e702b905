import { parse } from 'papaparse';
import { readCents, StatementFault, toDate, type Statement, type StatementLine } from './bank-statement';
import { dateOrders, type DateOrder, type DecimalSign, type TableColumns, type TableHead } from './table-columns';

interface TableRows extends TableHead {
  readonly rows: readonly { readonly line: number; readonly values: readonly string[] }[];
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
  const { rows, names } = readRows(text);
  const { date, amount, credit, debit } = columns;
  const valuesOf = (place: number | undefined): string[] =>
    place === undefined ? [] : rows.map(({ values }) => values[place]?.trim() ?? '').filter((value) => value !== '');
  const order = columns.dateOrder ?? findOrder(valuesOf(date), names[date] ?? '');
  const money = [amount, credit, debit].flatMap(valuesOf);
  const code = findCurrency(money);
  if (code !== undefined && currency !== undefined && code !== currency)
    throw new StatementFault(`The statement is in ${code}, and the deposits are in ${currency}.`);
  const sign = columns.decimalSign ?? findSign(money.map(stripAmount));
  if (amount === undefined && (credit === undefined || debit === undefined))
    throw new StatementFault('Choose a column of amounts, or one of credits and one of debits.');
  if (amount !== undefined && (credit !== undefined || debit !== undefined))
    throw new StatementFault('Choose either a column of amounts, or columns of credits and debits, and not both.');
  const lines = rows.map(({ line, values }): StatementLine => {
    const place = `Line ${String(line)}`;
    const at = (column: number | undefined): string => (column === undefined ? '' : (values[column]?.trim() ?? ''));
    const money = (value: string): bigint | undefined => (value === '' ? undefined : readAmount(value, sign, place));
    const [received, paid] = [money(at(amount ?? credit)), money(at(debit))];
    if (received === undefined && paid === undefined) throw new StatementFault(`${place}: it has no amount.`);
    // Banks may write zero in the column that a row does not use.
    if (received && paid) throw new StatementFault(`${place}: it has a credit and a debit.`);
    const cents = (received ?? 0n) - absolute(paid ?? 0n);
    const bookedOn = readDate(at(date), order);
    if (bookedOn === undefined)
      throw new StatementFault(`${place}: “${at(date)}” is no date${order ? ` (${dateOrders[order].toLowerCase()})` : ''}.`);
    return { bookedOn, valuedOn: undefined, cents, text: at(columns.text), reference: '', isReversal: false };
  });
  const days = lines.map(({ bookedOn }) => bookedOn).toSorted();
  return {
    ...{ account: '', currency: code, from: days[0] ?? '', to: days.at(-1) ?? '', opening: undefined, closing: undefined, lines },
    notes: ['A table tells no balances, so that nothing shows whether lines are missing.'],
  };
}

/**
 * Finds the rows below the header, which is the first record with as many values as most of them: banks write lines of their own above it.
 * Where a value of that record is a date or an amount, it is a row, and the table has no header.
 */
function readRows(text: string): TableRows {
  const { data, errors } = parse<string[]>(text, { skipEmptyLines: false });
  const [quotes] = errors.filter(({ type }) => type === 'Quotes');
  if (quotes) throw new StatementFault(`Line ${String((quotes.row ?? 0) + 1)}: a quote is not closed or stands within a value.`);
  const records = data.map((values, n) => ({ line: n + 1, values })).filter(({ values }) => values.some((value) => value.trim() !== ''));
  const counts = new Map<number, number>();
  for (const { values } of records) counts.set(values.length, (counts.get(values.length) ?? 0) + 1);
  const [width = 0] = [...counts].toSorted(([, one], [, other]) => other - one)[0] ?? [];
  const place = records.findIndex(({ values }) => values.length === width);
  const first = records[place];
  const isHeader = !first?.values.some(isDateOrAmount);
  const rows = isHeader ? records.slice(place + 1) : records;
  if (!first || width < 2) throw new StatementFault('The file is neither CAMT.053 nor BAI2, and no table with columns either.');
  if (rows.length === 0) throw new StatementFault('The table has a header and no line.');
  const odd = rows.find(({ values }) => values.length !== width);
  if (odd)
    throw new StatementFault(
      `Line ${String(odd.line)} has ${String(odd.values.length)} values, and ${isHeader ? 'the header has' : 'most lines have'} ${String(width)}.`,
    );
  const names = first.values.map((name, n) => (isHeader && name.trim()) || `Column ${String(n + 1)}`);
  return { names, isNamed: isHeader, rows, samples: rows.slice(0, SAMPLES).map(({ values }) => values) };
}

/** The forms of dates: the year first, or last after two numbers. */
const YEAR_FIRST = /^(\d{4})([-/.]?)(\d{2})\2(\d{2})$/;
const YEAR_LAST = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})$/;

const isDateOrAmount = (value: string): boolean =>
  [YEAR_FIRST, YEAR_LAST].some((form) => form.test(value.trim())) || AMOUNT.test(stripAmount(value));

/** The order of day and month that a column says by itself; undefined where the year comes first. Throws a fault where it says none. */
function findOrder(values: readonly string[], name: string): DateOrder | undefined {
  const parts = values.flatMap((value) => {
    const [, one, mark, other] = YEAR_LAST.exec(value) ?? [];
    return one === undefined ? [] : [{ one: Number(one), mark, other: Number(other) }];
  });
  if (parts.length === 0) return undefined;
  // No country writes the month first with points.
  const isDayFirst = parts.some(({ one, mark }) => one > 12 || mark === '.');
  const isMonthFirst = parts.some(({ other }) => other > 12);
  if (isDayFirst !== isMonthFirst) return isDayFirst ? 'day-first' : 'month-first';
  if (isDayFirst) throw new StatementFault(`The column “${name}” has dates with the day first and dates with the month first.`);
  throw new StatementFault(`The dates of “${name}” do not tell whether the day or the month comes first: choose it.`);
}

function readDate(value: string, order: DateOrder | undefined): string | undefined {
  const [, year, , month = '', day = ''] = YEAR_FIRST.exec(value) ?? [];
  if (year !== undefined) return toDate(year, month, day);
  const [, one = '', , other = '', last] = YEAR_LAST.exec(value) ?? [];
  if (last === undefined || order === undefined) return undefined;
  return order === 'day-first' ? toDate(toYear(last), other, one) : toDate(toYear(last), one, other);
}

const toYear = (text: string): string => (text.length === 2 ? `20${text}` : text);

/** A number with its sign before or after it, or in brackets. */
const AMOUNT = /^(\()?([+-]?)([\d.,]+)([+-]?)(\))?$/;

const CURRENCY_CODE = /\b[A-Z]{3}\b/g;
const CURRENCY_SYMBOL = /\p{Sc}/gu;

/** The code of the currency that stands beside amounts; undefined where none does. Throws a fault for two codes or two symbols. */
function findCurrency(amounts: readonly string[]): string | undefined {
  const [codes = [], symbols = []] = [CURRENCY_CODE, CURRENCY_SYMBOL].map((form) => [
    ...new Set(amounts.flatMap((amount) => amount.match(form) ?? [])),
  ]);
  for (const found of [codes, symbols])
    if (found.length > 1) throw new StatementFault(`The amounts are in ${found.join(' and ')}: they cannot be added up.`);
  return codes[0];
}

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
    const decimals = /[.,](\d*)\D*$/.exec(value)?.[1]?.length ?? 0;
    // A sign that stands twice, or before three digits with no other sign, may divide thousands.
    if (own > 1) signs.add(last === ',' ? 'point' : 'comma');
    else if (other > 0 || decimals !== 3) signs.add(last === ',' ? 'comma' : 'point');
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

const absolute = (cents: bigint): bigint => (cents < 0n ? -cents : cents);
