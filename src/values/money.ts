/** An exact amount as text, such as `-12.50`: always two decimals, never a float. A sum may have more digits than the amounts in it. */
export type Money = string;

/** The most digits before the point that the gateway reads, which are those of a sum of any amounts. */
const MAX_DIGITS = 38;
const MONEY = new RegExp(`^-?(?:0|[1-9][0-9]{0,${MAX_DIGITS - 1}})\\.[0-9]{2}$`);
/** Amounts but for zeros before other digits or a minus sign before zero. */
const UNUSUAL = /^-?(?:0+[0-9]+\.[0-9]{2}|0\.00)$/;
const TOO_LONG = new RegExp(`^-?[1-9][0-9]{${MAX_DIGITS},}\\.[0-9]{2}$`);

/** True for an amount as the report writes it. It makes no number of the amount, because answers have thousands of them. */
export const isMoney = (text: string): boolean => MONEY.test(text) && text !== '-0.00';

/** The amount in cents. Undefined when the text is not an amount as the report writes it: `10.10`, not `10.1`, `-0.00` or `1e1`. */
export function toCents(text: string): bigint | undefined {
  return isMoney(text) ? BigInt(text.replace('.', '')) : undefined;
}

/** True for an amount of more digits than the gateway reads. */
export const isTooLong = (text: string): boolean => TOO_LONG.test(text);

/** Describes why a value is not an amount, in a sentence that begins with the value. */
export function describeMoneyFault(value: unknown): string {
  if (typeof value === 'string' && isTooLong(value))
    return `${JSON.stringify(value)} is beyond the range of amounts, which have at most ${MAX_DIGITS} digits before the point`;
  if (typeof value === 'string' && UNUSUAL.test(value)) {
    return `${JSON.stringify(value)} is not an amount: write no zeros before other digits, and no minus sign before 0.00`;
  }
  const form = typeof value === 'string' ? 'two decimals' : 'text with two decimals';
  return `${JSON.stringify(value)} is not an amount: write ${form}, such as "100.00"`;
}

/** Cents as text, the inverse of `toCents`. */
export function toMoney(cents: bigint): Money {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
