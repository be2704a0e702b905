import { Prisma } from '../generated/prisma/client';
import type { Database } from './postgres/database';

/** A query that an organization saved under a name. Its variables may hold personal data. */
export interface SavedReport {
  readonly name: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly updatedAt: Date;
  /** The name of the user who saved it; null when it was saved on the command line. */
  readonly updatedBy: string | null;
}

export class SavedReportStore {
  constructor(private readonly database: Database) {}

  async find(organizationId: number, name: string): Promise<SavedReport | null> {
    const row = await this.database.prisma.savedReport.findUnique({ where: { organizationId_name: { organizationId, name } } });
    return row && toSavedReport(row);
  }

  /** The organization's reports, ordered by name. */
  async list(organizationId: number): Promise<SavedReport[]> {
    const rows = await this.database.prisma.savedReport.findMany({ where: { organizationId }, orderBy: { name: 'asc' } });
    return rows.map(toSavedReport);
  }

  /** Counts the organization's reports of other names, and the characters of their queries and variables together. */
  async measureOthers(organizationId: number, name: string): Promise<{ readonly count: number; readonly length: number }> {
    const [found] = await this.database.list<{ count: number; length: number }>(
      Prisma.sql`SELECT count(*)::float8 AS count, COALESCE(sum(length(query) + length(variables::text)), 0)::float8 AS length
        FROM saved_report WHERE organization_id = ${organizationId}::int AND name <> ${name}`,
    );
    return found!;
  }

  /** Saves a report. It replaces one of the same name. */
  async put(organizationId: number, { name, variables, ...rest }: Omit<SavedReport, 'updatedAt'>): Promise<SavedReport> {
    const data = { ...rest, variables: variables as object, updatedAt: new Date() };
    const row = await this.database.prisma.savedReport.upsert({
      where: { organizationId_name: { organizationId, name } },
      create: { organizationId, name, ...data },
      update: data,
    });
    return toSavedReport(row);
  }

  /** Deletes a report. True when there was one. */
  async delete(organizationId: number, name: string): Promise<boolean> {
    return (await this.database.prisma.savedReport.deleteMany({ where: { organizationId, name } })).count > 0;
  }
}

type Row = NonNullable<Awaited<ReturnType<Database['prisma']['savedReport']['findUnique']>>>;

const toSavedReport = ({ name, query, variables, updatedAt, updatedBy }: Row): SavedReport => ({
  ...{ name, query, updatedAt, updatedBy },
  variables: variables as SavedReport['variables'],
});
