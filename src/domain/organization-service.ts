import type { DeletedRows, OrganizationRow, OrganizationStore, ProvisionKind } from '../data/organization-store';
import type { NewKey, ProvisionBounds, ProvisionRow, ProvisionStore } from '../data/provision-store';
import type { SavedReportStore } from '../data/saved-report-store';
import type { OpenSession, SessionStore } from '../data/session-store';
import type { UserKey, UserRow, UserStore } from '../data/user-store';
import { OperatorError } from '../errors';
import { isUuid } from '../values/ids';
import { toHostName } from './access-service';
import { toCommand, toOperator, type AuditService } from './audit-service';
import { applyChange, assertMayHold, COMMANDS, withDefaults, type GrantChange } from './grant-changes';
import { hashPassword, MIN_PASSWORD_LENGTH } from './passwords';
import { assertLabel, assertNetworks, describeProvision } from './provision-bounds';
import { createUuid, FIRST_CHARACTERS, hashUuid } from './provision-uuid';
import { isSecret, type Privilege } from './privileges';

export interface ProvisionRequest {
  readonly organization: string;
  readonly kind: ProvisionKind;
  readonly label: string;
  readonly grants: readonly string[];
  /** The bounds of the provision; without them it is good for ever, from anywhere, for everything that it is granted. */
  readonly bounds?: Partial<ProvisionBounds>;
}

/** The new UUID of a provision that was rotated. It is shown once. */
export interface Rotation {
  readonly uuid: string;
  readonly provision: ProvisionRow;
  /** The time from which the earlier UUIDs are refused. */
  readonly overlapEnd: Date;
}

/** The stores of organizations and of all that operators issue to them. */
interface OrganizationStores {
  readonly organizations: OrganizationStore;
  readonly provisions: ProvisionStore;
  readonly users: UserStore;
  readonly sessions: SessionStore;
  readonly savedReports: SavedReportStore;
}

export interface UserRequest {
  readonly organization: string;
  readonly username: string;
  readonly password: string;
  readonly grants: readonly string[];
}

/** An open session with the name by which operators end it: the start of its token's SHA-256, from which nobody gets the token. */
export interface NamedSession extends OpenSession {
  readonly id: string;
}

const SESSION_NAME_LENGTH = 12;
const FIRST = new RegExp(`^[0-9a-f]{${FIRST_CHARACTERS}}$`, 'i');
const NUMBER = /^[1-9][0-9]{0,8}$/;
const MAX_NAME_LENGTH = 200;
const HOST_NAME = /^[a-z0-9-]+(\.[a-z0-9-]+)*$|^\[[0-9a-f:]+\]$/;

/**
 * Manages organizations, the provisions issued to them and their users, for operators. Its methods throw OperatorErrors. The audit gets the row
 * of a change before the change is made, so that no change is without a row.
 */
export class OrganizationService {
  private readonly organizations: OrganizationStore;
  private readonly provisions: ProvisionStore;
  private readonly users: UserStore;

  constructor(
    private readonly stores: OrganizationStores,
    private readonly audit: Pick<AuditService, 'record'>,
  ) {
    ({ organizations: this.organizations, provisions: this.provisions, users: this.users } = stores);
  }

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

  async rename(name: string, newName: string): Promise<void> {
    assertName('organization', newName);
    const { id } = await this.get(name);
    if (await this.organizations.find(newName)) throw new OperatorError(`There is an organization "${newName}" already`);
    await this.note(id, 'organization rename', undefined, `${name} to ${newName}`);
    await this.organizations.updateName(id, newName);
  }

  /**
   * Deletes an organization with its books, provisions, users, saved reports and audit, whose newest place is returned. `confirmedName` is
   * its name once more.
   */
  async delete(name: string, confirmedName: string): Promise<DeletedRows> {
    const { id } = await this.get(name);
    if (confirmedName !== name) throw new OperatorError(`"${confirmedName}" does not confirm the name "${name}": nothing was deleted`);
    await this.note(id, 'organization delete');
    return this.organizations.delete(id);
  }

  /** Issues a provision and returns its UUID, which is stored nowhere. */
  async createProvision({ organization, kind, label, grants, bounds = {} }: ProvisionRequest): Promise<string> {
    const granted = withDefaults(grants);
    assertMayHold(kind, granted);
    assertLabel(label);
    const { expiresAt = null, addresses = [], reports = [] } = bounds;
    assertNetworks(addresses);
    const { id: organizationId } = await this.get(organization);
    await this.assertReports({ organizationId, kind }, reports);
    const { uuid, key } = createUuid();
    const held = { expiresAt, addresses, reports };
    await this.note(organizationId, 'provision create', subjectOf(key), [kind, ...granted, ...describeBounds(held)].join(' '));
    await this.provisions.insert({ organizationId, kind, label, privileges: granted, ...held }, key);
    return uuid;
  }

  async listProvisions(): Promise<ProvisionRow[]> {
    return this.provisions.list();
  }

  /** The provision that an operator names by its number, by the first characters of one of its UUIDs or by a whole one. */
  async getProvision(name: string): Promise<ProvisionRow> {
    const ids = await this.listProvisionIds(name);
    if (ids.length > 1) throw new OperatorError(`Several provisions begin with ${name}: name one by its number, ${ids.join(' or ')}`);
    const provision = ids[0] === undefined ? null : await this.provisions.find(ids[0]);
    // The whole of a UUID may be a secret that was mistyped.
    if (!provision) throw new OperatorError(`There is no provision ${isUuid(name) ? `${name.slice(0, FIRST_CHARACTERS)}…` : name}`);
    return provision;
  }

  private async listProvisionIds(name: string): Promise<number[]> {
    if (isUuid(name)) return this.provisions.listIds({ uuidHash: hashUuid(name) });
    const found = FIRST.test(name) ? await this.provisions.listIds({ firstCharacters: name.toLowerCase() }) : [];
    return found.length === 0 && NUMBER.test(name) ? [Number(name)] : found;
  }

  /** Changes a provision's privileges, from the next request on. Returns all privileges that it has now. */
  async changeProvisionGrants(name: string, change: GrantChange): Promise<Privilege[]> {
    const provision = await this.getProvision(name);
    const privileges = applyChange(provision.privileges, change);
    assertMayHold(provision.kind, privileges);
    await this.noteProvision(provision, COMMANDS[change.verb], change.privileges.join(' '));
    await this.provisions.update(provision.id, { privileges });
    return privileges;
  }

  async labelProvision(name: string, label: string): Promise<ProvisionRow> {
    assertLabel(label);
    const provision = await this.getProvision(name);
    await this.noteProvision(provision, 'label', label);
    await this.provisions.update(provision.id, { label });
    return { ...provision, label };
  }

  /** Sets the time from which a provision is refused; null for never. */
  async expireProvision(name: string, expiresAt: Date | null): Promise<ProvisionRow> {
    const provision = await this.getProvision(name);
    await this.noteProvision(provision, 'expire', expiresAt?.toISOString() ?? 'never');
    await this.provisions.update(provision.id, { expiresAt });
    return { ...provision, expiresAt };
  }

  /** Binds a provision to the networks that its callers come from; none means any. */
  async bindProvisionToAddresses(name: string, addresses: readonly string[]): Promise<ProvisionRow> {
    assertNetworks(addresses);
    const provision = await this.getProvision(name);
    await this.noteProvision(provision, 'addresses', addresses.length > 0 ? addresses.join(' ') : 'any');
    await this.provisions.update(provision.id, { addresses });
    return { ...provision, addresses };
  }

  /** Binds an API provision to saved reports, which it then opens alone; none frees it again. */
  async bindProvisionToReports(name: string, reports: readonly string[]): Promise<ProvisionRow> {
    const provision = await this.getProvision(name);
    await this.assertReports(provision, reports);
    await this.noteProvision(provision, 'reports', reports.length > 0 ? reports.join(' ') : 'unbound');
    await this.provisions.update(provision.id, { reports });
    return { ...provision, reports };
  }

  /** Gives a provision a new UUID. The earlier ones stay good for `overlapMs`, and all sessions stay. */
  async rotateProvision(name: string, overlapMs: number): Promise<Rotation> {
    const provision = await this.getProvision(name);
    if (provision.revokedAt) throw new OperatorError(`Provision ${describeProvision(provision)} is revoked`);
    if (provision.expiresAt && provision.expiresAt <= new Date())
      throw new OperatorError(`Provision ${describeProvision(provision)} has expired: \`provision expire\` sets another time`);
    const { uuid, key } = createUuid();
    const overlapEnd = new Date(Date.now() + overlapMs);
    await this.noteProvision(provision, 'rotate', `to ${key.firstCharacters}, the earlier until ${overlapEnd.toISOString()}`);
    await this.provisions.replaceKey(provision.id, key, overlapEnd);
    return { uuid, provision, overlapEnd };
  }

  /** Revokes a provision. From the next request on, it and all sessions that were opened under it are refused. */
  async revokeProvision(name: string): Promise<ProvisionRow> {
    const provision = await this.getProvision(name);
    if (provision.revokedAt) throw new OperatorError(`Provision ${describeProvision(provision)} is revoked already`);
    await this.noteProvision(provision, 'revoke');
    await this.provisions.update(provision.id, { revokedAt: new Date() });
    return provision;
  }

  async getUser(organization: string, username: string): Promise<UserRow & UserKey> {
    const { id: organizationId } = await this.get(organization);
    const user = await this.users.find(organizationId, username);
    if (!user) throw new OperatorError(`There is no user "${username}" in "${organization}"`);
    return { ...user, organizationId };
  }

  /** Creates a user and returns the privileges that the user has. */
  async createUser({ organization, username, password, grants }: UserRequest): Promise<Privilege[]> {
    assertName('user', username);
    const granted = withDefaults(grants);
    assertPassword(password);
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

  /** Replaces a user's password, and ends the user's sessions. Returns their number. */
  async setPassword(organization: string, username: string, password: string): Promise<number> {
    assertPassword(password);
    const user = await this.getUser(organization, username);
    await this.note(user.organizationId, 'user password', `user ${username}`);
    return this.users.updatePassword(user, await hashPassword(password));
  }

  /**
   * Disables a user. From the next request on, all sessions of the user are answered with status 401. Answers under way end within seconds.
   */
  async disableUser(organization: string, username: string): Promise<void> {
    const user = await this.getUser(organization, username);
    await this.note(user.organizationId, 'user disable', `user ${username}`);
    await this.users.disable(user);
  }

  /** Enables a user again, who has to log in anew. */
  async enableUser(organization: string, username: string): Promise<void> {
    const user = await this.getUser(organization, username);
    if (!user.disabledAt) throw new OperatorError(`User "${username}" of "${organization}" is not disabled`);
    await this.note(user.organizationId, 'user enable', `user ${username}`);
    await this.users.enable(user);
  }

  /** Deletes a user with all sessions. The name stays in the audit. */
  async deleteUser(organization: string, username: string): Promise<void> {
    const user = await this.getUser(organization, username);
    await this.note(user.organizationId, 'user delete', `user ${username}`);
    await this.users.delete(user);
  }

  async listUsers(organization: string): Promise<UserRow[]> {
    return this.users.list((await this.get(organization)).id);
  }

  /** The open sessions of an organization, or of one of its users, the newest first. */
  async listSessions(organization: string, username?: string): Promise<NamedSession[]> {
    const sessions = await this.stores.sessions.list(await this.getSessionOwner(organization, username));
    return sessions.map((session) => ({ ...session, id: session.tokenHash.toString('hex').slice(0, SESSION_NAME_LENGTH) }));
  }

  /** Ends the session of a name, which `listSessions` tells. */
  async endSession(organization: string, id: string): Promise<void> {
    const found = (await this.listSessions(organization)).find((session) => session.id === id.toLowerCase());
    if (!found) throw new OperatorError(`There is no session ${id} in "${organization}"`);
    await this.note((await this.get(organization)).id, 'session end', `user ${found.username}`, `session ${found.id}`);
    await this.stores.sessions.delete(found.tokenHash);
  }

  /** Ends all sessions of an organization, or of one of its users. Returns their number. */
  async endSessions(organization: string, username?: string): Promise<number> {
    const owner = await this.getSessionOwner(organization, username);
    await this.note(owner.organizationId, 'session end', username === undefined ? undefined : `user ${username}`, 'all sessions');
    return this.stores.sessions.deleteAll(owner);
  }

  private async getSessionOwner(organization: string, username: string | undefined) {
    if (username === undefined) return { organizationId: (await this.get(organization)).id };
    const { organizationId, id: userId } = await this.getUser(organization, username);
    return { organizationId, userId };
  }

  private noteProvision({ organizationId, keys }: ProvisionRow, verb: string, detail?: string): Promise<void> {
    return this.note(organizationId, `provision ${verb}`, subjectOf(keys[0]!), detail);
  }

  private note(organizationId: number, command: string, subject?: string, detail?: string): Promise<void> {
    return this.audit.record(toOperator(organizationId), toCommand(command), {
      kind: 'rights',
      ...(subject !== undefined && { subject }),
      ...(detail !== undefined && { detail }),
    });
  }

  private async assertReports({ organizationId, kind }: Pick<ProvisionRow, 'organizationId' | 'kind'>, reports: readonly string[]) {
    if (reports.length > 0 && !isSecret(kind))
      throw new OperatorError(`A ${kind} provision is public: only an API provision is bound to reports`);
    const known = new Set((await this.stores.savedReports.list(organizationId, { names: reports })).map(({ name }) => name));
    const missing = reports.find((name) => !known.has(name));
    if (missing !== undefined) throw new OperatorError(`There is no saved report "${missing}"`);
  }
}

const subjectOf = ({ firstCharacters }: Pick<NewKey, 'firstCharacters'>): string => `provision ${firstCharacters}`;
const describeBounds = ({ expiresAt, addresses, reports }: ProvisionBounds): string[] => [
  ...(expiresAt ? [`until ${expiresAt.toISOString()}`] : []),
  ...addresses,
  ...reports.map((report) => `/reports/${report}`),
];
const describeHosts = (hosts: readonly string[]): string => (hosts.length > 0 ? `hosts ${hosts.join(' ')}` : 'any host');

function toHostNames(hosts: readonly string[]): string[] {
  const names = hosts.map(toHostName);
  const wrong = names.find((host) => !HOST_NAME.test(host));
  if (wrong !== undefined) throw new OperatorError(`"${wrong}" is not a host name`);
  return names;
}

function assertPassword(password: string): void {
  if (password.length < MIN_PASSWORD_LENGTH) throw new OperatorError(`The password needs at least ${MIN_PASSWORD_LENGTH} characters`);
}

function assertName(what: string, name: string): void {
  if (name.trim() !== name || name === '' || name.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(name)) {
    throw new OperatorError(
      `The name of the ${what} must be 1 to ${MAX_NAME_LENGTH} characters, with no blanks around it and no control characters`,
    );
  }
}
