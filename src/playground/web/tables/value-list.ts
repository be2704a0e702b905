import type { Cell } from './table-types';

const FIRST_CAPACITY = 1024;

/**
 * The values of one column. Each different value is kept once, and each row holds its number, because the values of most columns repeat: a
 * name of ten thousand gifts takes the memory of one.
 */
export class ValueList {
  readonly #distinct: Cell[] = [];
  #codes = new Uint32Array(FIRST_CAPACITY);
  #codeOf: Map<Cell, number> | undefined = new Map();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The different values, in the order of their codes. */
  get distinct(): readonly Cell[] {
    return this.#distinct;
  }

  /** The code of each row: the place of its value among the different ones. */
  get codes(): Uint32Array {
    return this.#codes;
  }

  append(value: Cell): void {
    if (!this.#codeOf) throw new Error('A sealed list takes no values.');
    let code = this.#codeOf.get(value);
    if (code === undefined) {
      code = this.#distinct.push(value) - 1;
      this.#codeOf.set(value, code);
    }
    if (this.#length === this.#codes.length) {
      const longer = new Uint32Array(this.#length * 2);
      longer.set(this.#codes);
      this.#codes = longer;
    }
    this.#codes[this.#length++] = code;
  }

  at(row: number): Cell {
    return this.#distinct[this.#codes[row] ?? 0] ?? null;
  }

  /** Frees what only appending needs. */
  seal(): void {
    this.#codeOf = undefined;
    this.#codes = this.#codes.slice(0, this.#length);
  }
}
