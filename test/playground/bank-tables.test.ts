import { writeCents } from '../../src/playground/web/bank/bank-statement';
import { readStatement, type StatementChoice } from '../../src/playground/web/bank/statement-reader';
import { guessColumns, type TableColumns } from '../../src/playground/web/bank/table-columns';

const ONE_COLUMN: TableColumns = {
  ...{ date: 0, amount: 1, credit: undefined, debit: undefined, text: 2, dateOrder: undefined, decimalSign: undefined },
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
