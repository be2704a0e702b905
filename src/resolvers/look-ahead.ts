import { getNamedType, isObjectType, type FieldNode, type GraphQLObjectType, type GraphQLResolveInfo } from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields';
import { getArgumentValues } from 'graphql/execution/values';
import type { Link, ReadAhead } from '../domain/record-service';
import type { PageParameters } from '../domain/keyset-page';

/** The fields that lead from a record to others, by type. */
export const links = {
  Deposit: { transactions: { children: 'depositTransactions' } },
  Transaction: {
    deposit: { find: 'deposit', by: 'depositId' },
    donor: { find: 'donor', by: 'donorId' },
    allocations: { children: 'transactionAllocations' },
  },
  Allocation: { transaction: { find: 'transaction', by: 'transactionId' } },
  Designation: { allocations: { children: 'designationAllocations' } },
  Donor: { transactions: { children: 'donorTransactions' } },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Link>>>>;

const findLink = (type: string, field: string): Link | undefined =>
  (links as Readonly<Record<string, Readonly<Record<string, Link>>>>)[type]?.[field];

/** Where a connection keeps its records. */
const PASSED_THROUGH: ReadonlySet<string> = new Set(['nodes', 'edges', 'node']);

/** What the operation goes on to ask of the records that a field gives. */
export const lookAhead = (info: GraphQLResolveInfo) => (): ReadAhead => {
  const type = getNamedType(info.returnType);
  return isObjectType(type) ? findLinks(info, type, info.fieldNodes) : [];
};

function findLinks(info: GraphQLResolveInfo, type: GraphQLObjectType, nodes: readonly FieldNode[]): ReadAhead {
  const { schema, fragments, variableValues } = info;
  return [...collectSubfields(schema, fragments, variableValues, type, nodes).values()].flatMap((selected): ReadAhead => {
    const field = type.getFields()[selected[0]!.name.value];
    const next = field && getNamedType(field.type);
    if (!field || !isObjectType(next)) return [];
    const link = findLink(type.name, field.name);
    if (!link) return PASSED_THROUGH.has(field.name) ? findLinks(info, next, selected) : [];
    const page = getArgumentValues(field, selected[0]!, variableValues) as PageParameters;
    return [{ link, page, then: findLinks(info, next, selected) }];
  });
}
