import { randomUUID } from 'node:crypto';
import type { OrganizationRow, OrganizationStore, ProvisionKind, ProvisionRow } from '../data/organization-store';
import type { UserRow, UserStore } from '../data/user-store';
import { OperatorError } from '../errors';
import { isUuid } from '../values/ids';
import { toHostName } from './access-service';
import { toCommand, toOperator, toProvisionStart, type AuditService } from './audit-service';
import { hashPassword, MIN_PASSWORD_LENGTH } from './passwords';
import { DEFAULT_PRIVILEGES, isPrivilege, isSecret, privileges, SECRET_PRIVILEGES, type Privilege } from './privileges';

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

/**
 * Manages organizations, the provisions issued to them and their users, for operators. Its methods throw OperatorErrors. The audit gets the row
 * of a change before the change is made, so that no change is without a row.
 */
export class OrganizationService {
  constructor(
    private readonly organizations: OrganizationStore,
    private readonly users: UserStore,
    private readonly audit: Pick<AuditService, 'record'>,
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
    const organization = await this.organizations.insert(name, names);
    await this.note(organization.id, 'organization create', undefined, describeHosts(names));
    return organization;
  }

  async setMaintenance(name: string, underMaintenance: boolean): Promise<void> {
    const { id } = await this.get(name);
    await this.note(id, 'organization maintenance', undefined, underMaintenance ? 'on' : 'off');
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
    await this.note(id, 'organization hosts', undefined, describeHosts(names));
    await this.organizations.updateHosts(id, names);
    return names;
  }

  /** Issues a provision and returns its UUID, which is random (version 4, RFC 9562) so that nobody can guess it. */
  async createProvision({ organization, kind, label, grants }: ProvisionRequest): Promise<string> {
    const granted = withDefaults(grants);
    assertMayHold(kind, granted);
    const id = randomUUID();
    const { id: organizationId } = await this.get(organization);
    await this.note(organizationId, 'provision create', subjectOf(id), [kind, ...granted].join(' '));
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
    await this.note(provision.organizationId, `provision ${COMMANDS[change.verb]}`, subjectOf(id), change.privileges.join(' '));
    await this.organizations.updateProvisionPrivileges(id, privileges);
    return privileges;
  }

  /** Revokes a provision. From the next request on, it and all sessions that were opened under it are refused. */
  async revokeProvision(id: string): Promise<void> {
    const provision = isUuid(id) ? await this.organizations.findProvision(id) : null;
    if (provision) await this.note(provision.organizationId, 'provision revoke', subjectOf(id));
    if (!provision || !(await this.organizations.revokeProvision(id)))
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
    await this.note(organizationId, 'user create', `user ${username}`, granted.join(' '));
    await this.users.insert({ organizationId, username, passwordHash: await hashPassword(password), privileges: granted });
    return granted;
  }

  /** Changes a user's privileges in all sessions, from the next request on. Returns all privileges that the user has now. */
  async changeUserGrants(organization: string, username: string, change: GrantChange): Promise<Privilege[]> {
    const user = await this.getUser(organization, username);
    const privileges = applyChange(user.privileges, change);
    await this.note(user.organizationId, `user ${COMMANDS[change.verb]}`, `user ${username}`, change.privileges.join(' '));
    await this.users.updatePrivileges(user.organizationId, username, privileges);
    return privileges;
  }

  /** Disables a user. From the next request on, all sessions of the user are answered with status 401. */
  async disableUser(organization: string, username: string): Promise<void> {
    const { organizationId } = await this.getUser(organization, username);
    await this.note(organizationId, 'user disable', `user ${username}`);
    await this.users.disable(organizationId, username);
  }

  async listUsers(organization: string): Promise<UserRow[]> {
    return this.users.list((await this.get(organization)).id);
  }

  private note(organizationId: number, command: string, subject?: string, detail?: string): Promise<void> {
    return this.audit.record(toOperator(organizationId), toCommand(command), {
      kind: 'rights',
      ...(subject !== undefined && { subject }),
      ...(detail !== undefined && { detail }),
    });
  }
}

/** The commands of the changes of grants. */
const COMMANDS = { grant: 'grant', revoke: 'revoke-grant' } as const satisfies Record<GrantChange['verb'], string>;

const subjectOf = (provision: string): string => `provision ${toProvisionStart(provision)}`;
const describeHosts = (hosts: readonly string[]): string => (hosts.length > 0 ? `hosts ${hosts.join(' ')}` : 'any host');

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
  const secret = SECRET_PRIVILEGES.find((privilege) => granted.includes(privilege));
  if (secret !== undefined && !isSecret(kind))
    throw new OperatorError(`A ${kind} provision is public: only an API provision can be granted ${secret}`);
}

function assertName(what: string, name: string): void {
  if (name.trim() !== name || name === '' || name.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(name)) {
    throw new OperatorError(
      `The name of the ${what} must be 1 to ${MAX_NAME_LENGTH} characters, with no blanks around it and no control characters`,
    );
  }
}
