import type { LocalDate } from '../../values/dates';
import type { Money } from '../../values/money';
import type { Database } from '../postgres/database';

/** The amount that a fund is to receive in a fiscal year. */
export interface FundAmount {
  readonly designationId: number;
  readonly amount: Money;
}

/** A saving of the budget of a fiscal year, which is never changed. */
export interface SavedFundBudget {
  /** The first day of the fiscal year. */
  readonly startDate: LocalDate;
  /** Counted from 1 in each fiscal year. The greatest one is in force. */
  readonly number: number;
  readonly savedAt: Date;
  /** The user or the provision that saved it. */
  readonly savedBy: string | null;
  /** Each fund once, by their ids. */
  readonly funds: readonly FundAmount[];
}

interface Row extends Omit<SavedFundBudget, 'funds'> {
  readonly funds: Readonly<Record<string, Money>>;
}

const COLUMNS = 'start_date::text AS "startDate", number, saved_at AS "savedAt", saved_by AS "savedBy", funds';
const FIND = `SELECT ${COLUMNS} FROM fund_budget WHERE organization_id = $1 AND start_date = $2::date ORDER BY number DESC LIMIT 1`;
const INSERT = `INSERT INTO fund_budget (organization_id, start_date, number, saved_by, funds)
  SELECT $1::int, $2::date, 1 + COALESCE(max(number), 0), $3::text, $4::jsonb FROM fund_budget
  WHERE organization_id = $1::int AND start_date = $2::date
  HAVING COALESCE(max(number), 0) = $5::int ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`;
const NAMES = 'SELECT id::float8 AS id, name FROM designation WHERE organization_id = $1 AND id = ANY($2::bigint[])';

/** The budgets of the funds, each saving of a fiscal year as a row of its own. */
export class FundBudgetStore {
  constructor(private readonly database: Database) {}

  /** The newest saving of the fiscal year from a day; null where there is none. */
  async find(organizationId: number, startDate: LocalDate): Promise<SavedFundBudget | null> {
    const [row] = await this.database.query<Row>({ text: FIND, values: [organizationId, startDate] });
    return row ? toBudget(row) : null;
  }

  /** Inserts a saving after the one with the number `replaces`, which is 0 before the first. Null where another one came between. */
  async insert(
    organizationId: number,
    { startDate, funds }: Pick<SavedFundBudget, 'startDate' | 'funds'>,
    { savedBy, replaces }: { readonly savedBy: string | null; readonly replaces: number },
  ): Promise<SavedFundBudget | null> {
    const byId = JSON.stringify(Object.fromEntries(funds.map(({ designationId, amount }) => [designationId, amount])));
    const [row] = await this.database.query<Row>({ text: INSERT, values: [organizationId, startDate, savedBy, byId, replaces] });
    return row ? toBudget(row) : null;
  }

  /** The names of funds by their ids. A fund that is not in the books has none. */
  async listNames(organizationId: number, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const rows = await this.database.query<{ id: number; name: string }>({ text: NAMES, values: [organizationId, ids] });
    return new Map(rows.map(({ id, name }) => [id, name]));
  }
}

const toBudget = ({ funds, ...row }: Row): SavedFundBudget => ({
  ...row,
  funds: Object.entries(funds)
    .map(([id, amount]) => ({ designationId: Number(id), amount }))
    .sort((one, other) => one.designationId - other.designationId),
});
