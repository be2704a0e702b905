import fc from 'fast-check';
import { storeRows, type TableStore } from '../../src/playground/web/rows/table-store';
import { createCellFormat } from '../../src/playground/web/values/cell-format';
import type { Arrangement, Cell, Row, TableColumn } from '../../src/playground/web/values/table-types';

const LOCALES = ['en-US'];
const columns = [
  { id: 'name', title: 'Donor', kind: 'text', adds: false },
  { id: 'gifts', title: 'Gifts', kind: 'count', adds: true },
  { id: 'share', title: 'To this fund', kind: 'money', adds: true },
  { id: 'gift', title: 'Whole gift', kind: 'money', adds: false },
  { id: 'day', title: 'Date', kind: 'date', adds: false },
] as const satisfies readonly TableColumn[];

const ALL: Arrangement = { search: '', filters: [], sort: undefined };
const arrange = (store: TableStore, arrangement: Partial<Arrangement>) => store.arrange({ ...ALL, ...arrangement });
const shownRows = (store: TableStore, arrangement: Partial<Arrangement>): Row[] => {
  const { count } = arrange(store, arrangement);
  return store.rows(0, count);
};

const cents = fc.integer({ min: -99_999, max: 99_999 });
const money = cents.map(
  (each) => `${each < 0 ? '-' : ''}${Math.floor(Math.abs(each) / 100)}.${String(Math.abs(each) % 100).padStart(2, '0')}`,
);
const name = fc.constantFrom('Ada Lovelace', 'ada byron', 'Müller, Zoë', 'Zoe Muller', 'T10', 'T9', 'O’Hara', 'Łukasz', '');
const day = fc.integer({ min: 1, max: 28 }).map((n) => `2024-02-${String(n).padStart(2, '0')}`);
const orNull = <Value extends Cell>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { freq: 5 });
const tables = fc.array(fc.tuple(orNull(name), fc.nat(3000), orNull(money), orNull(money), orNull(day)), { maxLength: 60 });

/** The plain way to do what the store does by value. */
const toCents = (text: Cell): number => Math.round(Number(text) * 100);
const plainSum = (rows: readonly Row[], at: number) => {
  const known = rows.map((row) => row[at] ?? null).filter((value) => value !== null);
  const sum = known.reduce((total: number, value) => total + toCents(value), 0);
  const sign = sum < 0 ? '-' : '';
  return {
    sum:
      known.length === 0 && rows.length > 0
        ? null
        : `${sign}${Math.floor(Math.abs(sum) / 100)}.${String(Math.abs(sum) % 100).padStart(2, '0')}`,
    unknown: rows.length - known.length,
  };
};
const plainFold = (text: string): string => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ł', 'l');
/** The words of a row, once with its date as the gateway writes it and once as the page does. */
const plainWords = (row: Row): string[][] =>
  [
    String(row[4] ?? '').split('-'),
    row[4] === null ? [] : ['feb', String(Number(String(row[4]).slice(8))), String(row[4]).slice(0, 4)],
  ].map((date) => [...plainOthers(row), ...date]);
const plainOthers = (row: Row): string[] => [
  ...(row[0] === 'O’Hara' ? ['ohara'] : []),
  ...plainFold(String(row[0] ?? '')).split(/[^\p{L}\p{N}]+/u),
  ...[1, 2, 3].map((at) => String(row[at] ?? '')),
];

describe('a table of the worker', () => {
  test('adds up exactly the rows that are shown, and counts what is unknown', () => {
    fc.assert(
      fc.property(tables, day, (rows, min) => {
        const store = storeRows(columns, rows, LOCALES);
        for (const filters of [[], [{ column: 'day', min }]]) {
          const kept = rows.filter((row) => filters.length === 0 || (row[4] !== null && row[4] >= min));
          const { sums, count } = arrange(store, { filters });
          expect(count).toBe(kept.length);
          expect(sums).toEqual({
            share: plainSum(kept, 2),
            gifts: { sum: String(kept.reduce((sum, row) => sum + row[1], 0)), unknown: 0 },
          });
        }
      }),
    );
  });

  test('adds up more money than a float can hold to the cent', () => {
    const rows = Array.from({ length: 1000 }, (_, n): Row => ['', n, '90071992547409.93', null, null]);
    expect(arrange(storeRows(columns, rows, LOCALES), {}).sums.share).toEqual({ sum: '90071992547409930.00', unknown: 0 });
  });

  test.each(['name', 'gifts', 'share', 'day'] as const)(
    'sorts by %s, keeps the order of equals, and has what is not there last',
    (column) => {
      const at = columns.findIndex(({ id }) => id === column);
      const { compare } = new Intl.Collator('en-US', { numeric: true });
      const plainCompare = (one: Cell, other: Cell): number =>
        column === 'name'
          ? compare(String(one), String(other))
          : column === 'day'
            ? String(one) < String(other)
              ? -1
              : one === other
                ? 0
                : 1
            : toCents(one) - toCents(other);
      const isThere = (row: Row): boolean => row[at] !== null && row[at] !== '';
      fc.assert(
        fc.property(tables, fc.boolean(), (rows, isDescending) => {
          const sorted = rows.filter(isThere).sort((one, other) => plainCompare(one[at]!, other[at]!) * (isDescending ? -1 : 1));
          const expected = [...sorted, ...rows.filter((row) => !isThere(row))];
          expect(shownRows(storeRows(columns, rows, LOCALES), { sort: { column, isDescending } })).toEqual(expected);
        }),
      );
    },
  );

  test('has the rows of nothing single last in every order', () => {
    const withRest = columns.map((column) => (column.id === 'gifts' ? { ...column, restValue: '0' } : column));
    const of = fc.tuple(orNull(name), fc.nat(2), orNull(money), orNull(money), orNull(day));
    fc.assert(
      fc.property(
        fc.array(of, { maxLength: 40 }),
        fc.option(fc.constantFrom('name', 'gifts', 'share')),
        fc.boolean(),
        (rows, column, isDescending) => {
          const sort = column === null ? undefined : { column, isDescending };
          const plain = shownRows(storeRows(columns, rows, LOCALES), { sort });
          const expected = [...plain.filter((row) => row[1] !== 0), ...plain.filter((row) => row[1] === 0)];
          expect(shownRows(storeRows(withRest, rows, LOCALES), { sort })).toEqual(expected);
        },
      ),
    );
  });

  test('finds the rows in which each word begins a word of its own in some cell', () => {
    const word = fc.constantFrom(
      ...['ada', 'LOV', 'l', 'mull', 'zoë', 'zoe', 't', 'lukasz', '2024', 'feb', '1', '12', 'yron', 'hara', 'ohara'],
    );
    fc.assert(
      fc.property(tables, fc.array(word, { maxLength: 2 }), (rows, words) => {
        const isFoundIn = (own: readonly string[]): boolean => {
          const places = words.map((each) => own.flatMap((text, at) => (text.startsWith(plainFold(each)) ? [at] : [])));
          const [first = [], second] = places;
          if (words.length < 2) return words.length === 0 || first.length > 0;
          return first.some((at) => second!.some((other) => other !== at));
        };
        const expected = rows.filter((row) => plainWords(row).some(isFoundIn));
        expect(shownRows(storeRows(columns, rows, LOCALES), { search: ` ${words.join('  ')} ` })).toEqual(expected);
      }),
    );
  });

  test.each([
    ['bob', 'Robert (Bob) Smith/Jones', true],
    ['jones', 'Robert (Bob) Smith/Jones', true],
    ['smith/jones', 'Robert (Bob) Smith/Jones', true],
    ['スミス', 'ジョン・スミス', true],
    ['ｽﾐｽ', 'ジョン・スミス', true],
    ['smith', 'Ｓｍｉｔｈ', true],
    ['fiona', 'ﬁona', true],
    ['ibrahim', 'İbrahim', true],
    ['zero', '\u200bZero', true],
    ['hyphen', 'Hy\u00adphen', true],
    ['hy\u2060phen', 'Hyphen', true],
    ["o'brien", 'O’Brien', true],
    ['obrien', "O'Brien", true],
    ['brien', "O'Brien", true],
    ['o brien', "O'Brien", true],
    ['brien brien', "O'Brien", false],
    ['ते', 'नमस्ते', false],
    ['ada ada', 'Ada Lovelace', false],
    ['ada a', 'Ada Lovelace', false],
    ['ada ada', 'Ada Adams', true],
    ['a ada', 'Ada Adams', true],
    ['smith & jones', 'Smith, Jones', true],
    ['x@example', 'x@example.org', true],
    ['example', 'x@example.org', true],
    ['&', 'Smith & Jones', false],
    ['acme trust', 'Acme™Trust', true],
  ])('a search for %j in %j is found: %j', (search, name, isFound) => {
    const rows: Row[] = [[name, 7, '-7.00', null, null]];
    expect(shownRows(storeRows(columns, rows, LOCALES), { search })).toEqual(isFound ? rows : []);
  });

  test.each([
    ['smith (b', 'Ann Smith (Bob)', true],
    ["o'b", 'O’Brien', true],
    ['hyphen', 'Hy\u00adphen', true],
    ['smith', 'Ｓｍｉｔｈ', true],
    ['obrien', "O'Brien", false],
  ])('a filter of a column by %j keeps %j: %j', (text, name, isKept) => {
    const rows: Row[] = [[name, 7, '-7.00', null, null]];
    expect(shownRows(storeRows(columns, rows, LOCALES), { filters: [{ column: 'name', text }] })).toEqual(isKept ? rows : []);
  });

  test.each([
    ['en-US', 'Feb 3, 2024', '02/03/2024'],
    ['de-DE', '03.02.2024', '2024-02-03'],
    ['fr-FR', '3 févr. 2024', '03/02/2024'],
    ['es-ES', '3 feb 2024', '03/02/2024'],
    ['sv-SE', '3 feb. 2024', '2024-02-03'],
    ['ja-JP', '2024/02/03', '2024-02-03'],
  ])('finds a day by its date as the page of %s writes it, %s or %s, and no other day', (locale, shown, typed) => {
    const days = Array.from({ length: 29 }, (_, n): Row => ['Ada', 3, '3.00', '3.00', `2024-02-${String(n + 1).padStart(2, '0')}`]);
    const store = storeRows(columns, [...days, ['Ada', 3, '3.00', '3.00', '2024-03-02']], [locale]);
    for (const search of [shown, typed, `ada ${shown}`])
      expect([search, shownRows(store, { search }).map((row) => row[4])]).toEqual([search, ['2024-02-03']]);
  });

  test('finds amounts as a person writes them', () => {
    const rows: Row[] = [
      ['a', 1, '1234.50', null, null],
      ['b', 1, '12345.00', null, null],
      ['c', 1, '50.12', null, null],
    ];
    const found = (search: string, locale: string) => shownRows(storeRows(columns, rows, [locale]), { search }).map(([first]) => first);
    expect(found('1,234.5', 'en-US')).toEqual(['a']);
    expect(found('1.234,5', 'de-DE')).toEqual(['a']);
    expect(found('1234', 'de-DE')).toEqual(['a', 'b']);
    expect(found('12', 'en-US')).toEqual(['a', 'b']);
    expect(found('+1,234.5', 'en-US')).toEqual(['a']);
    expect(found('a 1 234,5', 'fr-FR')).toEqual(['a']);
    expect(found('12 345 b', 'sv-SE')).toEqual(['b']);
    expect(found('50 a', 'fr-FR')).toEqual([]);
  });

  test.each([
    ...['en-US', 'en-GB', 'de-DE', 'de-CH', 'de-AT', 'fr-FR', 'fr-CH', 'es-ES', 'pt-BR', 'pt-PT', 'it-IT', 'nl-NL', 'sv-SE', 'fi-FI'],
    ...['da-DK', 'nb-NO', 'pl-PL', 'cs-CZ', 'hu-HU', 'ru-RU', 'bg-BG', 'lt-LT', 'lv-LV', 'tr-TR', 'he-IL', 'ar', 'ar-EG', 'fa-IR', 'hi-IN'],
    ...['ja-JP', 'ko-KR', 'zh-CN', 'vi-VN', 'th-TH'],
  ])('finds the row of each cell by what the page of %s writes in it', (locale) => {
    const every = [
      { id: 'id', title: 'Deposit', kind: 'text', adds: false },
      { id: 'amount', title: 'Amount', kind: 'money', adds: true },
      { id: 'difference', title: 'Difference', kind: 'money', adds: true, isSigned: true },
      { id: 'gifts', title: 'Gifts', kind: 'count', adds: true, isSigned: true },
      { id: 'day', title: 'Date', kind: 'date', adds: false },
      { id: 'month', title: 'Month', kind: 'month', adds: false },
      { id: 'at', title: 'Changed', kind: 'instant', adds: false, timeZone: 'UTC' },
    ] as const satisfies readonly TableColumn[];
    const rows: Row[] = [
      ['D1234567', '123456.78', '-1234.56', 881, '2024-02-13', '2024-04-01', '2024-06-15T15:31:00Z'],
      ['ab12cd3456ef', '1234.50', '2345.60', -4567, '2025-03-24', '2025-05-01', '2025-07-26T16:32:00Z'],
      ['TX-20261003-0007', '-98765432.10', '-0.75', 7654321, '2026-08-05', '2026-09-01', '2026-10-07T17:33:00Z'],
      ['D7654-12/2023', '-654.32 → 65432.10', '0.88', 555444, '2023-11-17 → 2023-11-18', '2023-12-01', '2022-01-19T18:34:00Z'],
    ];
    const store = storeRows(every, rows, [locale]);
    const { cell } = createCellFormat([locale]);
    const searches = rows.flatMap((row) => every.map((column, at) => ({ row, search: cell(row[at]!, column) })));
    const found = searches.map(({ search }) => ({ search, ids: shownRows(store, { search }).map(([id]) => id) }));
    expect(found).toEqual(searches.map(({ row: [id], search }) => ({ search, ids: [id] })));
  });

  test('keeps the rows that meet all filters, ends of ranges included', () => {
    const filter = fc.record({
      min: fc.option(money, { nil: undefined }),
      max: fc.option(money, { nil: undefined }),
      text: fc.constantFrom('', 'A', 'ü', 'll'),
    });
    fc.assert(
      fc.property(tables, filter, (rows, { min, max, text }) => {
        const expected = rows.filter(([own, , share]) => {
          if (text !== '' && !plainFold(own ?? '').includes(plainFold(text))) return false;
          if (min === undefined && max === undefined) return true;
          return share !== null && toCents(share) >= toCents(min ?? '-9999999') && toCents(share) <= toCents(max ?? '9999999');
        });
        const filters = [
          { column: 'name', text },
          { column: 'share', ...(min !== undefined && { min }), ...(max !== undefined && { max }) },
        ];
        expect(shownRows(storeRows(columns, rows, LOCALES), { filters })).toEqual(expected);
      }),
    );
  });

  test('compares a range exactly, with any number of decimals', () => {
    const rows = ['0.99', '1.00', '1.01'].map((share): Row => ['', 0, share, null, null]);
    const shares = (filter: object) =>
      shownRows(storeRows(columns, rows, LOCALES), { filters: [{ column: 'share', ...filter }] }).map((row) => row[2]);
    expect(shares({ min: '1' })).toEqual(['1.00', '1.01']);
    expect(shares({ max: '1.0099' })).toEqual(['0.99', '1.00']);
    expect(shares({ min: '1.00', max: '1.00' })).toEqual(['1.00']);
  });

  test('has the first and the last day of a range in it, and no row without a day', () => {
    const rows = ['2024-02-01', '2024-02-02', '2024-02-03', null].map((day): Row => ['', 0, null, null, day]);
    const store = storeRows(columns, rows, LOCALES);
    expect(shownRows(store, { filters: [{ column: 'day', max: '2024-02-02' }] })).toEqual(rows.slice(0, 2));
    expect(shownRows(store, { filters: [{ column: 'day', min: '2024-02-02' }] })).toEqual(rows.slice(1, 3));
  });

  test('has an instant in the range of its day', () => {
    const instants: TableColumn[] = [{ id: 'at', title: 'Changed', kind: 'instant', adds: false }];
    const rows = [3, 4, 5].map((n) => [new Date(2024, 1, n, 23, 59, 30).toISOString()]);
    const store = storeRows(instants, rows, LOCALES);
    expect(shownRows(store, { filters: [{ column: 'at', min: '2024-02-04', max: '2024-02-04' }] })).toEqual([rows[1]]);
  });

  test('has an instant in its day by the clock of the column’s time zone, and finds it by how it is shown', () => {
    const instants: TableColumn[] = [{ id: 'at', title: 'Changed', kind: 'instant', adds: false, timeZone: 'Pacific/Kiritimati' }];
    const rows = [['2024-02-03T09:00:00.000Z'], ['2024-02-03T10:00:00.000Z'], ['2024-02-04T09:00:00.000Z'], ['2024-02-04T10:00:00.000Z']];
    const store = storeRows(instants, rows, LOCALES);
    expect(shownRows(store, { filters: [{ column: 'at', min: '2024-02-04', max: '2024-02-04' }] })).toEqual(rows.slice(1, 3));
    expect(shownRows(store, { search: 'Feb 5' })).toEqual([rows[3]]);
  });

  test('hands out no rows of an arrangement that is out of date', () => {
    const store = storeRows(
      columns,
      [
        ['a', 1, null, null, null],
        ['b', 2, null, null, null],
      ],
      LOCALES,
    );
    const before = arrange(store, {});
    const now = arrange(store, { sort: { column: 'gifts', isDescending: true } });
    expect(store.rowsOf(before.serial, 0, 9)).toBeUndefined();
    expect(store.rowsOf(now.serial, 0, 9)?.map(([first]) => first)).toEqual(['b', 'a']);
    expect(store.rows(1, 9).map(([first]) => first)).toEqual(['a']);
    expect(store.loadedRows(0, 1).map(([first]) => first)).toEqual(['a']);
  });

  test('copies cells that a spreadsheet neither runs nor adds up wrongly', () => {
    const rows: Row[] = [
      ['=1+1', 1, '-2.50', null, '2024-02-01'],
      ['a\tb\nc', 2, null, null, null],
    ];
    const store = storeRows(columns, rows, LOCALES);
    const { serial } = arrange(store, { sort: { column: 'gifts', isDescending: true } });
    expect(store.cells(serial, 0, 2, ['share', 'name', 'day'], true)).toBe(
      "To this fund\tDonor\tDate\n\ta b c\t\n-2.50\t'=1+1\t2024-02-01",
    );
    expect(store.cells(serial, 1, 2, ['gifts'], false)).toBe('1');
    // A German spreadsheet reads 2.50 as a day, and a text with a point stays as it is.
    const german = storeRows(columns, [['1.5', 1, '-2.50', null, '2024-02-01']], ['de-DE']);
    expect(german.cells(arrange(german, {}).serial, 0, 1, ['share', 'name', 'day'], false)).toBe('-2,50\t1.5\t2024-02-01');
    const pairs = storeRows(columns, [['1.5 → 2.5', '1 → 2', '10.50 → 20.50', null, null]], ['de-DE']);
    expect(pairs.cells(arrange(pairs, {}).serial, 0, 1, ['share', 'gifts', 'name'], false)).toBe('10,50 → 20,50\t1 → 2\t1.5 → 2.5');
  });

  test.each([
    ['"=HYPERLINK(1)"', `'"=HYPERLINK(1)"`],
    [' =1+1', "' =1+1"],
    ['\n=1+1', "' =1+1"],
    ['＝1+1', "'＝1+1"],
    [' ＠SUM(1)', "' ＠SUM(1)"],
    ["'=1+1", "''=1+1"],
    ["'t Hooft", "'t Hooft"],
    ['" "@SUM(1)', `'" "@SUM(1)`],
    ['"Bob" Smith', '"""Bob"" Smith"'],
    ['"', '""""'],
    ['Bob "Bobby" Smith', 'Bob "Bobby" Smith'],
    ['"a\tb"', '"""a b"""'],
    ['Smith-Jones', 'Smith-Jones'],
  ])('copies %j as one cell of plain text', (text, copied) => {
    const store = storeRows(columns, [[text, 1, '1.00', null, null]], LOCALES);
    expect(store.cells(arrange(store, {}).serial, 0, 1, ['name', 'share'], false)).toBe(`${copied}\t1.00`);
  });

  test('copies and writes no rows of an order that the person does not see any more', () => {
    const store = storeRows(
      columns,
      [
        ['a', 1, null, null, null],
        ['b', 2, null, null, null],
      ],
      LOCALES,
    );
    const seen = arrange(store, {});
    const now = arrange(store, { sort: { column: 'gifts', isDescending: true } });
    const CHANGED = 'The rows have just changed. Try again.';
    expect(() => store.cells(seen.serial, 0, 1, ['name'], false)).toThrow(CHANGED);
    expect(() => store.shownRows(seen.serial, ['name'])).toThrow(CHANGED);
    expect(store.cells(now.serial, 0, 1, ['name'], false)).toBe('b');
    expect([...store.shownRows(now.serial, ['name']).rows]).toEqual([[['b'], ['a']]]);
  });

  test('sums of columns that no row has a value of are unknown, and 0 without rows', () => {
    const store = storeRows(columns, [['a', 1, null, null, null]], LOCALES);
    expect(arrange(store, {}).sums.share).toEqual({ sum: null, unknown: 1 });
    expect(arrange(store, { search: 'nobody' }).sums.share).toEqual({ sum: '0.00', unknown: 0 });
  });
});
