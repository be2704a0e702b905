import { unguardFormula } from '../../../values/formula-guard';
import type { Cell } from '../values/table-types';

const QUOTE = 0x22;
const COMMA = 0x2c;
const RETURN = 0x0d;
const LINE_END = '\r\n';
const WHOLE = /^-?\d+$/;

/**
 * Reads CSV as the gateway writes it (RFC 4180): texts and dates in quotes, counts, booleans and names of columns without them, amounts with
 * them or without, and nothing for an unknown value. The text comes in pieces.
 */
export class CsvReader {
  readonly #take: (record: readonly Cell[]) => void;
  /** The beginning of a record that is not whole yet. */
  #rest = '';

  constructor(take: (record: readonly Cell[]) => void) {
    this.#take = take;
  }

  add(piece: string): void {
    const text = this.#rest + piece;
    let start = 0;
    for (let next = this.#read(text, start); next !== undefined; next = this.#read(text, start)) start = next;
    this.#rest = text.slice(start);
  }

  /** Reads the record that begins at a place, and returns the place of the next; undefined when the text ends before the record. */
  #read(text: string, start: number): number | undefined {
    const record: Cell[] = [];
    for (let at = start; ;) {
      const isQuoted = text.charCodeAt(at) === QUOTE;
      const end = isQuoted ? endOfQuoted(text, at) : endOfPlain(text, at);
      // A quote at the end may be the first of two.
      if (end >= text.length) return undefined;
      record.push(isQuoted ? toText(text.slice(at + 1, end - 1)) : toPlain(text.slice(at, end)));
      at = end + 1;
      if (text.charCodeAt(end) !== RETURN) continue;
      if (at === text.length) return undefined;
      this.#take(record);
      return end + LINE_END.length;
    }
  }
}

/** The place after the quote that ends a text; that of the end when there is none. */
function endOfQuoted(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 2)) {
    if (text.charCodeAt(quote + 1) !== QUOTE) return quote + 1;
  }
  return text.length;
}

function endOfPlain(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === RETURN) return at;
  }
  return text.length;
}

const toText = (quoted: string): string => unguardFormula(quoted.includes('"') ? quoted.replaceAll('""', '"') : quoted);

/** The cell of a value without quotes. An amount stays text, which is exact. */
function toPlain(text: string): Cell {
  if (text === '') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return WHOLE.test(text) ? Number(text) : text;
}
