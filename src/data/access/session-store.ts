import { AppError } from '../../errors';
import type { Database } from '../postgres/database';
import { findSqlFault, MISSING_PARENT } from '../postgres/sql-fault';

export interface NewSession {
  readonly tokenHash: Buffer;
  /** The SHA-256 of the token's proof, which links carry. */
  readonly linkHash: Buffer;
  readonly organizationId: number;
  readonly userId: number;
  readonly provisionId: number;
  readonly expiresAt: Date;
}

/** The user and the provision of a session, as the audit names a caller. */
interface SessionOwner {
  readonly organizationId: number;
  readonly username: string;
  readonly provisionLabel: string;
  /** The first characters of the newest key of the session's provision. */
  readonly provisionStart: string;
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

  /**
   * Opens a session of a user whose password has this hash, and deletes the user's expired ones. False, and no session, when the user has
   * another password by now, is disabled or was deleted.
   */
  async open(session: NewSession, passwordHash: string): Promise<boolean> {
    const { prisma } = this.database;
    const { organizationId, userId } = session;
    const [tokenHash, linkHash] = [toBytes(session.tokenHash), toBytes(session.linkHash)];
    try {
      // The foreign key of the new row locks the user (FOR KEY SHARE). Changes of a password, enabling and deletion lock the user too (FOR
      // UPDATE in UserStore). Each waits for the other: the second statement here sees an earlier change, and a later one deletes the row.
      const [, { count: refused }] = await prisma.$transaction([
        prisma.session.create({ data: { ...session, tokenHash, linkHash } }),
        prisma.session.deleteMany({ where: { tokenHash, user: { NOT: { passwordHash, disabledAt: null } } } }),
        prisma.session.deleteMany({ where: { organizationId, userId, expiresAt: { lt: new Date() } } }),
      ]);
      return refused === 0;
    } catch (error) {
      if (findSqlFault(error)?.sqlState === MISSING_PARENT) return false;
      throw asSessionFailure(error);
    }
  }

  /** The user and the provision of a session, open or expired; null when there is none. */
  async findOwner(tokenHash: Buffer): Promise<SessionOwner | null> {
    const row = await this.database.prisma.session
      .findUnique({
        where: { tokenHash: toBytes(tokenHash) },
        include: { user: { select: { username: true } }, provision: { select: { label: true, keys: NEWEST_KEY } } },
      })
      .catch((error: unknown) => {
        throw asSessionFailure(error);
      });
    if (!row) return null;
    const { organizationId, user, provision } = row;
    const { label: provisionLabel, keys } = provision;
    return { organizationId, username: user.username, provisionLabel, provisionStart: keys[0]!.firstCharacters };
  }

  /** Deletes a session. True when there was one. */
  async delete(tokenHash: Buffer): Promise<boolean> {
    return (await this.database.prisma.session.deleteMany({ where: { tokenHash: toBytes(tokenHash) } })).count > 0;
  }

  /** Lists the sessions that have not ended, the newest first. A disabled user has none. */
  async list({ organizationId, userId }: SessionList): Promise<OpenSession[]> {
    const now = Date.now();
    const rows = await this.database.prisma.session.findMany({
      where: {
        organizationId,
        ...(userId !== undefined && { userId }),
        expiresAt: { gt: new Date(now) },
        lastSeenAt: { gt: new Date(now - this.sessionIdleMinutes * MS_PER_MINUTE) },
        user: { disabledAt: null },
      },
      include: { user: { select: { username: true } }, provision: { select: { keys: NEWEST_KEY } } },
      orderBy: { createdAt: 'desc' },
    });
    return rows.map(({ tokenHash, user, provision, createdAt, lastSeenAt, expiresAt }) => ({
      tokenHash: Buffer.from(tokenHash),
      username: user.username,
      provision: provision.keys[0]!.firstCharacters,
      createdAt,
      lastSeenAt,
      expiresAt,
    }));
  }

  /** Deletes the sessions of an organization, or those of a user. Returns their number. */
  async deleteAll({ organizationId, userId }: SessionList): Promise<number> {
    const where = { organizationId, ...(userId !== undefined && { userId }) };
    return (await this.database.prisma.session.deleteMany({ where })).count;
  }
}

const NEWEST_KEY = { select: { firstCharacters: true }, orderBy: { createdAt: 'desc' }, take: 1 } as const;

const toBytes = (buffer: Buffer): Uint8Array<ArrayBuffer> => Uint8Array.from(buffer);

/** A failed query means that the data source answers, but its session store does not work. */
function asSessionFailure(error: unknown): unknown {
  const queryFailed = error instanceof AppError && error.code === 'DATA_SOURCE_QUERY_FAILED';
  return queryFailed ? new AppError('ESTABLISHING_SESSION_FAILED', { cause: error.cause }) : error;
}
