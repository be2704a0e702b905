import type { Database } from '../postgres/database';

export interface UserRow {
  readonly id: number;
  readonly username: string;
  readonly passwordHash: string;
  readonly privileges: readonly string[];
  readonly disabledAt: Date | null;
  /** The address that reports are mailed to. */
  readonly email: string | null;
  readonly createdAt: Date;
}

export interface NewUser {
  readonly organizationId: number;
  readonly username: string;
  readonly passwordHash: string;
  readonly privileges: readonly string[];
}

/** The primary key of a user. */
export interface UserKey {
  readonly organizationId: number;
  readonly id: number;
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

  /** Replaces the privileges that a user was read with. False when they are others by now. */
  async updatePrivileges({ organizationId, id, privileges: before }: UserKey & UserRow, privileges: readonly string[]): Promise<boolean> {
    const where = { organizationId, id, privileges: { equals: [...before] } };
    return (await this.database.prisma.user.updateMany({ where, data: { privileges: [...privileges] } })).count > 0;
  }

  /** Replaces a password and deletes the user's sessions. Returns the number of sessions. */
  async updatePassword({ organizationId, id }: UserKey, passwordHash: string): Promise<number> {
    return this.endSessions({ organizationId, id }, { passwordHash });
  }

  async updateEmail({ organizationId, id }: UserKey, email: string | null): Promise<void> {
    await this.database.prisma.user.update({ where: { organizationId_id: { organizationId, id } }, data: { email } });
  }

  async disable({ organizationId, id }: UserKey): Promise<void> {
    await this.database.prisma.user.update({ where: { organizationId_id: { organizationId, id } }, data: { disabledAt: new Date() } });
  }

  /** Enables a user. The sessions that were open when the user was disabled are deleted. */
  async enable({ organizationId, id }: UserKey): Promise<void> {
    await this.endSessions({ organizationId, id }, { disabledAt: null });
  }

  /** Deletes a user and the user's sessions. */
  async delete({ organizationId, id }: UserKey): Promise<void> {
    await this.database.prisma.user.delete({ where: { organizationId_id: { organizationId, id } } });
  }

  private async endSessions({ organizationId, id }: UserKey, data: { passwordHash: string } | { disabledAt: null }): Promise<number> {
    const { prisma } = this.database;
    const [, , { count }] = await prisma.$transaction([
      // A login that is under way has locked the row by its new session, which is deleted then, or waits and sees the change.
      prisma.$queryRaw`SELECT id FROM "user" WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`,
      prisma.user.update({ where: { organizationId_id: { organizationId, id } }, data }),
      prisma.session.deleteMany({ where: { organizationId, userId: id } }),
    ]);
    return count;
  }
}
