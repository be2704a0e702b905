import { writeCents } from '../../src/playground/web/bank/bank-statement';
import { readStatement, type StatementChoice } from '../../src/playground/web/bank/statement-reader';
import { guessColumns, keepColumns, readKeptColumns, type TableColumns } from '../../src/playground/web/bank/table-columns';

interface Store {
  readonly getItem: (key: string) => string | null;
  readonly setItem: (key: string, value: string) => void;
}
declare global {
  /** The storage of a browser, which Node.js does not have. */
  var localStorage: Store;
}

const ONE_COLUMN: TableColumns = {
  ...{ date: 0, amount: 1, credit: undefined, debit: undefined, text: 2, direction: undefined },
  ...{ dateOrder: undefined, decimalSign: undefined },
};

function read(text: string, choice: Partial<StatementChoice> = {}) {
  return readStatement(new TextEncoder().encode(text), { account: '', currency: undefined, columns: ONE_COLUMN, ...choice });
}

/** The amounts of a table, or the reason why it is refused. */
function amountsOf(text: string, choice?: Partial<StatementChoice>): unknown {
  const file = read(text, choice);
  if (file.kind === 'refused') return file.reason;
  return file.kind === 'read' ? file.statement.lines.map(({ cents }) => writeCents(cents)).join(' ') : file.head;
}

test('an analyst reads every movement of a table without a header', () => {
  const text = '2026-05-04,5.00,Ada Payer\n2026-05-05,6.00,x\n';
  expect(amountsOf(text)).toBe('5.00 6.00');
  expect(amountsOf(text, { columns: undefined })).toMatchObject({ names: ['Column 1', 'Column 2', 'Column 3'], isNamed: false });
  expect(amountsOf(`2026-05-03,4.00,a,b\n${text}`)).toBe('Line 1 has 4 values, and most lines have 3.');
});

test('an analyst is told of amounts in another currency than that of the deposits, and of two currencies', () => {
  const table = (...amounts: string[]): string => ['Date,Amount,Text', ...amounts.map((amount) => `2026-05-04,${amount},x`)].join('\n');
  expect(amountsOf(table('5.00 EUR'), { currency: 'USD' })).toBe('The statement is in EUR, and the deposits are in USD.');
  expect(amountsOf(table('5.00 EUR', 'EUR 6.00', '7.00'), { currency: 'EUR' })).toBe('5.00 6.00 7.00');
  expect(amountsOf(table('5.00 EUR', 'USD 6.00'))).toBe('The amounts are in EUR and USD: they cannot be added up.');
  expect(amountsOf(table('$5.00', '€6.00'))).toBe('The amounts are in $ and €: they cannot be added up.');
});

test('an analyst who chose an account is told that a table names none', () => {
  const file = read('Date,Amount,Text\n2026-05-04,5,x\n', { account: 'DE99' });
  expect(file.kind === 'read' && file.statement.notes).toContain('A table names no account, so that the account was not checked.');
});

test('an analyst reads columns of credits and debits of which the unused one has zero', () => {
  const columns = { ...ONE_COLUMN, amount: undefined, credit: 1, debit: 2, text: undefined };
  const table = (...rows: string[]): string => ['Date,In,Out', ...rows.map((row) => `2026-05-04,${row}`)].join('\n');
  expect(amountsOf(table('5.00,0.00', '0.00,6.00', '7.00,', ',8.00'), { columns })).toBe('5.00 -6.00 7.00 -8.00');
  expect(amountsOf(table('5.00,6.00'), { columns })).toBe('Line 2: it has a credit and a debit.');
  expect(amountsOf(table(','), { columns })).toBe('Line 2: it has no amount.');
  expect(amountsOf(table('5.00,0.00'), { columns: { ...columns, amount: 1 } })).toBe(
    'Choose either a column of amounts, or columns of credits and debits, and not both.',
  );
});

test('an analyst reads amounts whose symbol stands between the sign and the number', () => {
  expect(amountsOf('Date,Amount,Text\n2026-05-04,"-$1,234.50",x\n2026-05-04,($12.00),x\n2026-05-04,$-3.00,x\n2026-05-04,4.00$-,x\n')).toBe(
    '-1234.50 -12.00 -3.00 -4.00',
  );
  expect(amountsOf('Date,Amount,Text\n2026-05-04,1$2.00,x\n')).toBe('Line 2: “1$2.00” is no amount with a decimal point.');
});

test('the columns of credits and debits are proposed before one of amounts', () => {
  const proposed = (...names: string[]): unknown => guessColumns({ names, isNamed: true, samples: [] });
  expect(proposed('Date', 'Debit Amount', 'Credit Amount')).toMatchObject({ amount: undefined, credit: 2, debit: 1 });
  expect(proposed('Date', 'Credit/Debit', 'Amount')).toMatchObject({ amount: 2, credit: undefined, debit: undefined });
});

const IN_AND_OUT: TableColumns = { ...ONE_COLUMN, amount: undefined, credit: 1, debit: 2, text: undefined };

test('an analyst reads debits that all have a minus as paid out, and is told of debits with and without one', () => {
  const table = (...rows: string[]): string => ['Date,Credit,Debit', ...rows.map((row) => `2026-05-04,${row}`)].join('\n');
  const columns = IN_AND_OUT;
  expect(amountsOf(table('5.00,0.00', ',-100.00', ',-3.00', ',0.00'), { columns })).toBe('5.00 -100.00 -3.00 0.00');
  expect(amountsOf(table(',100.00', ',-100.00'), { columns })).toBe(
    'Line 3: its debit has a minus, and other debits have none: nobody can say which leave the account.',
  );
});

test('an analyst reads unsigned amounts by the column that says their direction', () => {
  const columns = { ...ONE_COLUMN, direction: 2, text: undefined };
  const table = (...rows: string[]): string => ['Date,Amount,Type', ...rows.map((row) => `2026-05-04,${row}`)].join('\n');
  expect(amountsOf(table('500.00,Credit', '100.00,debit', '6.00,H', '7.00,S', '0.00,'), { columns })).toBe(
    '500.00 -100.00 6.00 -7.00 0.00',
  );
  expect(amountsOf(table('5.00,Fee'), { columns })).toBe(
    'Line 2: “Fee” of “Type” is no direction such as Credit or Debit. Choose None where amounts have signs.',
  );
  expect(amountsOf(table('-5.00,DR', '6.00,CR'), { columns })).toBe('-5.00 6.00');
  expect(amountsOf(table('500.00,C', '100.00,D', '-20.00,D'), { columns })).toBe(
    'Line 4: its amount has a minus, and not all signs agree with “Type”.',
  );
  expect(amountsOf('Date,In,Out,Type\n2026-05-04,5.00,,Credit\n', { columns: { ...IN_AND_OUT, direction: 3 } })).toBe(
    'Choose a direction with a column of amounts alone: columns of credits and debits have their own.',
  );
});

test('a column of directions is proposed by its name and its words, unless amounts have signs', () => {
  const proposed = (name: string, ...rows: string[]): unknown =>
    guessColumns({ names: ['Date', 'Amount', name], isNamed: true, samples: rows.map((row) => ['2026-05-04', ...row.split(' ')]) })
      .direction;
  for (const name of ['Soll / Haben', 'Transaction Type', 'Credit or Debit', 'C/D', 'Dr/Cr Flag']) expect(proposed(name, '5.00 S')).toBe(2);
  expect(proposed('Type', '5.00 Fee')).toBeUndefined();
  expect(proposed('Type', '-5.00 Debit', '6.00 Credit')).toBeUndefined();
  expect(proposed('Card', '5.00 Debit', '6.00 Credit')).toBeUndefined();
});

test('an analyst is asked for the direction of amounts where nobody has chosen it and their signs do not say it', () => {
  const ask = (name: string): string => `“${name}” says which amounts came in and which went out: choose it as the direction, or None.`;
  const table = (name: string, ...rows: string[]): string => [`Date,Amount,${name}`, ...rows.map((row) => `2026-05-04,${row}`)].join('\n');
  expect(amountsOf(table('Mark', '5.00,Credit', '6.00,debit'))).toBe(ask('Mark'));
  expect(amountsOf(table('Credit/Debit', '5.00,Debit', '6.00,Debit'))).toBe(ask('Credit/Debit'));
  expect(amountsOf(table('Mark', '5.00,C', '6.00,D', '2.00,Fee'))).toBe(ask('Mark'));
  expect(amountsOf(table('Mark', '5.00,C', '6.00,D', '-2.00,C'))).toBe(ask('Mark'));
  expect(amountsOf(table('Mark', '5.00,C', '6.00,D'), { columns: { ...ONE_COLUMN, direction: 'none' } })).toBe('5.00 6.00');
  expect(amountsOf(table('Details', '-5.00,DEBIT', '6.00,CREDIT', '-7.00,CHECK'))).toBe('-5.00 6.00 -7.00');
  // The kinds of cards are none.
  expect(amountsOf(table('Card', '5.00,Debit', '6.00,Debit'))).toBe('5.00 6.00');
});

test('an analyst is told of a symbol that is not one of the currency of the deposits or of a code beside it', () => {
  const table = (...amounts: string[]): string => ['Date,Amount,Text', ...amounts.map((amount) => `2026-05-04,${amount},x`)].join('\n');
  expect(amountsOf(table('£5.00'), { currency: 'USD' })).toBe('The statement is in £, and the deposits are in USD.');
  expect(amountsOf(table('€5.00'), { currency: 'CHF' })).toBe('The statement is in €, and the deposits are in CHF.');
  expect(amountsOf(table('EUR 5.00', '$5.00'))).toBe('The amounts are in EUR and $: they cannot be added up.');
  expect(amountsOf(table('$5.00', 'CAD 6.00'), { currency: 'CAD' })).toBe('5.00 6.00');
  expect(amountsOf(table('£5.00'), { currency: 'GBP' })).toBe('5.00');
  expect(amountsOf(table('\uFFE5500'), { currency: 'JPY' })).toBe('500.00');
  expect(amountsOf(table('5.00 \uFDFC'), { currency: 'SAR' })).toBe('5.00');
});

test('a browser that remembers the columns asks for each file how its dates and amounts are meant', () => {
  const stored = new Map<string, string>();
  globalThis.localStorage = { getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => stored.set(key, value) };
  const head = { names: ['Date', 'Amount', 'Text'], isNamed: true, samples: [] };
  keepColumns(head, { ...ONE_COLUMN, dateOrder: 'month-first', decimalSign: 'comma' });
  const columns = readKeptColumns(head);
  keepColumns(head, { ...ONE_COLUMN, direction: 'none' });
  const chosen = readKeptColumns(head);
  Reflect.deleteProperty(globalThis, 'localStorage');
  expect([columns, chosen]).toEqual([ONE_COLUMN, { ...ONE_COLUMN, direction: 'none' }]);
  expect(amountsOf('Date,Amount,Text\n04/05/2026,5,x\n', { columns })).toMatch(/: choose it\.$/);
  expect(amountsOf('Date,Amount,Text\n2026-05-04,1.234,x\n', { columns })).toMatch(/: choose it\.$/);
});

/** The days of a table, or the reason why it is refused. */
function daysOf(dates: readonly string[], columns = ONE_COLUMN): unknown {
  const file = read(['Date,Amount,Text', ...dates.map((date) => `${date},5,x`)].join('\n'), { columns });
  if (file.kind === 'refused') return file.reason;
  return file.kind === 'read' && file.statement.lines.map(({ bookedOn }) => bookedOn).join(' ');
}

test('an analyst is asked for the order of dates that may begin with a year of two digits, and not for a day that is one in each order', () => {
  expect(daysOf(['26-05-04'])).toBe('The dates of “Date” do not tell whether the day or the year comes first: choose it.');
  expect(daysOf(['26-05-04'], { ...ONE_COLUMN, dateOrder: 'year-first' })).toBe('2026-05-04');
  expect(daysOf(['26-05-04'], { ...ONE_COLUMN, dateOrder: 'day-first' })).toBe('2004-05-26');
  expect(daysOf(['05-14-26', '05-04-26'])).toBe('2026-05-14 2026-05-04');
  expect(daysOf(['26.05.04'])).toBe('2004-05-26');
  expect(daysOf(['05/05/2026', '6/6/2026'])).toBe('2026-05-05 2026-06-06');
});

test('an analyst reads amounts below one that begin with the decimal sign', () => {
  expect(amountsOf('Date,Amount,Text\n2026-05-04,.50,x\n2026-05-04,-.5,x\n2026-05-04,$.500,x\n')).toBe('0.50 -0.50 0.50');
  expect(amountsOf('Date;Amount;Text\n2026-05-04;-,50;x\n')).toBe('-0.50');
  expect(amountsOf('Date,Amount,Text\n2026-05-04,.,x\n')).toBe('Line 2: “.” is no amount with a decimal point.');
});

const AMERICAN = `Description,,Summary Amt.
Beginning balance as of 05/01/2026,,"1,000.00"
Total credits,,"500.00"
Total debits,,"-100.00"
Ending balance as of 05/31/2026,,"1,400.00"

Date,Description,Amount,Running Bal.
05/01/2026,Beginning balance as of 05/01/2026,,"1,000.00"
05/14/2026,Gifts,"500.00","1,500.00"
05/15/2026,Rent,"-100.00","1,400.00"
`;
const GERMAN = `"Girokonto";"DE12 3456"
"Zeitraum:";"01.05.2026 - 31.05.2026"
"Kontostand vom 31.05.2026:";"1.234,56 €"
""
"Buchungsdatum";"Wertstellung";"Status";"Verwendungszweck";"Betrag (€)"
"04.05.26";"04.05.26";"Gebucht";"Spende";"12,34"
`;

test('an analyst reads a short table below the lines of a bank', () => {
  const columns = { ...ONE_COLUMN, amount: 2, text: 1 };
  expect(read(AMERICAN, { columns: undefined })).toMatchObject({ head: { names: ['Date', 'Description', 'Amount', 'Running Bal.'] } });
  expect(amountsOf(AMERICAN, { columns })).toBe('500.00 -100.00');
  const file = read(AMERICAN, { columns });
  expect(file.kind === 'read' && file.statement.notes).toContain('Line 8 is a balance and no movement.');
  for (const text of [GERMAN, GERMAN.replaceAll('"', '')])
    expect(amountsOf(text, { columns: { ...ONE_COLUMN, amount: 4, text: 3 }, currency: 'EUR' })).toBe('12.34');
});

test('an analyst reads a table below lines that are as wide as it is, or that have a date and an amount', () => {
  const table = 'Date,Amount,Text,\n2026-05-04,5.00,x,\n';
  expect(amountsOf(`Account,12345,,\nFrom,2026-05-01,,\nOwner,Charity,,\n${table}`)).toBe('5.00');
  expect(amountsOf(`Owner,Charity,EUR\nBalance,2026-05-31,5.00\n${table}`)).toBe('5.00');
});

test('an analyst never loses a row above one that could be a header', () => {
  const pending = '05/03/2026 (pending),4.00,a';
  expect(amountsOf(`Date,Amount,Text\n${pending}\nDate,Amount,Text\n05/14/2026,5.00,x\n05/15/2026,6.00,x\n`)).toBe(
    'Line 2: “05/03/2026 (pending)” is no date (month before day).',
  );
  expect(amountsOf('Date,Amount,Text\n2026-05-01,0.00,Opening balance b/f:\n2026-05-02,1.00,x\n')).toBe('1.00');
  expect(amountsOf('Date,Amount,Text\n2026-05-01,1000.00,Beginning Balance\n2026-05-02,1.00,x\n')).toBe(
    'Line 2: it is a balance and no movement. Take it out of the file.',
  );
  expect(amountsOf('2026-05-03,4.00,a\nNote,,\n2026-05-04,5.00,x\n')).toBe('Line 2: it has no amount.');
  expect(amountsOf('2026-05-03,4.00,a\nNote,of,us\n2026-05-04,5.00,x\n')).toBe('Line 2: “of” is no amount with a decimal point.');
  expect(amountsOf('Date,Amount,Text\nMay 3,4.00,a\nNote,,\n2026-05-04,5.00,x\n')).toBe('Line 2: “May 3” is no date.');
  expect(amountsOf('Date,Amount,Text\n2026-05-03,4.00,a\nNote,,\n2026-05-04,5.00,x\n')).toBe('Line 3: it has no amount.');
  expect(amountsOf('Date,Amount,Text\n2026-05-03,4.00,a\n2026-05\n')).toBe('Line 3 has 1 values, and the header has 3.');
});

test('an analyst is told the line of the file also below a value that holds line breaks', () => {
  expect(amountsOf('Date,Amount,Text\r\n2026-05-04,5.00,"two\r\nlines"\r\n2026-05-05,none,x\r\n')).toBe(
    'Line 4: “none” is no amount with a decimal point.',
  );
  expect(amountsOf('Date,Amount,"Te\nxt"\n\n2026-05-04,5.00\n')).toBe('Line 4 has 2 values, and the header has 3.');
  expect(amountsOf('Date,Amount,Text\n2026-05-04,5.00,"a\nb"\n2026-05-05,6.00,"x\n')).toBe(
    'Line 4: a quote is not closed or stands within a value.',
  );
});
