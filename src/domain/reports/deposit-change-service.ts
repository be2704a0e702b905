import {
  changeOrder,
  type ChangeRow,
  type ChangeSet,
  type ClassRow,
  type DepositChangeStore,
  type EffectRow,
  type FundRow,
} from '../../data/reports/deposit-change-store';
import type { RequestBooks } from '../../data/books/request-books';
import type { KeyOrder } from '../../data/postgres/keyset';
import type { ChangeClass } from '../../values/change-classes';
import { lineFields, lineNames, type LineValues } from '../../line/line-fields';
import { readPage, type Page, type PageParameters } from '../paging/keyset-page';
import { renderRows, type FileRows } from '../../rows/row-stream';
import { toCents, toMoney, type Money } from '../../values/money';
import type { SummaryAmounts } from './summary-figures';

/** What changes add to the figures of a set of lines; negative where they take away. */
export interface ChangeEffect {
  readonly lines: number;
  readonly transactions: number;
  readonly deposits: number;
  readonly byLine: SummaryAmounts;
  readonly byTransaction: SummaryAmounts;
  readonly byAllocation: { readonly amount: Money; readonly unknown: number };
}

/** The net change of a line between two states, however many versions lie between them. */
export interface DepositChange {
  readonly class: ChangeClass;
  /** Null where there was no line. */
  readonly before: LineValues | null;
  /** Null where there is no line any more. */
  readonly after: LineValues | null;
  /** The names of the fields that differ, in GraphQL; empty where one of the two lines is missing. */
  readonly columns: readonly string[];
  /** True where the line of that side lies in the period and fits the filter. */
  readonly wasInside: boolean;
  readonly isInside: boolean;
  readonly effect: ChangeEffect;
}

/** The changes of a class together. */
export interface ClassTotals {
  readonly class: ChangeClass;
  readonly changes: number;
  readonly effect: ChangeEffect;
}
/** The changes in a fund. */
export interface FundTotals {
  readonly designationId: number;
  readonly designation: string;
  readonly classes: readonly ClassTotals[];
}
const fundOrder: KeyOrder = { columns: { designation_id: 'bigint' } };

/** What changed between two states of the books. */
export class DepositChangeService {
  constructor(private readonly store: DepositChangeStore) {}

  /** A page of the changes; of all classes unless some are given. Throws INVALID_PARAMETERS as `readPage`. */
  page(
    set: ChangeSet,
    classes: readonly ChangeClass[] | undefined,
    page: PageParameters,
    books: RequestBooks,
  ): Promise<Page<DepositChange>> {
    const list = {
      order: changeOrder,
      query: ['changes', set, classes],
      count: async () => (await this.sum(set, classes, books)).changes,
    };
    return readPage(page, list, async (bounds) => (await this.store.list(set, classes, bounds, books.snapshot)).map(toChange));
  }

  /** All changes, or those of some classes, in their order. Their bytes are read after all other data of the answer. */
  rows(set: ChangeSet, classes: readonly ChangeClass[] | undefined, { snapshot }: RequestBooks): FileRows {
    const copy = snapshot.prepare();
    let rowCount: number | undefined;
    return {
      key: JSON.stringify(['changes', set, classes]),
      bytes: (template) => renderRows(this.store.copyChanges(copy, set, classes, template.columns), template, (rows) => (rowCount = rows)),
      rowCount: () => rowCount,
    };
  }

  /** The number of the changes, or of those of some classes, and their effects together. */
  async sum(
    set: ChangeSet,
    classes: readonly ChangeClass[] | undefined,
    books: RequestBooks,
  ): Promise<{ readonly changes: number; readonly effect: ChangeEffect }> {
    const chosen = (await this.totals(set, books)).filter((each) => classes?.includes(each.class) !== false);
    return { changes: addUp(chosen, ({ changes }) => changes), effect: addEffects(chosen.map(({ effect }) => effect)) };
  }

  /** The changes of each class, in the order of the classes. Classes without changes are missing. */
  totals(set: ChangeSet, books: RequestBooks): Promise<readonly ClassTotals[]> {
    return books.once(JSON.stringify(['change totals', set]), async (snapshot) => (await this.store.totals(set, snapshot)).map(toTotals));
  }

  /**
   * A page of the funds that have changes, by their ids. A gift counts once in each fund that has a share of it. Throws INVALID_PARAMETERS as
   * `readPage`.
   */
  async funds(set: ChangeSet, page: PageParameters, books: RequestBooks): Promise<Page<FundTotals>> {
    const funds = await books.once(JSON.stringify(['change totals of funds', set]), async (snapshot) =>
      toFunds(await this.store.fundTotals(set, snapshot)),
    );
    const list = { order: fundOrder, query: ['funds of changes', set], count: () => funds.length };
    return readPage(page, list, ({ after, before, limit, fromEnd }) => {
      const between = funds.filter(
        ({ designationId }) => designationId > Number(after?.[0] ?? -Infinity) && designationId < Number(before?.[0] ?? Infinity),
      );
      return Promise.resolve(fromEnd ? between.slice(-limit) : between.slice(0, limit));
    });
  }
}

const toTotals = (row: ClassRow): ClassTotals => ({ class: row.class, changes: row.changes, effect: toEffect(row) });

/** The funds of rows that have those of a fund beside each other. */
function toFunds(rows: readonly FundRow[]): readonly FundTotals[] {
  const funds = new Map<number, FundTotals & { readonly classes: ClassTotals[] }>();
  for (const row of rows) {
    const { designationId, designation } = row;
    const fund = funds.get(designationId) ?? { designationId, designation, classes: [] };
    fund.classes.push(toTotals(row));
    funds.set(designationId, fund);
  }
  return [...funds.values()];
}

/** A change, which has the fields of its place in the list too. */
function toChange(row: ChangeRow): DepositChange {
  const { depositDate, depositId, transactionId, allocationId } = row;
  return {
    ...{ depositDate, depositId, transactionId, allocationId },
    class: row.class,
    before: toLine(row, 'before'),
    after: toLine(row, 'after'),
    columns: row.columns.map((name) => lineFields[name].field),
    wasInside: row.wasInside ?? false,
    isInside: row.isInside ?? false,
    effect: toEffect(row),
  };
}

function toLine(row: ChangeRow, side: 'before' | 'after'): LineValues | null {
  if (row[`${side}.allocationId`] === null) return null;
  return Object.fromEntries(
    lineNames.map((name) => [lineFields[name].field, row[`${side}.${lineFields[name].field}`]]),
  ) as unknown as LineValues;
}

const toEffect = (row: EffectRow): ChangeEffect => ({
  ...{ lines: row.lines, transactions: row.transactions, deposits: row.deposits },
  byLine: toAmounts(row.lineAmount, row.lineFeeAmount),
  byTransaction: toAmounts(row.transactionAmount, row.transactionFeeAmount),
  byAllocation: { amount: row.allocationAmount, unknown: row.unknownAllocations },
});

const addEffects = (effects: readonly ChangeEffect[]): ChangeEffect => ({
  lines: addUp(effects, ({ lines }) => lines),
  transactions: addUp(effects, ({ transactions }) => transactions),
  deposits: addUp(effects, ({ deposits }) => deposits),
  byLine: addAmounts(effects.map(({ byLine }) => byLine)),
  byTransaction: addAmounts(effects.map(({ byTransaction }) => byTransaction)),
  byAllocation: {
    amount: addMoney(effects.map(({ byAllocation }) => byAllocation.amount)),
    unknown: addUp(effects, ({ byAllocation }) => byAllocation.unknown),
  },
});

const addUp = <Each>(all: readonly Each[], read: (each: Each) => number): number => all.reduce((sum, each) => sum + read(each), 0);
const addMoney = (amounts: readonly Money[]): Money => toMoney(amounts.reduce((sum, amount) => sum + toCents(amount)!, 0n));
const addAmounts = (all: readonly SummaryAmounts[]): SummaryAmounts =>
  toAmounts(addMoney(all.map(({ amount }) => amount)), addMoney(all.map(({ feeAmount }) => feeAmount)));

const toAmounts = (amount: Money, feeAmount: Money): SummaryAmounts => ({
  ...{ amount, feeAmount },
  netAmount: toMoney(toCents(amount)! - toCents(feeAmount)!),
});
