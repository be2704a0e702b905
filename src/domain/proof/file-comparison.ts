import { parse } from 'papaparse';
import type { FileFormat } from '../../values/file-formats';

/** The first place where two files differ. */
export interface FirstDifference {
  /** The place in bytes, counted from 0. */
  readonly offset: number;
  /** The number of the row, counted from 1; null before, between and after rows. */
  readonly row: number | null;
  /** The columns of that row that differ; null where one of the two has no such row. */
  readonly columns: readonly string[] | null;
}

/** Opens a file to be read from its beginning. */
export type OpenFile = () => AsyncIterable<Buffer>;

/** The most bytes of a row that are read to tell its columns. */
const MAX_ROW_BYTES = 1_000_000;

/** Compares a file with another one that is made meanwhile, and of which no more than a row is kept. */
export class FileComparison {
  private readonly file: AsyncIterator<Buffer>;
  private held: Buffer = Buffer.alloc(0);
  private offset = 0;
  private differs = false;
  /** The other file from the difference on, as far as it is kept. */
  private rest: Buffer = Buffer.alloc(0);

  constructor(
    private readonly open: OpenFile,
    private readonly format: FileFormat,
    private readonly columns: readonly string[],
  ) {
    this.file = open()[Symbol.asyncIterator]();
  }

  /** Compares the next bytes of the other file. They may be used again when this has resolved. */
  async add(block: Buffer): Promise<void> {
    let at = 0;
    while (at < block.length && !this.differs) {
      if (this.held.length === 0) this.held = await this.next();
      const length = Math.min(this.held.length, block.length - at);
      const same = countSame(this.held, block.subarray(at, at + length));
      this.differs = same < length || length === 0;
      this.held = this.held.subarray(same);
      this.offset += same;
      at += same;
    }
    if (this.differs && this.rest.length < MAX_ROW_BYTES) this.rest = Buffer.concat([this.rest, block.subarray(at)]);
  }

  /** The first difference; null when the two files have the same bytes. */
  async end(): Promise<FirstDifference | null> {
    if (!this.differs && this.held.length === 0) this.held = await this.next();
    if (!this.differs && this.held.length === 0) return null;
    await this.file.return?.();
    const { offset, format, columns } = this;
    const place = await findPlace(this.open(), offset, format);
    const [ours, theirs] = [place.rest, this.rest].map((rest) => readRow(Buffer.concat([place.begun, rest]), format, columns));
    const differing = ours && theirs ? columns.filter((name) => ours[name] !== theirs[name]) : null;
    return { offset, row: place.row, columns: place.row === null ? null : differing };
  }

  private async next(): Promise<Buffer> {
    for (;;) {
      const read = await this.file.next();
      if (read.done) return Buffer.alloc(0);
      if (read.value.length > 0) return read.value;
    }
  }
}

/** The number of equal bytes at the beginning of two blocks. */
function countSame(one: Buffer, other: Buffer): number {
  if (one.compare(other, 0, other.length, 0, Math.min(one.length, other.length)) === 0) return other.length;
  let at = 0;
  while (at < other.length && one[at] === other[at]) at++;
  return at;
}

/** The row of a file that a place is in. */
interface RowPlace {
  /** Null before, between and after rows. */
  readonly row: number | null;
  /** The row as far as the place. */
  readonly begun: Buffer;
  /** The file from the place on, as far as a row may go. */
  readonly rest: Buffer;
}

async function findPlace(file: AsyncIterable<Buffer>, offset: number, format: FileFormat): Promise<RowPlace> {
  const rows = new RowFinder(format);
  let begun: Buffer = Buffer.alloc(0);
  let rest: Buffer = Buffer.alloc(0);
  let read = 0;
  for await (const block of file) {
    const before = block.subarray(0, Math.max(0, offset - read));
    const start = rows.read(before);
    begun = start < 0 ? Buffer.concat([begun, before]) : Buffer.from(before.subarray(start));
    rest = Buffer.concat([rest, block.subarray(before.length)]);
    read += block.length;
    if (rest.length >= MAX_ROW_BYTES) break;
  }
  return { row: rows.current, begun: rows.current === null ? Buffer.alloc(0) : begun, rest };
}

const LF = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN, CLOSE] = [0x7b, 0x7d];

/** Finds where the rows of a file begin and end. The header of a CSV file is row 0. */
class RowFinder {
  private isInText = false;
  private isEscaped = false;
  private depth = 0;
  private row = 0;
  private isInRow: boolean;
  /** The depth of braces outside of rows: a JSON file is an object with the list of its rows. */
  private readonly outside: number;

  constructor(private readonly format: FileFormat) {
    this.outside = format === 'json' ? 1 : 0;
    this.isInRow = format === 'csv';
  }

  /** The number of the row at the end of what was read; null outside of rows and in the header. */
  get current(): number | null {
    return this.isInRow && this.row > 0 ? this.row : null;
  }

  /** Reads on. Returns the place in the block where the last row in it begins, or -1 when none begins there. */
  read(block: Buffer): number {
    let start = -1;
    for (let at = 0; at < block.length; at++) {
      const byte = block[at]!;
      if (this.format === 'csv') {
        if (byte === QUOTE) this.isInText = !this.isInText;
        if (byte !== LF || this.isInText) continue;
        this.row++;
        start = at + 1;
      } else if (this.isInText) {
        if (this.isEscaped) this.isEscaped = false;
        else if (byte === BACKSLASH) this.isEscaped = true;
        else if (byte === QUOTE) this.isInText = false;
      } else if (byte === QUOTE) this.isInText = true;
      else if (byte === OPEN && this.depth++ === this.outside) {
        this.row++;
        this.isInRow = true;
        start = at;
      } else if (byte === CLOSE && --this.depth === this.outside) this.isInRow = false;
    }
    return start;
  }

  /** The length of the row at the beginning of some bytes; undefined when it does not end there. */
  static findEnd(bytes: Buffer, format: FileFormat): number | undefined {
    const rows = new RowFinder(format === 'csv' ? 'csv' : 'ndjson');
    for (let at = 0; at < bytes.length; at++) {
      rows.read(bytes.subarray(at, at + 1));
      if (format === 'csv' ? rows.row > 0 : rows.row > 0 && !rows.isInRow) return at + 1;
    }
    return undefined;
  }
}

/** The values of the row at the beginning of some bytes, as texts; undefined where there is no whole row. */
function readRow(bytes: Buffer, format: FileFormat, columns: readonly string[]): Readonly<Record<string, string | undefined>> | undefined {
  const end = RowFinder.findEnd(bytes, format);
  if (end === undefined) return undefined;
  const text = bytes.toString('utf8', 0, end);
  if (format === 'csv') {
    const values = parse<string[]>(text.replace(/\r?\n$/, ''), { delimiter: ',' }).data[0] ?? [];
    return values.length === columns.length ? Object.fromEntries(columns.map((name, n) => [name, values[n]])) : undefined;
  }
  return readObject(text);
}

/** The members of a JSON object as JSON; undefined for a text that is none, as a damaged file may have it. */
function readObject(text: string): Readonly<Record<string, string>> | undefined {
  try {
    // The columns of an object within a row begin with its name.
    const members = Object.entries(JSON.parse(text) as object).flatMap(([name, value]: [string, unknown]) =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).map(([inner, each]) => [`${name}_${inner}`, JSON.stringify(each)] as const)
        : [[name, JSON.stringify(value)] as const],
    );
    return Object.fromEntries(members);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
