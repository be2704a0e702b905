import { atScale, readDecimal, toPlainDigits, writeDecimal } from '../values/exact-decimal';
import { foldText } from '../values/folded-text';
import { createCellFormat, writeDigits } from '../values/cell-format';
import { endOfDay, startOfDay } from '../values/states';
import { isNumber, isTime, type Cell, type ColumnFilter, type ColumnKind, type ColumnSum } from '../values/table-types';
import { laterOf, valuesOf } from '../values/pairs';
import type { ValueList } from '../values/value-list';
import { WordIndex } from './word-index';

/** The rank of rows without a value, which come last in both directions. */
export const NO_RANK = 0xffffffff;

/** The numbers of a column, all at one scale; undefined for a value that is no number. */
interface ColumnUnits {
  readonly scale: number;
  readonly digits: readonly (bigint | undefined)[];
}

/**
 * Sorts, searches and adds up one column. All answers are by the code of a value, so that a value of many rows is looked at once.
 * Results are kept until the table is dropped.
 */
export class ColumnIndex {
  readonly #values: ValueList;
  readonly #kind: ColumnKind;
  readonly #locales: readonly string[];
  readonly #timeZone: string | undefined;
  #ranks: Uint32Array | undefined;
  #units: ColumnUnits | undefined;
  #texts: readonly string[] | undefined;
  #words: WordIndex | undefined;

  constructor(values: ValueList, kind: ColumnKind, locales: readonly string[], timeZone?: string) {
    this.#values = values;
    this.#kind = kind;
    this.#locales = locales;
    this.#timeZone = timeZone;
  }

  /** The place of each code in ascending order. Equal values have equal ranks; values that are not there have NO_RANK. */
  ranks(): Uint32Array {
    return (this.#ranks ??= this.#isNumber() ? toRanks(this.#exact().digits, compareValues) : this.#textRanks());
  }

  /** For each code, the number of words of the value that begin with the given one. A number or an amount is one word, and a pair is two. */
  countsOfWord(word: string): Uint8Array {
    if (this.#isNumber()) {
      const plain = toPlainDigits(word, this.#locales);
      return this.#count(plain, (text, start) => (start === '' ? 0 : valuesOf(text).filter((each) => each.startsWith(start)).length));
    }
    return (this.#words ??= new WordIndex(this.#writingsOfAll())).countsOf(word);
  }

  /** For each code, 1 when the value meets the condition. A value that is not there lies in no range. */
  codesOfFilter({ text, min, max }: ColumnFilter): Uint8Array {
    const isContained = text === undefined ? undefined : this.#count(foldText(text), (value, part) => (value.includes(part) ? 1 : 0));
    const isBetween = this.#between(min, max);
    return Uint8Array.from(this.#values.kept, (value, code) => {
      const isKept = (isContained?.[code] ?? 1) === 1 && isBetween(value, code);
      return isKept ? 1 : 0;
    });
  }

  /** The exact sum of values by how many rows have each code. */
  sum(rowsOfCode: Uint32Array): ColumnSum {
    const { scale, digits } = this.#exact();
    let [sum, unknown, known] = [0n, 0, 0];
    rowsOfCode.forEach((rows, code) => {
      const each = digits[code];
      if (each !== undefined) {
        sum += each * BigInt(rows);
        known += rows;
        // A text that is not there, unlike null, means that the row has no such column.
      } else if (this.#values.kept[code] === null) unknown += rows;
    });
    const isUnknown = known === 0 && unknown > 0;
    return { sum: isUnknown ? null : writeDecimal({ digits: sum, scale }), unknown };
  }

  #isNumber(): boolean {
    return isNumber(this.#kind);
  }

  #exact(): ColumnUnits {
    if (!this.#units) {
      const { kept } = this.#values;
      // Each value is read twice, because many decimals at once would outlive the first collection of garbage.
      const read = (value: Cell) => readDecimal(typeof value === 'string' ? laterOf(value) : value);
      const scale = kept.reduce<number>((most, value) => Math.max(most, read(value)?.scale ?? 0), this.#kind === 'money' ? 2 : 0);
      const toDigits = (value: Cell): bigint | undefined => {
        const decimal = read(value);
        return decimal && atScale(decimal, scale);
      };
      this.#units = { scale, digits: kept.map(toDigits) };
    }
    return this.#units;
  }

  #textRanks(): Uint32Array {
    const texts = this.#values.kept.map((value) => (value === null || value === '' ? undefined : laterOf(String(value))));
    // Dates and instants of the gateway are ISO 8601 in one form, which sorts as text.
    if (isTime(this.#kind)) return toRanks(texts, compareValues);
    return toRanks(texts, new Intl.Collator([...this.#locales], { numeric: true }).compare);
  }

  #count(wanted: string, countIn: (text: string, wanted: string) => number): Uint8Array {
    // A number is written as it is kept.
    if (this.#isNumber()) return Uint8Array.from(this.#values.kept, (value) => countIn(value === null ? '' : String(value), wanted));
    this.#texts ??= this.#values.kept.map((value) => foldText(this.#writings(value).join(' ')));
    return Uint8Array.from(this.#texts, (text) => countIn(text, wanted));
  }

  *#writingsOfAll(): Generator<readonly string[]> {
    for (const value of this.#values.kept) yield this.#writings(value);
  }

  /** A date is found as the page shows it, in the digits of the page's fields, and as the gateway writes it. */
  #writings(value: Cell): readonly string[] {
    if (value === null) return [];
    const text = String(value);
    if (!isTime(this.#kind)) return [text];
    const shown = createCellFormat(this.#locales).format(value, this.#kind, this.#timeZone);
    const zone = this.#kind === 'instant' ? this.#timeZone : 'UTC';
    return [shown, ...valuesOf(text).map((each) => writeDigits(each, this.#locales, zone)), text];
  }

  #between(min: string | undefined, max: string | undefined): (value: Cell, code: number) => boolean {
    if (min === undefined && max === undefined) return () => true;
    if (this.#isNumber()) return this.#betweenNumbers(min, max);
    const [first, last] =
      this.#kind === 'instant' ? [min && startOfDay(min, this.#timeZone), max && endOfDay(max, this.#timeZone)] : [min, max];
    return (value) => {
      if (value === null || value === '') return false;
      const place = this.#kind === 'instant' ? new Date(String(value)).toISOString() : laterOf(String(value));
      return (first === undefined || place >= first) && (last === undefined || place <= last);
    };
  }

  #betweenNumbers(min: string | undefined, max: string | undefined): (value: Cell, code: number) => boolean {
    const [low, high] = [min, max].map((bound) => (bound === undefined ? undefined : readDecimal(bound)));
    const { scale, digits } = this.#exact();
    const common = Math.max(scale, low?.scale ?? 0, high?.scale ?? 0);
    const [first, last] = [low, high].map((bound) => bound && atScale(bound, common));
    return (_value, code) => {
      const own = digits[code];
      if (own === undefined) return false;
      const place = atScale({ digits: own, scale }, common);
      return (first === undefined || place >= first) && (last === undefined || place <= last);
    };
  }
}

const compareValues = <Value extends bigint | string>(one: Value, other: Value): number => (one < other ? -1 : one > other ? 1 : 0);

function toRanks<Value>(values: readonly (Value | undefined)[], compare: (one: Value, other: Value) => number): Uint32Array {
  const codes = Uint32Array.from(values.keys()).filter((code) => values[code] !== undefined);
  codes.sort((one, other) => compare(values[one] as Value, values[other] as Value));
  const ranks = new Uint32Array(values.length).fill(NO_RANK);
  let rank = 0;
  codes.forEach((code, place) => {
    const before = codes[place - 1];
    if (before !== undefined && compare(values[before] as Value, values[code] as Value) !== 0) rank++;
    ranks[code] = rank;
  });
  return ranks;
}
