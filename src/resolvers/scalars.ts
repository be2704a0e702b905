import { GraphQLError, GraphQLScalarType, Kind, valueFromASTUntyped, type ValueNode } from 'graphql';
import { describeDateFault, isLocalDate } from '../values/dates';
import { describeMoneyFault, toCents } from '../values/money';

interface TextScalar {
  readonly name: string;
  readonly description: string;
  readonly isValid: (text: string) => boolean;
  /** A sentence that begins with the value. */
  readonly describeFault: (value: unknown) => string;
}

/** A scalar that is text on the wire and only takes text of its own form. */
function textScalar({ name, description, isValid, describeFault }: TextScalar): GraphQLScalarType<string, string> {
  const parse = (value: unknown): string => {
    if (typeof value !== 'string' || !isValid(value)) throw new GraphQLError(describeFault(value));
    return value;
  };
  return new GraphQLScalarType({
    name,
    description,
    serialize: parse,
    parseValue: parse,
    // A literal is shown as the number, list or object that it is.
    parseLiteral: (node: ValueNode) => parse(node.kind === Kind.STRING ? node.value : valueFromASTUntyped(node)),
  });
}

export const LocalDateScalar = textScalar({
  name: 'LocalDate',
  description: 'A calendar date, `YYYY-MM-DD`, with no time and no time zone.',
  isValid: isLocalDate,
  describeFault: describeDateFault,
});

export const DecimalScalar = textScalar({
  name: 'Decimal',
  description: 'An exact amount of money as text with two decimals, `-1234.50`. Never a float.',
  isValid: (text) => toCents(text) !== undefined,
  describeFault: describeMoneyFault,
});
