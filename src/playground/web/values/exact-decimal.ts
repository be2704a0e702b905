import type { Cell } from './table-types';

/** An exact decimal: its digits as a whole number, of which the last `scale` stand behind the point. */
export interface ExactDecimal {
  readonly digits: bigint;
  readonly scale: number;
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/** Reads a number as the gateway writes it, such as "-12.50" or 7. Returns undefined for everything else. */
export function readDecimal(value: Cell): ExactDecimal | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const [, sign, whole, decimals = ''] = DECIMAL.exec(String(value)) ?? [];
  if (whole === undefined) return undefined;
  return { digits: BigInt(`${sign ?? ''}${whole}${decimals}`), scale: decimals.length };
}

/** The digits of the same number at a scale that is not smaller than its own. */
export const atScale = ({ digits, scale }: ExactDecimal, to: number): bigint => digits * 10n ** BigInt(to - scale);

export function writeDecimal({ digits, scale }: ExactDecimal): string {
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  const sign = digits < 0n ? '-' : '';
  return scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`;
}

/** Adds numbers up exactly, without those that are unknown; undefined where none is known. */
export function addUp(values: Iterable<Cell | undefined>): string | undefined {
  const known = [...values].flatMap((value) => readDecimal(value ?? null) ?? []);
  if (known.length === 0) return undefined;
  const scale = known.reduce((most, decimal) => Math.max(most, decimal.scale), 0);
  return writeDecimal({ digits: known.reduce((sum, decimal) => sum + atScale(decimal, scale), 0n), scale });
}

/** Takes a number from another one exactly. */
export function subtract(from: string, value: string): string {
  const negative = value.startsWith('-') ? value.slice(1) : `-${value}`;
  return addUp([from, negative])!;
}

/** Sorts numbers exactly, the largest first, and those that are unknown last. */
export function largestFirst(one: string | undefined, other: string | undefined): number {
  const [first, second] = [readDecimal(one ?? null), readDecimal(other ?? null)];
  if (!first || !second) return Number(first === undefined) - Number(second === undefined);
  const scale = Math.max(first.scale, second.scale);
  const difference = atScale(second, scale) - atScale(first, scale);
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** The part of a whole in percent, with two decimals unless it is told otherwise; undefined where the whole is not more than zero. */
export function toPercentage(part: string, whole: string, decimals = 2): string | undefined {
  const [one, all] = [readDecimal(part), readDecimal(whole)];
  if (!one || !all || all.digits <= 0n) return undefined;
  const scale = Math.max(one.scale, all.scale);
  const [share, unit] = [atScale(one, scale) * 200n * 10n ** BigInt(decimals), atScale(all, scale) * 2n];
  // Half of the last decimal rounds away from zero.
  return writeDecimal({ digits: (share + (share < 0n ? -unit : unit) / 2n) / unit, scale: decimals });
}

/**
 * Reads a number as a person of this locale types it, with or without separators between thousands, and returns its exact text, such as
 * "1234.50". Returns undefined for what is no number, and for separators that stand elsewhere: "10,50" is not 1050, even in English.
 */
export function readTypedNumber(typed: string, locales: readonly string[]): string | undefined {
  const { group, point } = separatorsOf(locales);
  const text = toLatinDigits(typed, locales);
  const [whole = '', decimals] = text.trim().split(point, 2);
  // India writes groups of two before the last one of three.
  const groups = whole.replace(/^[-−+]/, '').split(group);
  const isGrouped = groups.every(
    (each, n) => n === 0 || (n === groups.length - 1 ? each.length === 3 : each.length === 2 || each.length === 3),
  );
  if (!isGrouped || decimals?.includes(group)) return undefined;
  const plain = toPlainDigits(text, locales);
  return /^-?\d+(\.\d+)?$/.test(plain) ? plain : undefined;
}

/** Writes an exact number as a person of this locale types it. */
export const writeTypedNumber = (text: string, locales: readonly string[]): string =>
  new Intl.NumberFormat([...locales], { useGrouping: false, maximumFractionDigits: 20 }).format(text as Intl.StringNumericLiteral);

/**
 * Removes the separators between thousands and the plus of a number, and makes the locale's digits 0 to 9, its decimal separator a point, and
 * the minus of the printer that of the keyboard.
 */
export function toPlainDigits(text: string, locales: readonly string[]): string {
  const { group, point } = separatorsOf(locales);
  const plain = toLatinDigits(text, locales).replace(/\s/g, '').replaceAll(group, '').replace(point, '.');
  return plain.replace('−', '-').replace(/^\+(?=\d)/, '');
}

/** The form of a number that a locale writes with blanks between its thousands, for finding one in a text; undefined for other locales. */
export function blankedNumberPattern(locales: readonly string[]): RegExp | undefined {
  const { group, point } = separatorsOf(locales);
  if (group !== ' ') return undefined;
  return new RegExp(`(?<!\\S)[-−+]?\\d{1,3}(?:\\s\\d{3})+(?:[${point}]\\d*)?(?![\\p{L}\\d])`, 'gu');
}

/** Writes the locale's digits as 0 to 9, without the invisible marks by which Arabic, Persian and Hebrew keep a sign at its number. */
function toLatinDigits(text: string, locales: readonly string[]): string {
  const digits = Array.from(new Intl.NumberFormat([...locales], { useGrouping: false }).format(9876543210)).reverse();
  return Array.from(text.replace(/\p{Cf}/gu, ''), (character) => {
    const digit = digits.indexOf(character);
    return digit < 0 ? character : String(digit);
  }).join('');
}

/** The separators of a locale as people type them: a blank where the locale has one of the narrow kinds. */
function separatorsOf(locales: readonly string[]): { readonly group: string; readonly point: string } {
  const parts = new Intl.NumberFormat([...locales]).formatToParts(-12345678.9);
  const [group, point] = ['group', 'decimal'].map((type) => parts.find((part) => part.type === type)?.value);
  return { group: group?.trim() ? group : ' ', point: point ?? '.' };
}
