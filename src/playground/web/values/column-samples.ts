import type { Cell } from './table-types';
import type { ValueList } from './value-list';

/** The values by which the width of a column is known, by its id. */
export type ColumnSamples = Readonly<Record<string, readonly Cell[]>>;

/**
 * Takes one value of each form that the values of a column have: its length, its point and its signs or letters. Values of one form are as
 * wide as each other, so that nobody needs to measure a hundred thousand.
 */
export function sampleValues({ kept }: ValueList): readonly Cell[] {
  const samples = new Map<number, Cell>();
  for (const value of kept) {
    const text = value === null ? '' : String(value);
    let others = 0;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit < 0x30 || unit > 0x39) others++;
    }
    const form = (text.length * MOST + Math.min(others, MOST - 1)) * MOST + Math.min(text.indexOf('.') + 1, MOST - 1);
    if (!samples.has(form)) samples.set(form, value);
  }
  return [...samples.values()];
}

/** More characters than a number has. */
const MOST = 64;

/** The lengths of texts, and the texts of each, that are looked at: the longest text is not always the widest. */
const [LENGTHS, TEXTS] = [8, 4];

/** Takes the longest texts of a column. */
export function longestValues({ kept }: ValueList): readonly Cell[] {
  const byLength = new Map<number, Cell[]>();
  for (const value of kept) {
    const { length } = String(value ?? '');
    const texts = byLength.get(length) ?? [];
    if (texts.length === 0) byLength.set(length, texts);
    if (texts.length < TEXTS) texts.push(value);
  }
  const lengths = [...byLength.keys()].toSorted((one, other) => other - one).slice(0, LENGTHS);
  return lengths.flatMap((length) => byLength.get(length)!);
}
