import { StatementFault, sumOf, toDate, writeCents, type Statement, type StatementLine } from './bank-statement';

/** A field of a record. `isFirst` tells a part that a continuation has begun. */
interface Field {
  readonly value: string;
  readonly isFirst: boolean;
}

/** A record with its continuations. */
interface Bai2Record {
  readonly code: string;
  readonly fields: readonly Field[];
  /** The line of the file, from 1. */
  readonly line: number;
  /** The lines that it takes, which the bank's counts are of. */
  readonly count: number;
}

/** The decimals of currencies that do not have two, by the minor units of ISO 4217. Amounts of BAI2 have no point. */
const minorUnits: ReadonlyMap<string, number> = new Map([
  ...['BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'UYI', 'VND', 'VUV', 'XAF', 'XOF', 'XPF'].map(
    (code) => [code, 0] as const,
  ),
  ...['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'].map((code) => [code, 3] as const),
]);

const groupStatuses: Readonly<Record<string, string>> = { '2': 'deletes', '3': 'corrects', '4': 'is a test of' };

/** Reads the statements of a BAI2 file, one for each account and day. Throws a StatementFault for a file that is none, or that was changed. */
export function readBai2(text: string): Statement[] {
  const reader = createReader(joinRecords(text));
  const header = reader.take('01', 'a file header');
  const version = valueOf(header, 7);
  if (version !== '' && version !== '2') throw faultAt(header, `The file is of version ${version} of the format, and not of BAI2.`);
  const statements: Statement[] = [];
  const total = { sum: 0n, groups: 0, records: header.count };
  while (reader.peek() === '02') {
    const group = readGroup(reader);
    statements.push(...group.statements);
    total.sum += group.sum;
    total.groups += 1;
    total.records += group.records;
  }
  const trailer = reader.take('99', 'the next group or the end of the file');
  checkTotals(trailer, 'The file', [
    ['control total', 0, total.sum],
    ['number of groups', 1, BigInt(total.groups)],
    ['number of records', 2, BigInt(total.records + trailer.count)],
  ]);
  reader.end();
  if (statements.length === 0) throw new StatementFault('The file has no account.');
  return statements;
}

interface Group {
  readonly statements: readonly Statement[];
  readonly sum: bigint;
  readonly records: number;
}

function readGroup(reader: RecordReader): Group {
  const header = reader.take('02', 'a group');
  const status = valueOf(header, 2);
  if (status !== '1') {
    const does = groupStatuses[status] ?? `has the unknown status “${status}” for`;
    throw faultAt(header, `The group ${does} what another file tells. Only a group that adds (status 1) can be read.`);
  }
  if (['1', '3'].includes(valueOf(header, 6)))
    throw faultAt(header, `The group is interim (as-of-date modifier ${valueOf(header, 6)}), which is not final.`);
  const day = readDay(valueOf(header, 3), header);
  const currency = valueOf(header, 5) || 'USD';
  const statements: Statement[] = [];
  let [sum, records] = [0n, header.count];
  while (reader.peek() === '03') {
    const account = readAccount(reader, day, currency);
    statements.push(account.statement);
    sum += account.sum;
    records += account.records;
  }
  const trailer = reader.take('98', 'the next account or the end of the group');
  records += trailer.count;
  checkTotals(trailer, 'The group', [
    ['control total', 0, sum],
    ['number of accounts', 1, BigInt(statements.length)],
    ['number of records', 2, BigInt(records)],
  ]);
  return { statements, sum, records };
}

interface Account {
  readonly statement: Statement;
  readonly sum: bigint;
  readonly records: number;
}

function readAccount(reader: RecordReader, day: string, groupCurrency: string): Account {
  const header = reader.take('03', 'an account');
  const account = valueOf(header, 0);
  if (account === '') throw faultAt(header, 'The account has no number.');
  const currency = valueOf(header, 1) || groupCurrency;
  const summary = new Map<string, bigint>();
  let [sum, records] = [0n, header.count];
  for (let at = 2; at < header.fields.length;) {
    const type = valueOf(header, at);
    const told = valueOf(header, at + 1);
    const amount = readAmount(told, header, true);
    // A blank amount is one that the bank does not tell.
    if (type !== '' && told !== '') summary.set(type, amount);
    sum += amount;
    at = readFunds(header, at + 3).next;
  }
  const movements: Movement[] = [];
  const toCents = (units: bigint, record: Bai2Record): bigint => scale(units, currency, record);
  while (reader.peek() === '16') {
    const record = reader.take('16', 'a movement');
    const amount = readAmount(valueOf(record, 1), record, false);
    sum += amount;
    records += record.count;
    const line = readMovement(record, toCents(amount, record), day);
    if (line) movements.push({ type: valueOf(record, 0), line });
  }
  const lines = leaveOutItems(header, movements);
  const trailer = reader.take('49', 'the next movement or the end of the account');
  records += trailer.count;
  checkTotals(trailer, `Account ${account}`, [
    ['control total', 0, sum],
    ['number of records', 1, BigInt(records)],
  ]);
  const told = (type: string): bigint | undefined => {
    const units = summary.get(type);
    return units === undefined ? undefined : toCents(units, header);
  };
  checkSummary(header, lines, told('100'), told('400'));
  const [opening, closing] = [told('010'), told('015')];
  return {
    statement: {
      ...{ account, currency, from: day, to: day, opening, closing, lines },
      notes: [
        ...(opening === undefined ? ['The file tells no opening balance.'] : []),
        ...(closing === undefined ? ['The file tells no closing balance.'] : []),
        ...(lines.length < movements.length ? ['Items of deposits are left out: the line of the deposit has their money.'] : []),
      ],
    },
    sum,
    records,
  };
}

interface Movement {
  readonly type: string;
  readonly line: StatementLine;
}

/** The types of deposits and of their items: checks of a lockbox, of a DTC deposit, and preauthorized ones. */
const itemTypes = [
  ['115', '116'],
  ['135', '136'],
  ['155', '156'],
] as const;

/**
 * The lines without the items of deposits, whose money is one movement: those that follow a deposit and come to it, or all where all come to
 * all deposits. Items alone are lines. Throws a fault for items beside deposits that they do not come to.
 */
function leaveOutItems(header: Bai2Record, movements: readonly Movement[]): StatementLine[] {
  const left = new Set<Movement>();
  for (const [deposit, item] of itemTypes) {
    const ofType = (type: string): Movement[] => movements.filter((movement) => movement.type === type && !left.has(movement));
    const sum = (all: readonly Movement[]): bigint => sumOf(all.map(({ line }) => line));
    const [deposits, items] = [ofType(deposit), ofType(item)];
    if (deposits.length === 0 || items.length === 0) continue;
    if (sum(deposits) === sum(items)) for (const movement of items) left.add(movement);
    else for (const movement of findRuns(movements, deposit, item)) left.add(movement);
    const others = ofType(item);
    if (others.length > 0)
      throw faultAt(
        header,
        `Items of type ${item} come to ${writeCents(sum(others))}, and it cannot be said in which deposits of type ${deposit} they are.`,
      );
  }
  return movements.flatMap((movement) => (left.has(movement) ? [] : [movement.line]));
}

/** The items that stand right after a deposit and come to it. */
function findRuns(movements: readonly Movement[], deposit: string, item: string): Movement[] {
  return movements.flatMap(({ type, line }, at) => {
    let end = at + 1;
    while (type === deposit && movements[end]?.type === item) end++;
    const run = movements.slice(at + 1, end);
    return sumOf(run.map((movement) => movement.line)) === line.cents ? run : [];
  });
}

/** Reads a movement: its type says the direction, and its amount has no sign. Undefined for one that moves nothing. */
function readMovement(record: Bai2Record, cents: bigint, day: string): StatementLine | undefined {
  const type = valueOf(record, 0);
  if (type === '890') return undefined;
  const code = /^\d{3}$/.test(type) ? Number(type) : 0;
  const isCredit = code > 100 && code < 400;
  // 100 and 400 are totals, 700 and more are of loans or the bank's own.
  if (!isCredit && !(code > 400 && code < 700))
    throw faultAt(record, `The movement has the type “${type}”, which is neither a credit nor a debit.`);
  const { next, valuedOn } = readFunds(record, 2);
  const [bankReference, reference] = [valueOf(record, next), valueOf(record, next + 1)];
  const text = record.fields
    .slice(next + 2)
    .reduce((told, { value, isFirst }, n) => (n === 0 ? value : told + (isFirst ? ' ' : ',') + value), '')
    .trim();
  return {
    bookedOn: day,
    valuedOn,
    cents: isCredit ? cents : -cents,
    text: text || `type ${type}`,
    reference: bankReference || reference,
    isReversal: false,
  };
}

/** Reads the type of funds at a place with what belongs to it, and gives the place after it. */
function readFunds(record: Bai2Record, at: number): { readonly next: number; readonly valuedOn: string | undefined } {
  const type = valueOf(record, at);
  const next = (count: number) => ({ next: at + 1 + count, valuedOn: undefined });
  switch (type) {
    case '':
    case 'Z':
    case '0':
    case '1':
    case '2':
      return next(0);
    case 'S':
      for (const n of [1, 2, 3]) readAmount(valueOf(record, at + n), record, true);
      return next(3);
    case 'V': {
      const value = valueOf(record, at + 1);
      return { next: at + 3, valuedOn: value === '' ? undefined : readDay(value, record) };
    }
    case 'D': {
      const count = valueOf(record, at + 1);
      if (!/^\d{1,3}$/.test(count)) throw faultAt(record, `The funds are available in “${count}” parts.`);
      return next(1 + 2 * Number(count));
    }
    default:
      throw faultAt(record, `The type of funds “${type}” is unknown.`);
  }
}

/** Compares the lines with the bank's totals of credits and debits. An account without lines may have totals alone, which are no statement. */
function checkSummary(header: Bai2Record, lines: readonly StatementLine[], credits: bigint | undefined, debits: bigint | undefined): void {
  for (const [name, total, own] of [
    ['credits', credits, sumOf(lines.filter(({ cents }) => cents > 0n))],
    ['debits', debits, -sumOf(lines.filter(({ cents }) => cents < 0n))],
  ] as const)
    if (total !== undefined && total !== own)
      throw faultAt(header, `The account has ${name} of ${writeCents(total)}, and its lines come to ${writeCents(own)}.`);
}

function readAmount(text: string, record: Bai2Record, isSigned: boolean): bigint {
  if (text === '') return 0n;
  if (!(isSigned ? /^[+-]?\d{1,18}$/ : /^\d{1,18}$/).test(text)) throw faultAt(record, `“${text}” is no amount.`);
  return BigInt(text.replace('+', ''));
}

/** Makes hundredths of an amount in the smallest unit of its currency. */
function scale(units: bigint, currency: string, record: Bai2Record): bigint {
  const decimals = minorUnits.get(currency) ?? 2;
  if (decimals < 2) return units * 100n;
  if (decimals === 2) return units;
  if (units % 10n !== 0n) throw faultAt(record, `The amount ${String(units)} of ${currency} has more than two decimals.`);
  return units / 10n;
}

/** Reads a day as YYMMDD, which is of this century, or as YYYYMMDD. */
function readDay(text: string, record: Bai2Record): string {
  const [, year = '', month = '', day = ''] = /^(\d{2}|\d{4})(\d\d)(\d\d)$/.exec(text) ?? [];
  const date = toDate(year.length === 2 ? `20${year}` : year, month, day);
  if (date === undefined) throw faultAt(record, `“${text}” is no date.`);
  return date;
}

/** Compares what a trailer says with what was read. Control totals add all amounts up without a sign of their type. */
function checkTotals(trailer: Bai2Record, whose: string, totals: readonly (readonly [name: string, field: number, own: bigint])[]): void {
  for (const [name, field, own] of totals) {
    const told = valueOf(trailer, field);
    if (!/^[+-]?\d{1,18}$/.test(told) || BigInt(told.replace('+', '')) !== own)
      throw faultAt(trailer, `${whose} has the ${name} “${told}”, and it comes to ${String(own)}.`);
  }
}

const valueOf = ({ fields }: Bai2Record, at: number): string => fields[at]?.value.trim() ?? '';

const faultAt = ({ line }: Bai2Record, reason: string): StatementFault => new StatementFault(`Line ${String(line)}: ${reason}`);

interface RecordReader {
  /** The code of the next record; undefined at the end. */
  readonly peek: () => string | undefined;
  /** Takes the next record, which must have a code. */
  readonly take: (code: string, name: string) => Bai2Record;
  /** Throws a fault where a record is left. */
  readonly end: () => void;
}

function createReader(records: readonly Bai2Record[]): RecordReader {
  let at = 0;
  return {
    peek: () => records[at]?.code,
    take: (code, name) => {
      const record = records[at++];
      if (!record) throw new StatementFault(`The file ends where ${name} (${code}) should be: it was cut off.`);
      if (record.code !== code) throw faultAt(record, `There is a record ${record.code} where ${name} (${code}) should be.`);
      return record;
    },
    end: () => {
      const record = records[at];
      if (record) throw faultAt(record, 'There is more after the end of the file (99).');
    },
  };
}

/**
 * Cuts the file into records. A slash ends a record, and 88 goes on with the one before. The text of a movement ends with its line and may
 * hold commas, so that it is put together again from its fields.
 */
function joinRecords(text: string): Bai2Record[] {
  const records: { code: string; fields: Field[]; line: number; count: number }[] = [];
  for (const [n, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const line = raw.trimEnd();
    if (line === '') continue;
    const [, code, rest = ''] = /^(01|02|03|16|49|88|98|99)(?:,(.*)|\/)$/.exec(line) ?? [];
    if (code === undefined) throw new StatementFault(`Line ${String(n + 1)}: “${line.slice(0, 20)}” is no record of BAI2.`);
    const fields = rest
      .replace(/\/$/, '')
      .split(',')
      .map((value, place): Field => ({ value, isFirst: place === 0 }));
    const last = records.at(-1);
    if (code !== '88') records.push({ code, fields, line: n + 1, count: 1 });
    else if (!last) throw new StatementFault(`Line ${String(n + 1)}: a continuation (88) has no record before it.`);
    else {
      last.fields.push(...fields);
      last.count += 1;
    }
  }
  return records;
}
