import { LATE, lineFields, type FieldType, type NamesOfType } from '../line/line-fields';
import type { LocalDate } from '../values/dates';
import type { Money } from '../values/money';

/** The types of a condition's value. A line meets a list when it has one of the list's values. */
interface ConditionValues {
  readonly date: LocalDate;
  readonly amount: Money;
  readonly name: string;
  readonly ids: readonly string[];
  /** Texts that may be empty in the books. */
  readonly words: readonly string[];
  readonly numbers: readonly number[];
  readonly late: boolean;
}

export type LineCondition = {
  /** The path of the value in GraphQL's `filter`, its steps joined by dots. */
  readonly path: string;
  /** The parameter's name in the address of a file. */
  readonly parameter: string;
} &
  /** The field is compared with the end of a range. */
  (
    | ((Of<'date', 'date'> | Of<'amount', 'money'>) & { readonly compares: '>=' | '<=' })
    /** The field has one of the values. */
    | ((Of<'ids', 'id'> | Of<'words', 'text'> | Of<'numbers', 'number'>) & { readonly compares?: undefined })
    /** The donor has such a name. */
    | { readonly type: 'name' }
    /** The line is late, or is not. */
    | { readonly type: 'late' }
  );
interface Of<Type, Field extends FieldType> {
  readonly type: Type;
  readonly of: NamesOfType<Field>;
}

/** The conditions on the lines of a report. A line must meet all that are given; both ends of a range are included. */
export const lineConditions = {
  fromTransactionDate: {
    path: 'transactionDate.from',
    parameter: 'transaction_date_from',
    type: 'date',
    of: 'transaction_date',
    compares: '>=',
  },
  toTransactionDate: { path: 'transactionDate.to', parameter: 'transaction_date_to', type: 'date', of: 'transaction_date', compares: '<=' },
  // The amounts of the whole transaction are compared, not the shares.
  minAmount: { path: 'amount.min', parameter: 'amount_min', type: 'amount', of: 'amount', compares: '>=' },
  maxAmount: { path: 'amount.max', parameter: 'amount_max', type: 'amount', of: 'amount', compares: '<=' },
  depositIds: { path: 'depositIds', parameter: 'deposit_id', type: 'ids', of: 'deposit_id' },
  transactionIds: { path: 'transactionIds', parameter: 'transaction_id', type: 'ids', of: 'transaction_id' },
  designationIds: { path: 'designationIds', parameter: 'designation_id', type: 'numbers', of: 'designation_id' },
  donorIds: { path: 'donorIds', parameter: 'donor_id', type: 'numbers', of: 'donor_id' },
  statuses: { path: 'statuses', parameter: 'status', type: 'words', of: 'status' },
  accountTypes: { path: 'accountTypes', parameter: 'account_type', type: 'words', of: 'account_type' },
  paymentTypes: { path: 'paymentTypes', parameter: 'payment_type', type: 'words', of: 'payment_type' },
  /**
   * The beginning of a word of the donor's names and the words that follow, in either order of names, without regard to case and accents.
   */
  donorName: { path: 'donorName', parameter: 'donor_name', type: 'name' },
  late: { path: LATE, parameter: LATE, type: 'late' },
} as const satisfies Readonly<Record<string, LineCondition>>;

export type ConditionName = keyof typeof lineConditions;
type ValueOf<Name extends ConditionName> = ConditionValues[(typeof lineConditions)[Name]['type']];

/** The checked conditions of a caller, by their names. */
export type LineFilter = { readonly [Name in ConditionName]?: ValueOf<Name> | undefined };

/** The conditions as a caller sends them, in the shape of GraphQL's `filter`. */
export type LineFilterInput = Together<
  { [Name in ConditionName]: AtPath<(typeof lineConditions)[Name]['path'], ValueOf<Name>> }[ConditionName]
>;
type AtPath<Path extends string, Value> = Path extends `${infer Step}.${infer Rest}`
  ? { readonly [Key in Step]?: AtPath<Rest, Value> | null | undefined }
  : { readonly [Key in Path]?: Value | null | undefined };
/** The intersection of a union's members. */
type Together<Union> = (Union extends unknown ? (member: Union) => void : never) extends (all: infer All) => void ? All : never;

/** WITH: posted and pending deposits. WITHOUT: posted ones alone. ONLY: pending ones alone. */
export const pendingChoices = ['WITH', 'WITHOUT', 'ONLY'] as const;
export type PendingChoice = (typeof pendingChoices)[number];

/** The date that a period, and the groups by parts of time, go by. */
export const dateBases = ['DEPOSIT_DATE', 'TRANSACTION_DATE'] as const;
export type DateBasis = (typeof dateBases)[number];

/** The names, beside those of conditions, by which the audit knows a file and an operation whose days are those of transactions. */
export const transactionDateNames = { file: 'date_basis=TRANSACTION_DATE', operation: 'dateBasis=TRANSACTION_DATE' } as const;

/** True for a reading whose range is of the dates of transactions, by the names of its conditions. */
export const isByTransactionDate = (names: readonly string[]): boolean =>
  Object.values(transactionDateNames).some((name) => names.includes(name));

/** The names of all conditions, in the table's order. */
export const conditionNames = Object.keys(lineConditions) as readonly ConditionName[];

/** True for a condition that tells donors apart, and so needs the privilege to read them. */
export function isPersonal(name: ConditionName): boolean {
  const condition: LineCondition = lineConditions[name];
  if (condition.type === 'late') return false;
  return condition.type === 'name' || (lineFields[condition.of].isPersonal ?? false);
}
