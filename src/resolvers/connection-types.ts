import { GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Field, Int, ObjectType, type ClassType } from 'type-graphql';
import type { Page, PageParameters } from '../domain/keyset-page';

/** Where a list begins and how long it is; what they mean is decided by the domain. */
@ArgsType()
export class PageArgs implements PageParameters {
  @Field(() => Int, { nullable: true, defaultValue: 50, description: 'How many to give, 1 to 1000, counted from the start.' })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Give what follows this cursor.' })
  after?: string | null;

  @Field(() => Int, { nullable: true, description: 'How many to give, 1 to 1000, counted from the end; `first` then does not count.' })
  last?: number | null;

  @Field(() => String, { nullable: true, description: 'Give what comes before this cursor.' })
  before?: string | null;
}

/** For lists that are short by nature. */
@ArgsType()
export class ShortPageArgs extends PageArgs {
  @Field(() => Int, { nullable: true, defaultValue: 10, description: 'How many to give, 1 to 1000, counted from the start.' })
  override first?: number | null;
}

@ObjectType({ description: 'Where a page lies in its list (Relay Cursor Connections).' })
export class PageInfo {
  @Field(() => Boolean, { description: 'Whether something follows the page.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Whether something comes before the page.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'The cursor of the first on the page.' })
  startCursor!: string | null;

  @Field(() => String, { nullable: true, description: 'The cursor of the last on the page.' })
  endCursor!: string | null;
}

interface Edge<Node> {
  readonly node: Node;
  readonly cursor: string;
}

/** The connection and edge types of a list of these nodes; cursors and counts are made where they are asked for. */
export function createConnectionType<Node extends object>(nodeType: ClassType<Node>, nodes: string) {
  @ObjectType(`${nodeType.name}Edge`, { description: `One of the ${nodes} with its place in the list.` })
  class NodeEdge implements Edge<Node> {
    @Field(() => nodeType, { description: 'What is at this place.' })
    node!: Node;

    @Field(() => String, { description: 'The place, to go on from.' })
    cursor!: string;
  }

  @ObjectType()
  abstract class Connection implements Page<Node> {
    readonly hasNextPage!: boolean;
    readonly hasPreviousPage!: boolean;
    readonly cursorOf!: (node: Node) => string;
    readonly count!: () => Promise<number>;

    @Field(() => [nodeType], { simple: true, description: `The ${nodes} of the page.` })
    readonly nodes!: readonly Node[];

    @Field(() => [NodeEdge], { description: `The ${nodes} of the page, each with its cursor.` })
    edges(): Edge<Node>[] {
      return this.nodes.map((node) => ({ node, cursor: this.cursorOf(node) }));
    }

    @Field(() => PageInfo, { description: 'Where the page lies in the list.' })
    pageInfo(): PageInfo {
      const { nodes: found, hasNextPage, hasPreviousPage } = this;
      const cursor = (node: Node | undefined): string | null => (node ? this.cursorOf(node) : null);
      return { hasNextPage, hasPreviousPage, startCursor: cursor(found[0]), endCursor: cursor(found.at(-1)) };
    }

    @Field(() => GraphQLSafeInt, { description: `How many ${nodes} there are on all pages.` })
    totalCount(): Promise<number> {
      return this.count();
    }
  }
  return Connection;
}
