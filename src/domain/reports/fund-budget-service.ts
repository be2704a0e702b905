import type { FundAmount, FundBudgetStore, SavedFundBudget } from '../../data/reports/fund-budget-store';
import { AppError, InputError } from '../../errors';
import { isBudgetYear, MAX_BUDGET_FUNDS } from '../../values/budget-limits';
import { monthsBetween, type LocalDate } from '../../values/dates';
import { toCents, toMoney, type Money } from '../../values/money';
import { addDays } from '../../values/periods';
import type { ChangingUser, RightsAudit } from '../audit/rights-audit';

const MONTHS = 12;
/** The digits before the point of the largest amount, which are those of an amount of the books. */
const MAX_DIGITS = 12;

/** The budget of a fund, and its part up to a day. */
interface BudgetedFund extends FundAmount {
  /** The name of the fund in the newest books; null where they have none of this id. */
  readonly designation: string | null;
  readonly toDate: Money;
}

/** The budget of a fiscal year that is in force, and its part up to a day. */
export interface FundBudget extends Omit<SavedFundBudget, 'funds'> {
  readonly funds: readonly BudgetedFund[];
  readonly amount: Money;
  readonly toDate: Money;
}

/** A budget to save, and the number of the one that its saver has seen in force; null for none. */
export interface NewFundBudget {
  readonly startDate: LocalDate;
  readonly funds: readonly FundAmount[];
  readonly replaces: number | null;
}

/** The one who saves a budget: a user or a provision by GraphQL, or an operator. */
interface BudgetSaver {
  readonly name: string | null;
  /** Undefined for an operator. */
  readonly user?: ChangingUser;
}

/** Keeps what the funds of an organization are to receive in a fiscal year. */
export class FundBudgetService {
  constructor(
    private readonly store: FundBudgetStore,
    private readonly rights: RightsAudit,
  ) {}

  /** The budget of the fiscal year from a day, with its part up to another day of the year; null where none was saved. Throws INVALID_PARAMETERS. */
  async find(organizationId: number, startDate: LocalDate, through: LocalDate): Promise<FundBudget | null> {
    assertFirstDay(startDate);
    const months = monthsBetween(startDate, through);
    if (through < startDate || months >= MONTHS)
      throw new InputError(`through: ${through} is not in the twelve months from ${startDate}`, 'through');
    const found = await this.store.find(organizationId, startDate);
    return found && this.toBudget(organizationId, found, through);
  }

  /**
   * Saves the budget of a fiscal year in place of the one in force. Throws INVALID_PARAMETERS with the fault, and BUDGET_CONFLICT, which says
   * who saved a budget and when, where the one in force is not the one that the saver has seen.
   */
  async save(organizationId: number, { startDate, funds, replaces }: NewFundBudget, saver: BudgetSaver): Promise<FundBudget> {
    assertFirstDay(startDate);
    if (funds.length > MAX_BUDGET_FUNDS) throw new InputError(`funds has ${funds.length} funds; the limit is ${MAX_BUDGET_FUNDS}`, 'funds');
    const seen = new Set<number>();
    for (const { designationId, amount } of funds) {
      if (seen.has(designationId)) throw new InputError(`funds: fund ${designationId} has two amounts`, 'funds');
      seen.add(designationId);
      if (amount.startsWith('-')) throw new InputError(`funds: the amount of fund ${designationId} is less than zero`, 'funds');
      if (amount.length > MAX_DIGITS + '.00'.length)
        throw new InputError(`funds: the amount of fund ${designationId} has more than ${MAX_DIGITS} digits before the point`, 'funds');
    }
    const found = await this.store.find(organizationId, startDate);
    if ((found?.number ?? 0) !== (replaces ?? 0)) return refuse(found);
    const detail = `${funds.length} ${funds.length === 1 ? 'fund' : 'funds'} from ${startDate}`;
    await this.rights.note(organizationId, 'fund budget', 'budget of the funds', detail, saver.user);
    const saved = await this.store.insert(organizationId, { startDate, funds }, { savedBy: saver.name, replaces: replaces ?? 0 });
    // Another saving may have come between.
    if (!saved) return refuse(await this.store.find(organizationId, startDate));
    return this.toBudget(organizationId, saved, addDays(nextYear(startDate), -1));
  }

  private async toBudget(organizationId: number, { funds, ...saved }: SavedFundBudget, through: LocalDate): Promise<FundBudget> {
    const ids = funds.map(({ designationId }) => designationId);
    const names = await this.store.listNames(organizationId, ids);
    const budgeted = funds.map(({ designationId, amount }) => ({
      ...{ designationId, amount },
      designation: names.get(designationId) ?? null,
      toDate: partOf(amount, saved.startDate, through),
    }));
    // The whole is the sum of its parts, each of which is in cents.
    const sum = (name: 'amount' | 'toDate') => toMoney(budgeted.reduce((all, fund) => all + toCents(fund[name])!, 0n));
    return { ...saved, funds: budgeted, amount: sum('amount'), toDate: sum('toDate') };
  }
}

/** The part of a year's amount up to a day: a twelfth for each whole month, and for a month that is not over by its days. Half a cent is one. */
function partOf(amount: Money, startDate: LocalDate, through: LocalDate): Money {
  const days = BigInt(Number(lastOfMonth(through).slice(-2)));
  const elapsed = BigInt(monthsBetween(startDate, through)) * days + BigInt(Number(through.slice(-2)));
  const year = BigInt(MONTHS) * days;
  return toMoney((toCents(amount)! * elapsed * 2n + year) / (year * 2n));
}

const nextYear = (date: LocalDate): LocalDate => `${String(Number(date.slice(0, 4)) + 1).padStart(4, '0')}${date.slice(4)}`;

const lastOfMonth = (date: LocalDate): LocalDate => addDays(`${addDays(`${date.slice(0, 8)}01`, 31).slice(0, 8)}01`, -1);

function assertFirstDay(startDate: LocalDate): void {
  if (!startDate.endsWith('-01')) throw new InputError(`startDate: ${startDate} is not the first day of a month`, 'startDate');
  if (!isBudgetYear(startDate)) throw new InputError(`startDate: ${startDate} is not in the years 1900 to 9998`, 'startDate');
}

function refuse(found: SavedFundBudget | null): never {
  const fault = found
    ? `number ${found.number} was saved by ${found.savedBy ?? 'the command line'} at ${found.savedAt.toISOString()}`
    : 'none is saved';
  throw new AppError('BUDGET_CONFLICT', { fault, argument: 'replaces' });
}
