import { inflateRawSync } from 'node:zlib';

/** A cell as a spreadsheet reads it: a number with the format that it is shown in, a text, or a boolean. */
type SheetCell = string | boolean | { readonly number: number; readonly format: string | undefined };

export interface Sheet {
  readonly name: string;
  /** The cells of each row by their column's letters. A cell that is not there is empty. */
  readonly rows: readonly Readonly<Record<string, SheetCell>>[];
  readonly xml: string;
}

/** Reads a workbook without the library that wrote it, so that a fault of the library is found. */
export function readXlsx(file: Buffer): readonly Sheet[] {
  const parts = readZip(file);
  const texts = [...part(parts, 'xl/sharedStrings.xml').matchAll(/<si>(.*?)<\/si>/gs)].map(([, text]) => readText(text!));
  const styles = part(parts, 'xl/styles.xml');
  const formats = new Map(
    [...styles.matchAll(/<numFmt numFmtId="(\d+)" formatCode="([^"]*)"/g)].map(([, id, code]) => [id, decode(code!)]),
  );
  const cellFormats = [.../<cellXfs.*<\/cellXfs>/s.exec(styles)![0].matchAll(/<xf ([^>]*)>/g)].map(([, attributes]) =>
    formats.get(attribute(attributes!, 'numFmtId') ?? ''),
  );
  const targets = new Map(
    [...part(parts, 'xl/_rels/workbook.xml.rels').matchAll(/<Relationship ([^>]*)\/>/g)].map(([, attributes]) => [
      attribute(attributes!, 'Id'),
      attribute(attributes!, 'Target'),
    ]),
  );
  return [...part(parts, 'xl/workbook.xml').matchAll(/<sheet ([^>]*)\/>/g)].map(([, attributes]) => {
    const xml = part(parts, `xl/${targets.get(attribute(attributes!, 'r:id'))!}`);
    return { name: decode(attribute(attributes!, 'name')!), xml, rows: readRows(xml, texts, cellFormats) };
  });
}

function readRows(xml: string, texts: readonly string[], formats: readonly (string | undefined)[]): Record<string, SheetCell>[] {
  const rows: Record<string, SheetCell>[] = [];
  for (const [, number, cells] of xml.matchAll(/<row r="(\d+)"[^>]*>(.*?)<\/row>/gs)) {
    if (Number(number) <= rows.length) throw new Error(`row ${number!} comes too late`);
    while (rows.length < Number(number) - 1) rows.push({});
    rows.push(
      Object.fromEntries(
        [...cells!.matchAll(/<c ([^>]*)>(.*?)<\/c>/gs)].map(([, attributes, content]) => {
          const [, letters, row] = /^([A-Z]+)(\d+)$/.exec(attribute(attributes!, 'r') ?? '') ?? [];
          if (row !== number) throw new Error(`a cell of row ${row!} is in row ${number!}`);
          return [letters!, readCell(attributes!, content!, texts, formats)];
        }),
      ),
    );
  }
  return rows;
}

function readCell(attributes: string, content: string, texts: readonly string[], formats: readonly (string | undefined)[]): SheetCell {
  const value = /<v>(.*)<\/v>/s.exec(content)?.[1] ?? '';
  switch (attribute(attributes, 't')) {
    case 's':
      return texts[Number(value)]!;
    case 'inlineStr':
      return readText(content);
    case 'b':
      return value === '1';
    case undefined:
      return { number: Number(value), format: formats[Number(attribute(attributes, 's') ?? 0)] };
    default:
      throw new Error(`no such type of cell: ${attributes}`);
  }
}

const readText = (xml: string): string =>
  [...xml.matchAll(/<t[^>]*>(.*?)<\/t>/gs)]
    // A parser of XML turns the line breaks of other systems into \n.
    .map(([, text]) =>
      decode(text!.replace(/\r\n?/g, '\n')).replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(parseInt(code, 16))),
    )
    .join('');

const attribute = (attributes: string, name: string): string | undefined => new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1];

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
const decode = (text: string): string => text.replace(/&(\w+);/g, (_, name: string) => entities[name]!);

const part = (parts: ReadonlyMap<string, Buffer>, path: string): string => parts.get(path)!.toString();

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;

/** Reads the files of a ZIP by its central directory (PKWARE's APPNOTE, section 4.3.12). */
function readZip(file: Buffer): Map<string, Buffer> {
  const end = file.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (file.readUInt32LE(end) !== END_OF_DIRECTORY) throw new Error('no ZIP');
  const parts = new Map<string, Buffer>();
  let at = file.readUInt32LE(end + 16);
  for (let count = file.readUInt16LE(end + 10); count > 0; count--) {
    if (file.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new Error('a damaged directory');
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => file.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ];
    const name = file.toString('utf8', at + 46, at + 46 + nameLength);
    const header = file.readUInt32LE(at + 42);
    const start = header + 30 + file.readUInt16LE(header + 26) + file.readUInt16LE(header + 28);
    const content = inflateRawSync(file.subarray(start, start + file.readUInt32LE(at + 20)));
    if (content.length !== file.readUInt32LE(at + 24)) throw new Error(`${name} is cut off`);
    parts.set(name, content);
    at += 46 + nameLength + extraLength + commentLength;
  }
  return parts;
}
