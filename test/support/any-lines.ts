import fc from 'fast-check';
import { v2Line } from './gateway';

const SPECIAL = [
  '"',
  '\\',
  '\t',
  '\n',
  '\r',
  '\b',
  '\f',
  '\u000b',
  '\u0001',
  '\u007f',
  '\u2028',
  "'",
  '=',
  '+',
  '-',
  '@',
  '＝',
  '＠',
  ',',
  '.',
  ' ',
  'N',
  'é',
  '😀',
];

/** Texts of any characters but NUL. Most have characters with a meaning in JSON, CSV, COPY or a spreadsheet. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }).map((value) => value.replaceAll('\0', '')),
  fc.string({ unit: fc.constantFrom(...SPECIAL), maxLength: 8 }),
);
/** An import refuses ids with characters at an end that nobody sees. */
const isId = (value: string): boolean => {
  const characters = Array.from(value);
  return [characters[0] ?? '', characters.at(-1) ?? ''].every((end) => /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(end));
};
const anyId = fc.oneof(anyText.filter(isId), fc.stringMatching(/^P?[0-9]{1,9}$/));
const anyNumber = fc.oneof(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
const anyDate = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const anyCents = fc.oneof(fc.bigInt(-99n, 99n), fc.bigInt(-99_999_999_999_999n, 99_999_999_999_999n));
const donorFields = [
  'donor_first_name',
  'donor_last_name',
  'address1',
  'address2',
  'address3',
  'city',
  'state',
  'zip',
  'phone',
  'email_address',
];
const texts = (names: readonly string[]) => fc.record(Object.fromEntries(names.map((name) => [name, anyText])));
const unique = <Item>(item: fc.Arbitrary<Item>, selector: (item: Item) => unknown, maxLength: number) =>
  fc.uniqueArray(item, { selector, minLength: 1, maxLength, size: 'max' });
const nobody = { donor_id: 0, ...Object.fromEntries(donorFields.map((name) => [name, ''])) };

/** The lines of generated deposits, in report order. */
export const reportLines: fc.Arbitrary<Record<string, unknown>[]> = fc
  .record({
    deposits: unique(fc.record({ deposit_id: anyId, deposit_date: anyDate }), ({ deposit_id }) => deposit_id, 20),
    donors: unique(
      fc.tuple(anyNumber, texts(donorFields)).map(([donor_id, fields]) => ({ donor_id, ...fields })),
      ({ donor_id }) => donor_id,
      20,
    ),
    designations: unique(fc.record({ designation_id: anyNumber, designation: anyText }), ({ designation_id }) => designation_id, 10),
    transactions: unique(
      fc.record({
        transaction_id: anyId,
        transaction_date: anyDate,
        amount: anyCents,
        fee: anyCents,
        own: texts(['status', 'account_type', 'payment_type', 'main_memo']),
        pick: fc.nat(),
      }),
      ({ transaction_id }) => transaction_id,
      150,
    ),
    allocations: unique(
      fc.record({ allocation_id: anyId, designation_memo: anyText, pick: fc.nat() }),
      ({ allocation_id }) => allocation_id,
      200,
    ),
  })
  .map((parts) => {
    const lines = parts.allocations.map((allocation) => {
      const transaction = parts.transactions[allocation.pick % parts.transactions.length]!;
      const donor = [nobody, ...parts.donors][transaction.pick % (parts.donors.length + 1)]!;
      const { transaction_id, transaction_date, amount, fee, own } = transaction;
      const { allocation_id, designation_memo } = allocation;
      return v2Line({
        ...parts.deposits[transaction.pick % parts.deposits.length],
        ...{ transaction_id, transaction_date, allocation_id, designation_memo },
        ...{ amount: decimals(amount), fee_amount: decimals(fee), net_amount: decimals(amount - fee) },
        ...donor,
        ...own,
        ...parts.designations[allocation.pick % parts.designations.length],
      });
    });
    const order = ['deposit_date', 'deposit_id', 'transaction_id', 'allocation_id'].map(
      (name) => (line: Record<string, unknown>) => Buffer.from(String(line[name])),
    );
    return lines.sort((a, b) => order.map((key) => Buffer.compare(key(a), key(b))).find((result) => result !== 0) ?? 0);
  });

/** Lines as in `reportLines` with the columns that v2 lacks: the status of each deposit, and shares, some of them unknown. */
export const bookLines: fc.Arbitrary<Record<string, unknown>[]> = fc
  .tuple(reportLines, fc.array(fc.boolean(), { minLength: 1 }), fc.array(fc.option(anyCents), { minLength: 1 }))
  .map(([lines, arePending, shares]) => {
    const deposits = [...new Set(lines.map(({ deposit_id }) => deposit_id))];
    return lines.map((line, position) => {
      const share = shares[position % shares.length] ?? null;
      const isPending = arePending[deposits.indexOf(line.deposit_id) % arePending.length];
      return { ...line, deposit_status: isPending ? 'pending' : 'posted', allocation_amount: share === null ? null : decimals(share) };
    });
  });

function decimals(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
