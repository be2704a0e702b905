import { getNamedType, isObjectType, type FieldNode, type GraphQLObjectType, type GraphQLResolveInfo } from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields';
import { getArgumentValues } from 'graphql/execution/values';
import type { Edge, ReadAhead } from '../domain/record-service';
import type { PageArgs } from './connection-types';

/** The fields that lead from records to others. */
const EDGES: Readonly<Record<string, Readonly<Record<string, Edge>>>> = {
  Deposit: { transactions: { children: 'depositTransactions' } },
  Transaction: {
    deposit: { find: 'deposit', by: 'depositId' },
    donor: { find: 'donor', by: 'donorId' },
    allocations: { children: 'transactionAllocations' },
  },
  Allocation: { transaction: { find: 'transaction', by: 'transactionId' } },
  Designation: { allocations: { children: 'designationAllocations' } },
  Donor: { transactions: { children: 'donorTransactions' } },
};

/** Where a connection keeps its records. */
const PASSED_THROUGH: ReadonlySet<string> = new Set(['nodes', 'edges', 'node']);

/** What the operation goes on to ask of the records that a field gives. */
export const lookAhead = (info: GraphQLResolveInfo) => (): ReadAhead => {
  const type = getNamedType(info.returnType);
  return isObjectType(type) ? findEdges(info, type, info.fieldNodes) : [];
};

function findEdges(info: GraphQLResolveInfo, type: GraphQLObjectType, nodes: readonly FieldNode[]): ReadAhead {
  const { schema, fragments, variableValues } = info;
  return [...collectSubfields(schema, fragments, variableValues, type, nodes).values()].flatMap((selected): ReadAhead => {
    const field = type.getFields()[selected[0]!.name.value];
    const next = field && getNamedType(field.type);
    if (!field || !isObjectType(next)) return [];
    const edge = EDGES[type.name]?.[field.name];
    if (!edge) return PASSED_THROUGH.has(field.name) ? findEdges(info, next, selected) : [];
    const page = getArgumentValues(field, selected[0]!, variableValues) as PageArgs;
    return [{ edge, page, then: findEdges(info, next, selected) }];
  });
}
