import type { LocalDate } from '../values/dates';
import type { Money } from '../values/money';
import type { EntityKind } from '../line/line-fields';
import type { PendingChoice } from './line-conditions';

/** The checked conditions of a list of entities. An entity must meet all that are given; both ends of a range are included. */
export interface EntityFilter {
  readonly depositIds?: readonly string[];
  readonly transactionIds?: readonly string[];
  readonly allocationIds?: readonly string[];
  readonly designationIds?: readonly number[];
  /** Tells donors apart, so that it needs the privilege to read them. 0 finds transactions without a donor. */
  readonly donorIds?: readonly number[];
  /** The transaction's date. */
  readonly fromTransactionDate?: LocalDate;
  readonly toTransactionDate?: LocalDate;
  /** The amount of the transaction, or the sum of a deposit's transactions, each counted once. */
  readonly minAmount?: Money;
  readonly maxAmount?: Money;
  /** The beginning of a word of a name, without regard to case and accents. */
  readonly search?: string;
  /** The date of the deposit. */
  readonly startDate?: LocalDate;
  readonly endDate?: LocalDate;
  readonly pending?: PendingChoice;
}

/** The values that a list of each kind can be ordered by. The id decides between equal values. */
interface OrderFields extends Readonly<Record<EntityKind, string>> {
  readonly deposit: 'DATE' | 'ID' | 'AMOUNT' | 'STATUS';
  readonly transaction: 'DATE' | 'ID' | 'AMOUNT';
  readonly allocation: 'ID' | 'TRANSACTION' | 'DESIGNATION';
  readonly designation: 'ID' | 'NAME';
  readonly donor: 'NAME' | 'ID';
}

export interface EntityOrder<Kind extends EntityKind = EntityKind> {
  readonly field: OrderFields[Kind];
  readonly direction: 'ASC' | 'DESC';
}
