import { InputError } from '../errors';
import { conditionNames, isPersonal, lineConditions, type LineFilter, type LineFilterInput } from '../formats/line-conditions';
import { toCents } from '../values/money';
import { valueAt } from '../values/paths';

const MAX_VALUES = 1000;
const MAX_TEXT_LENGTH = 1000;

/** Checks the conditions that a caller sent. Throws INVALID_PARAMETERS with the condition and its fault. */
export function toLineFilter(input: LineFilterInput | null | undefined): LineFilter {
  const filter: LineFilter = Object.fromEntries(
    conditionNames.flatMap((name) => {
      const { path } = lineConditions[name];
      const value = toValue(`filter.${path}`, valueAt(input, path.split('.')));
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const { fromTransactionDate, toTransactionDate, minAmount, maxAmount } = filter;
  if (fromTransactionDate !== undefined && toTransactionDate !== undefined && fromTransactionDate > toTransactionDate) {
    throw new InputError('filter.transactionDate: from is later than to');
  }
  if (minAmount !== undefined && maxAmount !== undefined && toCents(minAmount)! > toCents(maxAmount)!) {
    throw new InputError('filter.amount: min is greater than max');
  }
  return filter;
}

/** True for a filter that tells donors apart, which only a caller who may read donors may use. */
export const tellsDonors = (filter: LineFilter): boolean => conditionNames.some((name) => isPersonal(name) && filter[name] !== undefined);

/** Checks that a text is not too long and that the database can hold it. Throws INVALID_PARAMETERS. */
export function toText(name: string, text: string): string {
  if (text.length > MAX_TEXT_LENGTH) throw new InputError(`${name} is longer than ${MAX_TEXT_LENGTH} characters`);
  if (text.includes('\0')) throw new InputError(`${name} has a NUL character`);
  return text;
}

/** Checks the sizes; the scalar types have checked everything else. An empty text is no condition, because every text begins with it. */
function toValue(name: string, value: unknown): unknown {
  if (value === null || value === '') return undefined;
  if (typeof value === 'string') return toText(name, value);
  if (!Array.isArray(value)) return value;
  if (value.length > MAX_VALUES) throw new InputError(`${name} has ${value.length} values; the limit is ${MAX_VALUES}`);
  return value.map((each: unknown) => (typeof each === 'string' ? toText(name, each) : each));
}
