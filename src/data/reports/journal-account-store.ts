import type { Database } from '../postgres/database';

/** The account of a fund. */
export interface FundAccount {
  readonly designationId: number;
  readonly account: string;
}

/** The accounts that a journal is written to. */
export interface NewJournalAccounts {
  /** The account of the money at the bank. */
  readonly bank: string;
  readonly fees: string;
  /** Each fund once, by their ids. */
  readonly funds: readonly FundAccount[];
}

/** Accounts that were saved. A saving is never changed, so that its number stands for them. */
export interface JournalAccounts extends NewJournalAccounts {
  /** Counted from 1 in each organization. The greatest one is in force. */
  readonly number: number;
  readonly savedAt: Date;
  /** The user, the provision or the operator who saved them; null for an operator without a name. */
  readonly savedBy: string | null;
}

interface Row extends Omit<JournalAccounts, 'funds'> {
  readonly funds: Readonly<Record<string, string>>;
}

const COLUMNS = 'number, saved_at AS "savedAt", saved_by AS "savedBy", bank, fees, funds';
const FIND = `SELECT ${COLUMNS} FROM journal_accounts WHERE organization_id = $1 AND number = COALESCE($2::int, number) ORDER BY number DESC LIMIT 1`;
const INSERT = `INSERT INTO journal_accounts (organization_id, number, saved_by, bank, fees, funds)
  SELECT $1::int, 1 + COALESCE(max(number), 0), $2::text, $3::text, $4::text, $5::jsonb FROM journal_accounts WHERE organization_id = $1::int
  HAVING COALESCE(max(number), 0) = COALESCE($6::int, max(number), 0) ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`;

/** The accounts of the journal, each saving of an organization as a row of its own. */
export class JournalAccountStore {
  constructor(private readonly database: Database) {}

  /** The accounts of a saving, or of the newest one; null where there is none. */
  async find(organizationId: number, number?: number): Promise<JournalAccounts | null> {
    const [row] = await this.database.query<Row>({ text: FIND, values: [organizationId, number ?? null] });
    return row ? toJournalAccounts(row) : null;
  }

  /** Inserts a saving after the one with the number `replaces`, which is 0 before the first, or after any. Null where another one came between. */
  async insert(
    organizationId: number,
    { bank, fees, funds }: NewJournalAccounts,
    { savedBy, replaces }: { readonly savedBy: string | null; readonly replaces: number | undefined },
  ): Promise<JournalAccounts | null> {
    const byId = JSON.stringify(Object.fromEntries(funds.map(({ designationId, account }) => [designationId, account])));
    for (;;) {
      // Another saving may have taken the number.
      const [row] = await this.database.query<Row>({ text: INSERT, values: [organizationId, savedBy, bank, fees, byId, replaces ?? null] });
      if (row) return toJournalAccounts(row);
      if (replaces !== undefined) return null;
    }
  }
}

const toJournalAccounts = ({ funds, ...row }: Row): JournalAccounts => ({
  ...row,
  funds: Object.entries(funds)
    .map(([id, account]) => ({ designationId: Number(id), account }))
    .sort((one, other) => one.designationId - other.designationId),
});
