import type { OrganizationRow, ProvisionKind } from './organization-store';
import type { Database } from '../postgres/database';

/** The hashes that stand for a UUID, and its first characters. */
export interface NewKey {
  /** The SHA-256 of the UUID in lower case. */
  readonly uuidHash: Buffer;
  /** The SHA-256 of the UUID's proof, which links carry. */
  readonly linkHash: Buffer;
  readonly firstCharacters: string;
}

/** A key as it is stored. The newest key of a provision comes first. */
interface KeyRow {
  readonly firstCharacters: string;
  readonly createdAt: Date;
  /** Null while no newer key has taken its place. */
  readonly expiresAt: Date | null;
}

/** The bounds of a provision: its end, the networks of its callers, and the reports that it opens. */
export interface ProvisionBounds {
  readonly expiresAt: Date | null;
  /** The networks that its callers come from; empty means any. */
  readonly addresses: readonly string[];
  /** The saved reports that it opens alone; empty means that it is not bound to reports. */
  readonly reports: readonly string[];
}

export interface NewProvision extends ProvisionBounds {
  readonly organizationId: number;
  readonly kind: ProvisionKind;
  readonly label: string;
  readonly privileges: readonly string[];
}

export interface ProvisionRow extends NewProvision {
  readonly id: number;
  readonly organization: OrganizationRow;
  readonly keys: readonly KeyRow[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** The part of a provision that operators change. */
export type ProvisionChange = Partial<Pick<NewProvision, 'label'> & ProvisionBounds & { readonly revokedAt: Date }>;

const KEYS = { select: { firstCharacters: true, createdAt: true, expiresAt: true }, orderBy: { createdAt: 'desc' } } as const;

/** Reads and writes the provisions of all organizations. */
export class ProvisionStore {
  constructor(private readonly database: Database) {}

  /** Adds a provision with its first key. Returns its number. */
  async insert({ privileges, addresses, reports, ...provision }: NewProvision, key: NewKey): Promise<number> {
    const lists = { privileges: [...privileges], addresses: [...addresses], reports: [...reports] };
    const data = { ...provision, ...lists, keys: { create: toData(key) } };
    return (await this.database.prisma.provision.create({ data, select: { id: true } })).id;
  }

  /** The provisions of an organization, or of all. */
  async list(organizationId?: number): Promise<ProvisionRow[]> {
    return this.database.prisma.provision.findMany({
      ...(organizationId !== undefined && { where: { organizationId } }),
      include: { organization: true, keys: KEYS },
      orderBy: [{ organizationId: 'asc' }, { createdAt: 'asc' }, { id: 'asc' }],
    });
  }

  async find(id: number): Promise<ProvisionRow | null> {
    return this.database.prisma.provision.findUnique({ where: { id }, include: { organization: true, keys: KEYS } });
  }

  /** The numbers of the provisions that a key leads to, by its hash or its first characters. */
  async listIds(key: { readonly uuidHash: Buffer } | { readonly firstCharacters: string }): Promise<number[]> {
    const where = 'uuidHash' in key ? { uuidHash: toBytes(key.uuidHash) } : { firstCharacters: key.firstCharacters };
    const rows = await this.database.prisma.provisionKey.findMany({ where, select: { provisionId: true }, distinct: ['provisionId'] });
    return rows.map(({ provisionId }) => provisionId);
  }

  async update(id: number, { addresses, reports, ...change }: ProvisionChange): Promise<void> {
    const lists = {
      ...(addresses && { addresses: [...addresses] }),
      ...(reports && { reports: [...reports] }),
    };
    await this.database.prisma.provision.update({ where: { id }, data: { ...change, ...lists } });
  }

  /** Replaces the privileges that a provision was read with. False when they are others by now. */
  async updatePrivileges({ id, privileges: before }: ProvisionRow, privileges: readonly string[]): Promise<boolean> {
    const where = { id, privileges: { equals: [...before] } };
    return (await this.database.prisma.provision.updateMany({ where, data: { privileges: [...privileges] } })).count > 0;
  }

  /** The time by the clock of the database, by which keys and provisions end. */
  async readTime(): Promise<Date> {
    const [row] = await this.database.query<{ now: Date }>({ text: 'SELECT now()' });
    return row!.now;
  }

  /** Adds a key to a provision. Its earlier keys end at `overlapEnd`, or when they would end anyway. */
  async replaceKey(id: number, key: NewKey, overlapEnd: Date): Promise<void> {
    const { prisma } = this.database;
    await prisma.$transaction([
      // A second rotation at once waits here, sees the key of the first and ends it.
      prisma.$queryRaw`SELECT id FROM provision WHERE id = ${id} FOR UPDATE`,
      prisma.provisionKey.updateMany({
        where: { provisionId: id, OR: [{ expiresAt: null }, { expiresAt: { gt: overlapEnd } }] },
        data: { expiresAt: overlapEnd },
      }),
      prisma.provisionKey.create({ data: { ...toData(key), provisionId: id } }),
    ]);
  }
}

const toBytes = (buffer: Buffer): Uint8Array<ArrayBuffer> => Uint8Array.from(buffer);
const toData = ({ uuidHash, linkHash, firstCharacters }: NewKey) => ({
  uuidHash: toBytes(uuidHash),
  linkHash: toBytes(linkHash),
  firstCharacters,
});
