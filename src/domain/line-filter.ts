import type { LineFilter, PendingChoice } from '../data/line-conditions';
import { InputError } from '../errors';
import type { LocalDate } from '../values/dates';
import { toCents, type Money } from '../values/money';

type Optional<Value> = Value | null | undefined;

/** Conditions as a caller sent them; all that are given must hold. */
export interface LineFilterParameters {
  readonly transactionDate?: Optional<{ readonly from?: Optional<LocalDate>; readonly to?: Optional<LocalDate> }>;
  readonly depositIds?: Optional<readonly string[]>;
  readonly transactionIds?: Optional<readonly string[]>;
  readonly designationIds?: Optional<readonly number[]>;
  readonly donorIds?: Optional<readonly number[]>;
  readonly statuses?: Optional<readonly string[]>;
  readonly accountTypes?: Optional<readonly string[]>;
  readonly paymentTypes?: Optional<readonly string[]>;
  readonly amount?: Optional<{ readonly min?: Optional<Money>; readonly max?: Optional<Money> }>;
  readonly pending?: Optional<PendingChoice>;
  readonly donorName?: Optional<string>;
}

const MAX_VALUES = 1000;
const MAX_TEXT_LENGTH = 1000;

/** The conditions, checked. Throws INVALID_PARAMETERS that names what was wrong. */
export function toLineFilter(parameters: Optional<LineFilterParameters>): LineFilter {
  if (!parameters) return {};
  const { transactionDate, amount, depositIds, transactionIds, designationIds, donorIds } = parameters;
  const { statuses, accountTypes, paymentTypes, donorName } = parameters;
  const [fromTransactionDate, toTransactionDate] = [transactionDate?.from ?? undefined, transactionDate?.to ?? undefined];
  if (fromTransactionDate !== undefined && toTransactionDate !== undefined && fromTransactionDate > toTransactionDate) {
    throw new InputError('filter.transactionDate: from is later than to');
  }
  const [minAmount, maxAmount] = [amount?.min ?? undefined, amount?.max ?? undefined];
  if (minAmount !== undefined && maxAmount !== undefined && toCents(minAmount)! > toCents(maxAmount)!) {
    throw new InputError('filter.amount: min is greater than max');
  }
  return {
    fromTransactionDate,
    toTransactionDate,
    depositIds: toTexts('depositIds', depositIds),
    transactionIds: toTexts('transactionIds', transactionIds),
    designationIds: toList('designationIds', designationIds),
    donorIds: toList('donorIds', donorIds),
    statuses: toTexts('statuses', statuses),
    accountTypes: toTexts('accountTypes', accountTypes),
    paymentTypes: toTexts('paymentTypes', paymentTypes),
    minAmount,
    maxAmount,
    // Every name begins with nothing.
    donorName: donorName ? toText('filter.donorName', donorName) : undefined,
  };
}

/** Whether a filter tells donors apart, which only who may see them may do. */
export const tellsDonors = ({ donorIds, donorName }: LineFilter): boolean => donorIds !== undefined || donorName !== undefined;

/** Text that a database can hold and that has a sane length. Throws INVALID_PARAMETERS. */
export function toText(name: string, text: string): string {
  if (text.length > MAX_TEXT_LENGTH) throw new InputError(`${name} is longer than ${MAX_TEXT_LENGTH} characters`);
  if (text.includes('\0')) throw new InputError(`${name} has a NUL character`);
  return text;
}

function toTexts(name: string, texts: Optional<readonly string[]>): readonly string[] | undefined {
  return toList(name, texts)?.map((text) => toText(`filter.${name}`, text));
}

function toList<Value>(name: string, values: Optional<readonly Value[]>): readonly Value[] | undefined {
  if (!values) return undefined;
  if (values.length > MAX_VALUES) throw new InputError(`filter.${name} has ${values.length} values; the limit is ${MAX_VALUES}`);
  return values;
}
