import fc from 'fast-check';
import type { CompleteRange } from '../../src/data/import-removal';
import type { Services } from '../../src/services';
import { importLines, v2Line, type TestOrganization } from './gateway';

type Fields = Readonly<Record<string, unknown>>;

/** The books as a sequence of imports leaves them: the newest state of each entity, by its id. */
export class Books {
  private readonly allocations = new Map<string, Fields>();
  private readonly transactions = new Map<string, Fields>();
  private readonly deposits = new Map<string, Fields>();
  private readonly designations = new Map<number, Fields>();
  private readonly donors = new Map<number, Fields>();

  import(lines: readonly Line[], range?: CompleteRange): void {
    const before = { allocations: new Map(this.allocations), transactions: new Map(this.transactions) };
    this.merge(lines);
    if (range) this.removeMissing(lines, range);
    this.correctShares(lines, before.allocations, before.transactions);
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
      return date >= range.from && date <= range.to && (range.pending === 'WITH' || deposit.deposit_status === 'posted');
    };
    const kept = new Set(lines.map(({ allocation }) => allocation.allocation_id));
    for (const [id, allocation] of this.allocations) {
      const { deposit_id } = this.transactions.get(allocation.transaction_id as string)!;
      if (!kept.has(id) && isInRange(this.deposits.get(deposit_id as string)!)) this.allocations.delete(id);
    }
  }

  /** Known shares follow the gifts that a file changes without stating one of their shares. */
  private correctShares(lines: readonly Line[], allocations: ReadonlyMap<string, Fields>, transactions: ReadonlyMap<string, Fields>): void {
    const stating = lines.filter(({ allocation }) => allocation.allocation_amount !== undefined);
    for (const [id, gift] of this.transactions) {
      const own = [...this.allocations].filter(([, { transaction_id }]) => transaction_id === id);
      const wasHere = ([allocation]: readonly [string, Fields]): boolean => allocations.get(allocation)?.transaction_id === id;
      const left = [...allocations].filter((each) => wasHere(each) && this.allocations.get(each[0])?.transaction_id !== id);
      const isStated = stating.some(
        ({ transaction, allocation: { allocation_id } }) =>
          transaction.transaction_id === id || left.some(([allocation]) => allocation === allocation_id),
      );
      const amount = Number(gift.amount);
      // A gift without allocations has left the books.
      const isCorrected = [...allocations].some(wasHere) && Number(transactions.get(id)!.amount) !== amount;
      const isMoved = left.length > 0 || own.some((each) => allocations.has(each[0]) && !wasHere(each));
      const known = own.flatMap(([, { allocation_amount: share }]) => (share === undefined ? [] : [Number(share)]));
      if (isStated || known.length === 0 || !(isCorrected || isMoved)) continue;
      const isContradicted =
        known.length < own.length
          ? isCorrected
          : Math.round(100 * known.reduce((sum, share) => sum + share, 0)) !== Math.round(100 * amount);
      if (!isContradicted) continue;
      const share = own.length === 1 || amount === 0 ? gift.amount : undefined;
      for (const [allocation, fields] of own) this.allocations.set(allocation, { ...fields, allocation_amount: share });
    }
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
  .map(({ deposits, transactions, designations, donors, lines }) =>
    lines.map(({ transaction_id, designation_id, ...allocation }) => {
      const { deposit_id, donor_id, cents, main_memo } = transactions.get(transaction_id)!;
      const amount = `${cents < 0 ? '-' : ''}0.0${Math.abs(cents)}`;
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

const anyRange: fc.Arbitrary<CompleteRange> = fc.record({
  from: pick('2024-01-01', '2024-01-20'),
  to: pick('2024-01-20', '2024-02-01'),
  pending: pick('WITH', 'WITHOUT'),
});

/** An import into one of two organizations. */
export interface HistoryImport {
  readonly which: 0 | 1;
  readonly range: CompleteRange | undefined;
  readonly file: readonly Line[];
}

/** A file of an organization. One in four is complete for a range, and has no lines of other ranges. */
const anyImport: fc.Arbitrary<HistoryImport> = fc
  .record({
    which: pick<0 | 1>(0, 1),
    file: anyFile,
    range: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: anyRange }),
  })
  .map(({ which, file, range }): HistoryImport => ({ which, range, file: range ? file.map((line) => moveInto(line, range)) : file }));

function moveInto(line: Line, { from, to, pending }: CompleteRange): Line {
  const { deposit_date, deposit_status } = line.deposit;
  const isInside = deposit_date >= from && deposit_date <= to;
  const status = pending === 'WITH' ? deposit_status : 'posted';
  return { ...line, deposit: { ...line.deposit, deposit_date: isInside ? deposit_date : from, deposit_status: status } };
}

const toV2 = ({ allocation, transaction, deposit, designation, donor }: Line): object =>
  v2Line({ ...deposit, ...donor, ...transaction, ...designation, ...allocation });

/** Imports that follow each other: files overlap, lines change, move and vanish, and ranges are replaced. */
export const anyHistory: fc.Arbitrary<HistoryImport[]> = fc.array(anyImport, { minLength: 3, maxLength: 8 });

/** Imports a file, and tells the books of the test. */
export async function importInto(
  services: Services,
  organization: TestOrganization,
  books: Books,
  { file, range }: HistoryImport,
): Promise<void> {
  await importLines(services, organization, file.map(toV2), { complete: range, maxRemoved: Infinity });
  books.import(file, range);
}
