import { isExtraName, isStored, lineFields, lineNames, type FieldType, type StoredName } from '../../line/line-fields';

/** The columns of the staging table. They have the names of an import line's members. */
export type Column = 'line' | StoredName | 'allocation_amount_unknown';

const TYPES: Readonly<Record<FieldType, string>> = {
  ...{ id: 'text COLLATE "C"', text: 'text', name: 'text', code: 'text', status: 'text' },
  ...{ number: 'bigint', date: 'date', money: 'numeric(14,2)', boolean: 'boolean' },
};

/** The columns of the staging table with their types, in order. */
export const COLUMNS = new Map<Column, string>([
  ['line', 'bigint NOT NULL'],
  ...lineNames
    .filter(isStored)
    .map((name): [Column, string] => [name, `${TYPES[lineFields[name].type]}${isExtraName(name) ? '' : ' NOT NULL'}`]),
  ['allocation_amount_unknown', 'boolean'],
]);
