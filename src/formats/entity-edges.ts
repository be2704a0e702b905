/** The five kinds of records that the books hold. Each has a GraphQL type of the same name in a capital letter. */
export type EntityKind = 'deposit' | 'transaction' | 'allocation' | 'designation' | 'donor';

/** `one`: the entity that `by` names. `many`: the entities whose `by` names this one. */
type Edge = { readonly one: EntityKind; readonly by: string } | { readonly many: EntityKind; readonly by: string };

/** The GraphQL fields that lead from an entity to others. */
export const entityEdges = {
  'Deposit.transactions': { many: 'transaction', by: 'depositId' },
  'Transaction.deposit': { one: 'deposit', by: 'depositId' },
  'Transaction.donor': { one: 'donor', by: 'donorId' },
  'Transaction.allocations': { many: 'allocation', by: 'transactionId' },
  'Allocation.transaction': { one: 'transaction', by: 'transactionId' },
  'Designation.allocations': { many: 'allocation', by: 'designationId' },
  'Donor.transactions': { many: 'transaction', by: 'donorId' },
} as const satisfies Readonly<Record<`${Capitalize<EntityKind>}.${string}`, Edge>>;

export type EdgeName = keyof typeof entityEdges;
export type ManyEdgeName = { [Name in EdgeName]: (typeof entityEdges)[Name] extends { many: EntityKind } ? Name : never }[EdgeName];
/** The kind that an edge leads to. */
export type EdgeTarget<Name extends ManyEdgeName> = (typeof entityEdges)[Name]['many'];

/** The kind that an edge leads from. */
export const edgeOrigin = (name: EdgeName): EntityKind => name.slice(0, name.indexOf('.')).toLowerCase() as EntityKind;

export const isEdge = (name: string): name is EdgeName => Object.hasOwn(entityEdges, name);
