import { AppError } from '../errors';
import type { Database } from './postgres/database';

export interface NewSession {
  readonly tokenHash: Buffer;
  /** The SHA-256 of the token's proof, which links carry. */
  readonly linkHash: Buffer;
  readonly organizationId: number;
  readonly userId: number;
  readonly provisionId: string;
  readonly expiresAt: Date;
}

export class SessionStore {
  constructor(private readonly database: Database) {}

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
}

const toBytes = (buffer: Buffer): Uint8Array<ArrayBuffer> => Uint8Array.from(buffer);

/** A failed query means that the data source answers, but its session store does not work. */
function asSessionFailure(error: unknown): unknown {
  const queryFailed = error instanceof AppError && error.code === 'DATA_SOURCE_QUERY_FAILED';
  return queryFailed ? new AppError('ESTABLISHING_SESSION_FAILED', { cause: error.cause }) : error;
}
