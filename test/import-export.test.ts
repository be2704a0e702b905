import { closeSync, openSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { spawn } from 'node:child_process';
import fc from 'fast-check';
import { runCommand, succeed } from './support/command';
import { CSV_HEADER, openDepositFiles, toCsv, toNdjson, type DepositFiles } from './support/deposit-files';
import { v2Line } from './support/gateway';

let files: DepositFiles;

beforeAll(async () => {
  files = await openDepositFiles();
});
afterAll(() => files.close());

/** A v2 answer as the legacy service might send it, in report order: every character here comes back. */
const ANSWER = [
  String.raw`{"response":[`,
  // A gift split over two designations, by the donor with the largest id.
  String.raw`{"deposit_id":"10","transaction_date":"2023-12-31","deposit_date":"2024-01-02","transaction_id":"P500","allocation_id":"P900",`,
  String.raw`"donor_id":9007199254740991,"donor_first_name":"Ada \"Countess\"","donor_last_name":"O'Lovelace","address1":"12 St James Square",`,
  String.raw`"address2":"Apt #3","address3":"c\\o \\Nobody\\","city":"London","state":"","zip":"SW1Y 4JH","phone":"+44 20 555-0100",`,
  String.raw`"email_address":"ada@example.org","amount":"100.00","fee_amount":"2.50","net_amount":"97.50","status":"Complete",`,
  String.raw`"account_type":"Checking","payment_type":"ACH","designation_id":3,"designation":"General Fund","designation_memo":"half","main_memo":"\\."},`,
  String.raw`{"deposit_id":"10","transaction_date":"2023-12-31","deposit_date":"2024-01-02","transaction_id":"P500","allocation_id":"P901",`,
  String.raw`"donor_id":9007199254740991,"donor_first_name":"Ada \"Countess\"","donor_last_name":"O'Lovelace","address1":"12 St James Square",`,
  String.raw`"address2":"Apt #3","address3":"c\\o \\Nobody\\","city":"London","state":"","zip":"SW1Y 4JH","phone":"+44 20 555-0100",`,
  String.raw`"email_address":"ada@example.org","amount":"100.00","fee_amount":"2.50","net_amount":"97.50","status":"Complete",`,
  String.raw`"account_type":"Checking","payment_type":"ACH","designation_id":0,"designation":"","designation_memo":"","main_memo":"\\."},`,
  // Nobody's, taken back, and nothing known of it.
  String.raw`{"deposit_id":"10","transaction_date":"2024-01-01","deposit_date":"2024-01-02","transaction_id":"p1","allocation_id":"-7",`,
  String.raw`"donor_id":0,"donor_first_name":"","donor_last_name":"","address1":"","address2":"","address3":"","city":"","state":"","zip":"","phone":"",`,
  String.raw`"email_address":"","amount":"-5.00","fee_amount":"-0.25","net_amount":"-4.75","status":"","account_type":"","payment_type":"",`,
  String.raw`"designation_id":9007199254740991,"designation":"Größe 🌻 ${'\u2028'}","designation_memo":"","main_memo":""},`,
  // Bytewise, "9" comes after "10". Texts that a format might take for something else.
  String.raw`{"deposit_id":"9","transaction_date":"0001-01-01","deposit_date":"2024-01-02","transaction_id":"00","allocation_id":"000000001",`,
  String.raw`"donor_id":1,"donor_first_name":"\t\n\r\b\f\u000b\u0001\u001f${'\u007f\u0080\u2029\ufeff\uffff'}","donor_last_name":"a\n\\.\nb","address1":"\\N","address2":"NULL",`,
  String.raw`"address3":"null","city":" \t","state":"\r\n\r\n","zip":"'=1+1","phone":"''","email_address":"\"","amount":"999999999999.99",`,
  String.raw`"fee_amount":"-999999999999.99","net_amount":"1999999999999.98","status":"a,b;c","account_type":"\"\"","payment_type":"\\\"",`,
  String.raw`"designation_id":3,"designation":"General Fund","designation_memo":"=cmd|'/c calc'!A0","main_memo":"\u0001\u0002\\u0003"}]}`,
].join('');

describe('a v2 answer', () => {
  test('is exported as it was imported, byte for byte', async () => {
    const organization = await files.createOrganization();
    const result = await files.import(organization, 'answer.json', ANSWER);
    expect(result).toEqual({
      status: 0,
      stdout: 'Imported 4 lines; new or changed: 2 deposits, 3 transactions, 4 allocations, 3 designations, 2 donors\n',
      stderr: '',
    });
    expect(await files.export(organization, 'json')).toBe(ANSWER);
  });

  test.each(['ndjson', 'csv', 'json'] as const)('is the same after a way through a file: %s', async (format) => {
    const [first, second] = [await files.createOrganization(), await files.createOrganization()];
    await files.import(first, 'answer.json', ANSWER);
    expect(await files.import(second, `lines.${format}`, await files.export(first, format))).toMatchObject({ status: 0 });
    expect(await files.export(second, 'json')).toBe(ANSWER);
  });

  test('is the same after a way through every format, whatever its lines say', async () => {
    await fc.assert(
      fc.asyncProperty(deposits, async (lines) => {
        const expected = JSON.stringify({ response: lines });
        const [first, second, third] = [
          await files.createOrganization(),
          await files.createOrganization(),
          await files.createOrganization(),
        ];
        await files.import(first, 'lines.json', expected);
        expect(await files.export(first, 'json')).toBe(expected);
        await files.import(second, 'lines.csv', await files.export(first, 'csv'));
        await files.import(third, 'lines.ndjson', await files.export(second, 'ndjson'));
        expect(await files.export(third, 'json')).toBe(expected);
      }),
      { numRuns: 2, endOnFailure: true },
    );
  });
});

/** Texts of any characters but NUL, and mostly of those that mean something to JSON, CSV, COPY or a spreadsheet. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }).map((value) => value.replaceAll('\0', '')),
  fc.string({ unit: fc.constantFrom(...'"\\\t\n\r\b\f\u000b\u0001\u007f\u2028\'=+-@,;. N', '😀', 'é'), maxLength: 8 }),
);
const anyId = fc.oneof(
  anyText.filter((value) => value !== ''),
  fc.stringMatching(/^P?[0-9]{1,9}$/),
);
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
const deposits = fc
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

function decimals(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
