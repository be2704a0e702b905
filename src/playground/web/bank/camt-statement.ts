import { readCents, StatementFault, sumOf, toDate, writeCents, type Statement, type StatementLine } from './bank-statement';
import { findAll, readXml, textAt, type XmlElement } from './xml-tree';

/** The message that is read: ISO 20022 camt.053.001, from its second version on. */
const MESSAGE = /^urn:iso:std:iso:20022:tech:xsd:camt\.053\.001\.(0[2-9]|1[0-3])$/;
/** The relatives of a statement, by the number of their message. */
const relatives: Readonly<Record<string, string>> = {
  'camt.052': 'a report within the day, which is not final',
  'camt.054': 'a notification of single bookings, which has no balances',
};
/** The balances that a statement begins and ends with, the first that is there. The interim one stands between two pages. */
const OPENINGS = ['OPBD', 'PRCD', 'ITBD'] as const;
const CLOSINGS = ['CLBD', 'ITBD'] as const;

/** Reads the statements of a CAMT.053 file, one for each of its `Stmt`. Throws a StatementFault for a file that is none. */
export function readCamt(text: string): Statement[] {
  const root = readXml(text);
  const [, message = root.uri] = /([a-z]{4}\.\d{3})\.\d{3}\.\d{2}$/.exec(root.uri) ?? [];
  if (root.name !== 'Document' || !MESSAGE.test(root.uri)) {
    const about = relatives[message] ?? (root.uri === '' ? `an XML file with the root “${root.name}”` : `a message ${root.uri}`);
    throw new StatementFault(`The file is no statement that can be read, but ${about}. Choose camt.053, version 02 to 13.`);
  }
  const statements = findAll(root, 'BkToCstmrStmt', 'Stmt');
  if (statements.length === 0) throw new StatementFault('The file has no statement (Stmt).');
  return statements.map((statement, n) =>
    readStatement(statement, statements.length === 1 ? 'The statement' : `Statement ${String(n + 1)}`),
  );
}

interface Entry extends StatementLine {
  readonly status: string;
  readonly charges: bigint;
}

function readStatement(statement: XmlElement, place: string): Statement {
  const account = textAt(statement, 'Acct', 'Id', 'IBAN') || textAt(statement, 'Acct', 'Id', 'Othr', 'Id');
  if (account === '') throw new StatementFault(`${place} names no account.`);
  const balances = findAll(statement, 'Bal').map((balance, n) => ({
    code: textAt(balance, 'Tp', 'CdOrPrtry', 'Cd'),
    ...readMoney(balance, `${place}, balance ${String(n + 1)}`),
    date: readDay(balance, 'Dt', place) ?? '',
  }));
  const opening = OPENINGS.map((code) => balances.find((balance) => balance.code === code)).find((found) => found !== undefined);
  const closing = CLOSINGS.map((code) => balances.findLast((balance) => balance.code === code)).find((found) => found !== undefined);
  if (!opening) throw new StatementFault(`${place} has no opening balance (OPBD).`);
  if (!closing || closing === opening) throw new StatementFault(`${place} has no closing balance (CLBD).`);
  const currency = textAt(statement, 'Acct', 'Ccy') || opening.currency;
  const all = findAll(statement, 'Ntry').map((entry, n) => readEntry(entry, currency, `${place}, entry ${String(n + 1)}`));
  for (const balance of [opening, closing])
    if (balance.currency !== currency)
      throw new StatementFault(`${place} is of an account in ${currency}, and its balance ${balance.code} in ${balance.currency}.`);
  const lines = all.filter(({ status }) => status === 'BOOK');
  checkSummary(statement, all, place);
  const days = [...lines.map(({ bookedOn }) => bookedOn), opening.date, closing.date].filter((day) => day !== '').toSorted();
  const charges = lines.reduce((sum, entry) => sum + entry.charges, 0n);
  const left = all.length - lines.length;
  return {
    account,
    currency,
    from: readDay(statement, 'FrToDt', place, 'FrDtTm') ?? days[0] ?? '',
    to: readDay(statement, 'FrToDt', place, 'ToDtTm') ?? days.at(-1) ?? '',
    opening: opening.cents,
    closing: closing.cents,
    hasPageBefore: opening.code === 'ITBD' || Number(textAt(statement, 'StmtPgntn', 'PgNb')) > 1,
    hasPageAfter: closing.code === 'ITBD' || ['false', '0'].includes(textAt(statement, 'StmtPgntn', 'LastPgInd')),
    lines: lines.map(({ status: _status, charges: _charges, ...line }) => line),
    notes: [
      ...(charges === 0n ? [] : [`${describeCharges(charges)}. They are not added: an entry counts by its own amount.`]),
      ...(left > 0 ? [`${String(left)} ${left === 1 ? 'entry is' : 'entries are'} not booked and left out.`] : []),
    ],
  };
}

/**
 * Reads an entry, whose amount counts once, however many transactions it has: banks repeat it on each of them. `CdtDbtInd` is the direction
 * of the entry itself, also of a reversal: what `RvslInd` adds is that the entry takes back one of the other direction.
 */
function readEntry(entry: XmlElement, currency: string, place: string): Entry {
  const money = readMoney(entry, place);
  if (money.currency !== currency) throw new StatementFault(`${place} is in ${money.currency}, and the account in ${currency}.`);
  const status = textAt(entry, 'Sts', 'Cd') || textAt(entry, 'Sts');
  if (status === '') throw new StatementFault(`${place} has no status (Sts).`);
  const reversal = textAt(entry, 'RvslInd');
  if (!['', 'true', 'false', '1', '0'].includes(reversal))
    throw new StatementFault(`${place} has a RvslInd that is neither true nor false.`);
  const valuedOn = readDay(entry, 'ValDt', place);
  const bookedOn = readDay(entry, 'BookgDt', place) ?? valuedOn;
  if (bookedOn === undefined) throw new StatementFault(`${place} has neither a booking date nor a value date.`);
  const parts = findAll(entry, 'NtryDtls', 'TxDtls');
  // The charges of an entry are those of all its transactions, and these may tell them again.
  const own = readCharges(entry, currency, place);
  const charges = own ?? parts.reduce((sum, part) => sum + (readCharges(part, currency, place) ?? 0n), 0n);
  const references = [
    textAt(entry, 'AcctSvcrRef'),
    textAt(entry, 'NtryRef'),
    ...parts.map((part) => textAt(part, 'Refs', 'EndToEndId')).filter((id) => id !== 'NOTPROVIDED'),
  ];
  return {
    bookedOn,
    valuedOn,
    cents: money.cents,
    text: describe(entry, parts, charges),
    reference: references.find((reference) => reference !== '') ?? '',
    isReversal: reversal === 'true' || reversal === '1',
    status,
    charges,
  };
}

const describeCharges = (charges: bigint): string =>
  charges > 0n
    ? `Charges of ${writeCents(charges)} are told with entries`
    : `Charges of ${writeCents(-charges)} were given back with entries`;

/** The most characters of a line's text. A batch may have thousands of transactions. */
const MOST_TEXT = 300;

function describe(entry: XmlElement, parts: readonly XmlElement[], charges: bigint): string {
  const told = [
    ...(parts.length > 1 ? [`${String(parts.length)} transactions`] : []),
    textAt(entry, 'AddtlNtryInf'),
    ...parts.flatMap((part) => [
      textAt(part, 'RltdPties', 'Dbtr', 'Nm') || textAt(part, 'RltdPties', 'Dbtr', 'Pty', 'Nm'),
      ...findAll(part, 'RmtInf', 'Ustrd').map(({ text }) => text),
      textAt(part, 'AddtlTxInf'),
    ]),
    ...(charges > 0n ? [`charges ${writeCents(charges)}`] : []),
  ];
  const text = [...new Set(told)].filter((part) => part !== '').join(' · ');
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}

/**
 * The charges that an entry or a transaction tells in the currency of the account: of each element its total, or else the sum of its records,
 * less what is given back. Version 02 has amounts without records, and may repeat the total of all. Undefined where none are told.
 */
function readCharges(holder: XmlElement, currency: string, place: string): bigint | undefined {
  const read = (each: XmlElement, name: string): bigint[] =>
    findAll(each, name)
      .filter(({ attributes }) => (attributes.Ccy ?? currency) === currency)
      .map(({ text }) => (textAt(each, 'CdtDbtInd') === 'CRDT' ? -1n : 1n) * (readCents(text, `${place}, charges`) ?? 0n));
  const add = (sum: bigint, cents: bigint): bigint => sum + cents;
  const told = findAll(holder, 'Chrgs').map((charge) => {
    const sum = [charge, ...findAll(charge, 'Rcrd')].flatMap((each) => read(each, 'Amt')).reduce(add, 0n);
    const [total] = read(charge, 'TtlChrgsAndTaxAmt');
    return { sum, total, cents: total !== undefined && total > 0n && sum < 0n ? -total : (total ?? sum) };
  });
  if (told.length === 0) return undefined;
  const sum = told.map((charge) => charge.sum).reduce(add, 0n);
  return told.every(({ total }) => total === sum) ? sum : told.map(({ cents }) => cents).reduce(add, 0n);
}

/** The amount of a balance or an entry with its sign. */
function readMoney(element: XmlElement, place: string): { readonly cents: bigint; readonly currency: string } {
  const [amount] = findAll(element, 'Amt');
  const cents = amount && readCents(amount.text, place);
  if (cents === undefined) throw new StatementFault(`${place} has no amount that can be read: “${amount?.text ?? ''}”.`);
  const currency = amount?.attributes.Ccy ?? '';
  if (!/^[A-Z]{3}$/.test(currency)) throw new StatementFault(`${place} has an amount without a currency.`);
  return { cents: cents * readSign(element, place), currency };
}

function readSign(element: XmlElement, place: string): 1n | -1n {
  const direction = textAt(element, 'CdtDbtInd');
  if (direction === 'CRDT') return 1n;
  if (direction === 'DBIT') return -1n;
  throw new StatementFault(`${place} is neither a credit nor a debit (CdtDbtInd).`);
}

/** The day of a date or of a time, as the bank writes it: its own zone decides which day that is. Undefined where there is none. */
function readDay(element: XmlElement, name: string, place: string, ...inner: readonly string[]): string | undefined {
  const text = inner.length > 0 ? textAt(element, name, ...inner) : textAt(element, name, 'Dt') || textAt(element, name, 'DtTm');
  if (text === '') return undefined;
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d\d)-(\d\d)(T.*|Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const date = toDate(year, month, day);
  if (date === undefined) throw new StatementFault(`${place} has a ${name} that is no date: “${text}”.`);
  return date;
}

/** Compares the entries with the totals that the bank gives of them. Some banks count pending entries in these, and some do not. */
function checkSummary(statement: XmlElement, all: readonly Entry[], place: string): void {
  const booked = all.filter(({ status }) => status === 'BOOK');
  for (const [name, isOf] of [
    ['TtlNtries', () => true],
    ['TtlCdtNtries', ({ cents }: Entry) => cents >= 0n],
    ['TtlDbtNtries', ({ cents }: Entry) => cents < 0n],
  ] as const) {
    const [total] = findAll(statement, 'TxsSummry', name);
    if (!total) continue;
    const [number, sum] = [textAt(total, 'NbOfNtries'), textAt(total, 'Sum')];
    const fits = (entries: readonly Entry[]): boolean => {
      const amounts = entries.filter(isOf).map(({ cents }) => ({ cents: cents < 0n ? -cents : cents }));
      return (number === '' || Number(number) === amounts.length) && (sum === '' || readCents(sum, place) === sumOf(amounts));
    };
    if (!fits(booked) && !fits(all)) {
      const told = [number, sum].filter((text) => text !== '').join(' of ');
      throw new StatementFault(`${place} says ${name} ${told}, and its entries do not add up to that.`);
    }
    const net = name === 'TtlNtries' ? readNet(total, place) : undefined;
    if (net !== undefined && net !== sumOf(booked) && net !== sumOf(all))
      throw new StatementFault(`${place} says that its entries come to ${writeCents(net)}, and they come to ${writeCents(sumOf(booked))}.`);
  }
}

/** The net of all entries, which version 02 writes as two elements. Undefined where it is not told. */
function readNet(total: XmlElement, place: string): bigint | undefined {
  const [pair] = findAll(total, 'TtlNetNtry');
  const text = pair ? textAt(pair, 'Amt') : textAt(total, 'TtlNetNtryAmt');
  const cents = text === '' ? undefined : readCents(text, place);
  return cents === undefined ? undefined : cents * readSign(pair ?? total, place);
}
