import { AppError } from '../errors';
import type { Database } from './postgres/database';

export interface NewSession {
  readonly tokenHash: Buffer;
  readonly organizationId: number;
  readonly userId: number;
  readonly provisionId: string;
  readonly expiresAt: Date;
}

export class SessionStore {
  constructor(private readonly database: Database) {}

  /** Opens a session in the place of an earlier one, if any, and clears the user's expired ones away: all or nothing. */
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
        prisma.session.create({ data: { ...session, tokenHash: toBytes(session.tokenHash) } }),
      ]);
    } catch (error) {
      throw asSessionFailure(error);
    }
  }

  async delete(tokenHash: Buffer): Promise<void> {
    await this.database.prisma.session.deleteMany({ where: { tokenHash: toBytes(tokenHash) } });
  }
}

const toBytes = (buffer: Buffer): Uint8Array<ArrayBuffer> => Uint8Array.from(buffer);

/** The data source answers, but its session store does not do its work. */
function asSessionFailure(error: unknown): unknown {
  const queryFailed = error instanceof AppError && error.code === 'DATA_SOURCE_QUERY_FAILED';
  return queryFailed ? new AppError('ESTABLISHING_SESSION_FAILED', { cause: error.cause }) : error;
}
