import { namesOf, type FileValues } from '../../src/line/line-fields';
import type { CompleteRange } from '../../src/data/imports/import-removal';

/** A line as files have it, with all 29 fields. */
export type BookLine = Readonly<FileValues>;
type Extra = 'deposit_status' | 'allocation_amount' | 'allocation_amount_inferred';
/** A line of a file that is imported. A file may lack the fields that v2 lacks. */
export type FileLine = Omit<BookLine, Extra> & Partial<Pick<BookLine, Extra>>;

export interface Share {
  readonly transaction_id: string;
  readonly designation_id: number;
  readonly designation_memo: string;
  /** Undefined where the books state no share. */
  readonly cents: number | undefined;
  /** True where a file said that the share is unknown, so that none is inferred. */
  readonly isUnknown: boolean;
}
export interface Gift {
  readonly deposit_id: string;
  readonly donor_id: number;
  readonly transaction_date: string;
  readonly cents: number;
  readonly feeCents: number;
  readonly status: string;
  readonly account_type: string;
  readonly payment_type: string;
  readonly main_memo: string;
}
interface Deposit {
  readonly deposit_date: string;
  readonly deposit_status: BookLine['deposit_status'];
}

const donorNames = namesOf('donor').filter((name) => name !== 'donor_id');
type Donor = Readonly<Pick<BookLine, (typeof donorNames)[number]>>;
export const NOBODY = Object.fromEntries(donorNames.map((name) => [name, ''])) as Donor;

export const toCents = (amount: string): number => Math.round(Number(amount) * 100);
export const toMoney = (cents: number): string => (cents / 100).toFixed(2);
/** The order of texts by their bytes. UTF-16 has the same for all characters of the tests. */
export const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
const ORDER = ['deposit_date', 'deposit_id', 'transaction_id', 'allocation_id'] as const;
export const compareLines = (one: BookLine, other: BookLine): number =>
  ORDER.map((name) => compare(one[name], other[name])).find((result) => result !== 0) ?? 0;

/** The books as five lists in memory, and the rules by which a file changes them. */
export class Books {
  readonly shares: Map<string, Share>;
  readonly gifts: Map<string, Gift>;
  readonly deposits: Map<string, Deposit>;
  readonly funds: Map<number, string>;
  readonly donors: Map<number, Donor>;

  constructor(from?: Books) {
    this.shares = new Map(from?.shares);
    this.gifts = new Map(from?.gifts);
    this.deposits = new Map(from?.deposits);
    this.funds = new Map(from?.funds);
    this.donors = new Map(from?.donors);
  }

  /** All that is in the books, as a text that is the same for equal books. */
  get text(): string {
    const sorted = (list: ReadonlyMap<string | number, unknown>): unknown[] =>
      [...list].map(([id, entity]) => [String(id), entity] as const).sort(([one], [other]) => compare(one, other));
    return JSON.stringify([this.shares, this.gifts, this.deposits, this.funds, this.donors].map(sorted));
  }

  sharesOf(gift: string): [string, Share][] {
    return [...this.shares].filter(([, { transaction_id }]) => transaction_id === gift);
  }

  /** The lines in report order. */
  lines(): BookLine[] {
    return [...this.shares.keys()].map((id) => this.line(id)).sort(compareLines);
  }

  line(allocation_id: string): BookLine {
    const { transaction_id, designation_id, designation_memo, cents: known, isUnknown } = this.shares.get(allocation_id)!;
    const gift = this.gifts.get(transaction_id)!;
    const { deposit_date, deposit_status } = this.deposits.get(gift.deposit_id)!;
    const isInferred = known === undefined && !isUnknown && this.sharesOf(transaction_id).length === 1;
    const share = isInferred ? gift.cents : known;
    return {
      ...{ deposit_id: gift.deposit_id, transaction_date: gift.transaction_date, deposit_date, transaction_id, allocation_id },
      ...{ donor_id: gift.donor_id, ...NOBODY, ...this.donors.get(gift.donor_id) },
      ...{ amount: toMoney(gift.cents), fee_amount: toMoney(gift.feeCents), net_amount: toMoney(gift.cents - gift.feeCents) },
      ...{ status: gift.status, account_type: gift.account_type, payment_type: gift.payment_type },
      ...{ designation_id, designation: this.funds.get(designation_id)!, designation_memo, main_memo: gift.main_memo },
      ...{ deposit_status, allocation_amount: share === undefined ? null : toMoney(share) },
      allocation_amount_inferred: share === undefined ? null : isInferred,
    };
  }

  /** Takes a file. Returns the number of gifts of which it states shares that do not add up. */
  import(file: readonly FileLine[], range: CompleteRange | undefined): number {
    const before = new Books(this);
    for (const line of file) this.take(line, range, before);
    if (range) this.removeMissing(file, range);
    this.removeEmpty();
    return this.correctShares(file, before);
  }

  private take(line: FileLine, range: CompleteRange | undefined, before: Books): void {
    const { deposit_id, transaction_id, allocation_id, designation_id, donor_id } = line;
    // A complete file of posted deposits says that its deposits are posted. Any other leaves it to the books.
    const status = line.deposit_status ?? (range?.pending === 'WITHOUT' ? 'posted' : before.deposits.get(deposit_id)?.deposit_status);
    this.deposits.set(deposit_id, { deposit_date: line.deposit_date, deposit_status: status ?? 'posted' });
    this.funds.set(designation_id, line.designation);
    if (donor_id !== 0) this.donors.set(donor_id, Object.fromEntries(donorNames.map((name) => [name, line[name]])) as Donor);
    this.gifts.set(transaction_id, {
      ...{ deposit_id, donor_id, transaction_date: line.transaction_date },
      ...{ cents: toCents(line.amount), feeCents: toCents(line.fee_amount), status: line.status },
      ...{ account_type: line.account_type, payment_type: line.payment_type, main_memo: line.main_memo },
    });
    const old = before.shares.get(allocation_id);
    this.shares.set(allocation_id, {
      ...{ transaction_id, designation_id, designation_memo: line.designation_memo },
      // A line without a share leaves the share that the books have.
      cents: isStated(line) ? toCents(line.allocation_amount!) : old?.cents,
      isUnknown: (old?.isUnknown ?? false) && !isStated(line) && line.allocation_amount_inferred !== true,
    });
  }

  /** Removes what the books have in a range that the file is complete for and the file has not. */
  private removeMissing(file: readonly FileLine[], { periods, pending }: CompleteRange): void {
    const kept = new Set(file.map(({ allocation_id }) => allocation_id));
    for (const [id, { transaction_id }] of this.shares) {
      const { deposit_date, deposit_status } = this.deposits.get(this.gifts.get(transaction_id)!.deposit_id)!;
      const isInside = periods.some(({ startDate, endDate }) => deposit_date >= startDate && deposit_date <= endDate);
      if (!kept.has(id) && isInside && (pending === 'WITH' || deposit_status === 'posted')) this.shares.delete(id);
    }
  }

  /** Removes gifts without a share, and deposits without a gift. Donors and funds stay. */
  removeEmpty(): void {
    const gifts = new Set([...this.shares.values()].map(({ transaction_id }) => transaction_id));
    for (const id of this.gifts.keys()) if (!gifts.has(id)) this.gifts.delete(id);
    const deposits = new Set([...this.gifts.values()].map(({ deposit_id }) => deposit_id));
    for (const id of this.deposits.keys()) if (!deposits.has(id)) this.deposits.delete(id);
  }

  /** Known shares follow the gifts whose amount or allocations a file changes without stating one of their shares. */
  private correctShares(file: readonly FileLine[], before: Books): number {
    let mismatches = 0;
    for (const [id, { cents: amount }] of this.gifts) {
      const own = this.sharesOf(id);
      const earlier = before.sharesOf(id);
      const wasHere = (share: string): boolean => earlier.some(([each]) => each === share);
      const left = earlier.filter(([share]) => !own.some(([each]) => each === share));
      const stating = file.filter(
        (line) => isStated(line) && (line.transaction_id === id || left.some(([share]) => share === line.allocation_id)),
      );
      const known = own.flatMap(([, { cents }]) => cents ?? []);
      const addsUp = known.reduce((sum, cents) => sum + cents, 0) === amount;
      if (stating.length > 0) {
        if (known.length === own.length && !addsUp) mismatches++;
        continue;
      }
      const isCorrected = earlier.length > 0 && before.gifts.get(id)!.cents !== amount;
      const hasJoined = own.some(([share]) => !wasHere(share) && (earlier.length > 0 || before.shares.has(share)));
      const isTouched = isCorrected || left.length > 0 || hasJoined;
      const holds = known.length === own.length ? addsUp : known.length === 0 && (amount !== 0 || own.length === 1);
      if (!isTouched || holds) continue;
      const isSaidUnknown = file.some((line) => line.transaction_id === id && saysUnknown(line));
      const cents = amount === 0 || (own.length === 1 && !isSaidUnknown) ? amount : undefined;
      for (const [share, of] of own)
        if (of.cents !== cents) this.shares.set(share, { ...of, cents, isUnknown: of.isUnknown && cents === undefined });
    }
    // A share that the books would infer, and that the file says is unknown.
    for (const { allocation_id, transaction_id } of file.filter(saysUnknown)) {
      const share = this.shares.get(allocation_id)!;
      if (share.cents === undefined && this.sharesOf(transaction_id).length === 1)
        this.shares.set(allocation_id, { ...share, isUnknown: true });
    }
    return mismatches;
  }
}

const isStated = ({ allocation_amount: share, allocation_amount_inferred: isInferred }: FileLine): boolean =>
  share !== undefined && share !== null && isInferred !== true;
/** A file that infers shares, and has none here, says that it is unknown. */
const saysUnknown = (line: FileLine): boolean =>
  line.allocation_amount_inferred !== undefined && line.allocation_amount_inferred !== true && !isStated(line);
