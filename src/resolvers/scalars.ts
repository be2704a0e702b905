import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { isLocalDate } from '../dates';
import { toCents } from '../money';

/** A scalar that is text on the wire and only takes text of its own form. */
function textScalar(name: string, description: string, isValid: (text: unknown) => text is string): GraphQLScalarType<string, string> {
  const parse = (value: unknown): string => {
    if (!isValid(value)) throw new GraphQLError(`${name} expects ${description}`);
    return value;
  };
  return new GraphQLScalarType({
    name,
    description,
    serialize: parse,
    parseValue: parse,
    parseLiteral: (node: ValueNode) => parse(node.kind === Kind.STRING ? node.value : undefined),
  });
}

export const LocalDateScalar = textScalar('LocalDate', 'A calendar date, `YYYY-MM-DD`, with no time and no time zone.', isLocalDate);

export const DecimalScalar = textScalar(
  'Decimal',
  'An exact amount of money as text with two decimals, `-1234.50`. Never a float.',
  (value): value is string => typeof value === 'string' && toCents(value) !== undefined,
);
