import { isObjectType, type GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, ID, Info, Query, Resolver } from 'type-graphql';
import type { EntityGraph } from '../domain/entity-service';
import { AppError, InputError } from '../errors';
import { parseEntityId, typeNameOf, type NamedEntity } from '../formats/entity-ids';
import { memberEntities } from './entity-access';
import { lookAhead } from './look-ahead';
import { Node } from './node-types';
import { refuse, type RequestContext } from './request-context';

/** The most records that `nodes` finds at once. */
export const MAX_NODES = 100;

const FOR_WHOM = 'For every logged-in user and every API provision. Donors need the privilege of the report.';

@Resolver()
export class NodeResolver {
  @Query(() => Node, {
    nullable: true,
    description: `The record with this \`id\`, whatever its type; null when the organization has none. ${FOR_WHOM}`,
  })
  async node(
    @Arg('id', () => ID, { description: 'The `id` of a record, as the record itself gives it.' }) id: string,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<object | null> {
    const graph = await memberEntities(context);
    const wanted = toWanted('id', id);
    return isReadable(wanted, context) ? find(graph, wanted, info) : refuse(context, info);
  }

  @Query(() => [Node], {
    nullable: 'items',
    description: `The records with these values of \`id\`, in the order of the values; null in the place of each that the organization does not have. ${FOR_WHOM} Without it they are null, and the answer has one PRIVILEGE_NOT_FOUND error for all of them.`,
  })
  async nodes(
    @Arg('ids', () => [ID], { description: `The \`id\` of each record, at most ${MAX_NODES}. The records may be of different types.` })
    ids: string[],
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<(object | null)[]> {
    const graph = await memberEntities(context);
    if (ids.length > MAX_NODES) throw new InputError(`ids has ${ids.length} values; the limit is ${MAX_NODES}`);
    const wanted = ids.map((id, index) => toWanted(`ids[${index}]`, id));
    const refused = wanted.findIndex((each) => !isReadable(each, context));
    const records = await Promise.all(wanted.map(async (each) => (isReadable(each, context) ? find(graph, each, info) : null)));
    // An error in the place of a record makes that one null, and none of the others.
    return records.map((record, index) => (index === refused ? new AppError('PRIVILEGE_NOT_FOUND') : record));
  }
}

function toWanted(name: string, id: string): NamedEntity {
  const wanted = parseEntityId(id);
  if (!wanted) throw new InputError(`${name} is not the id of a record: ${JSON.stringify(id)}`);
  return wanted;
}

const isReadable = ({ kind }: NamedEntity, { access }: RequestContext): boolean => kind !== 'donor' || access.mayReadDonors;

function find(graph: EntityGraph, { kind, id }: NamedEntity, info: GraphQLResolveInfo) {
  const type = info.schema.getType(typeNameOf(kind));
  if (!isObjectType(type)) throw new Error(`${kind} has no type of this name`);
  return graph.find(kind, id, lookAhead(info, type));
}
