import {
  coerceInputValue,
  getVariableValues,
  isInputType,
  isNonNullType,
  Kind,
  typeFromAST,
  visit,
  type ASTNode,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';

export type VariablePath = readonly (string | number)[];

/**
 * The places of wrong values in the variables of an operation, in the order in which graphql-js reports them. Each begins with the name of
 * its variable. graphql-js itself tells the places only within the texts of its errors.
 */
export function findVariableFaults(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): VariablePath[] {
  const definitions = operation.variableDefinitions ?? [];
  if (getVariableValues(schema, definitions, variables).coerced) return [];
  return definitions.flatMap(({ variable, type: typeNode, defaultValue }): VariablePath[] => {
    const name = variable.name.value;
    const type = typeFromAST(schema, typeNode);
    if (!isInputType(type)) return [[name]];
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const isMissing = !Object.hasOwn(variables, name) && defaultValue === undefined;
    if (value === undefined || value === null) return isNonNullType(type) && (isMissing || value === null) ? [[name]] : [];
    const faults: VariablePath[] = [];
    coerceInputValue(value, type, (path) => faults.push([name, ...path]));
    return faults;
  });
}

/**
 * The argument that a node of a document is or stands in, with the way to the node within its value: `filter.amount`. Undefined for a node
 * outside all arguments.
 */
export function findArgument(document: DocumentNode, target: ASTNode | undefined): string | undefined {
  const place = target?.loc;
  if (!place) return undefined;
  let found: string | undefined;
  visit(document, {
    enter: (node) => {
      if (!node.loc || node.loc.start > place.start || node.loc.end < place.end) return false;
      if (node.kind === Kind.ARGUMENT) found = node.name.value;
      if (node.kind === Kind.OBJECT_FIELD && found !== undefined) found = `${found}.${node.name.value}`;
      return undefined;
    },
  });
  return found;
}
