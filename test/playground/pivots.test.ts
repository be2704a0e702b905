import { MAX_ACROSS, toPivot, type Pivot } from '../../src/playground/web/rows/pivot-rows';
import type { Cell, Row, TableColumn } from '../../src/playground/web/values/table-types';

const SHARE = 'all.byAllocation.amount';
const UNKNOWN = 'all.byAllocation.unknown';
const columns: readonly TableColumn[] = [
  { id: 'key.month', title: 'Month', kind: 'month', adds: false },
  { id: 'key.designation', title: 'Designation', kind: 'text', adds: false },
  { id: 'key.designationId', title: 'Fund number', kind: 'text', adds: false },
  { id: SHARE, title: 'To this fund', kind: 'money', adds: true },
  { id: UNKNOWN, title: 'Unknown shares', kind: 'count', adds: true, isHidden: true },
];
const monthAt = (n: number): string => `${String(2024 + Math.floor(n / 12))}-${String((n % 12) + 1).padStart(2, '0')}-01`;
const row = (month: number, fund: number, amount: string | null, unknown = 0): Row => [
  monthAt(month),
  `Fund ${fund}`,
  fund,
  amount,
  unknown,
];
const pivot = (rows: readonly Row[], figure = SHARE): Pivot => toPivot(columns, rows, { across: 'key.month', figure }, ['en-US']);

const titles = ({ columns: all }: Pivot): string[] => all.map(({ title }) => title);
const cents = (cell: Cell | undefined): bigint => BigInt(String(cell).replace('.', ''));
const sum = (cells: readonly (Cell | undefined)[]): bigint => cells.map(cents).reduce((one, other) => one + other, 0n);

test('a pivot has a row for each fund, the largest first, with each month between its ends, a total and its share', () => {
  const found = pivot([row(0, 1, '10.00'), row(0, 2, '40.10'), row(2, 1, '20.00'), row(3, 1, '-0.10')]);
  expect(titles(found)).toEqual(['Designation', 'Fund number', 'Jan 2024', 'Feb 2024', 'Mar 2024', 'Apr 2024', 'Total', 'Share']);
  expect(found.rows).toEqual([
    ['Fund 2', 2, '40.10', '0.00', '0.00', '0.00', '40.10', '57.29'],
    ['Fund 1', 1, '10.00', '0.00', '20.00', '-0.10', '29.90', '42.71'],
  ]);
  expect(found.columns.filter(({ adds }) => adds).map(({ title }) => title)).toEqual([
    'Jan 2024',
    'Feb 2024',
    'Mar 2024',
    'Apr 2024',
    'Total',
  ]);
});

test('a pivot by quarter says that its columns begin with their months', () => {
  const ofQuarters = columns.map((column) =>
    column.id === 'key.month' ? { ...column, id: 'key.quarter', title: 'Quarter from' } : column,
  );
  const { columns: all } = toPivot(ofQuarters, [row(0, 1, '10.00'), row(6, 1, '5.00')], { across: 'key.quarter', figure: SHARE }, [
    'en-US',
  ]);
  expect(all.slice(2, -2).map(({ title }) => title)).toEqual(['From Jan 2024', 'From Apr 2024', 'From Jul 2024']);
  expect(all[3]!.about).toBe('To this fund: Quarter from Apr 2024.');
});

test('a pivot of three hundred funds and 24 months, one of which dominates, adds up to the list in both ways, to the cent', () => {
  const amountOf = (month: number, fund: number): string =>
    fund === 7 ? `98765432109${month % 10}.0${fund % 10}` : `${fund % 50 === 0 ? '-' : ''}${fund * (month + 1)}.05`;
  const cellsOf = Array.from({ length: 24 }, (_, month) => month).flatMap((month) =>
    Array.from({ length: 300 }, (_, n) => n + 1)
      .filter((fund) => (fund + month) % 3 > 0)
      .map((fund) => row(month, fund, amountOf(month, fund))),
  );
  const { columns: all, rows } = pivot(cellsOf);
  const [first, total] = [2, all.findIndex(({ title }) => title === 'Total')];
  expect([rows.length, total - first]).toEqual([300, 24]);
  for (const cells of rows) {
    const listed = cellsOf.filter(([, , fund]) => fund === cells[1]).map((each) => each[3]);
    expect([cells[1], sum(cells.slice(first, total)), cents(cells[total])]).toEqual([cells[1], sum(listed), sum(listed)]);
  }
  for (let month = 0; month < 24; month++) {
    const listed = cellsOf.filter(([each]) => each === monthAt(month)).map((each) => each[3]);
    expect([month, sum(rows.map((cells) => cells[first + month]))]).toEqual([month, sum(listed)]);
  }
  expect(rows[0]![1]).toBe(7);
  const order = rows.map((cells) => cents(cells[total]));
  expect(order).toEqual(order.toSorted((one, other) => (one > other ? -1 : Number(one < other))));
});

test('a pivot keeps what is unknown apart from zero, and counts it at the end of its row', () => {
  const found = pivot([row(0, 1, null, 2), row(1, 1, '5.00'), row(0, 2, null, 1), row(1, 3, '5.00', 3)]);
  expect(titles(found).slice(2)).toEqual(['Jan 2024', 'Feb 2024', 'Total', 'Share', 'Unknown shares']);
  expect(found.rows).toEqual([
    ['Fund 1', 1, null, '5.00', '5.00', '50.00', 2],
    ['Fund 3', 3, '0.00', '5.00', '5.00', '50.00', 3],
    ['Fund 2', 2, null, '0.00', null, null, 1],
  ]);
  expect(found.columns.at(-1)).toMatchObject({ id: UNKNOWN, adds: true, isHidden: false });
  const counts = pivot([row(0, 1, null, 2), row(1, 1, '5.00'), row(1, 3, '5.00', 3)], UNKNOWN);
  expect(counts.rows).toEqual([
    ['Fund 3', 3, 0, 3, 3, '60.00'],
    ['Fund 1', 1, 2, 0, 2, '40.00'],
  ]);
});

test('a pivot has no shares of a total that is nothing, or less', () => {
  const shares = (...rows: readonly Row[]) => pivot(rows).rows.map((cells) => cells.at(-1));
  expect(shares(row(0, 1, '5.00'), row(0, 2, '-5.00'))).toEqual([null, null]);
  expect(shares(row(0, 1, '-5.00'))).toEqual([null]);
  expect(shares(row(0, 1, '2.00'), row(0, 2, '-1.00'))).toEqual(['200.00', '-100.00']);
  expect(shares(row(0, 1, '1.00'), row(0, 2, '1.00'), row(0, 3, '1.00'))).toEqual(['33.33', '33.33', '33.33']);
});

test('a pivot keeps two funds of one name apart, and has no more columns than a person reads', () => {
  const [one, other] = [row(0, 1, '5.00'), row(0, 2, '7.00')].map((each) => each.with(1, 'Wells'));
  expect(pivot([one!, other!]).rows.map((cells) => cells.slice(0, 3))).toEqual([
    ['Wells', 2, '7.00'],
    ['Wells', 1, '5.00'],
  ]);
  expect(pivot([row(0, 1, '5.00'), row(MAX_ACROSS - 1, 1, '5.00')]).columns).toHaveLength(MAX_ACROSS + 4);
  expect(pivot([row(0, 1, '5.00'), row(60, 1, '5.00')])).toEqual({ columns: [], rows: [], tooMany: 61 });
});
