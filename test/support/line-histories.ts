import fc from 'fast-check';
import type { CompleteRange } from '../../src/data/imports/import-removal';
import { ImportError } from '../../src/domain/imports/import-service';
import type { Services } from '../../src/services';
import { importLines, v2Line, type TestOrganization } from './gateway';

type Fields = Readonly<Record<string, unknown>>;

/** The books as a sequence of imports leaves them: the newest state of each entity, by its id. */
export class Books {
  private allocations = new Map<string, Fields>();
  private transactions = new Map<string, Fields>();
  private deposits = new Map<string, Fields>();
  private designations = new Map<number, Fields>();
  private donors = new Map<number, Fields>();

  /** Takes a file, or returns false and stays as it was: the file states shares that do not add up, and may not. */
  import(lines: readonly Line[], range: CompleteRange | undefined, allowsMismatch: boolean): boolean {
    const { allocations, transactions, deposits, designations, donors } = this;
    this.allocations = new Map(allocations);
    this.transactions = new Map(transactions);
    this.deposits = new Map(deposits);
    this.designations = new Map(designations);
    this.donors = new Map(donors);
    this.merge(lines);
    if (range) this.removeMissing(lines, range);
    const addsUp = this.correctShares(lines, allocations, transactions);
    if (addsUp || allowsMismatch) return true;
    Object.assign(this, { allocations, transactions, deposits, designations, donors });
    return false;
  }

  /** The line of an allocation of the books, without its share: as it is, under another id, or as one of another allocation's gift. */
  edit({ kind, of, at }: Edit): Line[] {
    const ids = [...this.allocations.keys()].sort();
    if (ids.length === 0) return [];
    const [id, other] = [ids[of % ids.length]!, ids[at % ids.length]!];
    const { designation_id, designation_memo } = this.allocations.get(id)!;
    const transaction = this.transactions.get(this.allocations.get(kind === 'move' ? other : id)!.transaction_id as string)!;
    const { deposit_id, donor_id, ...gift } = transaction;
    return [
      {
        allocation: { allocation_id: kind === 'add' ? `A${7 + (at % 3)}` : id, allocation_amount: undefined, designation_memo },
        transaction: gift,
        deposit: this.deposits.get(deposit_id as string),
        designation: this.designations.get(designation_id as number),
        donor: this.donors.get(donor_id as number),
      } as Line,
    ];
  }

  private merge(lines: readonly Line[]): void {
    for (const { allocation, transaction, deposit, designation, donor } of lines) {
      const known = this.allocations.get(allocation.allocation_id)?.allocation_amount;
      this.allocations.set(allocation.allocation_id, {
        ...allocation,
        transaction_id: transaction.transaction_id,
        designation_id: designation.designation_id,
        // A line without a share leaves the share that the books have.
        allocation_amount: allocation.allocation_amount ?? known,
      });
      this.transactions.set(transaction.transaction_id, { ...transaction, deposit_id: deposit.deposit_id, donor_id: donor.donor_id });
      this.deposits.set(deposit.deposit_id, deposit);
      this.designations.set(designation.designation_id, designation);
      this.donors.set(donor.donor_id, donor);
    }
  }

  /** Removes what the books have in a range that the file is complete for and the file has not. */
  private removeMissing(lines: readonly Line[], range: CompleteRange): void {
    const isInRange = (deposit: Fields): boolean => {
      const date = deposit.deposit_date as string;
      return isWithin(range, date) && (range.pending === 'WITH' || deposit.deposit_status === 'posted');
    };
    const kept = new Set(lines.map(({ allocation }) => allocation.allocation_id));
    for (const [id, allocation] of this.allocations) {
      const { deposit_id } = this.transactions.get(allocation.transaction_id as string)!;
      if (!kept.has(id) && isInRange(this.deposits.get(deposit_id as string)!)) this.allocations.delete(id);
    }
  }

  /**
   * Known shares follow the gifts whose amount or allocations a file changes without stating one of their shares. Returns false when shares
   * of a gift of which the file states some do not add up.
   */
  private correctShares(
    lines: readonly Line[],
    allocations: ReadonlyMap<string, Fields>,
    transactions: ReadonlyMap<string, Fields>,
  ): boolean {
    const stating = lines.filter(({ allocation }) => allocation.allocation_amount !== undefined);
    let addsUp = true;
    for (const [id, gift] of this.transactions) {
      const own = [...this.allocations].filter(([, { transaction_id }]) => transaction_id === id);
      // A gift without allocations has left the books.
      if (own.length === 0) continue;
      const wasHere = ([allocation]: readonly [string, Fields]): boolean => allocations.get(allocation)?.transaction_id === id;
      const before = [...allocations].filter(wasHere);
      const left = before.filter(([allocation]) => this.allocations.get(allocation)?.transaction_id !== id);
      const isStated = stating.some(
        ({ transaction, allocation: { allocation_id } }) =>
          transaction.transaction_id === id || left.some(([allocation]) => allocation === allocation_id),
      );
      const amount = Number(gift.amount);
      const isCorrected = before.length > 0 && Number(transactions.get(id)!.amount) !== amount;
      const hasJoined = own.some((each) => !wasHere(each) && (before.length > 0 || allocations.has(each[0])));
      const known = own.flatMap(([, { allocation_amount: share }]) => (share === undefined ? [] : [Number(share)]));
      const differs = Math.round(100 * known.reduce((sum, share) => sum + share, 0)) !== Math.round(100 * amount);
      const isKnown = known.length === own.length;
      if (isStated && isKnown && differs) addsUp = false;
      if (isStated || !(isCorrected || left.length > 0 || hasJoined)) continue;
      if (isKnown ? !differs : known.length === 0 && (amount !== 0 || own.length === 1)) continue;
      const share = own.length === 1 || amount === 0 ? gift.amount : undefined;
      for (const [allocation, fields] of own) this.allocations.set(allocation, { ...fields, allocation_amount: share });
    }
    return addsUp;
  }

  /** The lines of the books in the form of an import. */
  lines(): object[] {
    return [...this.allocations.values()].map((allocation) => {
      const transaction = this.transactions.get(allocation.transaction_id as string)!;
      return v2Line({
        ...this.deposits.get(transaction.deposit_id as string),
        ...this.donors.get(transaction.donor_id as number),
        ...transaction,
        ...this.designations.get(allocation.designation_id as number),
        ...allocation,
      });
    });
  }
}

/** A change of one allocation of the books, which stays, joins its gift or moves to the gift of another. The numbers choose both. */
interface Edit {
  readonly kind: 'add' | 'move' | 'keep';
  readonly of: number;
  readonly at: number;
}

interface Line {
  readonly allocation: {
    readonly allocation_id: string;
    readonly allocation_amount: string | undefined;
    readonly designation_memo: string;
  };
  readonly transaction: { readonly transaction_id: string };
  readonly deposit: { readonly deposit_id: string; readonly deposit_date: string; readonly deposit_status: string };
  readonly designation: { readonly designation_id: number };
  readonly donor: { readonly donor_id: number };
}

const pick = <Value>(...values: Value[]) => fc.constantFrom(...values);
const by = <Value>(ids: readonly (string | number)[], value: fc.Arbitrary<Value>) =>
  fc.tuple(...ids.map(() => value)).map((values) => new Map(ids.map((id, index) => [id, values[index]!])));
const toAmount = (cents: number): string => `${cents < 0 ? '-' : ''}0.0${Math.abs(cents)}`;
const NOBODY = { address1: '', city: '', zip: '', phone: '', email_address: '' };

/** A file: few lines of few entities, so that files overlap, allocations and gifts move, and entities change that lines of other files share. */
const anyFile: fc.Arbitrary<Line[]> = fc
  .record({
    deposits: by(
      ['D1', 'D2', 'D3'],
      fc.record({ deposit_date: pick('2024-01-01', '2024-01-20', '2024-02-01', '2024-02-20'), deposit_status: pick('posted', 'pending') }),
    ),
    transactions: by(
      ['T1', 'T2', 'T3', 'T4'],
      fc.record({
        deposit_id: pick('D1', 'D2', 'D3'),
        donor_id: pick(0, 1, 2),
        cents: fc.integer({ min: -3, max: 3 }),
        main_memo: pick('', 'Émile'),
      }),
    ),
    designations: by([1, 2], pick('General', 'Missions')),
    donors: by([1, 2], fc.record({ donor_last_name: pick('Müller', "O'Neil"), city: pick('Bern', '') })),
    shares: pick('any', 'none', 'whole'),
    lines: fc.uniqueArray(
      fc.record({
        allocation_id: pick('A1', 'A2', 'A3', 'A4', 'A5', 'A6'),
        transaction_id: pick('T1', 'T2', 'T3', 'T4'),
        designation_id: pick(1, 2),
        allocation_amount: pick(undefined, undefined, '0.01', '0.02', '1.00'),
        designation_memo: pick('', 'memo'),
      }),
      { selector: ({ allocation_id }) => allocation_id, minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ deposits, transactions, designations, donors, lines, shares }) =>
    lines.map(({ transaction_id, designation_id, ...said }, place) => {
      const { deposit_id, donor_id, cents, main_memo } = transactions.get(transaction_id)!;
      const amount = toAmount(cents);
      const others = lines.filter((line) => line.transaction_id === transaction_id).length - 1;
      const isFirst = lines.findIndex((line) => line.transaction_id === transaction_id) === place;
      // Shares that add up: one cent each, and the first has the rest.
      const whole = isFirst ? toAmount(cents - others) : '0.01';
      const allocation = { ...said, allocation_amount: { any: said.allocation_amount, none: undefined, whole }[shares] };
      const donor =
        donor_id === 0 ? { donor_id, donor_first_name: '', donor_last_name: '', ...NOBODY } : { donor_id, ...donors.get(donor_id)! };
      return {
        allocation,
        transaction: { transaction_id, amount, fee_amount: '0.00', net_amount: amount, main_memo },
        deposit: { deposit_id, ...deposits.get(deposit_id)! },
        designation: { designation_id, designation: designations.get(designation_id)! },
        donor,
      };
    }),
  );

const anyPeriods: fc.Arbitrary<CompleteRange['periods']> = fc.oneof(
  fc.record({ startDate: pick('2024-01-01', '2024-01-20'), endDate: pick('2024-01-20', '2024-02-01') }).map((period) => [period]),
  fc.constant([
    { startDate: '2024-01-01', endDate: '2024-01-10' },
    { startDate: '2024-01-20', endDate: '2024-01-31' },
  ]),
);
const anyRange: fc.Arbitrary<CompleteRange> = fc.record({ periods: anyPeriods, pending: pick('WITH', 'WITHOUT') });
const isWithin = ({ periods }: CompleteRange, date: string): boolean =>
  periods.some(({ startDate, endDate }) => date >= startDate && date <= endDate);

/** An import into one of two organizations. */
export interface HistoryImport {
  readonly which: 0 | 1;
  readonly range: CompleteRange | undefined;
  readonly allowsMismatch: boolean;
  readonly file: readonly Line[];
  /** The change that is the file, in the place of its lines. A file of a range has none. */
  readonly edit: Edit | undefined;
}

/** A file of an organization. One in four is complete for a range, and has no lines of other ranges. */
const anyImport: fc.Arbitrary<HistoryImport> = fc
  .record({
    which: pick<0 | 1>(0, 1),
    file: anyFile,
    allowsMismatch: fc.boolean(),
    edit: fc.option(fc.record({ kind: pick<Edit['kind']>('add', 'move', 'keep'), of: fc.nat(), at: fc.nat() }), {
      nil: undefined,
      freq: 1,
    }),
    range: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: anyRange }),
  })
  .map((next) => (next.range ? { ...next, edit: undefined, file: next.file.map((line) => moveInto(line, next.range!)) } : next));

function moveInto(line: Line, range: CompleteRange): Line {
  const { deposit_date, deposit_status } = line.deposit;
  const date = isWithin(range, deposit_date) ? deposit_date : range.periods[0]!.startDate;
  const status = range.pending === 'WITH' ? deposit_status : 'posted';
  return { ...line, deposit: { ...line.deposit, deposit_date: date, deposit_status: status } };
}

const toV2 = ({ allocation, transaction, deposit, designation, donor }: Line): object =>
  v2Line({ ...deposit, ...donor, ...transaction, ...designation, ...allocation });

/** Imports that follow each other: files overlap, lines change, move and vanish, and ranges are replaced. */
export const anyHistory: fc.Arbitrary<HistoryImport[]> = fc.array(anyImport, { minLength: 3, maxLength: 8 });

/** Imports a file, and tells the books of the test. Throws when one of them takes the file and the other does not. */
export async function importInto(
  services: Services,
  organization: TestOrganization,
  books: Books,
  { file, edit, range, allowsMismatch }: HistoryImport,
): Promise<void> {
  const lines = edit ? books.edit(edit) : file;
  const isTaken = books.import(lines, range, allowsMismatch);
  try {
    await importLines(services, organization, lines.map(toV2), { complete: range, maxRemoved: Infinity, allowsMismatch });
  } catch (error) {
    const isRefusal = error instanceof ImportError && error.faults.every(({ field }) => field === 'allocation_amount');
    if (isTaken || !isRefusal) throw error;
    return;
  }
  if (!isTaken) throw new Error('An import took shares that do not add up');
}
