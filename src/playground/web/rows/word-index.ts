import { foldWords, searchForms } from '../values/folded-text';

/** The words of the values of a column, in one text: a text for each value would take several times the memory of the values. */
export class WordIndex {
  readonly #codes: number;
  /** The forms of all values, each with a space before every word. */
  readonly #text: string;
  /** The end of each form in the text, and the code of its value. */
  readonly #ends: Uint32Array;
  readonly #codeOf: Uint32Array;

  /** Each value is given by its writings, at the place of its code. */
  constructor(values: Iterable<readonly string[]>) {
    const [parts, ends, codeOf]: [string[], number[], number[]] = [[], [], []];
    let [code, end] = [0, 0];
    for (const writings of values) {
      for (const form of writings.flatMap(searchForms)) {
        const part = ` ${form}\n`;
        parts.push(part);
        end += part.length;
        ends.push(end);
        codeOf.push(code);
      }
      code++;
    }
    this.#codes = code;
    this.#text = parts.join('');
    this.#ends = Uint32Array.from(ends);
    this.#codeOf = Uint32Array.from(codeOf);
  }

  /**
   * For each code, the number of words of the value that begin with the given one, which may go on into the words that follow. Of a value
   * with several forms, the form with the most such words counts.
   */
  countsOf(word: string): Uint8Array {
    const counts = new Uint8Array(this.#codes);
    const start = ` ${foldWords(word)}`;
    if (start === ' ') return counts;
    let [form, found] = [0, 0];
    for (let at = this.#text.indexOf(start); at >= 0; at = this.#text.indexOf(start, at + start.length)) {
      for (; this.#ends[form]! <= at; form++) found = 0;
      found++;
      const code = this.#codeOf[form]!;
      counts[code] = Math.max(counts[code]!, Math.min(255, found));
    }
    return counts;
  }
}
