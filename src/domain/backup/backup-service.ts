import { BackupSnapshot, type SavedOrganization } from '../../data/backup/backup-store';
import type { DatabaseAddress } from '../../data/postgres/database';
import { listMigrationNames } from '../../data/schema/migrations';
import { RestoreStore } from '../../data/backup/restore-store';
import { OperatorError } from '../../errors';
import { formatAnchor } from '../../formats/audit-row';
import { writeArchive, type BackupManifest, type OpenArchive, type OrganizationFigures } from '../../formats/backup/backup-archive';
import type { AuditService } from '../audit/audit-service';
import { describeFault, type AuditFault } from '../audit/audit-verification';
import type { BookService } from '../books/book-service';
import type { DepositDetailService } from '../reports/deposit-detail-service';

/** A figure of an organization that is another than in the backup. */
export interface FigureDifference {
  readonly organization: string;
  readonly figure: string;
  readonly inBackup: string | number | null;
  readonly found: string | number | null;
}

/** The first row of an organization's audit that is not as it was written. */
export interface FaultyAudit extends AuditFault {
  readonly organization: string;
}

interface BackupOptions {
  /** The version of the gateway. */
  readonly gateway: string;
  /** Takes the archive. The file is complete when it resolves. */
  readonly put: (archive: AsyncIterable<Buffer>) => Promise<void>;
}

/** Writes backups of a whole database, and restores them. */
export class BackupService {
  constructor(
    private readonly address: DatabaseAddress,
    private readonly books: BookService,
    private readonly depositDetails: DepositDetailService,
    private readonly audit: AuditService,
  ) {}

  /** Writes a backup of one state of the database. Throws an OperatorError when no restore would take the backup as a whole. */
  async write({ gateway, put }: BackupOptions): Promise<BackupManifest> {
    const snapshot = await BackupSnapshot.open(this.address);
    try {
      if (snapshot.name === undefined) throw new OperatorError(NO_ONE_STATE);
      const saved = await snapshot.listOrganizations();
      // The file could replace a good backup.
      if (saved.length === 0) throw new OperatorError('The database has no organization: there is nothing to back up');
      const schema = await snapshot.readSchema();
      const faults = await snapshot.findFaults(schema);
      if (faults.length > 0) throw new OperatorError(`The database is not as the gateway makes it:\n${faults.join('\n')}`);
      return await this.accompany(saved, 'backup', async () => {
        const createdAt = new Date().toISOString();
        const organizations = (await isNewest(schema)) ? await this.listFigures(saved, snapshot) : null;
        const manifest: BackupManifest = { gateway, createdAt, ...schema, organizations };
        await writeArchive(manifest, snapshot.readRows(manifest.tables), put);
        return manifest;
      });
    } finally {
      await snapshot.close();
    }
  }

  /** The figures of all organizations as they are now. The audit says so when `operation` names a command. */
  async readAll(operation?: string): Promise<OrganizationFigures[]> {
    const snapshot = await BackupSnapshot.open(this.address);
    try {
      const saved = await snapshot.listOrganizations();
      const read = () => this.listFigures(saved, snapshot);
      return await (operation === undefined ? read() : this.accompany(saved, operation, read));
    } finally {
      await snapshot.close();
    }
  }

  /**
   * Proves that the database, into which a backup was loaded, is a copy of the one that it is of: each organization has the same figures.
   * Throws an OperatorError that names the differences. An audit whose newest place is that of the backup was faulty before it: such
   * faults are returned, because they must not keep anybody from the books.
   */
  async compareCopy({ organizations }: BackupManifest): Promise<FaultyAudit[]> {
    const differences = organizations ? findDifferences(organizations, await this.readAll()) : [];
    if (differences.length > 0) throw new OperatorError(`The restored copy differs from the backup:\n${describeDifferences(differences)}`);
    return this.findFaultyAudits();
  }

  /** The audits that are not as they were written. The schema must be the newest. */
  async findFaultyAudits(): Promise<FaultyAudit[]> {
    const snapshot = await BackupSnapshot.open(this.address);
    const saved = await snapshot.listOrganizations().finally(() => snapshot.close());
    const faulty: FaultyAudit[] = [];
    for (const { id, name: organization } of saved) {
      const { fault } = await this.audit.verify(id);
      if (fault) faulty.push({ organization, ...fault });
    }
    return faulty;
  }

  /** Adds a row to the audit of each organization that says that its data come from a backup. */
  async noteRestore({ createdAt, gateway }: BackupManifest): Promise<void> {
    const snapshot = await BackupSnapshot.open(this.address);
    const saved = await snapshot.listOrganizations().finally(() => snapshot.close());
    const detail = `backup of ${createdAt} by gateway ${gateway}`;
    for (const { id } of saved) await this.audit.record(this.audit.operator(id), this.audit.command('restore'), { kind: 'rights', detail });
  }

  private async listFigures(saved: readonly SavedOrganization[], { name }: BackupSnapshot): Promise<OrganizationFigures[]> {
    const figures: OrganizationFigures[] = [];
    for (const organization of saved) figures.push(await this.readFigures(organization, name));
    return figures;
  }

  private async readFigures(
    { id, name, auditNumber, auditHash }: SavedOrganization,
    shared: string | undefined,
  ): Promise<OrganizationFigures> {
    const snapshot = this.books.openState(id, shared);
    try {
      const { totals, digest, moneyDigest, dataVersion } = await this.depositDetails.readAll(id, snapshot);
      const { lines, transactions, deposits, byTransaction } = totals;
      const audit = auditNumber === null || auditHash === null ? null : formatAnchor({ number: auditNumber, hash: auditHash });
      return { name, dataVersion, lines, transactions, deposits, amount: byTransaction.amount, digest, moneyDigest, audit };
    } finally {
      await snapshot.close();
    }
  }

  /** Reads when the row that says so is in the audit of each organization. */
  private async accompany<Value>(saved: readonly SavedOrganization[], operation: string, read: () => Promise<Value>): Promise<Value> {
    const [first, ...others] = saved;
    if (!first) return read();
    return this.audit.accompany(this.audit.operator(first.id), this.audit.command(operation), () =>
      this.accompany(others, operation, read),
    );
  }
}

const NO_ONE_STATE = 'Citus distributes the books, and no backup here would be of one state: back up its nodes by a restore point of Citus';

const isNewest = async ({ migrations }: Pick<BackupManifest, 'migrations'>): Promise<boolean> =>
  migrations.at(-1) === (await listMigrationNames()).at(-1);

/**
 * Loads a backup into an empty database. Its rows are there when the backup is known to be whole, and not before. The signal gives it up.
 */
export async function loadBackup(address: DatabaseAddress, { manifest, pieces }: OpenArchive, signal: AbortSignal): Promise<void> {
  await new RestoreStore(address, signal).fill(manifest, pieces);
}

/** The figures that are compared. The audit of a database goes on when a backup is made. */
export const BOOK_FIGURES = ['dataVersion', 'lines', 'transactions', 'deposits', 'amount', 'digest', 'moneyDigest'] as const;
const ALL_FIGURES = [...BOOK_FIGURES, 'audit'] as const;

/** The figures that are others than in the backup, organization by organization. */
export function findDifferences(
  inBackup: readonly OrganizationFigures[],
  found: readonly OrganizationFigures[],
  figures: readonly (typeof ALL_FIGURES)[number][] = ALL_FIGURES,
): FigureDifference[] {
  const foundByName = new Map(found.map((organization) => [organization.name, organization]));
  const names = new Set(inBackup.map(({ name }) => name));
  const added = found.filter(({ name }) => !names.has(name));
  const compare = (expected: OrganizationFigures): FigureDifference[] => {
    const { name: organization } = expected;
    const present = foundByName.get(organization);
    if (!present) return [{ organization, figure: 'organization', inBackup: 'present', found: 'missing' }];
    const differing = figures.filter((figure) => expected[figure] !== present[figure]);
    return differing.map((figure) => ({ organization, figure, inBackup: expected[figure], found: present[figure] }));
  };
  return [
    ...inBackup.flatMap(compare),
    ...added.map(({ name }) => ({ organization: name, figure: 'organization', inBackup: 'missing', found: 'present' })),
  ];
}

/** The digests by their words. That of the lines is personal data, and no digest says more than that it is another. */
const DIGESTS: Readonly<Record<string, string>> = { digest: 'digest', moneyDigest: 'money digest' };

/** The differences in words. */
export const describeDifferences = (differences: readonly FigureDifference[]): string =>
  differences
    .map(({ organization, figure, inBackup, found }) =>
      DIGESTS[figure] !== undefined
        ? `${organization}: the ${DIGESTS[figure]} is another`
        : `${organization}: ${figure} is ${found ?? 'none'}, in the backup ${inBackup ?? 'none'}`,
    )
    .join('\n');

/** The faulty audits in words, a line each. */
export const describeFaultyAudits = (faulty: readonly FaultyAudit[]): string =>
  faulty.map(({ organization, ...fault }) => `The audit of "${organization}" was not in order: ${describeFault(fault)}`).join('\n');
