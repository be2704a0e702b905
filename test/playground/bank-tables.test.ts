import { writeCents } from '../../src/playground/web/bank/bank-statement';
import { readStatement, type StatementChoice } from '../../src/playground/web/bank/statement-reader';
import type { TableColumns } from '../../src/playground/web/bank/table-columns';

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
  expect(amountsOf(text, { columns: undefined })).toMatchObject({ names: ['Column 1', 'Column 2', 'Column 3'] });
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
