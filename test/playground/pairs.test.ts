import { ColumnIndex } from '../../src/playground/web/rows/column-index';
import { createCellFormat, toWord } from '../../src/playground/web/values/cell-format';
import { ValueList } from '../../src/playground/web/values/value-list';

const valuesOf = (...values: readonly (string | null)[]): ValueList => {
  const list = new ValueList();
  for (const value of values) list.append(value);
  list.seal();
  return list;
};

test('amounts and dates before and after a change are written as people of a locale write them', () => {
  const { format } = createCellFormat(['de-DE']);
  expect(format('1000.00 → 900.00', 'money')).toBe('1.000,00 → 900,00');
  expect(format('2024-05-03 → 2024-06-01', 'date')).toBe('03.05.2024 → 01.06.2024');
  expect(format('unknown → 10.00', 'money')).toBe('unknown → 10,00');
});

test('an instant is written by the clock of a time zone', () => {
  const { format } = createCellFormat(['en-US']);
  const written = (zone: string): string => format('2026-10-31T23:30:00.000Z', 'instant', zone).replaceAll('\u202f', ' ');
  expect(written('America/New_York')).toBe('Oct 31, 2026, 7:30 PM');
  expect(written('Asia/Tokyo')).toBe('Nov 1, 2026, 8:30 AM');
});

test('a pair of texts that are read from right to left leads from the first to the second', () => {
  const { format } = createCellFormat(['en-US']);
  expect(format('أحمد → محمد', 'text')).toBe('\u2066أحمد \u200e→\u200e محمد\u2069');
  expect(createCellFormat(['ar-EG']).format('1.00 → 2.00', 'money')).toBe('\u2066١٫٠٠ \u200e→\u200e ٢٫٠٠\u2069');
});

test('pairs are sorted by the value after the change', () => {
  const amounts = valuesOf('9.00', '1000.00 → 10.00', '-5.00', '2.00 → 100.00');
  expect([...new ColumnIndex(amounts, 'money', ['en-US']).ranks()]).toEqual([1, 2, 0, 3]);
  const dates = valuesOf('2024-08-01', '2024-12-01 → 2024-01-31', '2024-04-03');
  expect([...new ColumnIndex(dates, 'date', ['en-US']).ranks()]).toEqual([2, 0, 1]);
});

test('both amounts of a pair are found by how they begin', () => {
  const amounts = new ColumnIndex(valuesOf('50.00 → 1234.50', '1234.50', '51234.50', '12.00 → 12.50'), 'money', ['en-US']);
  expect([...amounts.countsOfWord('1,234')]).toEqual([1, 1, 0, 0]);
  expect([...amounts.countsOfWord('50')]).toEqual([1, 0, 0, 0]);
  expect([...amounts.countsOfWord('12')]).toEqual([1, 1, 0, 2]);
});

test('both words of a pair are written as people write them', () => {
  expect(toWord('PENDING')).toBe('Pending');
  expect(toWord('Posted → IN_TRANSIT')).toBe('Posted → In transit');
});
