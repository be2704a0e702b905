import type { Database } from './postgres/database';

/** The kind of application that a provision was issued to. */
export type ProvisionKind = 'WEB' | 'MOBILE' | 'API';

export interface OrganizationRow {
  readonly id: number;
  readonly name: string;
  readonly hosts: readonly string[];
  readonly underMaintenance: boolean;
  /** The month with which its fiscal year begins, 1 to 12. */
  readonly fiscalYearStart: number;
}

export interface NewProvision {
  readonly id: string;
  readonly organizationId: number;
  readonly kind: ProvisionKind;
  readonly label: string;
  readonly privileges: readonly string[];
}

export interface ProvisionRow extends NewProvision {
  readonly organization: OrganizationRow;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Reads and writes organizations and the provisions issued to them. */
export class OrganizationStore {
  constructor(private readonly database: Database) {}

  async find(name: string): Promise<OrganizationRow | null> {
    return this.database.prisma.organization.findUnique({ where: { name } });
  }

  async list(): Promise<OrganizationRow[]> {
    return this.database.prisma.organization.findMany({ orderBy: { name: 'asc' } });
  }

  async insert(name: string, hosts: readonly string[]): Promise<OrganizationRow> {
    return this.database.prisma.organization.create({ data: { name, hosts: [...hosts] } });
  }

  async updateMaintenance(id: number, underMaintenance: boolean): Promise<void> {
    await this.database.prisma.organization.update({ where: { id }, data: { underMaintenance } });
  }

  async updateHosts(id: number, hosts: readonly string[]): Promise<void> {
    await this.database.prisma.organization.update({ where: { id }, data: { hosts: [...hosts] } });
  }

  async updateFiscalYear(id: number, fiscalYearStart: number): Promise<void> {
    await this.database.prisma.organization.update({ where: { id }, data: { fiscalYearStart } });
  }

  async insertProvision(provision: NewProvision): Promise<void> {
    await this.database.prisma.provision.create({ data: { ...provision, privileges: [...provision.privileges] } });
  }

  async listProvisions(): Promise<ProvisionRow[]> {
    return this.database.prisma.provision.findMany({
      include: { organization: true },
      orderBy: [{ organizationId: 'asc' }, { createdAt: 'asc' }],
    });
  }

  async findProvision(id: string): Promise<NewProvision | null> {
    return this.database.prisma.provision.findUnique({ where: { id } });
  }

  async updateProvisionPrivileges(id: string, privileges: readonly string[]): Promise<void> {
    await this.database.prisma.provision.update({ where: { id }, data: { privileges: [...privileges] } });
  }

  /** Revokes a provision. False when there is no such provision, or when it was already revoked. */
  async revokeProvision(id: string): Promise<boolean> {
    const { count } = await this.database.prisma.provision.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: new Date() } });
    return count > 0;
  }
}
