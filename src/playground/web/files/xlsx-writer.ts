import { strFromU8, strToU8, unzipSync, Zip, ZipDeflate } from 'fflate';
import writeWorkbook, { type SheetData } from 'write-excel-file/universal';
import { getCellAddress } from 'write-excel-file/utility';
import type { ColumnKind, Row, TableColumn } from '../values/table-types';
import { createBlobCollector } from './blob-collector';
import { readChunks, type FileContent, type FileFact, type FileSheet, type WriteOptions } from './file-content';
import { formatOf, toCellNumber, writeCell } from './xlsx-cells';

const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
/** The rows of a sheet in Excel, without the header. */
const MAX_ROWS = 1_048_575;
/** Higher levels make the file of 150,000 lines a sixth smaller and take twice as long. */
const COMPRESSION = 2;

/** Writes a workbook with two sheets: “Rows”, and “Totals” with the facts. */
export const writeXlsx = ({ title, facts, ...rows }: FileContent, options: WriteOptions): Promise<Blob> =>
  writeSheets([{ sheet: 'Rows', ...rows }], { title, facts }, options);

/**
 * Writes a workbook with a sheet for each table, and “Totals” with the facts. write-excel-file makes the workbook with its styles and its
 * sheets, but it holds all rows several times and compresses them in a worker from a `blob:` address, which the page's
 * Content-Security-Policy forbids. So it writes one sample row of each table, and the rows themselves go into its place in the compressed
 * file as they come.
 */
export async function writeSheets(
  tables: readonly FileSheet[],
  totals: Pick<FileContent, 'title' | 'facts'>,
  options: WriteOptions,
): Promise<Blob> {
  const workbook = await makeWorkbook(tables, totals);
  const file = createBlobCollector(TYPE);
  let fault: Error | undefined;
  const zip = new Zip((error, piece) => {
    if (error) fault = error;
    else file.add(piece);
  });
  const paths = tables.map((_table, n) => `xl/worksheets/sheet${String(n + 1)}.xml`);
  for (const [path, bytes] of Object.entries(workbook)) if (!paths.includes(path)) addPart(zip, path).push(bytes, true);
  for (const [n, table] of tables.entries()) {
    const path = paths[n]!;
    const { before, styles, after } = splitSheet(strFromU8(workbook[path]!));
    const sheet = addPart(zip, path);
    sheet.push(strToU8(before));
    let count = 0;
    for await (const chunk of readChunks(table, options)) {
      if (count + chunk.length > MAX_ROWS) throw new Error('A sheet of a spreadsheet has room for 1,048,575 rows. Choose another format.');
      sheet.push(strToU8(chunk.map((row, position) => writeRow(row, table.columns, styles, count + position + 1)).join('')));
      count += chunk.length;
      if (fault) throw fault;
    }
    const filter = table.columns.length === 0 ? '' : `<autoFilter ref="A1:${getCellAddress(count, table.columns.length - 1)}"/>`;
    sheet.push(strToU8(`</sheetData>${filter}${after}`), true);
  }
  zip.end();
  return file.all();
}

function addPart(zip: Zip, path: string): ZipDeflate {
  const part = new ZipDeflate(path, { level: COMPRESSION });
  zip.add(part);
  return part;
}

/** Makes a workbook whose sheets have a header and one sample row, and gives its parts by their paths. */
async function makeWorkbook(
  tables: readonly FileSheet[],
  { title, facts }: Pick<FileContent, 'title' | 'facts'>,
): Promise<Record<string, Uint8Array>> {
  const workbook = await writeWorkbook([
    ...tables.map(({ sheet, columns }) => ({
      sheet,
      data: [
        columns.map((column) => ({ value: titleOf(column), type: String, fontWeight: 'bold' as const })),
        columns.map((column) => ({ value: 0, type: Number, ...formatOf(column) })),
      ],
      columns: columns.map((column) => ({ width: widthOf(column.kind, titleOf(column)) })),
      stickyRowsCount: 1,
    })),
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
