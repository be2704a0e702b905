import { Field, ID, InterfaceType } from 'type-graphql';
import { fromGlobalId } from '../../values/global-id';

@InterfaceType({
  resolveType: (node: Node) => fromGlobalId(node.id())!.kind,
  description: 'A record that `node` finds again by its `id`, whatever its type.',
})
export abstract class Node {
  @Field(() => ID, {
    simple: true,
    description:
      'ID of the record for caches and for `node`: opaque text, unique over all types. The ID that the books have is in a field of its own, such as `depositId`.',
  })
  id!: () => string;
}
