import { GraphQLError, GraphQLScalarType, Kind, valueFromASTUntyped, type ValueNode } from 'graphql';
import { describeDateFault, isLocalDate } from '../../values/dates';
import { describeMoneyFault, isMoney } from '../../values/money';

interface TextScalar {
  readonly name: string;
  readonly description: string;
  readonly isValid: (text: string) => boolean;
  /** The reason why a value is refused, a sentence that begins with the value. */
  readonly describeFault: (value: unknown) => string;
}

/** A scalar that is text in JSON and takes only text of its own form. */
function textScalar({ name, description, isValid, describeFault }: TextScalar): GraphQLScalarType<string, string> {
  const parse = (value: unknown, node?: ValueNode): string => {
    if (typeof value !== 'string' || !isValid(value)) throw new GraphQLError(describeFault(value), { ...(node && { nodes: node }) });
    return value;
  };
  return new GraphQLScalarType({
    name,
    description,
    serialize: (value) => parse(value),
    parseValue: (value) => parse(value),
    // A literal that is not a string is converted, so that the error message shows the number, list or object itself.
    parseLiteral: (node: ValueNode) => parse(node.kind === Kind.STRING ? node.value : valueFromASTUntyped(node), node),
  });
}

export const LocalDateScalar = textScalar({
  name: 'LocalDate',
  description: 'A calendar date as text, `YYYY-MM-DD`, such as `"2026-01-31"`. It has no time and no time zone.',
  isValid: isLocalDate,
  describeFault: describeDateFault,
});

export const DecimalScalar = textScalar({
  name: 'Decimal',
  description: 'An exact amount of money as text with two decimals, such as `"1234.50"` or `"-20.00"`. It is never a float.',
  isValid: isMoney,
  describeFault: describeMoneyFault,
});
