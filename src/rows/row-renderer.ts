import { readFileSync } from 'node:fs';
import { packageFile } from '../package-files';
import type { RowColumn, RowTemplate } from './row-template';

/** The part of the standard WebAssembly object that is used here. Only the browser's types declare it, not Node's. */
declare const WebAssembly: {
  readonly Module: new (bytes: Buffer) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
};

/** The exports of assembly/render-loop.ts, which describes them. */
interface RenderLoop {
  begin(table: number, columns: number, separatorLength: number, isCsv: boolean): void;
  render(input: number, inputEnd: number, output: number, limit: number): number;
  written(): number;
  rows(): number;
  isBetweenRows(): number;
}

/** The loop as `npm run build` compiles it. The sources use it too, where the tests and `npm run dev` run them. */
const renderLoop = new WebAssembly.Module(readFileSync(packageFile('dist/render-loop.wasm')));
const PAGE_LENGTH = 64 * 1024;

/** The size of a block, in bytes: about as much as a socket takes at once. */
const BLOCK_LENGTH = 128 * 1024;
/** The size of the first block, which is smaller, so that the reader has the first rows early. */
const FIRST_BLOCK_LENGTH = 16 * 1024;
/** The most bytes of input that are rendered at once: about as much as a socket gives. */
const INPUT_LENGTH = 64 * 1024;
/** The room after each region, because a vector of 16 bytes is read or written whole. */
const VECTOR_LENGTH = 16;
/** A bound on the bytes that the loop writes before it looks at the limit again, apart from a literal. */
const LONGEST_STEP = 2 * VECTOR_LENGTH;
/** Five words of 32 bits for each literal of the table. */
const TABLE_ROW_LENGTH = 20;
/** Templates with literals of up to about 60 kB, which are nearly all, share renderers of this size. */
const USUAL_PAGES = 4;
/** The most renderers that wait for the next report. */
const MAX_IDLE = 8;

/**
 * Renders COPY's text output, which may be cut anywhere, as a template's rows. The work is done by WebAssembly in a memory of its own. It
 * writes into the same block again and again, so that a report of any length costs the same memory.
 */
export class RowRenderer {
  private static readonly idle: RowRenderer[] = [];

  private readonly memory: Buffer;
  private readonly loop: RenderLoop;
  /** The places of input and output in the memory. */
  private input = 0;
  private output = 0;
  /** The block is full when its output goes beyond this place. */
  private limit = 0;
  private laterLimit = 0;
  private inputStart = 0;
  private inputEnd = 0;
  private outputEnd = 0;

  private constructor(private readonly pages: number) {
    const memory = new WebAssembly.Memory({ initial: pages });
    this.memory = Buffer.from(memory.buffer);
    this.loop = new WebAssembly.Instance(renderLoop, { env: { memory } }).exports as RenderLoop;
  }

  /** Returns a renderer that no other report uses. */
  static open(template: RowTemplate): RowRenderer {
    const layout = new MemoryLayout(template);
    const pages = Math.max(USUAL_PAGES, Math.ceil(layout.length / PAGE_LENGTH));
    const renderer = (pages === USUAL_PAGES && RowRenderer.idle.pop()) || new RowRenderer(pages);
    renderer.begin(template, layout);
    return renderer;
  }

  /**
   * Lets another report have this renderer. Only a report whose last block has been read may release it. When a report ends early, a block
   * may still wait for a slow socket, which would then send rows of the other report.
   */
  release(): void {
    if (this.pages === USUAL_PAGES && RowRenderer.idle.length < MAX_IDLE) RowRenderer.idle.push(this);
  }

  /** Renders the next input. Each block is valid until the next one is asked for; the last rows wait for more input, or for `end`. */
  *add(copy: Buffer): Generator<Buffer> {
    for (let at = 0; at < copy.length;) {
      at = this.fill(copy, at);
      while (this.render()) yield this.takeBlock();
    }
  }

  /** The number of rows of the input so far. */
  get rows(): number {
    return this.loop.rows();
  }

  /** Returns the rest of the rows. Throws when the input has ended within a row. */
  end(): Buffer {
    if (!this.loop.isBetweenRows()) throw new Error('The output of COPY ended within a row');
    return this.takeBlock();
  }

  /**
   * Copies input from `start` on, as much as there is room for. Returns the position that it reached. All earlier input must be rendered.
   */
  private fill(copy: Buffer, start: number): number {
    const end = Math.min(copy.length, start + this.input + INPUT_LENGTH - this.inputEnd);
    this.inputEnd += copy.copy(this.memory, this.inputEnd, start, end);
    return end;
  }

  /** Renders the input. Returns true when the block is full and must be read before the rest of the input is rendered. */
  private render(): boolean {
    this.inputStart = this.loop.render(this.inputStart, this.inputEnd, this.outputEnd, this.limit);
    if (this.inputStart === 0) throw new Error('A row of COPY has more or fewer values than its template has columns');
    this.outputEnd = this.loop.written();
    if (this.outputEnd > this.limit) return true;
    // The loop leaves at most an escape, which the next input completes.
    this.memory.copyWithin(this.input, this.inputStart, this.inputEnd);
    this.inputEnd -= this.inputStart - this.input;
    this.inputStart = this.input;
    return false;
  }

  private takeBlock(): Buffer {
    const block = this.memory.subarray(this.output, this.outputEnd);
    this.outputEnd = this.output;
    this.limit = this.laterLimit;
    return block;
  }

  private begin({ encoding, columns, separator }: RowTemplate, layout: MemoryLayout): void {
    layout.write(this.memory);
    this.input = this.inputStart = this.inputEnd = layout.input;
    this.output = this.outputEnd = layout.output;
    this.limit = layout.output + FIRST_BLOCK_LENGTH;
    this.laterLimit = layout.limit;
    this.loop.begin(0, columns.length, separator.length, encoding === 'csv');
  }
}

/** The places of a template's parts in a renderer's memory: the table of literals, the literals, the input and the output. */
class MemoryLayout {
  readonly input: number;
  readonly output: number;
  readonly limit: number;
  readonly length: number;
  private readonly literals: readonly Literal[];

  constructor(template: RowTemplate) {
    this.literals = toLiterals(template);
    const lengths = this.literals.map(({ bytes }) => paddedLength(bytes.length));
    this.input = lengths.reduce((sum, length) => sum + length, this.literals.length * TABLE_ROW_LENGTH);
    this.output = this.input + INPUT_LENGTH + VECTOR_LENGTH;
    this.limit = this.output + BLOCK_LENGTH;
    this.length = this.limit + LONGEST_STEP + Math.max(...lengths);
  }

  write(memory: Buffer): void {
    let address = this.literals.length * TABLE_ROW_LENGTH;
    this.literals.forEach(({ bytes, next, section }, position) => {
      const row = position * TABLE_ROW_LENGTH;
      memory.writeUInt32LE(address, row);
      memory.writeUInt32LE(bytes.length, row + 4);
      memory.writeUInt32LE(NEXT[next], row + 8);
      memory.writeUInt32LE(section?.columns ?? 0, row + 12);
      memory.writeUInt32LE(section?.closing ?? 0, row + 16);
      bytes.copy(memory, address);
      address += paddedLength(bytes.length);
    });
  }
}

/** The loop's numbers for the value after a literal. A guarded value is one whose first bytes decide what it begins with. */
const NEXT = { value: 1, guarded: 2, hidden: 3, section: 4 } as const;

interface Literal {
  readonly bytes: Buffer;
  readonly next: keyof typeof NEXT;
  readonly section: RowColumn['section'];
}

/** The literals before each column, the first of them with the separator of rows before it, and the one after the last column. */
function toLiterals({ encoding, columns, before, end, separator }: RowTemplate): Literal[] {
  const [first = Buffer.alloc(0), ...others] = before;
  return [Buffer.concat([separator, first]), ...others, end].map((bytes, position) => ({
    bytes,
    next: toNext(encoding, columns[position]),
    section: columns[position]?.section,
  }));
}

function toNext(encoding: RowTemplate['encoding'], column: RowColumn | undefined): Literal['next'] {
  if (column?.isHidden) return 'hidden';
  if (column?.section) return 'section';
  return (encoding === 'json' ? column?.kind === 'nullable' : column?.freeText) ? 'guarded' : 'value';
}

/** A literal's length with room for the last vector that is read from it. It may begin anywhere, because the separator is left out once. */
const paddedLength = (length: number): number => Math.ceil(length / VECTOR_LENGTH) * VECTOR_LENGTH + VECTOR_LENGTH;
