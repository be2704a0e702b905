import { buildSchema, type GraphQLSchema } from 'graphql';
import { assertListsAreBounded } from '../../src/graphql/documents/list-bounds';
import { streamRows } from '../../src/graphql/answers/row-field';
import { createSchema } from '../../src/graphql/schema';

const SCALARS = 'scalar Decimal scalar SafeInt';

/** A schema whose one root list has a resolver, as a streamed list must. */
function schemaOf(rows: string): GraphQLSchema {
  const schema = buildSchema(`${SCALARS} type Query { lines: [Line!]! } type Line { ${rows} }`);
  schema.getQueryType()!.getFields().lines!.resolve = () => [];
  return schema;
}

test('the gateway has a schema that keeps its own rules', () => {
  expect(() => createSchema()).not.toThrow();
});

describe('a streamed list is refused at the start when a field of its rows', () => {
  test('has a resolver', () => {
    const schema = schemaOf('id: ID! memo: String!');
    const line = schema.getType('Line') as unknown as { getFields(): Record<string, { resolve?: () => string }> };
    expect(() => streamRows(schema, 'lines')).not.toThrow();
    line.getFields().memo!.resolve = () => 'never asked';
    expect(() => streamRows(schema, 'lines')).toThrow('Line.memo has a resolver or arguments, which streamed rows would pass by');
  });

  test.each([
    ['takes arguments', 'amount(in: String): Decimal!', 'Line.amount has a resolver or arguments, which streamed rows would pass by'],
    ['is a number or null', 'donorId: SafeInt', 'Line.donorId: a nullable number has no row template'],
    ['is a list', 'memos: [String!]!', 'Line.memos: [String!] has no row template'],
    ['is of a scalar that no template knows', 'count: Int!', 'Line.count: Int has no row template'],
  ])('%s', (_what, rows, fault) => {
    expect(() => streamRows(schemaOf(rows), 'lines')).toThrow(fault);
  });
});

describe('a developer whose schema has a list', () => {
  test.each([
    ['of scalars at the root without a bound', 'type Query { names: [String!]! }', 'Query.names is a list without a bound'],
    ['at the root without a bound', 'type Query { things: [Thing!]! } type Thing { id: ID! }', 'Query.things is a list without a bound'],
    [
      'below the root without a bound',
      'type Query { thing: Thing } type Thing { parts: [Part!] } type Part { id: ID! }',
      'Thing.parts is a list without a bound',
    ],
    [
      'in a connection that takes no page',
      'type Query { things: ThingConnection! } type ThingConnection { nodes: [Thing!]! } type Thing { id: ID! }',
      'Query.things is a connection without the argument first',
    ],
  ])('%s is stopped at the start', (_where, types, fault) => {
    expect(() => assertListsAreBounded(buildSchema(types))).toThrow(fault);
  });

  test('in a connection that takes a page is let through', () => {
    const types = 'type Query { things(first: Int): ThingConnection! } type ThingConnection { nodes: [Thing!]! } type Thing { id: ID! }';
    expect(() => assertListsAreBounded(buildSchema(types))).not.toThrow();
  });
});
