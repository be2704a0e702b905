import type { ClassType } from 'type-graphql';
import type { OrganizationService } from '../../domain/access/organization-service';
import type { ProvisionService } from '../../domain/access/provision-service';
import type { UsageService } from '../../domain/access/usage-service';
import type { UserService } from '../../domain/access/user-service';
import { OrganizationOperations } from './organization-operations';
import { ProvisionOperations } from './provision-operations';
import { UsageOperations } from './usage-operations';
import { UserOperations } from './user-operations';

interface OperatedServices {
  readonly organizations: OrganizationService;
  readonly provisions: ProvisionService;
  readonly users: UserService;
  readonly usage: UsageService;
}

/** One instance of each class of operators' fields, by its class. */
export const createOperatorSet = ({ organizations, provisions, users, usage }: OperatedServices): ReadonlyMap<ClassType, object> =>
  new Map<ClassType, object>([
    [OrganizationOperations, new OrganizationOperations(organizations)],
    [ProvisionOperations, new ProvisionOperations(provisions)],
    [UserOperations, new UserOperations(users)],
    [UsageOperations, new UsageOperations(usage)],
  ]);
