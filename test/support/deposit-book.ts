import { v2Line } from './gateway';

/** A line for an import: the fields of v2, the status of the deposit and the allocation's share. */
export interface BookLine {
  readonly deposit_id: string;
  readonly deposit_date: string;
  readonly deposit_status: 'posted' | 'pending';
  readonly transaction_id: string;
  readonly transaction_date: string;
  readonly allocation_id: string;
  readonly donor_id: number;
  readonly donor_first_name: string;
  readonly donor_last_name: string;
  readonly amount: string;
  readonly fee_amount: string;
  readonly net_amount: string;
  readonly status: string;
  readonly account_type: string;
  readonly payment_type: string;
  readonly designation_id: number;
  readonly designation: string;
  readonly allocation_amount?: string;
}

const cents = (value: number): string => (value / 100).toFixed(2);
const date = (day: number): string => new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10);
const pick = <Item>(items: readonly Item[], n: number): Item => items[n % items.length]!;

const FIRST_NAMES = ['Ada', 'Bea', 'Cid'];
const LAST_NAMES = ['Adams', 'Adler', 'Baker', 'Byron', 'Clark'];

/** The lines of this many transactions in report order. Each has one to three lines, many share values, and every run gives the same. */
export function depositBook(transactions: number): BookLine[] {
  const lines: BookLine[] = [];
  for (let n = 0; n < transactions; n++) {
    const deposit = (n * 7) % 40;
    const donorId = n % 6 === 0 ? 0 : 1 + ((n * 11) % 15);
    const amount = ((n * 37) % 23) * 500 - 1500;
    const fee = (n % 4) * 25;
    const splits = 1 + (n % 3);
    for (let split = 0; split < splits; split++) {
      const designation = (n + split * 2) % 5;
      lines.push(
        v2Line({
          ...{ deposit_id: `D${deposit}`, deposit_date: date(deposit % 25), deposit_status: deposit % 7 === 3 ? 'pending' : 'posted' },
          ...{ transaction_id: `T${n}`, transaction_date: date((deposit % 25) - (n % 3)), allocation_id: `A${n}-${split}` },
          ...{ amount: cents(amount), fee_amount: cents(fee), net_amount: cents(amount - fee) },
          ...{
            status: pick(['Complete', 'Hold', ''], n),
            account_type: pick(['Checking', 'Savings'], n),
            payment_type: pick(['ACH', 'Card', 'Check'], n * 5),
          },
          ...{
            designation_id: designation + 1,
            designation: `Fund ${designation}`,
          },
          ...(split < 2 && { allocation_amount: cents(amount + split) }),
          ...(donorId === 0
            ? NOBODY
            : { donor_id: donorId, donor_first_name: pick(FIRST_NAMES, donorId), donor_last_name: pick(LAST_NAMES, donorId * 2) }),
        }) as unknown as BookLine,
      );
    }
  }
  return inOrder(lines, ['deposit_date', 'deposit_id', 'transaction_id', 'allocation_id']);
}

const NOBODY = {
  donor_id: 0,
  ...Object.fromEntries(
    ['donor_first_name', 'donor_last_name', 'address1', 'city', 'zip', 'phone', 'email_address'].map((key) => [key, '']),
  ),
};

/** The lines sorted by these fields, amounts by value and texts by their bytes. */
export function inOrder(lines: readonly BookLine[], fields: readonly (keyof BookLine)[]): BookLine[] {
  const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);
  const value = (line: BookLine, field: keyof BookLine) => (field === 'amount' ? Number(line[field]) : line[field]!);
  return [...lines].sort((a, b) => fields.map((field) => compare(value(a, field), value(b, field))).find((result) => result !== 0) ?? 0);
}
