import { Prisma } from '../../generated/prisma/client';
import type { PeriodName } from '../../values/periods';
import type { Database } from '../postgres/database';

/** A query that an organization saved under a name. Its variables may hold personal data. */
export interface SavedReport {
  readonly name: string;
  /** The title that people read; the report's name where it has no other title. */
  readonly title: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The named period that gives the variables `startDate` and `endDate` their values; null where they have values of their own. */
  readonly period: PeriodName | null;
  readonly updatedAt: Date;
  /** The name of the user who saved it; null when it was saved on the command line. */
  readonly updatedBy: string | null;
}

/** The reports of a list and their order; all reports by name where nothing is given. */
export interface SavedReportList {
  readonly names?: readonly string[] | undefined;
  readonly order?: { readonly field: 'NAME' | 'UPDATED_AT'; readonly direction: 'ASC' | 'DESC' } | undefined;
}

const BY_NAME = { field: 'NAME', direction: 'ASC' } as const;

export type NewSavedReport = Omit<SavedReport, 'updatedAt'>;

export class SavedReportStore {
  constructor(private readonly database: Database) {}

  async find(organizationId: number, name: string): Promise<SavedReport | null> {
    const row = await this.database.prisma.savedReport.findUnique({ where: { organizationId_name: { organizationId, name } } });
    return row && toSavedReport(row);
  }

  /** The organization's reports, or those of some names. */
  async list(organizationId: number, { names, order = BY_NAME }: SavedReportList = {}): Promise<SavedReport[]> {
    const where = { organizationId, ...(names && { name: { in: [...names] } }) };
    const direction = order.direction === 'DESC' ? 'desc' : 'asc';
    const orderBy = [...(order.field === 'UPDATED_AT' ? [{ updatedAt: direction } as const] : []), { name: direction } as const];
    return (await this.database.prisma.savedReport.findMany({ where, orderBy })).map(toSavedReport);
  }

  /** Counts the organization's reports of other names, and the characters of their queries and variables together. */
  async measureOthers(organizationId: number, name: string): Promise<{ readonly count: number; readonly length: number }> {
    const [found] = await this.database.list<{ count: number; length: number }>(
      Prisma.sql`SELECT count(*)::float8 AS count, COALESCE(sum(length(query) + length(variables::text)), 0)::float8 AS length
        FROM saved_report WHERE organization_id = ${organizationId}::int AND name <> ${name}`,
    );
    return found!;
  }

  /** Saves a report under a name of its own. Null when there is one of this name already. */
  async insert(organizationId: number, report: NewSavedReport): Promise<SavedReport | null> {
    const row = { organizationId, ...toData(report), updatedAt: new Date() };
    const { count } = await this.database.prisma.savedReport.createMany({ data: [row], skipDuplicates: true });
    return count > 0 ? toSavedReport(row) : null;
  }

  /** Replaces the report of this name that was last saved at a time. Null when there is none, or when it was saved again since. */
  async update(organizationId: number, report: NewSavedReport, savedAt: Date): Promise<SavedReport | null> {
    // A time of its own for each saving, also for two within a millisecond.
    const row = { organizationId, ...toData(report), updatedAt: new Date(Math.max(Date.now(), savedAt.getTime() + 1)) };
    // GraphQL and the Date of JavaScript know milliseconds, PostgreSQL knows microseconds.
    const sameMillisecond = { gte: savedAt, lt: new Date(savedAt.getTime() + 1) };
    const where = { organizationId, name: report.name, updatedAt: sameMillisecond };
    const { count } = await this.database.prisma.savedReport.updateMany({ where, data: row });
    return count > 0 ? toSavedReport(row) : null;
  }

  /** Deletes a report. True when there was one. */
  async delete(organizationId: number, name: string): Promise<boolean> {
    return (await this.database.prisma.savedReport.deleteMany({ where: { organizationId, name } })).count > 0;
  }
}

type Row = NonNullable<Awaited<ReturnType<Database['prisma']['savedReport']['findUnique']>>>;

const toData = ({ name, title, query, variables, period, updatedBy }: NewSavedReport) => ({
  name,
  query,
  period,
  updatedBy,
  title: title === name ? null : title,
  variables: variables as Prisma.InputJsonObject,
});

const toSavedReport = ({
  name,
  title,
  query,
  variables,
  period,
  updatedAt,
  updatedBy,
}: Omit<Row, 'variables'> & { readonly variables: unknown }): SavedReport => ({
  name,
  title: title ?? name,
  query,
  updatedAt,
  updatedBy,
  variables: variables as SavedReport['variables'],
  // Only names of periods are saved.
  period: period as PeriodName | null,
});
