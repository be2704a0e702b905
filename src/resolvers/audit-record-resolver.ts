import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { AuditService } from '../domain/audit-service';
import type { Page } from '../domain/keyset-page';
import { AuditRecord, AuditRecordConnection, AuditRecordListArgs } from './audit-record-types';
import { PageArgs } from './connection-types';
import { NEEDS_REPORT, refuse, type RequestContext } from './request-context';

@Resolver(() => AuditRecord)
export class AuditRecordResolver {
  constructor(private readonly audit: AuditService) {}

  @Query(() => AuditRecordConnection, {
    description:
      "The organization's audit: readings of donors' data, logins, refusals and changes of rights, the newest first unless `orderBy` says otherwise. Needs the privilege `audit_records`.",
  })
  async auditRecords(
    @Args() { filter, orderBy }: AuditRecordListArgs,
    @Args() page: PageArgs,
    @Ctx() { access }: RequestContext,
  ): Promise<Page<AuditRecord>> {
    const { organization } = await access.authorizeAudit();
    // The field below needs to know what the member may read.
    await access.authorizeMember();
    const given = Object.fromEntries(Object.entries(filter ?? {}).filter(([, value]) => value !== null));
    return this.audit.page({ organizationId: organization.id, isDescending: orderBy?.direction !== 'ASC', ...given }, page);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: `SHA-256 of the lines of a file, in hex, as a summary has it; null where it is not known. ${NEEDS_REPORT}`,
  })
  digest(@Root() { digest }: AuditRecord, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): string | null {
    return context.access.openDonorData() ? digest : refuse(context, info);
  }
}
