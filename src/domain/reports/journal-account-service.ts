import type { JournalAccounts, JournalAccountStore, NewJournalAccounts } from '../../data/reports/journal-account-store';
import { AppError, InputError } from '../../errors';
import { MAX_ACCOUNT_LENGTH, MAX_JOURNAL_FUNDS } from '../../values/journal-layouts';
import type { ChangingUser, RightsAudit } from '../audit/rights-audit';

/** The one who saves accounts: a user or a provision by GraphQL, or an operator. */
export interface AccountSaver {
  readonly name: string | null;
  /** Undefined for an operator. */
  readonly user?: ChangingUser;
  /** The number of the accounts that the saver has seen in force, null for none; undefined to replace any. */
  readonly replaces?: number | null;
}

/** The number of a saving, undefined for the one in force, and the parameter that names it. */
interface AskedAccounts {
  readonly name: string;
  readonly number: number | undefined;
}

/** Keeps the accounts of an organization's journal. */
export class JournalAccountService {
  constructor(
    private readonly store: JournalAccountStore,
    private readonly rights: RightsAudit,
  ) {}

  /** The accounts in force; null where none were saved. */
  find(organizationId: number): Promise<JournalAccounts | null> {
    return this.store.find(organizationId);
  }

  /** The accounts of a saving, or those in force. Throws JOURNAL_REFUSED where none were saved, and INVALID_PARAMETERS for an unknown number. */
  async get(organizationId: number, { name, number }: AskedAccounts): Promise<JournalAccounts> {
    const found = await this.store.find(organizationId, number);
    if (found) return found;
    if (number !== undefined) throw new InputError(`${name}: no accounts were saved as number ${number}`, name);
    throw new AppError('JOURNAL_REFUSED', { fault: 'no accounts are saved: set those of the bank, the fees and the funds first' });
  }

  /**
   * Saves accounts in place of those in force, which stay with their number. Throws INVALID_PARAMETERS with the fault, and ACCOUNTS_CONFLICT,
   * which says who saved accounts and when, where those in force are not the ones that the saver has seen.
   */
  async save(organizationId: number, given: NewJournalAccounts, saver: AccountSaver): Promise<JournalAccounts> {
    if (given.funds.length > MAX_JOURNAL_FUNDS)
      throw new InputError(`funds has ${given.funds.length} funds; the limit is ${MAX_JOURNAL_FUNDS}`, 'funds');
    const seen = new Set<number>();
    const funds = given.funds.map(({ designationId, account }) => {
      if (!Number.isSafeInteger(designationId)) throw new InputError(`funds: ${designationId} is not the id of a fund`, 'funds');
      if (seen.has(designationId)) throw new InputError(`funds: fund ${designationId} has two accounts`, 'funds');
      seen.add(designationId);
      return { designationId, account: toAccount(`funds: the account of fund ${designationId}`, account, 'funds') };
    });
    const accounts = { bank: toAccount('bank', given.bank, 'bank'), fees: toAccount('fees', given.fees, 'fees'), funds };
    const detail = `bank, fees and ${funds.length} ${funds.length === 1 ? 'fund' : 'funds'}`;
    const replaces = saver.replaces === null ? 0 : saver.replaces;
    const found = replaces === undefined ? null : await this.store.find(organizationId);
    if (replaces !== undefined && (found?.number ?? 0) !== replaces) return refuse(found);
    await this.rights.note(organizationId, 'journal accounts', 'accounts of the journal', detail, saver.user);
    const saved = await this.store.insert(organizationId, accounts, { savedBy: saver.name, replaces });
    // Another saving may have come between.
    return saved ?? refuse(await this.store.find(organizationId));
  }
}

function refuse(found: JournalAccounts | null): never {
  const fault = found
    ? `number ${found.number} was saved by ${found.savedBy ?? 'the command line'} at ${found.savedAt.toISOString()}`
    : 'none are saved';
  throw new AppError('ACCOUNTS_CONFLICT', { fault, argument: 'replaces' });
}

/** An account without the blanks around it. */
function toAccount(name: string, given: string, argument: string): string {
  const account = given.trim();
  if (account === '') throw new InputError(`${name} is empty`, argument);
  if (account.length > MAX_ACCOUNT_LENGTH) throw new InputError(`${name} is longer than ${MAX_ACCOUNT_LENGTH} characters`, argument);
  if (!account.isWellFormed()) throw new InputError(`${name} has half a character`, argument);
  if (/\p{Cc}/u.test(account)) throw new InputError(`${name} has control characters`, argument);
  return account;
}
