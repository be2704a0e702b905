import fc from 'fast-check';
import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import { parseImportLine } from '../../src/formats/import-line';
import { findJsonFault } from '../../src/formats/json-fault';
import { CSV_HEADER, toCsv } from '../support/deposit-files';
import { v2Line } from '../support/gateway';
import { readLines } from '../support/line-reader';
import { tries } from '../support/tries';

// An import reads plain files by quick ways of its own. Each test compares one with a library that reads the same.

type Line = Record<string, unknown>;

const anyCuts = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 100_000 })), { minLength: 1, maxLength: 5 });
const SPECIAL = ['{', '}', '[', ']', '"', ',', ':', '\\', '\r', '\n', ' ', '0', 'a'];
/** A change of a text: some characters at a place become others. */
const anyChange = fc.record({
  place: fc.nat(),
  removed: fc.integer({ min: 0, max: 3 }),
  added: fc.string({ unit: fc.constantFrom(...SPECIAL), maxLength: 2 }),
});
const change = (text: string, { place, removed, added }: { place: number; removed: number; added: string }): string => {
  const at = place % (text.length + 1);
  return (text.slice(0, at) + added + text.slice(at + removed)).toWellFormed();
};
const anyText = fc.string({ unit: fc.constantFrom(...SPECIAL, "'", '=', 'é', '😀'), maxLength: 12 });

describe('an operator whose file is a v2 answer', () => {
  const anyElement = fc.oneof(
    { weight: 3, arbitrary: fc.dictionary(anyText, fc.oneof(anyText, fc.integer()), { maxKeys: 4 }) },
    fc.jsonValue(),
  );
  const anyAnswer = fc
    .record({ before: fc.dictionary(anyText, fc.jsonValue(), { maxKeys: 2 }), response: fc.array(anyElement), after: fc.jsonValue() })
    .chain(({ before, response, after }) =>
      fc.constantFrom(undefined, 1, '\t').map((indent) => JSON.stringify({ ...before, response, after }, undefined, indent)),
    );
  /** An element that is no object is no line, whatever it is. */
  const toLines = (text: string) => {
    const elements = (JSON.parse(text) as { response: unknown[] }).response;
    return elements.map((element, position) => ({
      line: position + 1,
      values: typeof element === 'object' && element !== null && !Array.isArray(element) ? element : undefined,
    }));
  };

  test('has the same lines whatever they contain and however the text comes', async () => {
    const anyLines = fc
      .tuple(fc.array(anyElement), fc.constantFrom(undefined, 1, '\t'))
      .map(([response, indent]) => JSON.stringify({ response }, undefined, indent));
    await fc.assert(
      fc.asyncProperty(anyLines, anyCuts, async (text, cuts) => expect(await readLines('json', text, cuts)).toEqual(toLines(text))),
    );
  });

  // It may be a part of the lines, with an error or a mark of its end.
  test('is refused one that has anything beside its lines', async () => {
    const MORE = 'The file is not a v2 answer in JSON: it has more than the array "response"';
    await fc.assert(fc.asyncProperty(anyAnswer, anyCuts, async (text, cuts) => expect(await readLines('json', text, cuts)).toBe(MORE)));
  });

  test('is told the place where the text stops being JSON', async () => {
    const property = fc.asyncProperty(anyAnswer, anyCuts, anyChange, async (original, cuts, changed) => {
      const text = change(original, changed);
      const fault = findJsonFault(text);
      const result = await readLines('json', text, cuts);
      if (fault !== undefined)
        expect(result).toMatch(/^The file is not a v2 answer in JSON: (it is not JSON at|it breaks off at|it has two)/);
      else if (typeof result !== 'string') expect(result).toEqual(toLines(text));
      if (fault !== undefined && result !== TWO) expect(result).toBe(`The file is not a v2 answer in JSON: it ${fault}`);
    });
    await fc.assert(property, { numRuns: tries(100) });
  });
  const TWO = 'The file is not a v2 answer in JSON: it has two arrays "response"';
});

describe('an operator whose file is CSV', () => {
  const anyCsv = fc
    .array(
      fc.record({
        main_memo: anyText,
        city: anyText,
        designation_memo: fc.constantFrom('', "'", "'=1", "''=1", "'\n1", "'＝1", "''＠", 'plain'),
      }),
    )
    .chain((fields) =>
      fc
        .record({
          before: fc.constantFrom('', '', '\n', '\r'),
          lineEnd: fc.constantFrom('\r\n', '\n', '\r', '\n\n', '\r\r'),
          isPlain: fc.boolean(),
        })
        .map((form) => ({ lines: fields.map((field) => v2Line(field)), ...form })),
    );
  /** A file of which only values that need quotes have them. */
  const withoutQuotes = (text: string): string =>
    text.replace(/"(?:[^"]|"")*"/g, (value) => (/[",\r\n]/.test(value.slice(1, -1)) ? value : value.slice(1, -1)));

  test('has the same lines as csv-parse reads, and is told a fault of the same place, whatever the texts and however the file comes', async () => {
    const property = fc.asyncProperty(anyCsv, anyCuts, fc.option(anyChange), async ({ lines, before, lineEnd, isPlain }, cuts, changed) => {
      const head = CSV_HEADER + lineEnd;
      const quoted = toCsv(lines, CSV_HEADER, lineEnd).slice(head.length);
      const records = isPlain ? withoutQuotes(quoted) : quoted;
      const text = before + head + (changed ? change(records, changed) : records);
      expect(await readLines('csv', text, cuts)).toEqual(readByLibrary(text));
    });
    await fc.assert(property, { numRuns: tries(200) });
  });

  const INVALID = 'The file is not valid CSV: line';
  const TOO_LONG = 'begins a record of more than 1000000 characters; a quote may have no end';
  const header = `${CSV_HEADER}\r\n`;
  const good = toCsv([v2Line()], CSV_HEADER, '\r\n').slice(header.length);
  const changed = (from: string, to: string): string => good.replace(from, to);
  test.each([
    ['a quote within a value', `${header}${good}${good}Springfield"`, 'line 4 has a quote within a value that does not begin with one'],
    ['a single value', `${header}\r"a\n\r\n"\r"b"c`, 'line 3 must have 26 values, like the header, not 1'],
    ['a space behind a quote', `${header}\r\r\n"a\n\r\nb" ,`, 'line 4 has text behind the quote that ends a value'],
    ['an open quote', `${header}${good}\n"a\nb`, 'line 4 begins a record with a quote that has no end'],
    ['too many values', `${header}${changed('\r\n', ',\r')}${good}`, 'line 2 must have 26 values, like the header, not 27'],
  ])('is told the line that begins a record with %s, however the file comes', async (_title, text, fault) => {
    for (const cuts of [[1], [2], [3, 7], [100_000]])
      expect(await readLines('csv', text, cuts)).toBe(`The file is not valid CSV: ${fault}`);
  });

  test.each(['\r\n', '\n', '\r'])(
    'has a value that begins with the character of a byte order mark, where lines end in %j',
    async (lineEnd) => {
      const lines = ['\ufeffA1', '\ufeff\ufeffA2'].map((allocation_id) => v2Line({ allocation_id }));
      const fields = ['allocation_id', ...CSV_HEADER.split(',').filter((name) => name !== 'allocation_id')].join(',');
      const text = toCsv(lines, fields, lineEnd).replaceAll('"', '');
      for (const cuts of [[1], [64], [100_000]])
        expect(await readLines('csv', text, cuts)).toEqual(lines.map((values, at) => ({ line: at + 2, values })));
    },
  );

  test('leaves out a line of an empty text in quotes', async () => {
    expect(await readLines('csv', `${header}""\n${good}`, [1])).toEqual([{ line: 3, values: v2Line() }]);
  });

  test.each([21_000, 300_000, 999_000])('has a record of %d characters', async (length) => {
    const lines = [{}, { main_memo: 'a"\n'.repeat(length / 3) }, {}].map((field) => v2Line(field));
    expect(await readLines('csv', toCsv(lines, CSV_HEADER, '\n'), [32_768])).toEqual(
      lines.map((values, at) => ({ line: at < 2 ? at + 2 : 4 + length / 3, values })),
    );
  });

  test.each([
    ['a record of', 'a"\n'.repeat(333_334), '"\n'],
    ['a record without quotes of', 'a'.repeat(1_000_001), '\n'],
    ['an open quote before', 'a\n'.repeat(2_000_000), ''],
  ])('is refused %s more than a million characters, however the file comes', async (_title, value, end) => {
    const text = `${header}\n${end.startsWith('"') || end === '' ? `"${value.replaceAll('"', '""')}` : value}${end}${header}`;
    for (const cuts of [[32_768], [100_000, 1]]) expect(await readLines('csv', text, cuts)).toBe(`${INVALID} 3 ${TOO_LONG}`);
  });

  /** The lines of a CSV file by csv-parse, or the message of its first fault. */
  function readByLibrary(text: string): { line: number; values: Line }[] | string {
    const records: { fields: string[]; line: number }[] = [];
    let returns = 0;
    let next = 1;
    let passed = 0;
    const note = (fields: string[], { lines, empty_lines: empty }: { lines: number; empty_lines: number }): null => {
      passed = empty;
      // csv-parse gives a record the number of its last line, and counts a line for each CR and each LF within a value.
      const content = fields.join('');
      returns += content.split('\r').length - 1;
      next = lines - returns + 1;
      records.push({ fields, line: next - content.split('\n').length });
      return null;
    };
    let fault: string | undefined;
    try {
      const options = { record_delimiter: ['\r\n', '\n', '\r'], skip_empty_lines: true, relax_column_count: true };
      parse(text, { ...options, on_record: note });
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      const { code, empty_lines: empty } = error as CsvError & { readonly empty_lines: number };
      fault = `${next + empty - passed} ${FAULTS[code]}`;
    }
    const [names, ...rows] = records.filter(({ fields }) => fields.some((field) => field.trim() !== ''));
    const other = rows.find(({ fields }) => fields.length !== names!.fields.length);
    if (other !== undefined)
      return `${INVALID} ${other.line} must have ${names!.fields.length} values, like the header, not ${other.fields.length}`;
    if (fault !== undefined) return `${INVALID} ${fault}`;
    return rows.map(({ fields, line }) => ({
      line,
      values: Object.fromEntries(fields.map((value, at) => [names!.fields[at]!, toValue(names!.fields[at]!, value)])),
    }));
  }
  const FAULTS: Readonly<Record<string, string>> = {
    INVALID_OPENING_QUOTE: 'has a quote within a value that does not begin with one',
    CSV_INVALID_CLOSING_QUOTE: 'has text behind the quote that ends a value',
    CSV_QUOTE_NOT_CLOSED: 'begins a record with a quote that has no end',
  };
  const PLAIN = ['transaction_date', 'deposit_date', 'amount', 'fee_amount', 'net_amount'];
  const toValue = (field: string, value: string): unknown => {
    if (field === 'donor_id' || field === 'designation_id') return /^(0|[1-9][0-9]{0,15})$/.test(value) ? Number(value) : value;
    return PLAIN.includes(field) ? value : value.replace(/^'(?='*[=+\-@\t\r\n＝＋－＠])/, '');
  };
});

describe('an operator whose lines have faults', () => {
  const MONEY = 'must be an amount as text with two decimals, like "10.50"';
  const RANGE = 'is beyond the range of amounts, which is from -999999999999.99 to 999999999999.99';
  const isUnseen = (character = 'x') =>
    character.trim() === '' ||
    (/[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u.test(character) && !/[\p{Co}\p{Cn}\p{Cs}]/u.test(character));
  const NUMBER = 'must be a whole number from 0 to 9007199254740991, without leading zeros';
  const DATE = 'must be a calendar date YYYY-MM-DD';
  const text = z
    .string('must be text')
    .refine((value) => !value.includes('\0'), 'contains a NUL character')
    .refine((value) => value.isWellFormed(), 'contains half of a surrogate pair');
  const limited = (bytes: number) => text.refine((value) => Buffer.byteLength(value) <= bytes, `is longer than ${bytes} bytes of UTF-8`);
  const id = text
    .refine((value) => value !== '', 'must not be empty')
    .refine((value) => Buffer.byteLength(value) <= 600, 'is longer than 600 bytes of UTF-8')
    .refine(
      (value) => !isUnseen(Array.from(value)[0]) && !isUnseen(Array.from(value).at(-1)),
      'begins or ends with a blank or a character that nobody sees',
    );
  const date = z
    .string(DATE)
    .regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, { error: DATE, abort: true })
    .refine((value) => !value.startsWith('0000') && z.iso.date().safeParse(value).success, 'is no day of the calendar');
  const money = z
    .string(MONEY)
    .regex(/^(?!-0\.00$)-?(0|[1-9][0-9]*)\.[0-9]{2}$/, { error: MONEY, abort: true })
    .refine((value) => value.replace(/[-.]/g, '').length <= 14, RANGE);
  const number = z.number(NUMBER).refine((value) => Number.isSafeInteger(value) && value >= 0, NUMBER);
  /** The rules of each field, said a second time. */
  const schema = z.strictObject({
    ...{ deposit_id: id, transaction_date: date, deposit_date: date, transaction_id: id, allocation_id: id, donor_id: number },
    ...{ donor_first_name: limited(500), donor_last_name: limited(500), address1: text, address2: text, address3: text, city: text },
    ...{ state: text, zip: text, phone: text, email_address: text, amount: money, fee_amount: money, net_amount: z.string(MONEY) },
    ...{ status: text, account_type: text, payment_type: text, designation_id: number, designation: text, designation_memo: text },
    main_memo: text,
    deposit_status: z.enum(['posted', 'pending'], 'must be posted or pending').nullish(),
    allocation_amount: money.nullish(),
    allocation_amount_inferred: z.boolean('must be true or false').nullish(),
  });

  /** The faults of the fields of a line by themselves, by zod. */
  function faultsOf(values: unknown): { field: string; reason: string }[] {
    const issues = schema.safeParse(values, { reportInput: true }).error?.issues ?? [];
    return issues.flatMap((issue) => {
      if (issue.code === 'unrecognized_keys') return issue.keys.map((field) => ({ field, reason: 'is not a field of a deposit line' }));
      if (issue.path.length === 0) return [{ field: '', reason: 'it must be an object with the fields of a deposit line' }];
      return [{ field: String(issue.path[0]), reason: issue.input === undefined ? 'is missing' : issue.message }];
    });
  }

  const anyValue = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(undefined, null, true, '', '\0', '\ud83d', '\0\udc00', 'posted', '0000-01-01', '2024-02-29', '2023-02-29', '2024-1-1'),
    fc.constantFrom(' x', 'x\u00a0', '\u200bx', 'x\u00ad', ' ', 'x y', '❤️', 'e\u0301', `${'9'.repeat(39)}.00`, '-99999999999999.99'),
    fc.constantFrom(-0, -1, 0.5, 2 ** 53, 2 ** 53 - 1, NaN, '-0.00', '0.00', '999999999999.99', '1000000000000.00', '-1.5', '01.00'),
    fc.integer({ min: 598, max: 602 }).map((length) => 'x'.repeat(length)),
    fc.tuple(fc.constantFrom('é', '€', '😀'), fc.integer({ min: 120, max: 320 })).map(([unit, count]) => unit.repeat(count)),
  );
  const anyField = fc.oneof(
    fc.constantFrom(...Object.keys(v2Line()), 'deposit_status', 'allocation_amount', 'allocation_amount_inferred'),
    fc.constantFrom('toString', '__proto__', 'constructor', 'donor_title', '', '0'),
  );

  test('is told the faults that zod finds in the fields, in the same order', () => {
    const anyMutant = fc
      .tuple(
        fc.array(fc.tuple(anyField, anyValue), { maxLength: 4 }),
        fc.constantFrom({}, { deposit_status: null, allocation_amount: '5.00' }),
      )
      // A member that is undefined is none in JSON.
      .map(([fields, extra]) =>
        Object.fromEntries(Object.entries({ ...v2Line(extra), ...Object.fromEntries(fields) }).filter(([, value]) => value !== undefined)),
      );
    const property = fc.property(fc.oneof({ weight: 9, arbitrary: anyMutant }, fc.jsonValue()), (values) => {
      const faults = faultsOf(values);
      const result = parseImportLine({ line: 7, values });
      if (faults.length > 0) expect(result).toEqual(faults.map((fault) => ({ line: 7, ...fault })));
      else if (Array.isArray(result)) expect(result.map(({ reason }) => reason).join()).toMatch(CONTRADICTION);
      else expect(result).toEqual(imported(values as Line));
    });
    fc.assert(property, { numRuns: tries(400) });
  });

  test('is told the net amount where it is not amount minus fee, whatever the amounts, to the cent', () => {
    const LIMIT = 10n ** 14n;
    const anyCents = fc.oneof(
      fc.bigInt({ min: 1n - LIMIT, max: LIMIT - 1n }),
      fc.bigInt({ min: -150n, max: 150n }),
      fc.constantFrom(0n, LIMIT - 1n, 1n - LIMIT),
    );
    const toText = (cents: bigint): string => {
      const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
      return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
    };
    const property = fc.property(anyCents, anyCents, fc.constantFrom(0n, 0n, 1n, -1n, 100n), (amount, fee, error) => {
      const net = toText(amount - fee);
      const values = v2Line({ amount: toText(amount), fee_amount: toText(fee), net_amount: toText(amount - fee + error) });
      const faults = [{ line: 1, field: 'net_amount', reason: `is not amount minus fee_amount, ${net}` }];
      expect(parseImportLine({ line: 1, values })).toEqual(error === 0n ? values : faults);
    });
    fc.assert(property, { numRuns: tries(400) });
    for (const net_amount of ['-0.00', '0.0', '0', '', '00.00', '1e0'])
      expect(parseImportLine({ line: 1, values: v2Line({ amount: '1.00', fee_amount: '1.00', net_amount }) })).toEqual([
        { line: 1, field: 'net_amount', reason: 'is not amount minus fee_amount, 0.00' },
      ]);
  });

  test.each([
    ['1000000000000.00', RANGE],
    ['-1000000000000.00', RANGE],
    ['999999999999.999', MONEY],
  ])('is refused the amount %s', (amount, reason) => {
    expect(parseImportLine({ line: 1, values: v2Line({ amount, fee_amount: '0.00', net_amount: amount }) })).toEqual([
      { line: 1, field: 'amount', reason },
    ]);
  });

  /** The line as the books take it. A status that is null is as good as none. */
  const imported = ({ allocation_amount, allocation_amount_inferred, ...fields }: Line): Line => ({
    ...fields,
    allocation_amount: (allocation_amount_inferred ? undefined : allocation_amount) ?? undefined,
    allocation_amount_unknown:
      allocation_amount_inferred || typeof allocation_amount === 'string'
        ? false
        : allocation_amount_inferred === undefined
          ? undefined
          : true,
  });
  const CONTRADICTION = /is not amount minus fee_amount|must be empty where donor_id is 0|is said to be inferred/;
});
