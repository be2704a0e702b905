import type { ChainPlace } from '../../formats/audit-row';
import type { OrganizationCalendar } from '../../values/periods';
import { BookTransaction } from '../books/book-transaction';
import type { Database } from '../postgres/database';

/** The kind of application that a provision was issued to. */
export type ProvisionKind = 'WEB' | 'MOBILE' | 'API';

/** The end of v2 as its callers are told. Null takes the setting's value. */
export interface V2Notice {
  /** The time since which it is deprecated, which may be to come. */
  readonly v2DeprecatedAt: Date | null;
  /** The time from which it may be gone. */
  readonly v2SunsetAt: Date | null;
  /** The address of a page that says how to leave it. */
  readonly v2MigrationLink: string | null;
}

export interface OrganizationRow extends OrganizationCalendar, V2Notice {
  readonly id: number;
  readonly name: string;
  readonly hosts: readonly string[];
  readonly underMaintenance: boolean;
  /** The ISO 4217 code of the currency of its amounts, which are shown with it and never converted; null when it was not said. */
  readonly currency: string | null;
  readonly createdAt: Date;
}

/** The rows that went with an organization. */
export interface DeletedRows {
  readonly transactions: number;
  readonly users: number;
  readonly provisions: number;
  /** The newest place of its audit; null when it had no row. */
  readonly audit: ChainPlace | null;
}

/**
 * The tables of an organization's rows, in an order in which none refers to rows that are gone. The rest goes with the organization's row.
 * Gateways that add counts of v2 lock these before the provision, so the deletion does too.
 */
const TABLES = [
  ...['deposit_line', 'closed_month', 'period_close', 'erased_donor', 'data_version', 'allocation', 'transaction'],
  ...['deposit', 'donor', 'designation'],
  ...['audit_record', 'saved_report', 'journal_accounts', 'fund_budget', 'v2_usage', 'provision', 'user'],
] as const;

/**
 * Plain SQL: most commands look up an organization and use none of Prisma's models, which take 70 MB of memory from their first query on.
 */
const FIND = `
  SELECT id, name, hosts, under_maintenance AS "underMaintenance", fiscal_year_start AS "fiscalYearStart", time_zone AS "timeZone", currency, created_at AS "createdAt",
    v2_deprecated_at AS "v2DeprecatedAt", v2_sunset_at AS "v2SunsetAt", v2_migration_link AS "v2MigrationLink"
  FROM organization WHERE name = $1`;

const DELETE_CHAIN = 'DELETE FROM audit_chain WHERE organization_id = $1 RETURNING number::float8 AS number, hash';

/** Reads and writes organizations. */
export class OrganizationStore {
  constructor(private readonly database: Database) {}

  async find(name: string): Promise<OrganizationRow | null> {
    const [row] = await this.database.query<OrganizationRow>({ text: FIND, values: [name] });
    return row ?? null;
  }

  async list(): Promise<OrganizationRow[]> {
    return this.database.prisma.organization.findMany({ orderBy: { name: 'asc' } });
  }

  async insert({ name, hosts, currency }: Pick<OrganizationRow, 'name' | 'hosts' | 'currency'>): Promise<OrganizationRow> {
    return this.database.prisma.organization.create({ data: { name, hosts: [...hosts], currency } });
  }

  async updateMaintenance(id: number, underMaintenance: boolean): Promise<void> {
    await this.database.prisma.organization.update({ where: { id }, data: { underMaintenance } });
  }

  async updateHosts(id: number, hosts: readonly string[]): Promise<void> {
    await this.database.prisma.organization.update({ where: { id }, data: { hosts: [...hosts] } });
  }

  async updateFiscalYear(id: number, fiscalYearStart: number): Promise<void> {
    await this.database.prisma.organization.update({ where: { id }, data: { fiscalYearStart } });
  }

  /** Updates the time zone, and moves the next times of schedules. A time that another gateway has changed meanwhile stays. */
  async updateTimeZone(id: number, timeZone: string, move: (nextAt: Date) => Date): Promise<void> {
    const { database } = this;
    const text = 'SELECT DISTINCT next_at AS "nextAt" FROM report_schedule WHERE organization_id = $1';
    const times = (await database.query<{ nextAt: Date }>({ text, values: [id] })).map(({ nextAt }) => nextAt);
    await database.query({ text: UPDATE_TIME_ZONE, values: [id, timeZone, times, times.map(move)] });
  }

  async updateCurrency(id: number, currency: string | null): Promise<void> {
    await this.database.prisma.organization.update({ where: { id }, data: { currency } });
  }

  /** Updates the given columns alone, so that changes of the others at the same time stay. Returns the row as it is then. */
  async updateV2Notice(id: number, change: Partial<V2Notice>): Promise<OrganizationRow> {
    return this.database.prisma.organization.update({ where: { id }, data: change });
  }

  async updateName(id: number, name: string): Promise<void> {
    await this.database.prisma.organization.update({ where: { id }, data: { name } });
  }

  /** Deletes an organization and all that belongs to it, in one transaction that waits for imports to end. */
  async delete(id: number): Promise<DeletedRows> {
    return BookTransaction.run(this.database, id, async (books) => {
      await books.lock();
      // The chain goes first: gateways that add rows to it wait, and then find none.
      const { rows } = await books.query<ChainPlace>(DELETE_CHAIN, [id]);
      const counts = new Map<string, number>();
      for (const table of TABLES) {
        const { rowCount } = await books.query(`DELETE FROM "${table}" WHERE organization_id = $1`, [id]);
        counts.set(table, rowCount ?? 0);
      }
      await books.query('DELETE FROM organization WHERE id = $1', [id]);
      return {
        transactions: counts.get('transaction')!,
        users: counts.get('user')!,
        provisions: counts.get('provision')!,
        audit: rows[0] ?? null,
      };
    });
  }
}

const UPDATE_TIME_ZONE = `
WITH moved AS (
  UPDATE report_schedule SET next_at = moved_to FROM unnest($3::timestamptz[], $4::timestamptz[]) AS move (moved_from, moved_to)
  WHERE organization_id = $1 AND next_at = moved_from
)
UPDATE organization SET time_zone = $2 WHERE id = $1`;
