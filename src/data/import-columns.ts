import { isExtraName, lineFields, lineNames, type ExtraName, type FieldType, type LineName, type V2Name } from '../line/line-fields';

/** The names of a line's fields that an import writes. The others follow from these. */
export type StagedName = Exclude<V2Name, 'net_amount'> | Exclude<ExtraName, 'allocation_amount_inferred'>;
/** The columns of the staging table. They have the names of an import line's members. */
export type Column = 'line' | StagedName | 'allocation_amount_unknown';

export const isStaged = (name: LineName): name is StagedName => !lineFields[name].isComputed;

const TYPES: Readonly<Record<FieldType, string>> = {
  ...{ id: 'text COLLATE "C"', text: 'text', name: 'text', code: 'text', status: 'text' },
  ...{ number: 'bigint', date: 'date', money: 'numeric(14,2)', boolean: 'boolean' },
};

/** The columns of the staging table with their types, in order. */
export const COLUMNS = new Map<Column, string>([
  ['line', 'bigint NOT NULL'],
  ...lineNames
    .filter(isStaged)
    .map((name): [Column, string] => [name, `${TYPES[lineFields[name].type]}${isExtraName(name) ? '' : ' NOT NULL'}`]),
  ['allocation_amount_unknown', 'boolean'],
]);
