import type { Cell } from './table-types';

const FIRST_CAPACITY = 1024;
/** From so many values on, a column of which most differ is no longer searched for equal ones. */
const MANY_VALUES = 4096;

/**
 * The values of one column. A value that repeats is kept once, and each row holds its number: a name of ten thousand gifts takes the memory
 * of one. A column whose values hardly repeat, such as ids, keeps each value, because the search for equal ones would take more memory than
 * it saves.
 */
export class ValueList {
  #kept: Cell[] = [];
  #codes = new Uint32Array(FIRST_CAPACITY);
  #codeOf: Map<Cell, number> | undefined = new Map();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The kept values, in the order of their codes. Two of them may be equal. */
  get kept(): readonly Cell[] {
    return this.#kept;
  }

  /** The code of each row: the place of its value among the kept ones. */
  get codes(): Uint32Array {
    return this.#codes;
  }

  append(value: Cell): void {
    let code = this.#codeOf?.get(value);
    if (code === undefined) {
      const own = typeof value === 'string' ? toOwn(value) : value;
      code = this.#kept.push(own) - 1;
      this.#codeOf?.set(own, code);
      if (this.#kept.length > MANY_VALUES && this.#kept.length > this.#length / 2) this.#codeOf = undefined;
    }
    if (this.#length === this.#codes.length) {
      const longer = new Uint32Array(this.#length * 2);
      longer.set(this.#codes);
      this.#codes = longer;
    }
    this.#codes[this.#length++] = code;
  }

  at(row: number): Cell {
    return this.#kept[this.#codes[row] ?? 0] ?? null;
  }

  /** The values up to now. They share the memory of this list, which goes on growing. */
  soFar(): ValueList {
    const values = new ValueList();
    values.#kept = this.#kept;
    values.#codes = this.#codes.subarray(0, this.#length);
    values.#length = this.#length;
    values.#codeOf = undefined;
    return values;
  }

  /** Frees what only appending needs. */
  seal(): void {
    this.#codeOf = undefined;
    if (this.#codes.length > this.#length) this.#codes = this.#codes.slice(0, this.#length);
  }
}

/** Copies a text. A part of a longer text would keep all of it in memory. */
const toOwn = (text: string): string => ` ${text}`.slice(1);
