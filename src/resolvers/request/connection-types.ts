import { GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Field, Int, ObjectType, type ClassType } from 'type-graphql';
import type { Edge, Page, PageInfo as PagePlace, PageParameters } from '../../domain/paging/keyset-page';
import type { Eventually } from '../../domain/paging/loader';

/** The arguments that choose a page of a list. The domain checks them. */
@ArgsType()
export class PageArgs implements PageParameters {
  @Field(() => Int, {
    nullable: true,
    defaultValue: 50,
    description: 'Length of the page, 1 to 1000, counted from the start of the list or from `after`.',
  })
  first?: number | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Gives the items after this cursor, such as the `endCursor` of the page before. A cursor is valid only for the list, filter and order that gave it.',
  })
  after?: string | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'Length of the page, 1 to 1000, counted from the end of the list or from `before`. `first` is ignored when `last` is given.',
  })
  last?: number | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Gives the items before this cursor, such as the `startCursor` of the page after. A cursor is valid only for the list, filter and order that gave it.',
  })
  before?: string | null;
}

/** The arguments of a list that is short by nature, such as the allocations of one transaction. */
@ArgsType()
export class ShortPageArgs extends PageArgs {
  @Field(() => Int, {
    nullable: true,
    defaultValue: 10,
    description: 'Length of the page, 1 to 1000, counted from the start of the list or from `after`.',
  })
  override first?: number | null;
}

@ObjectType({ simpleResolvers: true, description: 'The place of a page in its list (Relay Cursor Connections).' })
export class PageInfo implements PagePlace {
  @Field(() => Boolean, { description: 'True when the list goes on after the page.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'True when the list has items before the page.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'Cursor of the first item of the page, for `before`; null when the page is empty.' })
  startCursor!: () => Eventually<string> | null;

  @Field(() => String, { nullable: true, description: 'Cursor of the last item of the page, for `after`; null when the page is empty.' })
  endCursor!: () => Eventually<string> | null;
}

/** The connection and edge types of a list of these nodes. Cursors and the total count are computed only when a query selects them. */
export function createConnectionType<Node extends object>(nodeType: ClassType<Node>, nodes: string) {
  @ObjectType(`${nodeType.name}Edge`, { description: `An item of a list of ${nodes}, with its cursor.` })
  class NodeEdge implements Edge<Node> {
    @Field(() => nodeType, { simple: true, description: 'The item.' })
    node!: Node;

    @Field(() => String, { simple: true, description: 'Cursor of the item, opaque text for `after` and `before`.' })
    cursor!: () => Eventually<string>;
  }

  @ObjectType()
  abstract class Connection implements Page<Node> {
    @Field(() => [nodeType], { simple: true, description: `The ${nodes} of the page.` })
    readonly nodes!: readonly Node[];

    @Field(() => [NodeEdge], { simple: true, description: `The ${nodes} of the page, each with its cursor.` })
    readonly edges!: () => readonly Edge<Node>[];

    @Field(() => PageInfo, { simple: true, description: 'The place of the page in the list.' })
    readonly pageInfo!: PageInfo;

    @Field(() => GraphQLSafeInt, { simple: true, description: `Number of ${nodes} on all pages.` })
    readonly totalCount!: () => Eventually<number>;
  }
  return Connection;
}
