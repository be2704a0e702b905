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
    ['CR alone at line ends', plain.replaceAll('\r\n', '\r'), [2, 3]],
  ])('that has %s gives its lines', async (_title, content, numbers) => {
    const expected = lines.map((values, at) => ({ line: numbers[at], values }));
    for (const cuts of [[1], [3, 7], [100_000]]) expect(await readLines('csv', content, cuts)).toEqual(expected);
  });

  const NO_HEADER =
    "is not a header, because it names no field such as deposit_id: take away the lines before the one with the fields' names";
  test.each<[string, string | Buffer, string]>([
    [
      'a value in a column without name',
      [`${head},`, `${first},`, `${second},x`].join('\n'),
      `The file is not valid CSV: line 3 has a value in column 27, which has no name in the header`,
    ],
    ['a title before its header', `Deposit report January,,,\n${plain}`, `Line 1 ${NO_HEADER}`],
    ['a title with a semicolon', `Report; January\n${withSeparator(';')}`, `Line 1 ${NO_HEADER}`],
    ['no header', first, `Line 1 ${NO_HEADER}`],
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
});
