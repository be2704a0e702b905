import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { renderRows } from '../../src/rows/row-stream';
import {
  createCsvTemplate,
  createJsonTemplate,
  joinColumns,
  widenTemplate,
  type JsonMember,
  type RowColumn,
  type RowTemplate,
} from '../../src/rows/row-template';
import { toCopyText, toCsvText, toJsonText, type Row, type Value } from '../support/row-reference';
import { tries } from '../support/tries';

async function* streamOf(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}

/** Renders pieces of COPY's output. The result is all that a reader gets who copies each block before it asks for the next. */
async function render(template: RowTemplate, pieces: readonly Buffer[]): Promise<Buffer> {
  const blocks: Buffer[] = [];
  for await (const block of renderRows(streamOf(pieces), template)) blocks.push(Buffer.from(block));
  return Buffer.concat(blocks);
}

function cut(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const ends = [...positions, bytes.length];
  return ends.map((end, n) => bytes.subarray(ends[n - 1] ?? 0, end));
}

/** Compares bytes without printing megabytes: a failure shows the first place where they differ. */
function expectSame(actual: Buffer, expected: Buffer): void {
  if (actual.equals(expected)) return;
  let at = 0;
  while (actual[at] === expected[at]) at++;
  const around = (bytes: Buffer) => ({ length: bytes.length, at, text: bytes.toString('latin1', Math.max(0, at - 40), at + 40) });
  expect(around(actual)).toEqual(around(expected));
}

/** Renders the input cut in two at every position, and cut into single bytes. */
async function expectAtEveryCut(template: RowTemplate, copy: string, expected: string): Promise<void> {
  const [input, output] = [Buffer.from(copy), Buffer.from(expected)];
  const positions = upTo(input.length + 1);
  for (const position of positions) expectSame(await render(template, cut(input, [position])), output);
  expectSame(await render(template, cut(input, positions)), output);
}

/** Renders rows in JSON and CSV, whole and in pieces of these lengths. A character of the rows is a byte when the encoding is latin1. */
async function expectRows(
  columns: readonly RowColumn[],
  rows: readonly Row[],
  pieceLengths: readonly number[] = [],
  encoding: BufferEncoding = 'utf8',
): Promise<void> {
  const members = columns.map((column, n) => ({ key: `field_${n}`, ...column }));
  const copy = Buffer.from(toCopyText(rows), encoding);
  const [json, csv] = [toJsonText(members, rows), toCsvText(columns, rows)].map((text) => Buffer.from(text, encoding));
  for (const length of [copy.length, ...pieceLengths]) {
    const positions = upTo(Math.floor(copy.length / length)).map((n) => n * length);
    expectSame(await render(createJsonTemplate(members), cut(copy, positions)), json!);
    expectSame(await render(createCsvTemplate(columns), cut(copy, positions)), csv!);
  }
}

const upTo = (end: number): number[] => Array.from({ length: end }, (_, n) => n);
const TEXT: RowColumn = { field: 'text', kind: 'text' };
const FREE: RowColumn = { field: 'free', kind: 'text', freeText: true };
const NULLABLE: RowColumn = { field: 'nullable', kind: 'nullable', freeText: true };
const NUMBER: RowColumn = { field: 'number', kind: 'number' };

/** Characters with a meaning in COPY, JSON, CSV or a spreadsheet, and others that they must leave alone. */
const SPECIAL = [
  '"',
  '\\',
  '\b',
  '\f',
  '\n',
  '\r',
  '\t',
  '\v',
  '\0',
  '\u001f',
  '\u007f',
  "'",
  '=',
  '+',
  '-',
  '@',
  ',',
  'N',
  'v',
  '＝',
  '＋',
  '－',
  '＠',
  '｝',
  '＇',
  'é',
  '李',
  '🌻',
];
const anyText = fc.oneof(
  fc.string({ unit: fc.constantFrom(...SPECIAL), maxLength: 6 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: fc.constantFrom('x', 'y', ...SPECIAL), maxLength: 40, size: 'max' }),
);
const anyCell = (kind: RowColumn['kind']): fc.Arbitrary<Value> => {
  if (kind === 'text') return anyText;
  return fc.option<Value>(kind === 'nullable' ? anyText : kind === 'number' ? fc.maxSafeInteger() : fc.boolean(), { freq: 2 });
};
const anyColumn = fc.record({
  field: fc.constant('field'),
  kind: fc.constantFrom('text' as const, 'number' as const, 'boolean' as const, 'nullable' as const, 'nullable' as const),
  freeText: fc.boolean(),
});
/** A record within a row, which is null where a column of its own says so, and rows with a value for each column. */
const anyRecordRows = fc
  .record({
    before: fc.array(fc.tuple(anyText, anyColumn), { maxLength: 2 }),
    inner: fc.array(fc.tuple(anyText, anyColumn, fc.option(anyText, { freq: 3 })), { maxLength: 3 }),
    after: fc.array(fc.tuple(anyText, anyColumn), { maxLength: 2 }),
    isNested: fc.boolean(),
  })
  .chain(({ before, inner, after, isNested }) => {
    const unless = { field: 'mark', kind: 'number' } as const;
    const plain = (parts: readonly (readonly [string, RowColumn])[]): JsonMember[] => parts.map(([key, column]) => ({ key, ...column }));
    const record: JsonMember = {
      key: 'record',
      members: inner.flatMap(([key, column, constant]): JsonMember[] => [
        { key, ...column },
        ...(constant === null ? [] : [{ key, constant }]),
      ]),
      unless,
    };
    const around: JsonMember = isNested ? { key: 'around', members: [record, { key: 'kind', constant: 'Around' }] } : record;
    const columns = [...before, ...inner, ...after].map(([, column]) => column);
    return fc.record({
      members: fc.constant([...plain(before), around, ...plain(after)]),
      rows: fc.array(
        fc
          .tuple(fc.tuple(...columns.map(({ kind }) => anyCell(kind))), fc.option<Value>(fc.integer(), { freq: 1 }))
          .map(([values, mark]) => [...values.slice(0, before.length), mark, ...values.slice(before.length)]),
        { maxLength: 4 },
      ),
    });
  });

/** Columns with the keys that they have in JSON, constants between them, and rows with a value for each column. */
const anyRows = fc.array(fc.tuple(anyText, anyColumn, fc.option(anyText, { freq: 4 })), { maxLength: 6 }).chain((parts) =>
  fc.record({
    columns: fc.constant(parts.map(([, column]) => column)),
    members: fc.constant(
      parts.flatMap(([key, column, constant]): JsonMember[] => [{ key, ...column }, ...(constant === null ? [] : [{ key, constant }])]),
    ),
    rows: fc.array(fc.tuple(...parts.map(([, { kind }]) => anyCell(kind))), { maxLength: 4 }),
    separator: fc.constantFrom(',', '', ' ,\n  '),
    terminator: fc.constantFrom('', '\n'),
  }),
);

describe('rows of generated templates', () => {
  test('reach a reader of JSON as JSON.stringify writes them, wherever the input is cut', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows, async ({ members, rows, separator, terminator }) => {
        const template = createJsonTemplate(members, separator, terminator);
        await expectAtEveryCut(template, toCopyText(rows), toJsonText(members, rows, separator, terminator));
      }),
      { numRuns: tries(60) },
    );
  });

  test('reach a reader of JSON with records in them, or null in their place, wherever the input is cut', async () => {
    await fc.assert(
      fc.asyncProperty(anyRecordRows, ({ members, rows }) =>
        expectAtEveryCut(createJsonTemplate(members), toCopyText(rows), toJsonText(members, rows)),
      ),
      { numRuns: tries(60) },
    );
  });

  test('reach a reader of CSV with quotes doubled and formulas guarded, wherever the input is cut', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows, ({ columns, rows }) =>
        expectAtEveryCut(createCsvTemplate(columns), toCopyText(rows), toCsvText(columns, rows)),
      ),
      { numRuns: tries(60) },
    );
  });

  test('have the columns of their template alone, wherever others stand in the input and wherever it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows, fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), async ({ columns, rows, separator }, areShown) => {
        const all = columns.map((column, n) => ({ ...column, key: `field_${n}`, field: `field_${n}` }));
        const shown = all.filter((_column, n) => areShown[n]);
        const values = rows.map((row) => row.filter((_value, n) => areShown[n]));
        const json = widenTemplate(createJsonTemplate(shown, separator), all);
        await expectAtEveryCut(json, toCopyText(rows), toJsonText(shown, values, separator));
        await expectAtEveryCut(widenTemplate(createCsvTemplate(shown), all), toCopyText(rows), toCsvText(shown, values));
      }),
      { numRuns: tries(60) },
    );
  });

  test('may be of two templates at once, each with its columns in its order', () => {
    const anyColumns = fc
      .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), { maxLength: 8, size: 'max' })
      .map((fields) => fields.map((field): RowColumn => ({ field, kind: 'text' })));
    fc.assert(
      fc.property(anyColumns, anyColumns, (first, second) => {
        const joined = joinColumns(first, second);
        for (const columns of [first, second]) {
          const widened = widenTemplate(createCsvTemplate(columns), joined);
          expect(widened.columns.map(({ field }) => field)).toEqual(joined.map(({ field }) => field));
          expect(widened.columns.filter(({ isHidden }) => !isHidden)).toEqual(columns);
        }
      }),
    );
    const columnsOf = (fields: string) => Array.from(fields).map((field): RowColumn => ({ field, kind: 'text' }));
    const join = (first: string, second: string) =>
      joinColumns(columnsOf(first), columnsOf(second))
        .map(({ field }) => field)
        .join('');
    // Columns that stand in the same order in both are read once.
    expect([join('abc', 'abc'), join('bd', 'abcde'), join('abcx', 'abcd'), join('cb', 'abc')]).toEqual(['abc', 'abcde', 'abcxd', 'abcb']);
  });

  test('are read by a parser of CSV as they were, once the guards are taken off', async () => {
    const columns = [FREE, FREE, FREE];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(anyText, anyText, anyText), { minLength: 1 }), async (rows) => {
        const csv = await render(createCsvTemplate(columns), [Buffer.from(toCopyText(rows))]);
        const records: string[][] = parse(csv, { record_delimiter: '\r\n' });
        expect(records.flat().filter((value) => /^[=+\-@\t\r\n＝＋－＠]/.test(value))).toEqual([]);
        expect(records.map((record) => record.map((value) => value.replace(/^'(?='*[=+\-@\t\r\n＝＋－＠])/, '')))).toEqual(rows);
      }),
    );
  });
});

describe('every value', () => {
  test.each(SPECIAL.map((character) => [JSON.stringify(character), character]))(
    'reaches a reader with %s at any place and at any distance from a vector of 16 bytes',
    async (_title, character) => {
      const rows = upTo(16).flatMap((offset) =>
        upTo(34).flatMap((length) =>
          upTo(length + 1).map((place) => {
            const value = `${'x'.repeat(place)}${character}${'y'.repeat(length - place)}`;
            return ['z'.repeat(offset), value, value];
          }),
        ),
      );
      await expectRows([TEXT, FREE, NULLABLE], rows, [4099, 65_535, 65_536, 65_537]);
    },
  );

  test('reaches a reader with any byte at its start, in its midst and at its end', async () => {
    const rows = upTo(256).flatMap((byte) => {
      const character = String.fromCharCode(byte);
      return upTo(20).flatMap((length) => [
        [character, 'x'.repeat(length) + character],
        [character + 'x'.repeat(length), `${'x'.repeat(length)}${character}${character}x`],
      ]);
    });
    for (const columns of [
      [TEXT, TEXT],
      [FREE, FREE],
      [NULLABLE, NULLABLE],
    ])
      await expectRows(columns, rows, [17, 1021], 'latin1');
  });

  test('reaches a reader as null in any column that may be null', async () => {
    const columns = [NULLABLE, NUMBER, NULLABLE, NULLABLE, TEXT, NUMBER, NULLABLE];
    const values = [null, '', '\\N', 'N', '"', "'", '=1', "''=1", 'x'.repeat(16)];
    const rows = values.flatMap((a) => values.flatMap((b) => values.map((c) => [a, null, b, c, 'x', 1, a] as const)));
    await expectRows(columns, rows, [1, 2, 3, 15, 16, 17]);
  });

  test('reaches a reader when it is longer than all that the gateway holds at once', async () => {
    const lengths = [65_519, 65_520, 65_521, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 400_000];
    const units = ['x', '"', '\\', '\n', '＝', '\t', '\v', '\u0001', "'", "'=", '李', 'x"\\🌻'];
    for (const unit of units) {
      const rows = lengths.map((length) => [unit.repeat(length / unit.length), 'x', `${"'".repeat(length)}=${unit}`]);
      await expectRows([NULLABLE, TEXT, FREE], rows, [100_003]);
    }
  });

  test.each([0, 1, 15, 16, 17, 3000, 60_000, 70_000, 300_000])('reaches a reader under a name of %i characters', async (length) => {
    const members = [TEXT, NULLABLE, NUMBER].map((column, n) => ({ key: `${n}`.repeat(length), ...column }));
    const rows = upTo(10).map((n) => [`${n}`, n % 2 === 0 ? null : `"${n}"`, n]);
    const template = createJsonTemplate([...members, { key: 'constant', constant: 'x'.repeat(length) }], ','.repeat(length));
    const copy = Buffer.from(toCopyText(rows));
    const expected = toJsonText([...members, { key: 'constant', constant: 'x'.repeat(length) }], rows, ','.repeat(length));
    expectSame(await render(template, [copy]), Buffer.from(expected));
    expectSame(await render(template, cut(copy, upTo(copy.length))), Buffer.from(expected));
  });
});

describe('rows without columns', () => {
  test.each([0, 1, 2, 100_000])('reach a reader %i times', async (count) => {
    const rows = upTo(count).map(() => []);
    const members = [{ key: '__typename', constant: 'Line' }];
    const copy = [Buffer.from(toCopyText(rows))];
    expectSame(await render(createJsonTemplate(members), copy), Buffer.from(toJsonText(members, rows)));
    expectSame(await render(createJsonTemplate([], '', '\n'), copy), Buffer.from('{}\n'.repeat(count)));
    expectSame(await render(createCsvTemplate([]), copy), Buffer.from('\r\n'.repeat(count)));
  });
});
