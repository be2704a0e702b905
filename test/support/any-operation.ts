import fc from 'fast-check';
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';

/** The values of scalar arguments: some that the data has, some that it lacks, and some at the edges of their range. */
export interface Values {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
  readonly cursors: readonly string[];
  readonly ids: readonly string[];
}

const DATES = ['2024-01-01', '2024-01-10', '2024-01-31', '2024-12-31', '0001-01-01', '9999-12-31'];
const AMOUNTS = ['0.00', '-15.00', '25.00', '999999999999.99', '-99999999999999999999.99'];
const MAX_DEPTH = 7;
const MAX_FIELDS = 4;

/** Valid operations over a schema's queries: fields with aliases, fragments, directives and arguments of every kind. */
export function anyOperation(schema: GraphQLSchema, values: Values): fc.Arbitrary<string> {
  const scalarTexts: Readonly<Record<string, fc.Arbitrary<string>>> = {
    String: fc.constantFrom(...values.texts, ...values.cursors).map((text) => JSON.stringify(text)),
    ID: fc.constantFrom(...values.texts, ...values.ids).map((text) => JSON.stringify(text)),
    LocalDate: fc.constantFrom(...DATES).map((date) => `"${date}"`),
    Decimal: fc.constantFrom(...AMOUNTS).map((amount) => `"${amount}"`),
    SafeInt: fc.constantFrom(...values.numbers).map(String),
    Int: fc.constantFrom('1', '2', '3', '7', '0', '-1', '1000', '1001', '2147483647'),
    DateTimeISO: fc.constantFrom('2024-01-01T00:00:00Z', '2099-12-31T23:59:59.999Z', '9999-12-31T00:00:00Z').map((time) => `"${time}"`),
    Boolean: fc.constantFrom('true', 'false'),
    JSONObject: fc.constantFrom('{}', '{startDate: "2024-01-01"}', '{ids: [1, null], deep: {er: 1.5}}'),
  };

  const anyValue = (type: GraphQLInputType): fc.Arbitrary<string> => {
    if (isNonNullType(type)) return anyValue(type.ofType);
    if (isListType(type)) return fc.array(anyValue(type.ofType), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`);
    if (isEnumType(type)) return fc.constantFrom(...type.getValues().map(({ name }) => name));
    if (isInputObjectType(type)) return anyMembers(Object.values(type.getFields())).map((members) => `{${members.join(', ')}}`);
    return scalarTexts[getNamedType(type).name]!;
  };

  const anyMembers = (members: readonly Pick<GraphQLArgument, 'name' | 'type' | 'defaultValue'>[]): fc.Arbitrary<string[]> =>
    fc
      .tuple(
        ...members.map(({ name, type, defaultValue }) => {
          const given = anyValue(type).map((value) => `${name}: ${value}`);
          const isRequired = isNonNullType(type) && defaultValue === undefined;
          return isRequired ? given : fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 1, arbitrary: given });
        }),
      )
      .map((given) => given.filter((member) => member !== ''));

  const anyField = (field: GraphQLField<unknown, unknown>, depth: number): fc.Arbitrary<string> => {
    const type = getNamedType(field.type);
    const below = isObjectType(type)
      ? anySelection(type, depth + 1)
      : isInterfaceType(type)
        ? fc
            .tuple(...schema.getPossibleTypes(type).map((each) => anySelection(each, depth + 1)))
            .map((selections) => `{ ${selections.map((selection, n) => onType(schema.getPossibleTypes(type)[n]!, selection)).join(' ')} }`)
        : fc.constant('');
    const directive = fc.oneof(
      { weight: 8, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: fc.constantFrom('@include(if: true)', '@skip(if: false)', '@include(if: false)') },
    );
    return fc
      .tuple(anyMembers(field.args), directive, below)
      .map(([args, on, selection]) => `${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''} ${on} ${selection}`);
  };

  /** The selection of a record of a type among others. Its aliases begin with the type, because the types' fields differ. */
  const onType = ({ name }: GraphQLObjectType, selection: string): string =>
    `... on ${name} ${selection.replace(/\b(f\d+_\d+):/g, `${name}_$1:`)}`;

  /** Every field has its own alias, so that fields with different arguments never conflict. */
  const anySelection = (type: GraphQLObjectType, depth: number): fc.Arbitrary<string> => {
    const fields = Object.values(type.getFields()).filter(
      (field) => depth < MAX_DEPTH || !isObjectType(getNamedType(getNullableType(field.type))),
    );
    if (fields.length === 0) return fc.constant('{ __typename }');
    const member = fc.nat().chain((n) => anyField(fields[n % fields.length]!, depth));
    const wrapping = fc.constantFrom(
      (text: string) => text,
      (text: string) => `... on ${type.name} { ${text} }`,
      (text: string) => `... @include(if: true) { ${text} }`,
      (text: string) => `${text} __typename`,
    );
    return fc
      .array(fc.tuple(member, wrapping), { minLength: 1, maxLength: depth === 0 ? 2 : MAX_FIELDS })
      .map((members) => `{ ${members.map(([text, wrap], index) => wrap(`f${depth}_${index}: ${text}`)).join(' ')} }`);
  };

  return anySelection(schema.getQueryType()!, 0);
}
