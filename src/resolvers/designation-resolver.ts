import type { GraphQLResolveInfo } from 'graphql';
import { GraphQLSafeInt } from 'graphql-scalars';
import { Arg, Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { Page } from '../domain/keyset-page';
import { AllocationConnection } from './allocation-types';
import { PageArgs } from './connection-types';
import { Designation, DesignationConnection } from './designation-types';
import { memberEntities } from './entity-access';
import { lookAhead } from './look-ahead';
import { type RequestContext } from './request-context';

@Resolver(() => Designation)
export class DesignationResolver {
  @Query(() => Designation, {
    nullable: true,
    description:
      'The designation (fund) with this ID; null when the organization has none. For every logged-in user and every API provision.',
  })
  async designation(
    @Arg('designationId', () => GraphQLSafeInt, { description: "ID of the designation in the books, as the report's lines have it." })
    designationId: number,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return (await memberEntities(context)).find('designation', designationId, lookAhead(info));
  }

  @Query(() => DesignationConnection, {
    description: "The organization's designations (funds) in the order of their IDs. For every logged-in user and every API provision.",
  })
  async designations(@Args() page: PageArgs, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): Promise<Page<Designation>> {
    return (await memberEntities(context)).designations(page, lookAhead(info));
  }

  @FieldResolver(() => AllocationConnection, { description: 'The allocations to this designation in the order of their IDs.' })
  allocations(
    @Root() designation: Designation,
    @Args() page: PageArgs,
    @Ctx() { entities }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return entities.graph.follow('Designation.allocations', designation, page, lookAhead(info));
  }
}
