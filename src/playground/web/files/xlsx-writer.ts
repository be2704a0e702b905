import { strFromU8, strToU8, unzipSync, Zip, ZipDeflate } from 'fflate';
import writeWorkbook, { type SheetData } from 'write-excel-file/universal';
import { getCellAddress } from 'write-excel-file/utility';
import type { ColumnKind, Row, TableColumn } from '../values/table-types';
import { createBlobCollector } from './blob-collector';
import { readChunks, type FileContent, type FileFact, type WriteOptions } from './file-content';
import { formatOf, toCellNumber, writeCell } from './xlsx-cells';

const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const ROWS_SHEET = 'xl/worksheets/sheet1.xml';
/** The rows of a sheet in Excel, without the header. */
const MAX_ROWS = 1_048_575;
/** Higher levels make the file of 150,000 lines a sixth smaller and take twice as long. */
const COMPRESSION = 2;

/**
 * Writes a workbook with two sheets: “Rows”, and “Totals” with the facts. write-excel-file makes the workbook with its styles and its
 * sheets, but it holds all rows several times and compresses them in a worker from a `blob:` address, which the page's
 * Content-Security-Policy forbids. So it writes one sample row, and the rows themselves go into its place in the compressed file as they
 * come.
 */
export async function writeXlsx(content: FileContent, options: WriteOptions): Promise<Blob> {
  const { columns } = content;
  const workbook = await makeWorkbook(content);
  const { before, styles, after } = splitSheet(strFromU8(workbook[ROWS_SHEET]!));
  const file = createBlobCollector(TYPE);
  let fault: Error | undefined;
  const zip = new Zip((error, piece) => {
    if (error) fault = error;
    else file.add(piece);
  });
  for (const [path, bytes] of Object.entries(workbook)) if (path !== ROWS_SHEET) addPart(zip, path).push(bytes, true);
  const sheet = addPart(zip, ROWS_SHEET);
  sheet.push(strToU8(before));
  let count = 0;
  for await (const chunk of readChunks(content, options)) {
    if (count + chunk.length > MAX_ROWS) throw new Error('A sheet of a spreadsheet has room for 1,048,575 rows. Choose another format.');
    sheet.push(strToU8(chunk.map((row, position) => writeRow(row, columns, styles, count + position + 1)).join('')));
    count += chunk.length;
    if (fault) throw fault;
  }
  const filter = columns.length === 0 ? '' : `<autoFilter ref="A1:${getCellAddress(count, columns.length - 1)}"/>`;
  sheet.push(strToU8(`</sheetData>${filter}${after}`), true);
  zip.end();
  return file.all();
}

function addPart(zip: Zip, path: string): ZipDeflate {
  const part = new ZipDeflate(path, { level: COMPRESSION });
  zip.add(part);
  return part;
}

/** Makes a workbook whose first sheet has a header and one sample row, and gives its parts by their paths. */
async function makeWorkbook({ columns, title, facts }: FileContent): Promise<Record<string, Uint8Array>> {
  const header = columns.map((column) => ({ value: titleOf(column), type: String, fontWeight: 'bold' as const }));
  const sample = columns.map((column) => ({ value: 0, type: Number, ...formatOf(column) }));
  const workbook = await writeWorkbook([
    {
      sheet: 'Rows',
      data: [header, sample],
      columns: columns.map((column) => ({ width: widthOf(column.kind, titleOf(column)) })),
      stickyRowsCount: 1,
    },
    { sheet: 'Totals', data: writeFacts(title, facts), columns: [{ width: 32 }, { width: 44 }] },
  ]).toBlob();
  return unzipSync(new Uint8Array(await workbook.arrayBuffer()));
}

/** The title of a column, with the time zone that its cells cannot name. */
const titleOf = ({ title, timeZone }: TableColumn): string => (timeZone === undefined ? title : `${title} (${timeZone})`);

function writeFacts(title: string, facts: readonly FileFact[]): SheetData {
  return [
    [
      { value: 'Report', fontWeight: 'bold' },
      { value: title, type: String, fontWeight: 'bold' },
    ],
    ...facts.map(({ name, value, kind }) => {
      const number = toCellNumber(value, kind);
      if (number !== undefined) return [name, { value: number, type: Number, align: 'left' as const, ...formatOf({ kind }) }];
      return [name, value === null ? null : { value: String(value), type: String }];
    }),
  ];
}

/** The widths of columns in characters. */
const widths: Readonly<Record<ColumnKind, number>> = {
  text: 24,
  word: 12,
  count: 10,
  // A spreadsheet shows a number without room as ###. These are twelve digits with their cents and their sign.
  money: 20,
  percent: 10,
  date: 12,
  month: 12,
  quarter: 18,
  year: 20,
  instant: 24,
};

/** A header has the button of the filter beside its title. */
const widthOf = (kind: ColumnKind, title: string): number => Math.min(Math.max(widths[kind], title.length + 4), 40);

/** Takes the sample row out of a sheet, and reads from its cells the number that each column's style has in the file. */
function splitSheet(xml: string): { readonly before: string; readonly styles: readonly (string | undefined)[]; readonly after: string } {
  const [, before = '', sample = '', after = ''] = /^(.*)<row r="2">(.*)<\/row><\/sheetData>(.*)$/s.exec(xml) ?? [];
  if (before === '') throw new Error('The spreadsheet cannot be written.');
  const styles = [...sample.matchAll(/<c ([^>]*)>/g)].map(([, attributes = '']) => / ?s="(\d+)"/.exec(attributes)?.[1]);
  return { before, styles, after };
}

/** Writes a row of a sheet; a row without any cell is left out. `index` begins with 0, which is the header's. */
function writeRow(row: Row, columns: readonly TableColumn[], styles: readonly (string | undefined)[], index: number): string {
  const cells = columns.map((column, position) => writeCell(row[position] ?? null, column, index, position, styles[position]));
  const text = cells.join('');
  return text === '' ? '' : `<row r="${index + 1}">${text}</row>`;
}
