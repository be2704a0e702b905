import { InputError, type AppError } from '../../errors';
import type { EntityFilter } from '../../formats/entity-lists';
import { conditionNames, isPersonal, lineConditions, type LineFilter, type LineFilterInput } from '../../formats/line-conditions';
import { toCents } from '../../values/money';
import { valueAt } from '../../values/paths';
import { findDateOrderFault } from './date-order';

const MAX_VALUES = 1000;
const MAX_TEXT_LENGTH = 1000;

/** Checks the conditions that a caller sent. Throws INVALID_PARAMETERS with the condition and its fault. */
export function toLineFilter(input: LineFilterInput | null | undefined): LineFilter {
  const given = toGiven(input);
  const fault = findConditionFault(given);
  if (fault) throw fault;
  return toConditions(given);
}

/** The conditions that a caller sent, unchecked, because privileges are checked before parameters. */
export const readLineFilter = (input: LineFilterInput | null | undefined): LineFilter => toConditions(toGiven(input));

const toGiven = (input: LineFilterInput | null | undefined): GivenCondition[] =>
  conditionNames.map((name) => {
    const { path } = lineConditions[name];
    return { name, path: `filter.${path}`, value: valueAt(input, path.split('.')) };
  });

/** A condition as a caller sent it: its name, its path in the arguments, and its value. */
export interface GivenCondition {
  readonly name: string;
  readonly path: string;
  readonly value: unknown;
}

/** Finds what is wrong with conditions: sizes and ranges, since the scalar types have checked everything else. */
export function findConditionFault(given: readonly GivenCondition[]): AppError | undefined {
  return (
    given.map(({ path, value }) => findSizeFault(path, value)).find((fault) => fault !== undefined) ?? findRangeFault(toConditions(given))
  );
}

/** The values of conditions by their names. An empty text is no condition, because every text begins with it. */
export const toConditions = (given: readonly GivenCondition[]): LineFilter & EntityFilter =>
  Object.fromEntries(
    given.filter(({ value }) => value !== undefined && value !== null && value !== '').map(({ name, value }) => [name, value]),
  );

function findRangeFault({ fromTransactionDate, toTransactionDate, minAmount, maxAmount }: LineFilter): AppError | undefined {
  const reversed = findDateOrderFault(fromTransactionDate, toTransactionDate, 'filter.transactionDate');
  if (reversed) return reversed;
  if (minAmount !== undefined && maxAmount !== undefined && toCents(minAmount)! > toCents(maxAmount)!) {
    return new InputError('filter.amount: min is greater than max', 'filter.amount');
  }
  return undefined;
}

function findSizeFault(path: string, value: unknown): AppError | undefined {
  if (typeof value === 'string') {
    if (value.length > MAX_TEXT_LENGTH) return new InputError(`${path} is longer than ${MAX_TEXT_LENGTH} characters`, path);
    // PostgreSQL's text cannot hold a NUL.
    return value.includes('\0') ? new InputError(`${path} has a NUL character`, path) : undefined;
  }
  if (!Array.isArray(value)) return undefined;
  if (value.length > MAX_VALUES) return new InputError(`${path} has ${value.length} values; the limit is ${MAX_VALUES}`, path);
  return value.map((each: unknown) => findSizeFault(path, each)).find((fault) => fault !== undefined);
}

/** True for a filter that tells donors apart, which only a caller who may read donors may use. */
export const tellsDonors = (filter: LineFilter): boolean => conditionNames.some((name) => isPersonal(name) && filter[name] !== undefined);
