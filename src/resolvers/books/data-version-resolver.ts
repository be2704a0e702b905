import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { BookService } from '../../domain/books/book-service';
import type { Page } from '../../domain/paging/keyset-page';
import { PageArgs } from '../request/connection-types';
import { DataVersion, DataVersionConnection, DataVersionListArgs, History } from './data-version-types';
import { NEEDS_REPORT, refuse, type RequestContext } from '../request/request-context';

@Resolver(() => DataVersion)
export class DataVersionResolver {
  constructor(private readonly service: BookService) {}

  @Query(() => DataVersion, {
    nullable: true,
    description:
      "The version of the books that the answer is of; null before the organization's first import. For every logged-in user and every API provision.",
  })
  async dataVersion(@Ctx() { access, books }: RequestContext): Promise<DataVersion | null> {
    const { organization } = await access.authorizeMember();
    return this.service.versionOf({ organizationId: organization.id }, books);
  }

  @Query(() => DataVersionConnection, {
    description:
      "The versions of the organization's books, the newest first unless `orderBy` says otherwise. For every logged-in user and every API provision.",
  })
  async dataVersions(
    @Args() { filter, orderBy }: DataVersionListArgs,
    @Args() page: PageArgs,
    @Ctx() { access, books }: RequestContext,
  ): Promise<Page<DataVersion>> {
    const { organization } = await access.authorizeMember();
    const range = { fromNumber: filter?.fromNumber ?? undefined, toNumber: filter?.toNumber ?? undefined };
    const isDescending = orderBy?.direction !== 'ASC';
    return this.service.versions({ organizationId: organization.id, isDescending, ...range }, page, books);
  }

  @Query(() => History, {
    nullable: true,
    description:
      'The states of the books that `asOf` may name; null before the first change of the books. For every logged-in user and every API provision.',
  })
  async history(@Ctx() { access, books }: RequestContext): Promise<History | null> {
    const { organization } = await access.authorizeMember();
    return this.service.history(organization.id, books);
  }

  @FieldResolver(() => String, { nullable: true, description: `Name of the imported file; null for other causes. ${NEEDS_REPORT}` })
  fileName(@Root() { fileName }: DataVersion, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): string | null {
    return context.access.openDonorData() ? fileName : refuse(context, info);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: `SHA-256 of the imported file, in hex; null for other causes. ${NEEDS_REPORT}`,
  })
  fileSha256(@Root() { fileSha256 }: DataVersion, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): string | null {
    return context.access.openDonorData() ? fileSha256 : refuse(context, info);
  }
}
