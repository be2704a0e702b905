import type { GraphQLResolveInfo } from 'graphql';
import { GraphQLSafeInt } from 'graphql-scalars';
import { Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { AuditService } from '../../domain/audit/audit-service';
import type { Page } from '../../domain/paging/keyset-page';
import { AuditRecord, AuditRecordConnection, AuditRecordListArgs } from './audit-record-types';
import { PageArgs } from '../request/connection-types';
import { NEEDS_REPORT, refuse, type RequestContext } from '../request/request-context';

/** Whoever knows all of a summary but its numbers of donors could try numbers until the hash or the length fits. */
const TELLS_DONORS =
  'For a file that may tell of donors it needs the privilege of the report: without it the value is null, and the answer has one PRIVILEGE_NOT_FOUND error for all values of the field.';

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
    // The fields below need to know what the member may read.
    await access.authorizeMember();
    const given = Object.fromEntries(Object.entries(filter ?? {}).filter(([, value]) => value !== null));
    return this.audit.page({ organizationId: organization.id, isDescending: orderBy?.direction !== 'ASC', ...given }, page);
  }

  @Query(() => AuditRecordConnection, {
    description:
      'The files that the logged-in user took, or the API provision without a user, as the audit has them, the newest first. `dataVersion` is the state of the books that a file is of. For every logged-in user and every API provision.',
  })
  async receipts(@Args() page: PageArgs, @Ctx() { access }: RequestContext): Promise<Page<AuditRecord>> {
    const { organization } = await access.authorizeMember();
    const { username, provisionStart } = await access.caller.forAudit();
    const caller = username === null ? { username, provision: provisionStart ?? undefined } : { username };
    return this.audit.page({ organizationId: organization.id, isDescending: true, kinds: ['file'], ...caller }, page);
  }

  @FieldResolver(() => GraphQLSafeInt, {
    nullable: true,
    description: `Bytes of a file that were sent; null for other entries. ${TELLS_DONORS}`,
  })
  bytes(@Root() { bytes, tellsDonors }: AuditRecord, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): number | null {
    return !tellsDonors || context.access.openDonorData() ? bytes : refuse(context, info);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: `SHA-256 of the bytes of a file, in hex; null for other entries. ${TELLS_DONORS}`,
  })
  fileSha256(
    @Root() { fileSha256, tellsDonors }: AuditRecord,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): string | null {
    return !tellsDonors || context.access.openDonorData() ? fileSha256 : refuse(context, info);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: `SHA-256 of the lines of a file, in hex, as a summary has it; null where it is not known. ${NEEDS_REPORT}`,
  })
  digest(@Root() { digest }: AuditRecord, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): string | null {
    return context.access.openDonorData() ? digest : refuse(context, info);
  }
}
