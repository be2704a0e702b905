import type { MemberAccess } from '../../domain/access/access-service';
import type { EntityGraph } from '../../domain/reports/entity-service';
import type { RequestContext } from './request-context';

/** Entities for every member of the organization. Personal fields are not read for members without the privilege. Throws an AppError. */
export async function memberEntities(context: RequestContext): Promise<EntityGraph> {
  return enter(context, await context.access.authorizeMember());
}

/** Entities for members who were granted the report. Throws PRIVILEGE_NOT_FOUND. */
export async function donorEntities(context: RequestContext): Promise<EntityGraph> {
  return enter(context, await context.access.authorizeDonors());
}

const enter = ({ access, entities }: RequestContext, { organization, mayReadDonors }: MemberAccess): EntityGraph =>
  entities.enter({ organizationId: organization.id, mayReadDonors }, () => access.openDonorData());
