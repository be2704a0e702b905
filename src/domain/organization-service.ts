import { randomUUID } from 'node:crypto';
import type { OrganizationRow, OrganizationStore, ProvisionKind, ProvisionRow } from '../data/organization-store';
import type { UserRow, UserStore } from '../data/user-store';
import { OperatorError } from '../errors';
import { isUuid } from '../values/ids';
import { toHostName } from './access-service';
import { hashPassword, MIN_PASSWORD_LENGTH } from './passwords';
import { DEFAULT_PRIVILEGES, isPrivilege, isSecret, privileges, REPORT_PRIVILEGE, type Privilege } from './privileges';

export interface ProvisionRequest {
  readonly organization: string;
  readonly kind: ProvisionKind;
  readonly label: string;
  readonly grants: readonly string[];
}

export interface UserRequest {
  readonly organization: string;
  readonly username: string;
  readonly password: string;
  readonly grants: readonly string[];
}

/** Privileges to grant to a user or provision, or to revoke. */
export interface GrantChange {
  readonly verb: 'grant' | 'revoke';
  readonly privileges: readonly string[];
}

const MAX_NAME_LENGTH = 200;
const HOST_NAME = /^[a-z0-9-]+(\.[a-z0-9-]+)*$|^\[[0-9a-f:]+\]$/;

/** Manages organizations, the provisions issued to them and their users, for operators. Its methods throw OperatorErrors. */
export class OrganizationService {
  constructor(
    private readonly organizations: OrganizationStore,
    private readonly users: UserStore,
  ) {}

  async get(name: string): Promise<OrganizationRow> {
    const organization = await this.organizations.find(name);
    if (!organization) throw new OperatorError(`There is no organization "${name}"`);
    return organization;
  }

  async list(): Promise<OrganizationRow[]> {
    return this.organizations.list();
  }

  /** Creates an organization. `hosts` are the names at which it may be reached; an empty list means any. */
  async create(name: string, hosts: readonly string[]): Promise<OrganizationRow> {
    assertName('organization', name);
    const names = toHostNames(hosts);
    if (await this.organizations.find(name)) throw new OperatorError(`There is an organization "${name}" already`);
    return this.organizations.insert(name, names);
  }

  async setMaintenance(name: string, underMaintenance: boolean): Promise<void> {
    const { id } = await this.get(name);
    await this.organizations.updateMaintenance(id, underMaintenance);
  }

  /** Sets the month with which an organization's fiscal year begins, 1 to 12. */
  async setFiscalYear(name: string, month: number): Promise<void> {
    const { id } = await this.get(name);
    await this.organizations.updateFiscalYear(id, month);
  }

  /** Sets the names at which an organization may be reached, from the next request on. Returns them as they are stored; none means any. */
  async setHosts(name: string, hosts: readonly string[]): Promise<string[]> {
    const names = toHostNames(hosts);
    const { id } = await this.get(name);
    await this.organizations.updateHosts(id, names);
    return names;
  }

  /** Issues a provision and returns its UUID, which is random (version 4, RFC 9562) so that nobody can guess it. */
  async createProvision({ organization, kind, label, grants }: ProvisionRequest): Promise<string> {
    const granted = withDefaults(grants);
    assertMayHold(kind, granted);
    const id = randomUUID();
    const { id: organizationId } = await this.get(organization);
    await this.organizations.insertProvision({ id, organizationId, kind, label, privileges: granted });
    return id;
  }

  async listProvisions(): Promise<ProvisionRow[]> {
    return this.organizations.listProvisions();
  }

  /** Changes a provision's privileges, from the next request on. Returns all privileges that it has now. */
  async changeProvisionGrants(id: string, change: GrantChange): Promise<Privilege[]> {
    const provision = isUuid(id) ? await this.organizations.findProvision(id) : null;
    if (!provision) throw new OperatorError(`There is no provision ${id}`);
    const privileges = applyChange(provision.privileges, change);
    assertMayHold(provision.kind, privileges);
    await this.organizations.updateProvisionPrivileges(id, privileges);
    return privileges;
  }

  /** Revokes a provision. From the next request on, it and all sessions that were opened under it are refused. */
  async revokeProvision(id: string): Promise<void> {
    if (!isUuid(id) || !(await this.organizations.revokeProvision(id)))
      throw new OperatorError(`There is no provision ${id} that could be revoked`);
  }

  async getUser(organization: string, username: string): Promise<UserRow & { readonly organizationId: number }> {
    const { id: organizationId } = await this.get(organization);
    const user = await this.users.find(organizationId, username);
    if (!user) throw new OperatorError(`There is no user "${username}" in "${organization}"`);
    return { ...user, organizationId };
  }

  /** Creates a user and returns the privileges that the user has. */
  async createUser({ organization, username, password, grants }: UserRequest): Promise<Privilege[]> {
    assertName('user', username);
    const granted = withDefaults(grants);
    if (password.length < MIN_PASSWORD_LENGTH) throw new OperatorError(`The password needs at least ${MIN_PASSWORD_LENGTH} characters`);
    const { id: organizationId } = await this.get(organization);
    if (await this.users.find(organizationId, username))
      throw new OperatorError(`There is a user "${username}" in "${organization}" already`);
    await this.users.insert({ organizationId, username, passwordHash: await hashPassword(password), privileges: granted });
    return granted;
  }

  /** Changes a user's privileges in all sessions, from the next request on. Returns all privileges that the user has now. */
  async changeUserGrants(organization: string, username: string, change: GrantChange): Promise<Privilege[]> {
    const user = await this.getUser(organization, username);
    const privileges = applyChange(user.privileges, change);
    await this.users.updatePrivileges(user.organizationId, username, privileges);
    return privileges;
  }

  /** Disables a user. From the next request on, all sessions of the user are answered with status 401. */
  async disableUser(organization: string, username: string): Promise<void> {
    const { organizationId } = await this.getUser(organization, username);
    await this.users.disable(organizationId, username);
  }

  async listUsers(organization: string): Promise<UserRow[]> {
    return this.users.list((await this.get(organization)).id);
  }
}

function toHostNames(hosts: readonly string[]): string[] {
  const names = hosts.map(toHostName);
  const wrong = names.find((host) => !HOST_NAME.test(host));
  if (wrong !== undefined) throw new OperatorError(`"${wrong}" is not a host name`);
  return names;
}

const withDefaults = (grants: readonly string[]): Privilege[] => applyChange(DEFAULT_PRIVILEGES, { verb: 'grant', privileges: grants });

function applyChange(held: readonly string[], change: GrantChange): Privilege[] {
  const wrong = change.privileges.find((privilege) => !isPrivilege(privilege));
  if (wrong !== undefined) throw new OperatorError(`There is no privilege "${wrong}"; there are ${privileges.join(', ')}`);
  const named = new Set(change.privileges);
  return privileges.filter((privilege) =>
    change.verb === 'grant' ? held.includes(privilege) || named.has(privilege) : held.includes(privilege) && !named.has(privilege),
  );
}

function assertMayHold(kind: ProvisionKind, granted: readonly Privilege[]): void {
  if (granted.includes(REPORT_PRIVILEGE) && !isSecret(kind))
    throw new OperatorError(`A ${kind} provision is public: only an API provision can be granted ${REPORT_PRIVILEGE}`);
}

function assertName(what: string, name: string): void {
  if (name.trim() !== name || name === '' || name.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(name)) {
    throw new OperatorError(
      `The name of the ${what} must be 1 to ${MAX_NAME_LENGTH} characters, with no blanks around it and no control characters`,
    );
  }
}
