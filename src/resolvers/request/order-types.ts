import { Field, InputType, registerEnumType } from 'type-graphql';

const orderDirectionEnum = { ASC: 'ASC', DESC: 'DESC' } as const;
registerEnumType(orderDirectionEnum, {
  name: 'OrderDirection',
  description: 'Direction of an order.',
  valuesConfig: {
    ASC: { description: 'Ascending: early before late, small before large, A before Z.' },
    DESC: { description: 'Descending: late before early, large before small, Z before A.' },
  },
});

/** The input type of an order of lists, with the enum of the values that they can be ordered by. `valuesConfig` describes each value. */
export function createOrderType<OrderField extends string>(
  name: string,
  {
    items,
    tie,
    valuesConfig,
  }: { items: string; tie?: string; valuesConfig: Readonly<Record<OrderField, { readonly description: string }>> },
) {
  const fields = Object.fromEntries(Object.keys(valuesConfig).map((field) => [field, field])) as { [Field in OrderField]: Field };
  registerEnumType(fields, { name: `${name}OrderField`, description: `A value that ${items} are ordered by.`, valuesConfig });

  @InputType(`${name}Order`, { description: `An order of ${items}.${tie ? ` Those with equal values are ordered by ${tie}.` : ''}` })
  class Order {
    @Field(() => fields, { description: `The value that the ${items} are ordered by.` })
    field!: OrderField;

    @Field(() => orderDirectionEnum, { defaultValue: 'ASC', description: 'Direction of the order.' })
    direction!: 'ASC' | 'DESC';
  }
  return Order;
}
