import { v2Line } from './gateway';
import type { BookLine } from './deposit-book';

/** Amounts in cents, so that a test adds them up exactly. */
const cents = (amount: string | undefined): number => Math.round(Number(amount) * 100);
const amountOf = (value: number): string => (value / 100).toFixed(2);

/** An amount as a reader of English expects it, such as `-1,234.50`. */
export const shown = (value: number): string => amountOf(value).replace(/\B(?=(\d{3})+\.)/g, ',');

const FUNDS = ['General Fund', 'Building Fund', 'Food Bank', 'Old Roof', 'New Roof'];

/** The funds of a gift: Old Roof got money in the first of two years alone, New Roof in the second alone. */
const fundsOf = (gift: number, year: number): readonly number[] =>
  gift % 3 === 0 ? [1, gift % 2 === 0 ? 2 : 3] : [gift % 5 === 4 ? year - 2019 : 3];

/** The lines of 2023 and 2024. Donor 7 is the one with most gifts, the first deposit of 2024 has 45 of them, and the last is pending. */
export function givingYears(): BookLine[] {
  const lines: BookLine[] = [];
  let gift = 0;
  for (const [year, deposits] of [
    [2023, 24],
    [2024, 46],
  ] as const) {
    for (let deposit = 0; deposit < deposits; deposit++) {
      const month = String(1 + Math.floor((deposit * 12) / deposits)).padStart(2, '0');
      const date = `${year}-${month}-${String(10 + (deposit % 4)).padStart(2, '0')}`;
      const gifts = year === 2024 && deposit === 0 ? 45 : 3;
      for (let nth = 0; nth < gifts; nth++, gift++) {
        const donor = gift % 11 === 10 ? 0 : gift % 4 === 1 ? 7 : 1 + (gift % 27);
        const amount = gift % 19 === 18 ? -2525 : 1010 + ((gift * 7919) % 400_000);
        const funds = fundsOf(gift, year);
        for (const [place, fund] of funds.entries()) {
          const share = funds.length === 1 ? amount : place === 0 ? Math.floor(amount / 3) : amount - Math.floor(amount / 3);
          lines.push(
            v2Line({
              ...{ deposit_id: `${year}-${deposit}`, deposit_date: date, transaction_date: date },
              ...{ deposit_status: year === 2024 && deposit === deposits - 1 ? 'pending' : 'posted' },
              ...{ transaction_id: `T${String(gift).padStart(3, '0')}`, allocation_id: `T${gift}-${place}` },
              ...{ amount: amountOf(amount), fee_amount: amountOf(gift % 40), net_amount: amountOf(amount - (gift % 40)) },
              ...{ designation_id: fund, designation: FUNDS[fund - 1], allocation_amount: amountOf(share), main_memo: `Memo ${gift}` },
              ...(donor === 0 ? NOBODY : { donor_id: donor, donor_first_name: 'Ada', donor_last_name: `Donorname-${donor}` }),
            }) as unknown as BookLine,
          );
        }
      }
    }
  }
  return lines;
}

const NOBODY = { donor_id: 0, donor_first_name: '', donor_last_name: '', address1: '', city: '', zip: '', phone: '', email_address: '' };

/** Each gift once, by its first line. */
export const giftsOf = (lines: readonly BookLine[]): BookLine[] =>
  lines.filter(({ transaction_id }, at) => lines.findIndex((other) => other.transaction_id === transaction_id) === at);

type Amount = 'amount' | 'fee_amount' | 'net_amount' | 'allocation_amount';
/** The sum of a column, shown. */
export const sumOf = (lines: readonly BookLine[], column: Amount): string =>
  shown(lines.reduce((sum, line) => sum + cents(line[column]), 0));
