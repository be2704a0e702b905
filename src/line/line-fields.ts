import type { LocalDate } from '../values/dates';
import type { Money } from '../values/money';

/** The five kinds of entities in the books. The GraphQL type of each has the same name, capitalized. */
export type EntityKind = 'deposit' | 'transaction' | 'allocation' | 'designation' | 'donor';

/** The types of fields, each with the values that a line of the report has. */
interface TypeValues {
  /** Text that identifies an entity in the books. It is compared by its bytes, and never empty. */
  readonly id: string;
  /** A whole number that identifies an entity in the books. A line of nobody has donor 0. */
  readonly number: number;
  /** Text that may be empty. */
  readonly text: string;
  /** Text that an index holds whole, so that it must have room for it. */
  readonly name: string;
  /** Text of which a part would pass for another one, such as a phone number. */
  readonly code: string;
  readonly date: LocalDate;
  readonly money: Money;
  readonly status: 'POSTED' | 'PENDING';
  readonly boolean: boolean;
}
export type FieldType = keyof TypeValues;

/** A field of the report's lines. Its key in the table is its name in v2, in files and in SQL. */
export type LineField = {
  /** The field's name in GraphQL, and Prisma's of the column. */
  readonly field: string;
  readonly type: FieldType;
  /** The field's name in the entity that `of` names. */
  readonly as: string;
  /** True for a value that may be unknown. */
  readonly isNullable?: true;
  /** True for a value that follows from others, so that the books do not hold it. */
  readonly isComputed?: true;
  /** The column's title on the page. The page does not show a column without one. */
  readonly title?: string;
} & (
  | { readonly of: 'donor'; readonly isPersonal: true }
  /** A personal value is for callers who may read donors. */
  | { readonly of: Exclude<EntityKind, 'donor'>; readonly isPersonal?: true }
);

/** The 26 fields of a deposit detail line in the contract's order (section 2.1). An import needs each of them. */
const v2Rows = {
  deposit_id: { field: 'depositId', type: 'id', of: 'deposit', as: 'depositId', title: 'Deposit' },
  transaction_date: { field: 'transactionDate', type: 'date', of: 'transaction', as: 'transactionDate', title: 'Gift date' },
  deposit_date: { field: 'depositDate', type: 'date', of: 'deposit', as: 'depositDate', title: 'Deposit date' },
  transaction_id: { field: 'transactionId', type: 'id', of: 'transaction', as: 'transactionId', title: 'Gift' },
  allocation_id: { field: 'allocationId', type: 'id', of: 'allocation', as: 'allocationId' },
  donor_id: { field: 'donorId', type: 'number', of: 'donor', as: 'donorId', isPersonal: true, title: 'Donor number' },
  donor_first_name: { field: 'donorFirstName', type: 'name', of: 'donor', as: 'firstName', isPersonal: true, title: 'First name' },
  donor_last_name: { field: 'donorLastName', type: 'name', of: 'donor', as: 'lastName', isPersonal: true, title: 'Last name' },
  address1: { field: 'address1', type: 'text', of: 'donor', as: 'address1', isPersonal: true, title: 'Address' },
  address2: { field: 'address2', type: 'text', of: 'donor', as: 'address2', isPersonal: true, title: 'Address, line 2' },
  address3: { field: 'address3', type: 'text', of: 'donor', as: 'address3', isPersonal: true, title: 'Address, line 3' },
  city: { field: 'city', type: 'text', of: 'donor', as: 'city', isPersonal: true, title: 'City' },
  state: { field: 'state', type: 'text', of: 'donor', as: 'state', isPersonal: true, title: 'State' },
  zip: { field: 'zip', type: 'code', of: 'donor', as: 'zip', isPersonal: true, title: 'ZIP' },
  phone: { field: 'phone', type: 'code', of: 'donor', as: 'phone', isPersonal: true, title: 'Phone' },
  email_address: { field: 'emailAddress', type: 'text', of: 'donor', as: 'email', isPersonal: true, title: 'Email' },
  amount: { field: 'amount', type: 'money', of: 'transaction', as: 'amount', title: 'Whole gift' },
  fee_amount: { field: 'feeAmount', type: 'money', of: 'transaction', as: 'feeAmount', title: 'Fee of the whole gift' },
  net_amount: { field: 'netAmount', type: 'money', of: 'transaction', as: 'netAmount', isComputed: true, title: 'Net of the whole gift' },
  status: { field: 'status', type: 'text', of: 'transaction', as: 'status', title: 'Gift status' },
  account_type: { field: 'accountType', type: 'text', of: 'transaction', as: 'accountType', title: 'Account type' },
  payment_type: { field: 'paymentType', type: 'text', of: 'transaction', as: 'paymentType', title: 'Payment type' },
  designation_id: { field: 'designationId', type: 'number', of: 'designation', as: 'designationId', title: 'Fund number' },
  designation: { field: 'designation', type: 'text', of: 'designation', as: 'name', title: 'Fund' },
  designation_memo: { field: 'designationMemo', type: 'text', of: 'allocation', as: 'memo', isPersonal: true, title: 'Memo of the fund' },
  main_memo: { field: 'mainMemo', type: 'text', of: 'transaction', as: 'mainMemo', isPersonal: true, title: 'Memo' },
} as const satisfies Readonly<Record<string, LineField>>;

/** The fields that v2 lacks. Files may have them, and so may imports. */
const extraRows = {
  deposit_status: { field: 'depositStatus', type: 'status', of: 'deposit', as: 'status', title: 'Status' },
  allocation_amount: { field: 'allocationAmount', type: 'money', of: 'allocation', as: 'amount', isNullable: true, title: 'To this fund' },
  allocation_amount_inferred: {
    field: 'allocationAmountInferred',
    type: 'boolean',
    of: 'allocation',
    as: 'amountInferred',
    isNullable: true,
    isComputed: true,
  },
} as const satisfies Readonly<Record<string, LineField>>;

/**
 * The name of the field that is true for a line whose money has changed since its month was closed. It follows from the closes of a state, so
 * that no line of the books has it, no import takes it, and files have it by this name alone.
 */
export const LATE = 'late';

type Rows = typeof v2Rows & typeof extraRows;
export type V2Name = keyof typeof v2Rows;
export type ExtraName = keyof typeof extraRows;
export type LineName = keyof Rows;
export type FieldOf<Name extends LineName> = Rows[Name]['field'];
/** The names of the fields of some types. */
export type NamesOfType<Type extends FieldType> = { [Name in LineName]: Rows[Name]['type'] extends Type ? Name : never }[LineName];
/** The names of the fields that entities of a kind have. */
export type NamesOf<Kind extends EntityKind> = { [Name in LineName]: Rows[Name]['of'] extends Kind ? Name : never }[LineName];
/** The names of the fields that the books hold. The others follow from these. */
export type StoredName = { [Name in LineName]: Rows[Name] extends { readonly isComputed: true } ? never : Name }[LineName];

type ValueOf<Row extends LineField> = TypeValues[Row['type']] | (Row extends { readonly isNullable: true } ? null : never);
/** Null stands for a value that the caller may not read. Whoever may not read donors gets no donor at all. */
type Withheld<Row extends LineField> = Row extends { readonly of: 'donor' }
  ? never
  : Row extends { readonly isPersonal: true }
    ? null
    : never;

type DonorText = { [Name in StoredName]: Rows[Name] extends { readonly isPersonal: true } ? Name : never }[Exclude<StoredName, 'donor_id'>];

/** The values of a line, by their names in GraphQL. */
export type LineValues = { readonly [Name in LineName as FieldOf<Name>]: ValueOf<Rows[Name]> };
/** The values of an entity, by their names in GraphQL. */
export type EntityValues<Kind extends EntityKind> = {
  readonly [Name in NamesOf<Kind> as Rows[Name]['as']]: ValueOf<Rows[Name]> | Withheld<Rows[Name]>;
};
/** The values of a line in files that are read, by their names there. A status is in lower case. */
export type FileValues = {
  readonly [Name in LineName]: Rows[Name]['type'] extends 'status' ? Lowercase<TypeValues['status']> : ValueOf<Rows[Name]>;
};

export const lineFields: Readonly<Record<LineName, LineField>> = { ...v2Rows, ...extraRows };

export const v2Names = Object.keys(v2Rows) as readonly V2Name[];
export const extraNames = Object.keys(extraRows) as readonly ExtraName[];
export const lineNames: readonly LineName[] = [...v2Names, ...extraNames];
/** The fields that say what money was given when, by which gift and to which fund: no donor, no name and no free text. */
export const moneyNames = [
  ...(['deposit_id', 'transaction_date', 'deposit_date', 'transaction_id', 'allocation_id', 'amount', 'fee_amount', 'status'] as const),
  ...(['designation_id', 'deposit_status', 'allocation_amount'] as const),
] as const satisfies readonly LineName[];
/** The ways to group lines beside the parts of time: the field that makes the groups, and those that name them too. */
export const fieldGroups = {
  DEPOSIT: ['deposit_id', 'deposit_date'],
  TRANSACTION: ['transaction_id', 'transaction_date'],
  DEPOSIT_STATUS: ['deposit_status'],
  DESIGNATION: ['designation_id', 'designation'],
  STATUS: ['status'],
  ACCOUNT_TYPE: ['account_type'],
  PAYMENT_TYPE: ['payment_type'],
  DONOR: ['donor_id', 'donor_first_name', 'donor_last_name'],
  CITY: ['city'],
  STATE: ['state'],
} as const satisfies Readonly<Record<string, readonly [LineName, ...LineName[]]>>;
/** The texts that tell of a donor: names, contact and memos. When a donor is erased, these become empty, and the donor's number stays. */
export const donorTexts = lineNames.filter((name): name is DonorText => lineFields[name].isPersonal === true && name !== 'donor_id');
/** The names of the fields that entities of a kind have, in the table's order. */
export const namesOf = <Kind extends EntityKind>(kind: Kind): readonly NamesOf<Kind>[] =>
  lineNames.filter((name): name is NamesOf<Kind> => lineFields[name].of === kind);

export const isLineName = (name: string): name is LineName => Object.hasOwn(lineFields, name);
export const isExtraName = (name: string): name is ExtraName => Object.hasOwn(extraRows, name);
export const isStored = (name: LineName): name is StoredName => !lineFields[name].isComputed;
