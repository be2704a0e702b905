import type { ProvisionKind } from '../../data/access/organization-store';
import type { NewKey, ProvisionBounds, ProvisionRow, ProvisionStore } from '../../data/access/provision-store';
import type { SavedReportStore } from '../../data/reports/saved-report-store';
import { OperatorError } from '../../errors';
import { isUuid } from '../../values/ids';
import { applyChange, assertMayHold, COMMANDS, withDefaults, type GrantChange } from './grant-changes';
import type { OrganizationService } from './organization-service';
import { assertLabel, assertNetworks, describeProvision, SCHEMA_FILE, toBoundPath } from './provision-bounds';
import { createUuid, FIRST_CHARACTERS, hashUuid } from './provision-uuid';
import { isSecret, type Privilege } from '../../values/privileges';
import type { RightsAudit } from '../audit/rights-audit';

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

const FIRST = new RegExp(`^[0-9a-f]{${FIRST_CHARACTERS}}$`, 'i');
const NUMBER = /^[1-9][0-9]{0,8}$/;

/** Manages the provisions of organizations for operators. Its methods throw OperatorErrors. */
export class ProvisionService {
  constructor(
    private readonly organizations: OrganizationService,
    private readonly provisions: ProvisionStore,
    private readonly savedReports: SavedReportStore,
    private readonly rights: RightsAudit,
  ) {}

  /** Issues a provision and returns its UUID, which is stored nowhere. */
  async create({ organization, kind, label, grants, bounds = {} }: ProvisionRequest): Promise<string> {
    const granted = withDefaults(grants);
    assertMayHold(kind, granted);
    assertLabel(label);
    const { expiresAt = null, addresses = [], reports = [] } = bounds;
    assertNetworks(addresses);
    const { id: organizationId } = await this.organizations.get(organization);
    await this.assertReports({ organizationId, kind }, reports);
    const { uuid, key } = createUuid();
    const held = { expiresAt, addresses, reports };
    await this.rights.note(organizationId, 'provision create', subjectOf(key), [kind, ...granted, ...describeBounds(held)].join(' '));
    await this.provisions.insert({ organizationId, kind, label, privileges: granted, ...held }, key);
    return uuid;
  }

  /** The provisions of an organization, or of all. */
  async list(organization?: string): Promise<ProvisionRow[]> {
    return this.provisions.list(organization === undefined ? undefined : (await this.organizations.get(organization)).id);
  }

  /** The provision that a whole UUID leads to, or null. */
  async find(uuid: string): Promise<ProvisionRow | null> {
    const [id] = await this.provisions.listIds({ uuidHash: hashUuid(uuid) });
    return id === undefined ? null : this.provisions.find(id);
  }

  /** The provision that an operator names by its number, by the first characters of one of its UUIDs or by a whole one. */
  async get(name: string): Promise<ProvisionRow> {
    const ids = await this.listIds(name);
    if (ids.length > 1) throw new OperatorError(`Several provisions begin with ${name}: name one by its number, ${ids.join(' or ')}`);
    const provision = ids[0] === undefined ? null : await this.provisions.find(ids[0]);
    // The whole of a UUID may be a secret that was mistyped.
    if (!provision) throw new OperatorError(`There is no provision ${isUuid(name) ? `${name.slice(0, FIRST_CHARACTERS)}…` : name}`);
    return provision;
  }

  private async listIds(name: string): Promise<number[]> {
    if (isUuid(name)) return this.provisions.listIds({ uuidHash: hashUuid(name) });
    const found = FIRST.test(name) ? await this.provisions.listIds({ firstCharacters: name.toLowerCase() }) : [];
    return found.length === 0 && NUMBER.test(name) ? [Number(name)] : found;
  }

  /** Changes a provision's privileges, from the next request on. Returns all privileges that it has now. */
  async changeGrants(name: string, change: GrantChange): Promise<Privilege[]> {
    let provision = await this.getOpen(name);
    let privileges = applyChange(provision.privileges, change);
    assertMayHold(provision.kind, privileges);
    await this.noteProvision(provision, COMMANDS[change.verb], change.privileges.join(' '));
    // Another change may have come between.
    while (!(await this.provisions.updatePrivileges(provision, privileges))) {
      provision = await this.getOpen(name);
      privileges = applyChange(provision.privileges, change);
    }
    return privileges;
  }

  async label(name: string, label: string): Promise<ProvisionRow> {
    assertLabel(label);
    const provision = await this.get(name);
    await this.noteProvision(provision, 'label', label);
    await this.provisions.update(provision.id, { label });
    return { ...provision, label };
  }

  /** Sets the time from which a provision is refused; null for never. */
  async expire(name: string, expiresAt: Date | null): Promise<ProvisionRow> {
    const provision = await this.getOpen(name);
    await this.noteProvision(provision, 'expire', expiresAt?.toISOString() ?? 'never');
    await this.provisions.update(provision.id, { expiresAt });
    return { ...provision, expiresAt };
  }

  /** Binds a provision to the networks that its callers come from; none means any. */
  async bindToAddresses(name: string, addresses: readonly string[]): Promise<ProvisionRow> {
    assertNetworks(addresses);
    const provision = await this.getOpen(name);
    await this.noteProvision(provision, 'addresses', addresses.length > 0 ? addresses.join(' ') : 'any');
    await this.provisions.update(provision.id, { addresses });
    return { ...provision, addresses };
  }

  /** Binds an API provision to saved reports, which it then opens alone; none frees it again. */
  async bindToReports(name: string, reports: readonly string[]): Promise<ProvisionRow> {
    const provision = await this.getOpen(name);
    await this.assertReports(provision, reports);
    await this.noteProvision(provision, 'reports', reports.length > 0 ? reports.join(' ') : 'unbound');
    await this.provisions.update(provision.id, { reports });
    return { ...provision, reports };
  }

  /** Gives a provision a new UUID. The earlier ones stay good for `overlapMs`, as long as the provision itself is, and all sessions stay. */
  async rotate(name: string, overlapMs: number): Promise<Rotation> {
    const provision = await this.getOpen(name);
    // An earlier UUID may have leaked, and this machine's clock may be wrong.
    const now = await this.provisions.readTime();
    if (provision.expiresAt && provision.expiresAt <= now)
      throw new OperatorError(`Provision ${describeProvision(provision)} has expired: \`provision expire\` sets another time`);
    const { uuid, key } = createUuid();
    const overlapEnd = new Date(Math.min(now.getTime() + overlapMs, provision.expiresAt?.getTime() ?? Infinity));
    await this.noteProvision(provision, 'rotate', `to ${key.firstCharacters}, the earlier until ${overlapEnd.toISOString()}`);
    await this.provisions.replaceKey(provision.id, key, overlapEnd);
    return { uuid, provision, overlapEnd };
  }

  /** Revokes a provision. From the next request on, it and all sessions that were opened under it are refused. */
  async revoke(name: string): Promise<ProvisionRow> {
    const provision = await this.get(name);
    if (provision.revokedAt) throw new OperatorError(`Provision ${describeProvision(provision)} is revoked already`);
    await this.noteProvision(provision, 'revoke');
    await this.provisions.update(provision.id, { revokedAt: new Date() });
    return provision;
  }

  /** The provision of a name. Throws an OperatorError for one that is revoked, whose changes would let nobody in. */
  private async getOpen(name: string): Promise<ProvisionRow> {
    const provision = await this.get(name);
    if (provision.revokedAt) throw new OperatorError(`Provision ${describeProvision(provision)} is revoked`);
    return provision;
  }

  private noteProvision({ organizationId, keys }: ProvisionRow, verb: string, detail?: string): Promise<void> {
    return this.rights.note(organizationId, `provision ${verb}`, subjectOf(keys[0]!), detail);
  }

  private async assertReports({ organizationId, kind }: Pick<ProvisionRow, 'organizationId' | 'kind'>, reports: readonly string[]) {
    if (reports.length > 0 && !isSecret(kind))
      throw new OperatorError(`A ${kind} provision is public: only an API provision is bound to reports`);
    const saved = await this.savedReports.list(organizationId, { names: reports });
    const known = new Set([SCHEMA_FILE, ...saved.map(({ name }) => name)]);
    const missing = reports.find((name) => !known.has(name));
    if (missing !== undefined) throw new OperatorError(`There is no saved report "${missing}"`);
  }
}

const subjectOf = ({ firstCharacters }: Pick<NewKey, 'firstCharacters'>): string => `provision ${firstCharacters}`;
const describeBounds = ({ expiresAt, addresses, reports }: ProvisionBounds): string[] => [
  ...(expiresAt ? [`until ${expiresAt.toISOString()}`] : []),
  ...addresses,
  ...reports.map(toBoundPath),
];
