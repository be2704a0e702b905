import type { EntityFilter, EntityOrder } from '../../formats/entity-lists';
import type { EntityKind } from '../../line/line-fields';
import type { PendingChoice } from '../../formats/line-conditions';
import type { LocalDate } from '../../values/dates';
import type { Money } from '../../values/money';
import { AppError } from '../../errors';
import { findDateOrderFault } from './date-order';
import { findConditionFault, toConditions, type GivenCondition } from './line-filter';

/** The conditions and the order of a list of entities, as a caller sent them. The schema says which of them a list takes. */
export interface EntityParameters {
  readonly startDate?: LocalDate | null;
  readonly endDate?: LocalDate | null;
  readonly pending?: PendingChoice;
  readonly search?: string | null;
  readonly filter?: EntityConditions | null;
  readonly orderBy?: EntityOrder | null;
}

/** The conditions as a caller sends them, in the shape of GraphQL's `filter`. */
interface EntityConditions {
  readonly depositIds?: readonly string[] | null;
  readonly transactionIds?: readonly string[] | null;
  readonly allocationIds?: readonly string[] | null;
  readonly designationIds?: readonly number[] | null;
  readonly donorIds?: readonly number[] | null;
  readonly transactionDate?: { readonly from?: LocalDate | null; readonly to?: LocalDate | null } | null;
  readonly amount?: { readonly min?: Money | null; readonly max?: Money | null } | null;
}

/**
 * Checks the conditions of a list. Throws INVALID_PARAMETERS with the condition and its fault, and PRIVILEGE_NOT_FOUND for a condition on
 * donors by a caller who may not read them. A condition on donors counts as a reading of their data.
 */
export function toEntityFilter(parameters: EntityParameters, openDonorData: () => boolean): EntityFilter {
  const fault = findFilterFault(parameters, openDonorData);
  if (fault) throw fault;
  return toConditions(toGiven(parameters));
}

/** The error that `toEntityFilter` throws for these conditions, if any. */
export function findFilterFault(parameters: EntityParameters, openDonorData: () => boolean): AppError | undefined {
  const { startDate, endDate, filter } = parameters;
  if (filter?.donorIds && !openDonorData()) return new AppError('PRIVILEGE_NOT_FOUND');
  return findDateOrderFault(startDate ?? undefined, endDate ?? undefined) ?? findConditionFault(toGiven(parameters));
}

function toGiven({ startDate, endDate, pending, search, filter }: EntityParameters): GivenCondition[] {
  const { transactionDate, amount, ...ids } = filter ?? {};
  return [
    ...Object.entries({ startDate, endDate, pending, search }).map(([name, value]) => ({ name, path: name, value })),
    ...Object.entries(ids).map(([name, value]) => ({ name, path: `filter.${name}`, value })),
    { name: 'fromTransactionDate', path: 'filter.transactionDate.from', value: transactionDate?.from },
    { name: 'toTransactionDate', path: 'filter.transactionDate.to', value: transactionDate?.to },
    { name: 'minAmount', path: 'filter.amount.min', value: amount?.min },
    { name: 'maxAmount', path: 'filter.amount.max', value: amount?.max },
  ];
}

/** The order of the lists of each kind when the caller asks for none. */
const USUAL_ORDERS = {
  deposit: 'DATE',
  transaction: 'DATE',
  allocation: 'ID',
  designation: 'ID',
  donor: 'NAME',
} as const satisfies { readonly [Kind in EntityKind]: EntityOrder<Kind>['field'] };

/** The order that a caller asks for, or else the usual one of the list. The transactions of a deposit are usually ordered by their ids. */
export const toEntityOrder = (kind: EntityKind, { orderBy }: EntityParameters, isOfDeposit = false): EntityOrder =>
  orderBy ?? { field: isOfDeposit ? 'ID' : USUAL_ORDERS[kind], direction: 'ASC' };
