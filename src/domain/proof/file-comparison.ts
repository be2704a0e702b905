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

/** The differences between a file and the same one made again. */
export interface FileDifference {
  readonly first: FirstDifference;
  /** The number of rows that differ; null where the rows of the two files are no pairs. */
  readonly rows: number | null;
  /** The columns that differ in any of these rows. */
  readonly columns: readonly string[];
  /** The columns whose other value in the file that was made is not empty. */
  readonly filled: readonly string[];
}

/** Opens a file to be read from its beginning. */
export type OpenFile = () => AsyncIterable<Buffer>;

/** The most bytes of a row that are held. A longer one is compared in pieces, and its columns are not told. */
const MAX_ROW_BYTES = 1_000_000;

/** Compares a file, row by row, with another one that is made meanwhile, and of which no more than a row is kept. */
export class FileComparison {
  private readonly given: AsyncGenerator<readonly Part[]>;
  private readonly made: PartReader;
  private held: readonly Part[] = [];
  private place = 0;
  private offset = 0;
  private first: FirstDifference | undefined;
  private rows = 0;
  private arePairs = true;
  private readonly differing = new Set<string>();
  private readonly filled = new Set<string>();

  constructor(
    open: OpenFile,
    private readonly format: FileFormat,
    private readonly columns: readonly string[],
  ) {
    this.given = readParts(open(), format);
    this.made = new PartReader(format);
  }

  /** Compares the next bytes of the other file. They may be used again when this has resolved. */
  async add(block: Buffer): Promise<void> {
    for (const part of this.made.read(block)) await this.match(part);
  }

  /** The differences; null when the two files have the same bytes. */
  async end(): Promise<FileDifference | null> {
    for (const part of this.made.end()) await this.match(part);
    const more = this.arePairs ? await this.next() : undefined;
    if (more) this.note(more, undefined);
    await this.given.return(undefined);
    if (!this.first) return null;
    return { first: this.first, rows: this.arePairs ? this.rows : null, columns: [...this.differing], filled: [...this.filled] };
  }

  private async match(made: Part): Promise<void> {
    if (!this.arePairs) return;
    const given = await this.next();
    if (given?.bytes.equals(made.bytes)) this.offset += made.bytes.length;
    else this.note(given, made);
  }

  /** Notes a part that differs. The comparison ends where the columns do not tell how, because what follows may have no pairs. */
  private note(given: Part | undefined, made: Part | undefined): void {
    const [ours, theirs] = [given, made].map((part) => part && readRow(part, this.format, this.columns));
    const columns = ours && theirs ? this.columns.filter((name) => ours[name] !== theirs[name]) : null;
    this.arePairs = columns !== null && columns.length > 0;
    this.rows++;
    for (const name of columns ?? []) this.differing.add(name);
    for (const name of columns ?? []) if (!EMPTY.has(theirs![name])) this.filled.add(name);
    this.first ??= {
      offset: this.offset + (given && made ? countSame(given.bytes, made.bytes) : 0),
      row: given?.row ?? null,
      columns,
    };
  }

  private async next(): Promise<Part | undefined> {
    while (this.place === this.held.length) {
      const read = await this.given.next();
      if (read.done) return undefined;
      this.held = read.value;
      this.place = 0;
    }
    return this.held[this.place++];
  }
}

/** The values of a row that have no text, in CSV and in JSON. */
const EMPTY: ReadonlySet<string | undefined> = new Set(['', '""']);

/** The number of equal bytes at the beginning of two blocks. */
function countSame(one: Buffer, other: Buffer): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at++;
  return at;
}

/** A row of a file, or what stands between two. */
interface Part {
  readonly bytes: Buffer;
  /** The number of the row, counted from 1; null for what is no row, such as the header of a CSV file. */
  readonly row: number | null;
}

async function* readParts(file: AsyncIterable<Buffer>, format: FileFormat): AsyncGenerator<readonly Part[]> {
  const reader = new PartReader(format);
  for await (const block of file) yield reader.read(block);
  yield reader.end();
}

const LF = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN, CLOSE] = [0x7b, 0x7d];

/** Takes a file apart into its rows and what stands between them. The header of a CSV file is row 0. */
class PartReader {
  private begun: Buffer = Buffer.alloc(0);
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

  /** Reads on. Returns the parts that end in the block. */
  read(block: Buffer): Part[] {
    const bytes = Buffer.concat([this.begun, block]);
    const parts: Part[] = [];
    let start = 0;
    const cut = (end: number): void => {
      if (end > start) parts.push(this.toPart(bytes.subarray(start, end)));
      start = end;
    };
    for (let at = this.begun.length; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (at - start === MAX_ROW_BYTES) cut(at);
      if (this.format === 'csv') {
        if (byte === QUOTE) this.isInText = !this.isInText;
        if (byte !== LF || this.isInText) continue;
        cut(at + 1);
        this.row++;
      } else if (this.isInText) {
        if (this.isEscaped) this.isEscaped = false;
        else if (byte === BACKSLASH) this.isEscaped = true;
        else if (byte === QUOTE) this.isInText = false;
      } else if (byte === QUOTE) this.isInText = true;
      else if (byte === OPEN && this.depth++ === this.outside) {
        cut(at);
        this.row++;
        this.isInRow = true;
      } else if (byte === CLOSE && --this.depth === this.outside) {
        cut(at + 1);
        this.isInRow = false;
      }
    }
    this.begun = bytes.subarray(start);
    return parts;
  }

  /** The part that the end of the file ends. */
  end(): Part[] {
    return this.begun.length === 0 ? [] : [this.toPart(this.begun)];
  }

  private toPart(bytes: Buffer): Part {
    return { bytes, row: this.isInRow && this.row > 0 ? this.row : null };
  }
}

/** The values of a row as texts; undefined for a part that is no whole row. */
function readRow(
  { bytes, row }: Part,
  format: FileFormat,
  columns: readonly string[],
): Readonly<Record<string, string | undefined>> | undefined {
  if (row === null) return undefined;
  if (format !== 'csv') return readObject(bytes.toString());
  const records = parse<string[]>(bytes.toString().replace(/\r?\n$/, ''), { delimiter: ',' }).data;
  const [values] = records;
  return records.length === 1 && values?.length === columns.length
    ? Object.fromEntries(columns.map((name, n) => [name, values[n]]))
    : undefined;
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
