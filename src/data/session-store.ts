import { AppError } from '../errors';
import type { Database } from './postgres/database';

export interface NewSession {
  readonly tokenHash: Buffer;
  /** The SHA-256 of the token's proof, which links carry. */
  readonly linkHash: Buffer;
  readonly organizationId: number;
  readonly userId: number;
  readonly provisionId: number;
  readonly expiresAt: Date;
}

/** An open session as operators see it. */
export interface OpenSession {
  readonly tokenHash: Buffer;
  readonly username: string;
  /** The first characters of the newest key of the session's provision. */
  readonly provision: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
}

/** The sessions of an organization's users, or of one of them. */
interface SessionList {
  readonly organizationId: number;
  readonly userId?: number | undefined;
}

const MS_PER_MINUTE = 60_000;

export class SessionStore {
  constructor(
    private readonly database: Database,
    private readonly sessionIdleMinutes: number,
  ) {}

  /** Opens a session, deletes the earlier one when there is one, and deletes the user's expired ones, all in one transaction. */
  async replace(session: NewSession, earlierTokenHash: Buffer | undefined): Promise<void> {
    const { prisma } = this.database;
    const { organizationId, userId } = session;
    try {
      await prisma.$transaction([
        prisma.session.deleteMany({
          where: {
            OR: [
              { organizationId, userId, expiresAt: { lt: new Date() } },
              ...(earlierTokenHash ? [{ tokenHash: toBytes(earlierTokenHash) }] : []),
            ],
          },
        }),
        prisma.session.create({ data: { ...session, tokenHash: toBytes(session.tokenHash), linkHash: toBytes(session.linkHash) } }),
      ]);
    } catch (error) {
      throw asSessionFailure(error);
    }
  }

  /** Deletes a session. True when there was one. */
  async delete(tokenHash: Buffer): Promise<boolean> {
    return (await this.database.prisma.session.deleteMany({ where: { tokenHash: toBytes(tokenHash) } })).count > 0;
  }

  /** Lists the sessions that have not ended, the newest first. A disabled user has none. */
  async list({ organizationId, userId }: SessionList): Promise<OpenSession[]> {
    const key = { select: { firstCharacters: true }, orderBy: { createdAt: 'desc' }, take: 1 } as const;
    const now = Date.now();
    const rows = await this.database.prisma.session.findMany({
      where: {
        ...{ organizationId, ...(userId !== undefined && { userId }) },
        ...{ expiresAt: { gt: new Date(now) }, lastSeenAt: { gt: new Date(now - this.sessionIdleMinutes * MS_PER_MINUTE) } },
        user: { disabledAt: null },
      },
      include: { user: { select: { username: true } }, provision: { select: { keys: key } } },
      orderBy: { createdAt: 'desc' },
    });
    return rows.map(({ tokenHash, user, provision, createdAt, lastSeenAt, expiresAt }) => ({
      ...{ tokenHash: Buffer.from(tokenHash), username: user.username, provision: provision.keys[0]!.firstCharacters },
      ...{ createdAt, lastSeenAt, expiresAt },
    }));
  }

  /** Deletes the sessions of an organization, or those of a user. Returns their number. */
  async deleteAll({ organizationId, userId }: SessionList): Promise<number> {
    const where = { organizationId, ...(userId !== undefined && { userId }) };
    return (await this.database.prisma.session.deleteMany({ where })).count;
  }
}

const toBytes = (buffer: Buffer): Uint8Array<ArrayBuffer> => Uint8Array.from(buffer);

/** A failed query means that the data source answers, but its session store does not work. */
function asSessionFailure(error: unknown): unknown {
  const queryFailed = error instanceof AppError && error.code === 'DATA_SOURCE_QUERY_FAILED';
  return queryFailed ? new AppError('ESTABLISHING_SESSION_FAILED', { cause: error.cause }) : error;
}
