import type { EntityKind, FieldOf, NamesOf, NamesOfType, FieldType } from '../line/line-fields';

/** The books' own id of an entity. */
export type EntityId = string | number;

type Id<Kind extends EntityKind, Type extends FieldType, SqlType> = {
  readonly field: FieldOf<NamesOf<Kind> & NamesOfType<Type>>;
  readonly type: SqlType;
};
/** The field of each kind that holds the books' own id, as the report's lines name it, and the type of its values in SQL. */
export const entityIds = {
  deposit: { field: 'depositId', type: 'text' },
  transaction: { field: 'transactionId', type: 'text' },
  allocation: { field: 'allocationId', type: 'text' },
  designation: { field: 'designationId', type: 'bigint' },
  donor: { field: 'donorId', type: 'bigint' },
} as const satisfies {
  readonly [Kind in EntityKind]: Id<Kind, 'id', 'text'> | Id<Kind, 'number', 'bigint'>;
};

/** With `one`, the origin's field `by` holds the target's id. With `many`, the targets' field `by` holds the origin's id. */
type Edge = { readonly one: EntityKind; readonly by: string } | { readonly many: EntityKind; readonly by: string };

/** The GraphQL fields that lead from an entity to other entities. */
export const entityEdges = {
  'Deposit.transactions': { many: 'transaction', by: 'depositId' },
  'Transaction.deposit': { one: 'deposit', by: 'depositId' },
  'Transaction.donor': { one: 'donor', by: 'donorId' },
  'Transaction.allocations': { many: 'allocation', by: 'transactionId' },
  'Allocation.transaction': { one: 'transaction', by: 'transactionId' },
  'Designation.allocations': { many: 'allocation', by: 'designationId' },
  'Donor.transactions': { many: 'transaction', by: 'donorId' },
  // A line of the report holds the ids of one record of each kind.
  'DepositDetail.deposit': { one: 'deposit', by: 'depositId' },
  'DepositDetail.transaction': { one: 'transaction', by: 'transactionId' },
  'DepositDetail.allocation': { one: 'allocation', by: 'allocationId' },
  'DepositDetail.donor': { one: 'donor', by: 'donorId' },
  'DepositDetail.fund': { one: 'designation', by: 'designationId' },
} as const satisfies Readonly<Record<`${Capitalize<EntityKind> | 'DepositDetail'}.${string}`, Edge>>;

export type EdgeName = keyof typeof entityEdges;
export type ManyEdgeName = { [Name in EdgeName]: (typeof entityEdges)[Name] extends { many: EntityKind } ? Name : never }[EdgeName];
/** The kind that an edge leads to. */
export type EdgeTarget<Name extends ManyEdgeName> = (typeof entityEdges)[Name]['many'];

/** The kind that an edge to many leads from. */
export const edgeOrigin = (name: ManyEdgeName): EntityKind => name.slice(0, name.indexOf('.')).toLowerCase() as EntityKind;

/** The GraphQL fields that add up what belongs to an entity. */
const entityFigures = ['Deposit.totals', 'Transaction.allocationsTotal', 'Designation.totals', 'Donor.totals'] as const;
export type FigureName = (typeof entityFigures)[number];
export const isFigure = (name: string): name is FigureName => (entityFigures as readonly string[]).includes(name);

export const isEdge = (name: string): name is EdgeName => Object.hasOwn(entityEdges, name);
