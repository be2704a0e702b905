import { InputError } from '../../errors';
import {
  figureRanges,
  RANGE_ENDS,
  readGroupConditions,
  type FigureType,
  type GroupCondition,
  type GroupConditionsInput,
} from '../../formats/group-conditions';
import { toCents } from '../../values/money';
import { valueAt } from '../../values/paths';

/**
 * Checks the conditions on groups that a caller sent; undefined for none. Throws INVALID_PARAMETERS with the path of a range that is empty or
 * ends before it begins, and for conditions without groups or without the period that they compare.
 */
export function toGroupConditions(
  input: GroupConditionsInput | null | undefined,
  { isGrouped, isCompared }: { readonly isGrouped: boolean; readonly isCompared: boolean },
): readonly GroupCondition[] | undefined {
  for (const { path, type } of figureRanges) assertRange(`having.${path.join('.')}`, type, valueAt(input, path));
  const conditions = readGroupConditions(input);
  if (conditions.length === 0) return undefined;
  if (!isGrouped) throw new InputError('having chooses groups: it needs groupBy', 'having');
  if (!isCompared && conditions.some((condition) => condition.isCompared)) {
    throw new InputError('having.compared is of the period that is compared: it needs compareWith', 'having.compared');
  }
  return conditions;
}

function assertRange(path: string, type: FigureType, range: unknown): void {
  if (range === undefined || range === null) return;
  const [first, last] = RANGE_ENDS[type];
  const [least, greatest] = [first, last].map((end) => valueAt(range, [end]) ?? undefined) as (string | number | undefined)[];
  if (least === undefined && greatest === undefined) throw new InputError(`${path} has neither ${first} nor ${last}`, path);
  if (least === undefined || greatest === undefined || !isAfter(type, least, greatest)) return;
  throw new InputError(`${path}: ${first} is ${type === 'date' ? 'later' : 'greater'} than ${last}`, path);
}

const isAfter = (type: FigureType, least: string | number, greatest: string | number): boolean =>
  type === 'amount' ? toCents(String(least))! > toCents(String(greatest))! : least > greatest;
