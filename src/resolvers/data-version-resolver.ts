import { Args, Ctx, Query, Resolver } from 'type-graphql';
import type { BookService } from '../domain/book-service';
import type { Page } from '../domain/keyset-page';
import { PageArgs } from './connection-types';
import { DataVersion, DataVersionConnection } from './data-version-types';
import type { RequestContext } from './request-context';

const NEWEST = { first: 1 };

@Resolver()
export class DataVersionResolver {
  constructor(private readonly books: BookService) {}

  @Query(() => DataVersion, {
    nullable: true,
    description:
      "The version of the books that the answer is of; null before the organization's first import. For every logged-in user and every API provision.",
  })
  async dataVersion(@Ctx() { access, reader }: RequestContext): Promise<DataVersion | null> {
    const { organization } = await access.authorizeMember();
    return (await this.books.versions(organization.id, NEWEST, reader)).nodes[0] ?? null;
  }

  @Query(() => DataVersionConnection, {
    description: "The versions of the organization's books, the newest first. For every logged-in user and every API provision.",
  })
  async dataVersions(@Args() page: PageArgs, @Ctx() { access, reader }: RequestContext): Promise<Page<DataVersion>> {
    const { organization } = await access.authorizeMember();
    return this.books.versions(organization.id, page, reader);
  }
}
