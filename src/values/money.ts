/** An exact amount as text: two decimals always, a minus sign where negative, never a float. Sums have more digits than the amounts that they are made of. */
export type Money = string;

const MONEY = /^(-?)(0|[1-9][0-9]{0,37})\.([0-9]{2})$/;

/** The amount in cents, or undefined where the text is not an amount as the report writes it (`10.10`, not `10.1`, `-0.00` or `1e1`). */
export function toCents(text: string): bigint | undefined {
  const [, sign, whole, fraction] = MONEY.exec(text) ?? [];
  if (whole === undefined || fraction === undefined) return undefined;
  const cents = BigInt(whole + fraction);
  if (sign === '') return cents;
  return cents === 0n ? undefined : -cents;
}

/** Why a value is no amount, in a sentence that begins with the value. */
export function describeMoneyFault(value: unknown): string {
  const form = typeof value === 'string' ? 'two decimals' : 'text with two decimals';
  return `${JSON.stringify(value)} is not an amount: write ${form}, such as "100.00"`;
}

/** Cents as text, the inverse of `toCents`. */
export function toMoney(cents: bigint): Money {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
