import type { RequestAccess } from '../../domain/access/access-service';
import { AppError } from '../../errors';

/** The callers who may read the schema: `session` members of an organization, `on` everyone with a provision, `off` nobody. */
export type Introspection = 'session' | 'on' | 'off';

/** Authorizes a caller to read the schema, by introspection or as a file. Throws an AppError. */
export async function authorizeIntrospection(access: RequestAccess, introspection: Introspection): Promise<void> {
  await access.authorizeProvision();
  if (introspection === 'off') throw new AppError('INTROSPECTION_DISABLED');
  if (introspection === 'session') await access.authorizeMember();
}
