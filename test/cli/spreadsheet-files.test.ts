import { CSV_HEADER, toCsv } from '../support/deposit-files';
import { v2Line } from '../support/gateway';
import { readLines } from '../support/line-reader';

describe('an operator whose file comes from a spreadsheet', () => {
  const lines = [{ city: 'Müller' }, { city: 'b;c', allocation_id: 'A2' }].map((field) => v2Line(field));
  const plain = toCsv(lines, CSV_HEADER, '\r\n');
  const [head, first, second] = plain.split('\r\n') as [string, string, string];
  const blanks = ','.repeat(head.split(',').length - 1);
  const utf16 = Buffer.from(plain, 'utf16le');
  const withSeparator = (separator: string): string =>
    [
      head.replaceAll(',', separator),
      ...lines.map((each) =>
        head
          .split(',')
          .map((name) => `"${String(each[name])}"`)
          .join(separator),
      ),
    ].join('\n');

  test.each<[string, string | Buffer, number[]]>([
    ['rows of commas at its end', `${plain}${blanks}\r\n${blanks}\r\n`, [2, 3]],
    ['a row of commas between', [head, blanks, first, second].join('\r\n'), [3, 4]],
    ['a row of commas before the header', [blanks, head, first, second].join('\n'), [3, 4]],
    ['quoted blanks', [head, first, '"",'.repeat(25) + '""', second].join('\n'), [2, 4]],
    ['blanks and no-break spaces in the cells of a row', [head, first, blanks.replaceAll(',', ' ,\u00a0'), second].join('\n'), [2, 4]],
    ['a last column without name', [`${head},`, `${first},`, `${second}, `].join('\n'), [2, 3]],
    ['several columns without name', [`${head},,""`, `${first},,`, `${second},,`].join('\n'), [2, 3]],
    ['a first column without name', [`,${head}`, `,${first}`, `,${second}`].join('\n'), [2, 3]],
    ['blanks around the names of fields', [head.replaceAll(',', ' , '), first, second].join('\n'), [2, 3]],
    ['semicolons', withSeparator(';'), [2, 3]],
    ['semicolons, and one at the end of each line', withSeparator(';').replaceAll('\n', ';\n') + ';', [2, 3]],
    ['tabs', withSeparator('\t'), [2, 3]],
    ['a line sep=,', `sep=,\r\n${plain}`, [3, 4]],
    ['a line sep=;', `sep=;\n${withSeparator(';')}`, [3, 4]],
    ['a line sep=| in capitals', `SEP=|\n${withSeparator('|')}`, [3, 4]],
    ['UTF-16 with its mark', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), [2, 3]],
    ['UTF-16 of the other order', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]).swap16(), [2, 3]],
    ['a mark of UTF-8', `\uFEFF${plain}`, [2, 3]],
    ['a line sep=; that is filled up with separators', `sep=;${';'.repeat(25)}\r\n${withSeparator(';')}`, [3, 4]],
    ['a line "sep=," in quotes, filled up with commas', `"sep=,"${blanks}\n${plain}`, [3, 4]],
    ['blank lines before a line sep=;', `\n;;\nsep=;\n;;\n${withSeparator(';')}`, [6, 7]],
    ['30 rows of semicolons before the header', `${';;;;\r\n'.repeat(30)}${withSeparator(';')}`, [32, 33]],
    ['30 rows of quoted blanks before the header', `${'"";" ";""\n'.repeat(30)}${withSeparator(';')}`, [32, 33]],
    ['names of fields in capitals', [head.toUpperCase(), first, second].join('\n'), [2, 3]],
    ['names of fields in capitals, and semicolons', withSeparator(';').replace(/^.*/, (names) => names.toUpperCase()), [2, 3]],
    ['two marks of UTF-8', `\uFEFF\uFEFF${plain}`, [2, 3]],
    ['two marks of UTF-8 before a header in quotes', `\uFEFF\uFEFF${plain.replace('deposit_id', '"deposit_id"')}`, [2, 3]],
    ['CR alone at line ends', plain.replaceAll('\r\n', '\r'), [2, 3]],
  ])('that has %s gives its lines', async (_title, content, numbers) => {
    const expected = lines.map((values, at) => ({ line: numbers[at], values }));
    for (const cuts of [[1], [3, 7], [100_000]]) expect(await readLines('csv', content, cuts)).toEqual(expected);
  });

  const NO_HEADER = "is not a header, because it names no field such as deposit_id: the line with the fields' names must be the first";
  test.each<[string, string | Buffer, string]>([
    [
      'a value in a column without name',
      [`${head},`, `${first},`, `${second},x`].join('\n'),
      `The file is not valid CSV: line 3 has a value in column 27, which has no name in the header`,
    ],
    ['a title before its header', `Deposit report January,,,\n${plain}`, `Line 1 ${NO_HEADER}`],
    ['a title with a semicolon', `Report; January\n${withSeparator(';')}`, `Line 1 ${NO_HEADER}`],
    ['no header', first, `Line 1 ${NO_HEADER}`],
    ['no header behind blank lines', `\n,,\r\n${first}\n${plain}`, `Line 3 ${NO_HEADER}`],
    [
      'semicolons behind a line sep=,',
      `sep=,\n${withSeparator(';')}`,
      'Line 2, the header, has ";" between its names: the file must begin with the line sep=;',
    ],
    [
      'pipes that no line sep= tells',
      withSeparator('|'),
      'Line 1, the header, has "|" between its names: the file must begin with the line sep=|',
    ],
    ['a field twice, in two cases', [`${head},CITY`, `${first},`].join('\n'), 'Line 1, the header: city stands twice'],
    [
      'UTF-8 cut within its last character',
      Buffer.from(plain.trimEnd() + 'é').subarray(0, -1),
      'The file ends within a character of UTF-8, so it is not whole: a download may have been cut off',
    ],
    ['a NUL as its first byte', `\0${plain}`, 'Line 1, the header: deposit_id is missing, \0deposit_id is not a field of a deposit line'],
    [
      'UTF-16 of the other order without its mark',
      Buffer.from(utf16).swap16(),
      'The file is UTF-16 text without its mark: save it as UTF-8',
    ],
    [
      'Windows-1252',
      Buffer.from(plain, 'latin1'),
      'The file is not UTF-8 text, but perhaps Windows-1252 (ANSI), as spreadsheets save it: save it as "CSV UTF-8"',
    ],
    ['UTF-16 without its mark', utf16, 'The file is UTF-16 text without its mark: save it as UTF-8'],
    [
      'UTF-16 cut within a character',
      Buffer.concat([Buffer.from([0xff, 0xfe]), utf16.subarray(0, -1)]),
      'The file is not whole UTF-16 text',
    ],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x64, 0, 0, 0]), 'The file is UTF-32 text: save it as UTF-8'],
    ['a spreadsheet', Buffer.from('PK\x03\x04xl'), 'The file is a spreadsheet or an archive (zip): open it and save it as "CSV UTF-8"'],
    [
      'an old spreadsheet',
      Buffer.from([0xd0, 0xcf, 0x11, 0xe0]),
      'The file is an old spreadsheet (xls): open it and save it as "CSV UTF-8"',
    ],
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0]), 'The file is compressed (gzip): unpack it first'],
    ['a PDF', '%PDF-1.7', 'The file is a PDF: ask its source for CSV or JSON'],
    ['blanks alone', ' \r\n,\r\n', 'The file is empty: a CSV file begins with a header that names the fields'],
  ])('is told in a sentence that it has %s', async (_title, content, sentence) => {
    for (const cuts of [[1], [100_000]]) expect(await readLines('csv', content, cuts)).toBe(sentence);
  });

  test('has inferred shares whose marks a spreadsheet has put in capitals', async () => {
    const marked = [`${head},allocation_amount,allocation_amount_inferred`, `${first},10.50,TRUE`, `${second},10.50,FALSE`].join('\n');
    expect(await readLines('csv', marked, [100_000])).toEqual(
      [true, false].map((allocation_amount_inferred, at) => ({
        line: at + 2,
        values: { ...lines[at], allocation_amount: '10.50', allocation_amount_inferred },
      })),
    );
  });

  /** The CPU seconds that a file takes, whose lines are read right. The lowest of three: the others hold what collecting garbage took. */
  const secondsOf = async (content: string, expected: object[]): Promise<number> => {
    const seconds: number[] = [];
    while (seconds.length < 3) {
      const before = process.cpuUsage();
      expect(await readLines('csv', content, [32_768])).toEqual(expected);
      const { user, system } = process.cpuUsage(before);
      seconds.push((user + system) / 1e6);
    }
    return Math.min(...seconds);
  };
  const linesAt = (number: number): object[] => lines.map((values, at) => ({ line: number + at, values }));
  const quotes = (count: number) => v2Line({ main_memo: '"'.repeat(count) });

  // A reader that goes over the text again for each piece takes a hundred times as long for ten times as much.
  test.each<[string, number, (count: number) => string, (count: number) => object[]]>([
    ['blank lines before the header', 5_000_000, (count) => '\n'.repeat(count) + plain, (count) => linesAt(count + 2)],
    ['rows of commas before the header', 185_000, (count) => `${blanks}\r\n`.repeat(count) + plain, (count) => linesAt(count + 2)],
    [
      'blank lines behind the header',
      5_000_000,
      (count) => `${head}${'\r'.repeat(count)}${first}\n${second}`,
      (count) => linesAt(count + 1),
    ],
    ['quotes in one text', 990_000, (count) => toCsv([quotes(count)], CSV_HEADER, '\n'), (count) => [{ line: 2, values: quotes(count) }]],
  ])('that has many %s takes a time that grows with its length', async (_title, count, contentOf, linesOf) => {
    const part = await secondsOf(contentOf(count / 10), linesOf(count / 10));
    const whole = await secondsOf(contentOf(count), linesOf(count));
    expect(whole).toBeLessThan(40 * Math.max(part, 0.02));
  });
});
