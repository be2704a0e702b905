import type { Database } from './postgres/database';

export interface UserRow {
  readonly id: number;
  readonly username: string;
  readonly passwordHash: string;
  readonly privileges: readonly string[];
  readonly disabledAt: Date | null;
  readonly createdAt: Date;
}

export interface NewUser {
  readonly organizationId: number;
  readonly username: string;
  readonly passwordHash: string;
  readonly privileges: readonly string[];
}

export class UserStore {
  constructor(private readonly database: Database) {}

  async find(organizationId: number, username: string): Promise<UserRow | null> {
    return this.database.prisma.user.findUnique({ where: { organizationId_username: { organizationId, username } } });
  }

  async list(organizationId: number): Promise<UserRow[]> {
    return this.database.prisma.user.findMany({ where: { organizationId }, orderBy: { username: 'asc' } });
  }

  async insert(user: NewUser): Promise<UserRow> {
    return this.database.prisma.user.create({ data: { ...user, privileges: [...user.privileges] } });
  }

  async updatePrivileges(organizationId: number, username: string, privileges: readonly string[]): Promise<void> {
    await this.database.prisma.user.update({
      where: { organizationId_username: { organizationId, username } },
      data: { privileges: [...privileges] },
    });
  }

  async disable(organizationId: number, username: string): Promise<void> {
    await this.database.prisma.user.update({
      where: { organizationId_username: { organizationId, username } },
      data: { disabledAt: new Date() },
    });
  }
}
