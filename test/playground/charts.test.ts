import { divideLayout, layOutChart, type Shape } from '../../src/playground/web/charts/chart-layout';
import type { DrawnChart } from '../../src/playground/web/charts/drawn-chart';
import { toGroupChart } from '../../src/playground/web/charts/group-chart';
import type { ResultColumn, ResultRow, ResultTable } from '../../src/playground/web/rows/result-tables';

const SHARE: ResultColumn = { name: 'all.byAllocation.amount', title: 'To this fund', kind: 'decimal', adds: true };
const BEFORE: ResultColumn = { name: 'compared.all.byAllocation.amount', title: 'Last year', kind: 'decimal', adds: true };
const key = (name: string): ResultColumn => ({ name: `key.${name}`, kind: 'text' });

const tableOf = (columns: readonly ResultColumn[], rows: readonly ResultRow[]): ResultTable => ({
  name: 'groups',
  columns,
  rows,
  isWhole: true,
});
const draw = (table: ResultTable): DrawnChart => toGroupChart(table, SHARE, ['en-US'])!;
const WRITING = { measure: (text: string) => text.length * 7, writeNumber: String };

type Placed<Kind extends Shape['kind']> = Extract<Shape, { kind: Kind }>;
const shapesOf = <Kind extends Shape['kind']>(chart: DrawnChart, width: number, kind: Kind): Placed<Kind>[] =>
  layOutChart(chart, width, WRITING).shapes.filter((shape): shape is Placed<Kind> => shape.kind === kind);

const textsOf = (chart: DrawnChart): string[] => shapesOf(chart, 900, 'text').map(({ text }) => text);
const cents = (text: string): bigint => BigInt(text.replaceAll(/[.,]/g, ''));
const sum = (texts: readonly string[]): bigint => texts.map(cents).reduce((one, other) => one + other, 0n);

const fund = (n: number, amount: string | undefined, more: ResultRow = {}): ResultRow => ({
  'key.designation': `Fund ${n}`,
  'key.designationId': n,
  'all.byAllocation.amount': amount,
  ...more,
});
const FUND = [key('designation'), key('designationId')];
/** The amount of the nth of many funds. One has nearly all, some have lost money, and one is not known. */
const amountOf = (n: number): string | undefined => (n === 7 ? '98765432.10' : n === 9 ? undefined : n % 50 === 0 ? `-${n}.05` : `${n}.05`);

describe('a chart of funds', () => {
  const funds = (count: number) =>
    tableOf(
      [...FUND, SHARE],
      Array.from({ length: count }, (_, n) => fund(n + 1, amountOf(n + 1))),
    );

  test('has each of forty with its value, from the largest on, whatever one of them has', () => {
    const chart = draw(funds(40));
    const values = chart.rows.map(({ bars }) => bars[0]!.text);
    expect(values.slice(0, 2)).toEqual(['98,765,432.10', '40.05']);
    expect(values.at(-1)).toBe('unknown');
    expect(textsOf(chart)).toEqual(expect.arrayContaining([...values, ...chart.rows.map(({ label }) => label)]));
    const known = Array.from({ length: 40 }, (_, n) => amountOf(n + 1)).filter((amount) => amount !== undefined);
    expect(sum(values.filter((text) => text !== 'unknown'))).toBe(sum(known));
    expect(chart.notes).toEqual(['This figure is not known in full for 1 of 40 groups.']);
  });

  test('has the forty largest of three hundred, and says what the others come to', () => {
    const known = funds(300).rows.map((row) => ({ ...row, 'all.byAllocation.amount': row['all.byAllocation.amount'] ?? '0.00' }));
    const chart = draw(tableOf([...FUND, SHARE], known));
    expect(chart.rows).toHaveLength(40);
    const [, rest] = /The 40 largest of 300 are drawn; the table has them all\. The 260 others come to (.+)\.$/.exec(chart.notes[0]!)!;
    const drawn = chart.rows.map(({ bars }) => bars[0]!.text);
    expect(sum([...drawn, rest!])).toBe(sum(known.map((row) => String(row['all.byAllocation.amount']))));
  });

  test.each([320, 390, 900, 1600])('keeps every mark, label and value within a width of %i, and each mark wide enough to see', (width) => {
    for (const chart of [draw(funds(40)), draw(funds(300))]) {
      for (const { x, width: length, mark } of shapesOf(chart, width, 'mark')) {
        expect([mark.reading, length >= 2, x >= -0.01, x + length <= width + 0.01]).toEqual([mark.reading, true, true, true]);
      }
      for (const { x, text, anchor } of shapesOf(chart, width, 'text')) {
        const [left, right] = anchor === 'end' ? [x - text.length * 7, x] : [x, x + text.length * 7];
        expect([text, left >= -0.01, right <= width + 0.01]).toEqual([text, true, true]);
      }
    }
  });

  test('draws money that went out to the other side', () => {
    const chart = draw(tableOf([...FUND, SHARE], [fund(1, '10.00'), fund(2, '-5.00')]));
    const [more, less] = shapesOf(chart, 900, 'mark');
    expect(less!.x + less!.width).toBeCloseTo(more!.x);
    expect(more!.width / less!.width).toBeCloseTo(2);
  });

  test('has a bar of last year beside each, with its own value', () => {
    const columns = [...FUND, SHARE, BEFORE];
    const chart = draw(tableOf(columns, [fund(1, '10.00', { [BEFORE.name]: '8.00' }), fund(2, '5.00')]));
    expect(chart.series.map(({ name }) => name)).toEqual(['To this fund', 'Last year']);
    expect(chart.rows.map(({ bars }) => bars.map(({ text }) => text))).toEqual([
      ['10.00', '8.00'],
      ['5.00', 'unknown'],
    ]);
    // The eighth color of parts is another one: they are no outlines.
    expect(chart.series.map(({ color }) => color)).toEqual([1, 9]);
  });
});

describe('a chart of funds by month', () => {
  const months = (count: number) =>
    Array.from({ length: count }, (_, n) => `${2025 + Math.floor(n / 12)}-${String((n % 12) + 1).padStart(2, '0')}-01`);
  const columns = [...FUND, key('month'), SHARE];

  test('has a bar for each fund with a part for each of 24 months, whose values can be read and add up', () => {
    const rows = [1, 2, 3].flatMap((n) => months(24).map((month, at) => fund(n, `${n}${at}.10`, { 'key.month': month })));
    const chart = draw(tableOf(columns, rows));
    expect(chart.rows.map(({ label }) => label)).toEqual(['Fund 3', 'Fund 2', 'Fund 1']);
    for (const { label, bars } of chart.rows) {
      const readings = bars[0]!.marks.map(({ reading }) => reading);
      expect([readings[0], readings.length]).toEqual([`${label}, Jan 2025: ${label.at(-1)}0.10`, 24]);
      expect(sum(readings.map((reading) => reading.split(': ')[1]!))).toBe(cents(bars[0]!.text));
    }
    expect(chart.notes).toEqual(['Each bar has a part for each month, Jan 2025 to Dec 2026.']);
    // Neighbors of one color would be one.
    expect(chart.rows[0]!.bars[0]!.marks.map(({ isPale }) => isPale).slice(0, 4)).toEqual([false, true, false, true]);
  });

  test('has colors and a legend for a few months, and says of a part that is not known that it is not', () => {
    const rows = months(3).map((month, at) => fund(1, at === 1 ? undefined : '10.00', { 'key.month': month }));
    const chart = draw(tableOf(columns, rows));
    expect(chart.series.map(({ name }) => name)).toEqual(['Jan 2025', 'Feb 2025', 'Mar 2025']);
    expect(chart.rows[0]!.bars[0]!.text).toBe('20.00 + unknown');
    expect(chart.rows[0]!.bars[0]!.marks.map(({ color }) => color)).toEqual([1, 3]);
  });
});

test.each([
  ['quarter', ['2025-10-01', '2026-01-01'], ['Oct – Dec 2025', 'Jan – Mar 2026']],
  ['year', ['2025-07-01', '2026-07-01'], ['Jul 2025 – Jun 2026', 'Jul 2026 – Jun 2027']],
  ['year', ['2025-01-01', '2026-01-01'], ['2025', '2026']],
])('a legend names each %s by its first and last month, and the year of the calendar by its number', (part, dates, names) => {
  const rows = dates.map((date) => fund(1, '10.00', { [`key.${part}`]: date }));
  const { series } = draw(tableOf([...FUND, key(part), SHARE], rows));
  expect(series.map(({ name }) => name.replaceAll(/[\u2009\u202f]/g, ' '))).toEqual(names);
});

describe('a chart of days whose bars have parts', () => {
  const deposits = (days: readonly string[]) =>
    days.map((day, n) => ({ ...fund(n, '10.00'), 'key.depositDate': day, 'key.depositId': `D${n}` }));
  const columns = [key('depositDate'), key('depositId'), SHARE];

  test('writes the value of each deposit at a bar of its own, under one name of the day and without a legend', () => {
    const days = ['2025-01-01', '2025-01-02', '2025-01-02', '2025-01-02'];
    const chart = draw(
      tableOf(
        columns,
        deposits(days).map((deposit, n) => ({ ...deposit, [SHARE.name]: `${n + 1}.25` })),
      ),
    );
    expect(textsOf(chart)).toEqual(['Jan 1, 2025', '1.25', 'Jan 2, 2025', '2.25', '3.25', '4.25']);
    const marks = shapesOf(chart, 900, 'mark');
    expect(marks.map(({ mark }) => mark.reading).at(-1)).toBe('Jan 2, 2025, D3: 4.25');
    // Each of them begins at zero on a line of its own.
    expect(new Set(marks.map(({ x }) => x)).size).toBe(1);
    expect(new Set(marks.map(({ y }) => y)).size).toBe(4);
    expect(chart.notes).toEqual([]);
  });

  test.each([
    ['of more deposits than have bars', Array.from({ length: 201 }, (_, n) => `2025-01-0${(n % 5) + 1}`), 5],
    ['of more than forty days', Array.from({ length: 45 }, (_, n) => new Date(Date.UTC(2025, 0, n + 1)).toISOString().slice(0, 10)), 45],
  ])('%s has a part for each deposit in a bar of its day, and says so in a sentence', (_name, dates, rows) => {
    const chart = draw(tableOf(columns, deposits([...dates, dates[0]!])));
    expect(chart.rows.map(({ bars }) => bars.length)).toEqual(Array(rows).fill(1));
    expect(chart.rows[0]!.bars[0]!.marks.map(({ isPale }) => isPale).slice(0, 2)).toEqual([false, true]);
    expect(chart.notes).toEqual(['Each bar has a part for each deposit; the table has their values.']);
    expect(chart.series).toEqual([{ name: 'To this fund', color: 1 }]);
  });

  test.each([
    ['between its days', 20, 5],
    ['between the deposits of a day that has very many', 2, 4],
  ])('is divided %s where it is higher than a page, so that no bar is cut and none is missing', (_where, days, pages) => {
    const layout = layOutChart(
      draw(tableOf(columns, deposits(Array.from({ length: 150 }, (_, n) => `2025-01-${10 + (n % days)}`)))),
      680,
      WRITING,
    );
    const parts = divideLayout(layout, 690);
    expect(parts.length).toBe(pages);
    expect(Math.max(...parts.map(({ height }) => height))).toBeLessThanOrEqual(690);
    expect(parts.map(({ top }) => top)).toEqual([0, ...parts.slice(0, -1).map(({ top, height }) => top + height)]);
    expect(parts.at(-1)!.top + parts.at(-1)!.height).toBe(layout.height);
    for (const { kind, y, ...shape } of layout.shapes.filter((each) => each.kind === 'mark')) {
      const inside = parts.filter(({ top, height }) => y >= top && y + shape.height <= top + height);
      expect([kind, y, inside.length]).toEqual([kind, y, 1]);
    }
    // Each page begins with its day.
    for (const { top } of parts) {
      const first = layout.shapes.filter((each) => each.kind === 'text' && each.anchor === 'end' && each.y >= top && each.y < top + 20);
      expect(first).toMatchObject([{ text: expect.stringMatching(/^Jan 1\d|^Jan 2\d/) as string }]);
    }
  });
});

describe('a chart of donors', () => {
  const donor = (id: number, name: string, amount: string): ResultRow => ({
    ...{ 'key.donorFirstName': name, 'key.donorLastName': '', 'key.donorId': id },
    'all.byAllocation.amount': amount,
  });
  const columns = [key('donorFirstName'), key('donorLastName'), key('donorId'), SHARE];

  test('tells what nobody gave in a sentence, because its bar would dwarf those of the donors', () => {
    const chart = draw(tableOf(columns, [donor(0, '(no donor)', '17052.14'), donor(7, 'Ada', '20.00')]));
    expect(chart.rows.map(({ label }) => label)).toEqual(['Ada']);
    expect(chart.notes).toEqual(['Gifts without a donor are not drawn: 17,052.14.']);
  });

  test('has the bar of nobody where there is no other', () => {
    const chart = draw(tableOf(columns, [donor(0, '', '5.00')]));
    expect(chart.rows.map(({ label, bars }) => [label, bars[0]!.text])).toEqual([['(no donor)', '5.00']]);
  });
});

test('money that came in and money that went out lie on both sides of zero, so that neither hides the other', () => {
  const rows = ['10.00', '-4.00', '5.00'].map((amount, at) => fund(1, amount, { 'key.month': `2026-0${at + 1}-01` }));
  const [bar] = draw(tableOf([...FUND, key('month'), SHARE], rows)).rows[0]!.bars;
  expect([bar!.text, bar!.marks.map(({ from, to }) => [from, to])]).toEqual([
    '11.00',
    [
      [0, 10],
      [0, -4],
      [10, 15],
    ],
  ]);
});

describe('a chart of time', () => {
  const columns = [key('month'), SHARE];

  test('has months in order, and those in which nothing came in', () => {
    const rows = ['2026-03-01', '2026-01-01'].map((month) => ({ 'key.month': month, 'all.byAllocation.amount': '1.00' }));
    expect(draw(tableOf(columns, rows)).rows.map(({ label, bars }) => [label, bars[0]!.text])).toEqual([
      ['Jan 2026', '1.00'],
      ['Feb 2026', '0.00'],
      ['Mar 2026', '1.00'],
    ]);
  });

  test('says of a month without money that the compared one had none either, unless the month may be on another page', () => {
    const month = (name: string, amounts: ResultRow): ResultRow => ({ 'key.month': name, ...amounts });
    const table = tableOf(
      [...columns, BEFORE],
      [
        month('2026-01-01', { [SHARE.name]: '1.00', [BEFORE.name]: '2.00' }),
        month('2026-03-01', { [SHARE.name]: '3.00', [BEFORE.name]: undefined }),
      ],
    );
    const textsOfRows = (chart: DrawnChart) => chart.rows.map(({ bars }) => bars.map(({ text }) => text));
    const [first, last] = [
      ['1.00', '2.00'],
      ['3.00', 'unknown'],
    ];
    expect(textsOfRows(draw(table))).toEqual([first, ['0.00', '0.00'], last]);
    expect(textsOfRows(draw({ ...table, isWhole: false }))).toEqual([first, ['unknown', 'unknown'], last]);
  });

  test('stands upright where it has many days, with a mark for each that can be read', () => {
    const days = Array.from({ length: 365 }, (_, n) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10));
    const rows = days.map((day, n) => ({ 'key.day': day, 'all.byAllocation.amount': n === 100 ? '-3.00' : `${n + 1}.00` }));
    const chart = draw(tableOf([key('day'), SHARE], rows));
    expect(chart.isUpright).toBe(true);
    const marks = shapesOf(chart, 900, 'mark');
    expect(marks).toHaveLength(365);
    expect(marks.every(({ height }) => height >= 2)).toBe(true);
    expect(marks[100]!.mark.reading).toBe('Apr 11, 2026, To this fund: -3.00');
  });

  test.each([390, 700, 1200])('that stands upright has its names in the middle of their bars, none over another, within %i', (width) => {
    const bar = (value: number) => ({ text: '', marks: [{ reading: '', color: 1, from: 0, to: value }] });
    const rows = ['Jan 2026', 'Feb 2026', 'Mar 2026', 'Apr 2026'].map((label) => ({ label, shortLabel: label, bars: [bar(3), bar(2)] }));
    const chart: DrawnChart = { rows, series: [], isUpright: true, valueKind: 'count', summary: '', notes: [] };
    const marks = shapesOf(chart, width, 'mark');
    const names = shapesOf(chart, width, 'text').filter(({ text }) => text.endsWith('2026'));
    expect(names.length).toBeGreaterThanOrEqual(width === 390 ? 2 : 4);
    names.forEach(({ text, x, anchor }, at) => {
      const place = rows.findIndex(({ label }) => label === text);
      const [left, right] = [marks[place * 2]!, marks[place * 2 + 1]!];
      expect([anchor, x]).toEqual(['middle', expect.closeTo((left.x + right.x + right.width) / 2)]);
      const half = WRITING.measure(text) / 2;
      expect([x - half >= 0, x + half <= width]).toEqual([true, true]);
      if (at > 0) expect(x - half).toBeGreaterThan(names[at - 1]!.x + half);
    });
  });

  test('has the days of deposits in order, each with a bar for each deposit', () => {
    const deposit = (id: string, date: string, amount: string) => ({
      'key.depositDate': date,
      'key.depositId': id,
      'all.byAllocation.amount': amount,
    });
    const table = tableOf(
      [key('depositDate'), key('depositId'), SHARE],
      [deposit('D2', '2026-03-02', '5.00'), deposit('D3', '2026-03-01', '7.00'), deposit('D1', '2026-03-02', '20.00')],
    );
    expect(draw(table).rows.map(({ label, bars }) => [label, ...bars.map(({ text }) => text)])).toEqual([
      ['Mar 1, 2026', '7.00'],
      ['Mar 2, 2026', '5.00', '20.00'],
    ]);
  });
});
