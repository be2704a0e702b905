import { getNamedType, getNullableType, isListType, isObjectType, type GraphQLSchema } from 'graphql';
import { MAX_GROUPS } from '../domain/deposit-summary-service';
import { MAX_SAVED_REPORTS } from '../domain/saved-report-service';

/** The greatest lengths of lists that have no page arguments. */
export const listBounds: Readonly<Record<string, number>> = {
  'DepositSummary.groups': MAX_GROUPS,
  'Query.savedReports': MAX_SAVED_REPORTS,
};

/** Root lists whose rows are written into the answer as they arrive from the database. Their items do not count as values. */
export const streamedFields: readonly string[] = ['depositDetails'];

/** The fields of a connection that hold its page. The arguments that bound the page are on the field that returns the connection. */
const PAGE_FIELDS: readonly string[] = ['nodes', 'edges'];

/**
 * Throws for a list of objects whose length is unknown to the cost of an operation: it is not a page, has no bound in `listBounds` and is
 * not streamed. Such a list would cost 1, no matter how long it is.
 */
export function assertListsAreBounded(schema: GraphQLSchema): void {
  const root = schema.getQueryType();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const target = getNamedType(field.type);
      if (!isObjectType(target)) continue;
      const name = `${type.name}.${field.name}`;
      if (isConnection(target.name) && !field.args.some((argument) => argument.name === 'first')) {
        throw new Error(`${name} is a connection without the argument first`);
      }
      if (!isListType(getNullableType(field.type))) continue;
      const isPage = isConnection(type.name) && PAGE_FIELDS.includes(field.name);
      const isStreamed = type === root && streamedFields.includes(field.name);
      if (!isPage && !isStreamed && listBounds[name] === undefined)
        throw new Error(`${name} is a list without a bound: add it to listBounds`);
    }
  }
}

const isConnection = (typeName: string): boolean => typeName.endsWith('Connection');
