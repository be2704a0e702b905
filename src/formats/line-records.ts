import { lineFields, namesOf, type EntityKind } from '../line/line-fields';
import { entityIds } from './entity-edges';
import { kindOf, type EntityTypeName } from './entity-ids';

/** The fields of a line, or of a record in a line, that lead to a record, and the type of it. */
const RECORDS: Readonly<Record<string, EntityTypeName>> = {
  deposit: 'Deposit',
  transaction: 'Transaction',
  allocation: 'Allocation',
  donor: 'Donor',
  fund: 'Designation',
  designation: 'Designation',
};

const columnsOf = (kind: EntityKind): Readonly<Record<string, string>> =>
  Object.fromEntries(namesOf(kind).map((name) => [lineFields[name].as, lineFields[name].field]));
/** The column of the line that holds each value of a record. A line has one record of each type. */
const VALUES: Readonly<Record<EntityTypeName, Readonly<Record<string, string>>>> = {
  Deposit: columnsOf('deposit'),
  Transaction: columnsOf('transaction'),
  Allocation: columnsOf('allocation'),
  Designation: columnsOf('designation'),
  Donor: columnsOf('donor'),
};

export const isRecordType = (name: string): name is EntityTypeName => Object.hasOwn(VALUES, name);

/** The column of a line that holds a value of one of its records; undefined for a value that lines do not have. */
export const columnOfRecord = (type: EntityTypeName, field: string): string | undefined =>
  Object.hasOwn(VALUES[type], field) ? VALUES[type][field] : undefined;

/** The column of a line that holds the books' id of its record of a type. */
export const idOfRecord = (type: EntityTypeName): string => entityIds[kindOf(type)].field;

/** The field of a line that holds the value at a path in the line, such as `depositDate` for `transaction.deposit.depositDate`. */
export function lineFieldAt(path: string): string | undefined {
  const steps = path.split('.');
  const field = steps.pop()!;
  const types = steps.map((step) => RECORDS[step]);
  if (types.includes(undefined)) return undefined;
  const type = types.at(-1);
  return type ? columnOfRecord(type, field) : field;
}
