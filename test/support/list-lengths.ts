import {
  buildSchema,
  getNamedType,
  isLeafType,
  Kind,
  parse,
  print,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type ArgumentNode,
  type GraphQLSchema,
} from 'graphql';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The schema of the gateway, as its file states it. */
export const schema: GraphQLSchema = buildSchema(readFileSync(resolve(__dirname, '../../schema.graphql'), 'utf8'));

const PAGE = ['first', 'after', 'last', 'before'];

/** The operation with every page that it asks for at the beginning of its list and of this length. */
export function withLengths(query: string, length: number): string {
  const types = new TypeInfo(schema);
  const first: ArgumentNode = {
    kind: Kind.ARGUMENT,
    name: { kind: Kind.NAME, value: 'first' },
    value: { kind: Kind.INT, value: String(length) },
  };
  const changed = visit(
    parse(query),
    visitWithTypeInfo(types, {
      Field: (node) => {
        if (!types.getFieldDef()?.args.some(({ name }) => name === 'first')) return undefined;
        const others = node.arguments?.filter(({ name }) => !PAGE.includes(name.value)) ?? [];
        return { ...node, arguments: [...others, first] };
      },
    }),
  );
  return print(changed);
}

/**
 * Fields with statements of their own: a number; a report, whose COPY has a statement before it that sets its values; and a digest, whose
 * COPY may be read on a second connection, with the beginning, the state and the end of its transaction.
 */
const STATEMENTS: Readonly<Record<string, number>> = { totalCount: 1, digest: 5, moneyDigest: 5, depositDetails: 2 };

/**
 * The most statements that the fields of an operation take: one for each that leads to objects, for each state of the books that is named, and
 * for each type of a record of any type.
 */
export function mostStatementsOf(query: string): number {
  const types = new TypeInfo(schema);
  let count = 0;
  visit(
    parse(query),
    visitWithTypeInfo(types, {
      Field: ({ name }) => {
        const type = getNamedType(types.getType());
        count += STATEMENTS[name.value] ?? (type && !isLeafType(type) ? 1 : 0);
      },
      Argument: () => {
        if (getNamedType(types.getInputType())?.name === 'AsOf') count++;
      },
      InlineFragment: ({ typeCondition }) => {
        if (typeCondition) count++;
      },
    }),
  );
  return count;
}
